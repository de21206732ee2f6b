class _Gates:
    def __init__(self, joined, W, b):
        self.a = torch.matmul(joined, W.transpose(0, 1)) + b

    def part(self, k, D, bend):
        return bend(self.a[:, k * D:(k + 1) * D])


def lstm_step(x: torch.Tensor, h: torch.Tensor, c: torch.Tensor, W_ih, W_hh, b_ih, b_hh):
    states, cells = [], []
    D = h.shape[-1]
    W = torch.cat([W_ih, W_hh], dim=1)
    for k in range(len(x)):
        gates = _Gates(torch.cat([x[k:k + 1], h[k:k + 1]], 1), W, b_ih + b_hh)
        cell = gates.part(1, D, torch.sigmoid) * c[k:k + 1] + gates.part(0, D, torch.sigmoid) * gates.part(2, D, torch.tanh)
        states.append(gates.part(3, D, torch.sigmoid) * torch.tanh(cell))
        cells.append(cell)
    return torch.cat(states), torch.cat(cells)
