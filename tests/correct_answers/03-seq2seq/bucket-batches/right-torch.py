def bucket_batches(lengths, batch_size, seed):
    pieces = torch.argsort(lengths, descending=True).split(batch_size)
    g = torch.Generator().manual_seed(seed)
    return [pieces[i].tolist() for i in torch.randperm(len(pieces), generator=g)]
