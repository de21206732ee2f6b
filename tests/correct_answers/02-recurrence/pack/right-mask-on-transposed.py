def pack(x, lengths):
    longest, order = torch.sort(lengths, descending=True)
    box = x.index_select(0, order).transpose(0, 1)              # (L, B, E)
    real = torch.arange(box.shape[0])[:, None] < longest        # (L, B)
    sizes = real.sum(1)
    return [box[real], sizes[sizes > 0], order]
