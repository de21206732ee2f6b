def causal_mask(length: int) -> torch.Tensor:
    return nn.Transformer.generate_square_subsequent_mask(length).isinf()
