def init_parameters(shapes):
    def orthogonal(n):
        q, r = torch.linalg.qr(torch.randn(n, n))
        return q * torch.sign(torch.diagonal(r))

    return {
        name: orthogonal(shape[0]) if name in {"U", "U_z", "U_r"}
        else torch.zeros(shape) if name == "v_a" or name[0] == "b"
        else torch.randn(shape) * (1e-3 if name.endswith("_a") else 1e-2)
        for name, shape in shapes.items()
    }
