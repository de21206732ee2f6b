def init_parameters(shapes: dict) -> dict:
    values = dict()
    for name in shapes:
        w = nn.Parameter(torch.empty(*shapes[name]))
        if name == "v_a" or name.startswith("b"):
            nn.init.zeros_(w)
        elif name in ["U", "U_r", "U_z"]:
            nn.init.orthogonal_(w)
        else:
            nn.init.normal_(w, mean=0.0, std={"W_a": 0.001, "U_a": 0.001}.get(name, 0.01))
        values[name] = w.detach()
    return values
