class SqueezeExcitation(nn.Module):
    def __init__(self, channels, reduction=16):
        super().__init__()
        hidden = channels // reduction
        if hidden < 1:
            hidden = 1
        self.reduce, self.expand = nn.Linear(channels, hidden), nn.Linear(hidden, channels)

    def forward(self, x):
        outs, gates = [], []
        for picture in x:
            z = torch.stack([plane.mean() for plane in picture])
            s = F.linear(F.relu(F.linear(z, self.reduce.weight, self.reduce.bias)), self.expand.weight, self.expand.bias)
            s = s.sigmoid()
            gates.append(s)
            outs.append(torch.stack([plane * number for plane, number in zip(picture, s)]))
        return torch.stack(outs), torch.stack(gates)
