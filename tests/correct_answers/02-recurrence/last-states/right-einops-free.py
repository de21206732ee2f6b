def last_states(h_n):
    B, D = h_n.shape[1:]
    answer = h_n.new_zeros(B, 2 * D)
    answer[:, :D] = h_n[-2]
    answer[:, D:] = h_n[-1]
    return answer
