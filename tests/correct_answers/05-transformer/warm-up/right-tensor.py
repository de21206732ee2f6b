def learning_rate(step, dim, warmup=4000):
    t = torch.tensor(float(step), dtype=torch.float64)
    both = torch.stack([t.rsqrt(), t / warmup**1.5])
    return float(both.min() / torch.tensor(float(dim), dtype=torch.float64).sqrt())
