def tiled_backward(grad, q, k, v, out, lse, tile, causal=False):
    T, S = q.size(2), k.size(2)
    dq, dk, dv = q * 0, k * 0, v * 0
    for start in range(0, S, tile):
        keys, values = k[:, :, start : start + tile], v[:, :, start : start + tile]
        for first in range(0, T, tile):
            last = min(first + tile, T)
            rows, come = q[:, :, first:last], grad[:, :, first:last]
            x = rows @ keys.transpose(2, 3) * q.size(3) ** -0.5
            if causal:
                age = torch.arange(first, last)[:, None] + S - T - torch.arange(start, start + keys.size(2))
                x = torch.where(age >= 0, x, -math.inf)
            known = lse[:, :, first:last, None]
            P = torch.exp(x - torch.where(known.isinf(), 0.0, known))
            D = (come * out[:, :, first:last]).sum(3, keepdim=True)
            dX = P * (come @ values.transpose(2, 3) - D) * q.size(3) ** -0.5
            dq[:, :, first:last] += dX @ keys
            dk[:, :, start : start + tile] += dX.transpose(2, 3) @ rows
            dv[:, :, start : start + tile] += P.transpose(2, 3) @ come
    return dq, dk, dv
