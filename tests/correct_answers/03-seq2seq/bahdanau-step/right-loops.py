def bahdanau_step(y, s, c, p):
    new = []
    for b in range(len(s)):
        z = 1 / (1 + torch.exp(-(p["W_z"] @ y[b] + p["U_z"] @ s[b] + p["C_z"] @ c[b] + p["b_z"])))
        r = 1 / (1 + torch.exp(-(p["W_r"] @ y[b] + p["U_r"] @ s[b] + p["C_r"] @ c[b] + p["b_r"])))
        tilde = torch.tanh(p["W"] @ y[b] + p["U"].mv(r * s[b]) + p["C"] @ c[b] + p["b"])
        new.append((1 - z) * s[b] + z * tilde)
    return torch.stack(new)
