from collections import defaultdict
from itertools import zip_longest


def _lookup(vocabulary):
    known = defaultdict(lambda: 1)
    known.update(vocabulary)
    return known


def to_ids(sentences, vocabulary):
    known = _lookup(vocabulary)
    columns = list(zip_longest(*[[known[w] for w in s] for s in sentences], fillvalue=0))
    ids = torch.tensor(columns, dtype=torch.long).t().contiguous()
    lengths = (ids != 0).sum(dim=1)
    return ids, lengths
