def bahdanau_step(y, s, c, p):
    def line(gate, state):
        return F.linear(y, p["W" + gate]) + F.linear(state, p["U" + gate]) + F.linear(c, p["C" + gate], p["b" + gate])

    z, r = line("_z", s).sigmoid(), line("_r", s).sigmoid()
    return torch.lerp(s, line("", r * s).tanh(), z)
