def unpack(data, batch_sizes, order):
    B = len(order)
    alive = torch.arange(B)[None, :] < torch.tensor(batch_sizes)[:, None]          # (L, B)
    box = torch.zeros(*alive.shape, data.size(1), dtype=data.dtype)                # (L, B, E)
    box = box.masked_scatter(alive.unsqueeze(-1), data)
    home = torch.empty_like(order)
    home[order] = torch.arange(B)
    return box.transpose(0, 1).index_select(0, home)
