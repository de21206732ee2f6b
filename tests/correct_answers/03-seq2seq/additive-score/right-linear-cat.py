def additive_score(s: torch.Tensor, h: torch.Tensor, W_a, U_a, v_a) -> torch.Tensor:
    """One linear layer over [s; h_j] is the sum of one for each."""
    B, S, M = h.shape
    both = torch.cat([s.unsqueeze(1).expand(B, S, s.size(-1)), h], dim=-1)
    hidden = torch.tanh(nn.functional.linear(both, torch.cat([W_a, U_a], dim=1)))
    return nn.functional.linear(hidden, v_a.unsqueeze(0)).squeeze(-1)
