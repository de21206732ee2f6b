def bahdanau_step(y, s, c, p):
    gates = ("_z", "_r")
    x = torch.cat([y, s, c], dim=1)
    weight = torch.cat([torch.cat([p[k + gate] for k in ("W", "U", "C")], dim=1) for gate in gates], dim=0)
    bias = torch.cat([p["b" + gate] for gate in gates])
    z, r = torch.sigmoid(x @ weight.T + bias).chunk(2, dim=1)
    inner = torch.cat([y, r * s, c], dim=1) @ torch.cat([p["W"], p["U"], p["C"]], dim=1).T + p["b"]
    return s + z * (torch.tanh(inner) - s)
