def induction_heads(vocab_size, max_length):
    V, P = vocab_size, max_length
    D = 3 * V + P
    QK1, OV1, QK2, OV2 = (torch.zeros(D, D) for _ in range(4))
    for t in range(1, P):
        QK1[V + t, V + t - 1] = 20.0
    for v in range(V):
        OV1[v, V + P + v] = 1.0
        QK2[v, V + P + v] = 20.0
        OV2[v, 2 * V + P + v] = 1.0
    return {"QK1": QK1, "OV1": OV1, "QK2": QK2, "OV2": OV2}
