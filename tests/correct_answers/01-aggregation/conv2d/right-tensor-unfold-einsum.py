def conv2d(x, weight, bias=None, stride: int = 1, padding: int = 0, dilation: int = 1) -> torch.Tensor:
    kh, kw = weight.shape[-2:]
    x = torch.nn.functional.pad(x, [padding] * 4)
    windows = x.unfold(2, dilation * (kh - 1) + 1, stride).unfold(3, dilation * (kw - 1) + 1, stride)
    windows = windows[..., ::dilation, ::dilation]                   # (B, C, rows, columns, kh, kw)
    y = torch.einsum("bcijuv,ocuv->boij", windows, weight)
    if bias is not None:
        y += bias[None, :, None, None]
    return y
