def init_parameters(shapes):
    values = {name: torch.normal(0.0, 0.01, size=shape) for name, shape in shapes.items()}
    for name, value in values.items():
        if name in ("W_a", "U_a"):
            values[name] = value / 10
        if name == "v_a" or name.startswith("b"):
            values[name] = torch.zeros_like(value)
        if name in ("U", "U_z", "U_r"):
            u, _, v = torch.linalg.svd(torch.randn(shapes[name]))
            values[name] = u @ v
    return values
