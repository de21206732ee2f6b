def differential_attention(q, k, v, lam):
    def attend(i):
        return causal_scores(q[i], k[i]).softmax(-1) @ v

    return attend(0) - lam[None, :, None, None] * attend(1)
