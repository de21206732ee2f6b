class VanillaAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc_align = nn.Linear(dim, dim)
        self.fc_query = nn.Linear(dim, dim)
        self.fc_value = nn.Linear(dim, dim)

    def forward(self, query, key):
        outs, atts = [], []
        for q, states in zip(query, key):
            scores = []
            for state in states:
                scores.append(torch.dot(q, self.fc_align(state)))
            scores = torch.stack(scores)
            numerators = torch.exp(scores - scores.max())
            weights = numerators / numerators.sum()
            context = torch.zeros_like(q)
            for weight, state in zip(weights, states):
                context = context + weight * state
            outs.append(torch.tanh(self.fc_query(q) + self.fc_value(context)))
            atts.append(weights)
        return [torch.stack(outs), torch.stack(atts)]
