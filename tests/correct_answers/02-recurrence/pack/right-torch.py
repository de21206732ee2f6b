def pack(x, lengths):
    packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    return packed.data, packed.batch_sizes, packed.sorted_indices
