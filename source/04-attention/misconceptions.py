"""The mistakes people make in assignment 04, each as an edit of the reference and a word to who made it."""

from course.misconceptions import HANDED_OVER, Misconception

# vanilla-attention.ipynb

SCORE = "score = (self.fc_align(key) * query.unsqueeze(1)).sum(-1)"
CONTEXT = "context = (att.unsqueeze(-1) * key).sum(1)"
OUT = "torch.tanh(self.fc_query(query) + self.fc_value(context))"

VANILLA = [
    Misconception(
        exercise="vanilla-attention",
        name="computes the weights from the query alone and ignores the encoder states",
        edit=(SCORE, "score = self.fc_align(query).repeat(1, key.size(1))[:, : key.size(1)]"),
        say="Two different sentences get the same weights from you: your scores never look at the keys. "
        "Each score compares the query with one key.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="gives every word the same weight",
        edit=(SCORE, "score = torch.zeros(key.shape[:2], dtype=key.dtype)"),
        say="All your weights are equal, so the layer is a plain mean. The question has to decide who weighs more.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="leaves out the tanh",
        edit=(OUT, "self.fc_query(query) + self.fc_value(context)"),
        say="Your output can leave the range from -1 to 1. Look at the last line of the formula once more.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="takes the tanh of each part before the sum",
        edit=(OUT, "torch.tanh(self.fc_query(query)) + torch.tanh(self.fc_value(context))"),
        say="Your output reaches up to 2: two values of a tanh were added. There is one tanh, around the sum.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="takes the tanh of query and context before the linear layers",
        edit=(OUT, "self.fc_query(query.tanh()) + self.fc_value(context.tanh())"),
        say="The tanh comes last. You bent query and context before the linear layers saw them.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="overwrites the query with fc_align(query)",
        edit=(SCORE, "query = self.fc_align(query)\n        score = (key * query.unsqueeze(1)).sum(-1)"),
        say="After your score the name `query` stands for something else, and the later line takes that. "
        "Also, the formula turns the key with fc_align, and leaves the query as it came.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="scores with fc_query(query)",
        edit=("query.unsqueeze(1)", "self.fc_query(query).unsqueeze(1)"),
        say="Your score takes the query after fc_query. This layer serves the output; "
        "the score takes the query as it came.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="turns the query with fc_align instead of the key",
        edit=(SCORE, "score = (key * self.fc_align(query).unsqueeze(1)).sum(-1)"),
        say="fc_align sits on the query's side. That is another score: the matrix acts transposed, and the bias, "
        "which on the side of the keys changes no weight, now changes all of them.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="scores without fc_align",
        edit=("self.fc_align(key) * query", "key * query"),
        say="Your weights do not change when fc_align does. The key is turned by it before it meets the query.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="mixes the context from the projected keys",
        edit=(CONTEXT, "context = (att.unsqueeze(-1) * self.fc_align(key)).sum(1)"),
        say="Your weights are right, but what they mix is fc_align(key). That layer serves the score only; "
        "the context is mixed from the keys themselves.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="takes the softmax over the batch",
        edit=("score.softmax(1)", "score.softmax(0)"),
        say="Your weights sum to 1 over the batch: the sentences compete with one another. The keys of one query "
        "lie on the other axis.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="takes the softmax over the whole batch at once",
        edit=("score.softmax(1)", "score.flatten().softmax(0).view_as(score)"),
        say="All weights of the batch together sum to 1. Each query has a whole 1 of its own to give away.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="takes the softmax over the width",
        edit=(
            SCORE + "   # (B, L, D) * (B, 1, D) -> (B, L)\n        att = score.softmax(1)",
            "score = self.fc_align(key) * query.unsqueeze(1)\n        att = score.softmax(-1).sum(-1)",
        ),
        say="Your softmax ran over the width of the vectors, so each word ends with weight 1. "
        "First make one score of each key, then let the keys compete.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="takes exp without subtracting the maximum",
        edit=("att = score.softmax(1)", "att = score.exp() / score.exp().sum(1, keepdim=True)"),
        say="Right for small scores, nan for large ones: exp(89) is already more than a float32 can hold. "
        "A number added to all scores changes no weight. Choose it well.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="subtracts the maximum of the whole batch instead of each row",
        edit=(
            "att = score.softmax(1)",
            "score = (score - score.max()).exp()\n        att = score / score.sum(1, keepdim=True)",
        ),
        say="One loud sentence in the batch makes the weights of a quiet one nan: all its exponentials become 0. "
        "Each row has a maximum of its own.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="divides the scores by the root of the width",
        edit=("score.softmax(1)", "(score / key.size(-1) ** 0.5).softmax(1)"),
        say="Your weights are more even than the formula's: the scores were scaled. "
        "That belongs to a later layer; here nothing is scaled.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="divides by the sum of the scores, without an exponential",
        edit=("score.softmax(1)", "(score / score.sum(1, keepdim=True))"),
        say="Your weights sum to 1, but some are negative. Scores must become positive before they are divided.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="takes a sigmoid of each score",
        edit=("score.softmax(1)", "score.sigmoid()"),
        say="Each of your weights lies between 0 and 1, but together they do not sum to 1. The keys have to compete.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="returns the scores instead of the weights",
        edit=("return out, att", "return out, score"),
        say="Your output is right, but what you return beside it are the scores: they do not sum to 1.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="exchanges fc_query and fc_value",
        edit=(OUT, "torch.tanh(self.fc_value(query) + self.fc_query(context))"),
        say="Your weights are right, the output is not: fc_query and fc_value have changed places.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="takes the mean of the keys instead of the weighted sum",
        edit=(CONTEXT, "context = key.mean(1)"),
        say="Your weights are right, but the output does not depend on them: the context is a plain mean.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="averages the weighted keys instead of summing them",
        edit=(CONTEXT, "context = (att.unsqueeze(-1) * key).mean(1)"),
        say="Your context shrinks as sentences grow: the weights sum to 1 already, "
        "and you divided by the length again.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="answers with the last state, the old bottleneck",
        edit=(CONTEXT, "context = key[:, -1]"),
        say="Your output changes when the keys change their order: only the last state reaches it. "
        "The context takes all keys, each with its weight.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="leaves the query out of the output",
        edit=("self.fc_query(query) + ", ""),
        say="Two questions with the same context get the same output from you. The query itself has a part in it.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="squeezes without naming the axis",
        edit=("return out, att", "return out.squeeze(), att.squeeze()"),
        say="A batch of one, or a sentence of one word, loses an axis: squeeze() removes every axis of size 1. "
        "Say which one you mean.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="weighs the keys in place and so changes the caller's keys",
        edit=(CONTEXT, "context = key.mul_(att.unsqueeze(-1)).sum(1)"),
        say="After your forward the caller's keys are others: a method that ends in _ writes into its tensor.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="detaches the weights from the gradient",
        edit=("score.softmax(1)", "score.detach().softmax(1)"),
        say="All values are right, but no gradient flows through the weights, so fc_align can never learn.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="uses one linear layer for query and value",
        edit=("self.fc_value = nn.Linear(dim, dim)", "self.fc_value = self.fc_query"),
        say="Two of your three layers are one and the same object: when one learns, the other changes.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="makes fc_align without a bias",
        edit=("self.fc_align = nn.Linear(dim, dim)", "self.fc_align = nn.Linear(dim, dim, bias=False)"),
        say="You are right that this bias changes no weight. Still, the layers of this exercise all have one.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="takes the numbers out of fc_align and leaves its gradient behind",
        edit=("self.fc_align(key)", "F.linear(key, self.fc_align.weight.data, self.fc_align.bias.data)"),
        say="All values are right, but fc_align gets no gradient: .data hands over the numbers only. Call the layer.",
    ),
    Misconception(
        exercise="vanilla-attention",
        name="squeezes the width away where it is 1",
        edit=(
            "context = (att.unsqueeze(-1) * key).sum(1)",
            "context = torch.bmm(att.unsqueeze(1), key).squeeze()\n        "
            "context = context if len(att) > 1 else context[None]",
        ),
        say="`squeeze()` drops every axis of size 1, also the width where dim is 1. Say which axis: `squeeze(1)`.",
    ),
]


# self-attention.ipynb, first half

HEADS_MASKS_AND_SCALE = [
    # split_heads
    Misconception(
        exercise="split-heads",
        name="splits by a plain view",
        edit=(
            """x = x.view(B, L, n_heads, D // n_heads)    # (B, L, H, D/H)
    return x.transpose(1, 2)""",
            "return x.reshape(B, n_heads, L, D // n_heads)",
        ),
        say="The shape is right and the words are cut apart: your first head holds all features of the first words "
        "and nothing of the last. A view moves no number; follow one number of the last word to see where it went.",
    ),
    Misconception(
        exercise="split-heads",
        name="deals the features out in turn instead of in blocks",
        edit=(
            """x = x.view(B, L, n_heads, D // n_heads)    # (B, L, H, D/H)
    return x.transpose(1, 2)""",
            "return x.reshape(B, L, D // n_heads, n_heads).permute(0, 3, 1, 2)",
        ),
        say="Your heads get every H-th feature, like cards dealt in turn. Each head should get a block of "
        "neighbours: "
        "head 0 the first D/H features.",
    ),
    Misconception(
        exercise="split-heads",
        name="leaves the words before the heads",
        edit=("return x.transpose(1, 2)", "return x"),
        say="The features are cut, but the axes stand in the order words, heads. "
        "The head has to come first, so that each head has a whole sentence of its own.",
    ),
    Misconception(
        exercise="split-heads",
        name="takes the number of heads for the width of a head",
        edit=("x.view(B, L, n_heads, D // n_heads)", "x.view(B, L, D // n_heads, n_heads)"),
        say="With 3 heads of width 4 you make 4 heads of width 3. Where the two numbers are equal nobody notices.",
    ),
    Misconception(
        exercise="split-heads",
        name="exchanges words and features before viewing",
        edit=(
            "x = x.view(B, L, n_heads, D // n_heads) ",
            "x = x.transpose(1, 2).reshape(B, L, n_heads, D // n_heads) ",
        ),
        say="You exchange axes first and cut afterwards, so the cut goes through the wrong numbers: "
        "rows of a head mix features of several words. Cut the last axis before anything moves.",
    ),
    Misconception(
        exercise="split-heads",
        name="puts the features of a head before its words",
        edit=("return x.transpose(1, 2)", "return x.permute(0, 2, 3, 1)"),
        say="In your heads a row is a feature and a column is a word. A row should be a word.",
    ),
    Misconception(
        exercise="split-heads",
        name="puts the heads before the batch",
        edit=("return x.transpose(1, 2)", "return x.permute(2, 0, 1, 3)"),
        say="Your first axis counts the heads and your second the sentences. The batch stays in front.",
    ),
    Misconception(
        exercise="split-heads",
        name="fills a tensor of zeros, which has a dtype of its own",
        edit=(
            """x = x.view(B, L, n_heads, D // n_heads)    # (B, L, H, D/H)
    return x.transpose(1, 2)                   # (B, H, L, D/H)""",
            """out = torch.zeros(B, n_heads, L, D // n_heads)
    for h, block in enumerate(x.chunk(n_heads, -1)):
        out[:, h] = block
    return out""",
        ),
        say="float64 numbers leave as float32: torch.zeros makes float32 unless it is told another dtype.",
    ),
    # combine_heads
    Misconception(
        exercise="combine-heads",
        name="combines without moving the words back before the heads",
        edit=(
            """x = x.transpose(1, 2)    # (B, L, H, D/H)
    return x.flatten(2)""",
            "return x.reshape(x.size(0), x.size(2), -1)",
        ),
        say="A row of your result holds parts of several words. "
        "Before blocks are joined, the heads of one word must lie side by side.",
    ),
    Misconception(
        exercise="combine-heads",
        name="shuffles the features of the heads together",
        edit=("x = x.transpose(1, 2) ", "x = x.permute(0, 2, 3, 1) "),
        say="You take one feature of each head in turn. Each head's block should stay together: "
        "first all of head 0, then all of head 1.",
    ),
    Misconception(
        exercise="combine-heads",
        name="sums over the heads",
        edit=("return x.flatten(2)", "return x.sum(2)"),
        say="Your result is as wide as one head: the heads were added up. They are put side by side, and "
        "nothing is lost.",
    ),
    Misconception(
        exercise="combine-heads",
        name="averages over the heads",
        edit=("return x.flatten(2)", "return x.mean(2)"),
        say="Your result is as wide as one head: the heads were averaged. They are put side by side, and "
        "nothing is lost.",
    ),
    Misconception(
        exercise="combine-heads",
        name="puts the heads one below the other",
        edit=(
            """x = x.transpose(1, 2)    # (B, L, H, D/H)
    return x.flatten(2)""",
            "return x.flatten(1, 2)",
        ),
        say="Your result has H times as many words as the sentence. The heads of a word belong beside each other.",
    ),
    Misconception(
        exercise="combine-heads",
        name="joins the heads in reverse order",
        edit=("return x.flatten(2)", "return x.flip(2).flatten(2)"),
        say="The blocks are whole, but the last head stands first. What went out as the first features must "
        "come back first.",
    ),
    Misconception(
        exercise="combine-heads",
        name="exchanges words and features instead of words and heads",
        edit=("x.transpose(1, 2) ", "x.transpose(2, 3).reshape(x.size(0), x.size(2), x.size(1), x.size(3)) "),
        say="The axes that change places are not words and features. Which two stood exchanged after the split?",
    ),
    Misconception(
        exercise="combine-heads",
        name="fills a tensor of zeros, which has a dtype of its own",
        edit=(
            """x = x.transpose(1, 2)    # (B, L, H, D/H)
    return x.flatten(2)      # (B, L, D)""",
            """B, H, L, width = x.shape
    out = torch.zeros(B, L, H * width)
    for h in range(H):
        out[..., h * width : (h + 1) * width] = x[:, h]
    return out""",
        ),
        say="float64 numbers leave as float32: torch.zeros makes float32 unless it is told another dtype.",
    ),
    # add_mask
    Misconception(
        exercise="add-mask",
        name="hides where the mask is zero",
        edit=("hidden = mask != 0", "hidden = mask == 0"),
        say="You hide the words and show the padding: in this course nonzero in a mask hides.",
    ),
    Misconception(
        exercise="add-mask",
        name="adds the mask of zeros and ones to the scores",
        edit=("return x.masked_fill(hidden, -math.inf)", "return x + hidden.to(x.dtype)"),
        say="Adding 1 to a hidden score raises it: the padding now gets more weight than before.",
    ),
    Misconception(
        exercise="add-mask",
        name="adds the mask times minus infinity",
        edit=("return x.masked_fill(hidden, -math.inf)", "return x + hidden.to(x.dtype) * -math.inf"),
        say="Zero times infinity is not zero but nan, so every visible score is lost. Put the value in, or choose it.",
    ),
    Misconception(
        exercise="add-mask",
        name="multiplies the scores by zero where they are hidden",
        edit=("return x.masked_fill(hidden, -math.inf)", "return x * ~hidden"),
        say="A hidden score of zero still has a weight, because e to the 0 is 1. "
        "With low visible scores it even has the largest.",
    ),
    Misconception(
        exercise="add-mask",
        name="fills hidden places with -100",
        edit=("-math.inf)", "-1e2)"),
        say="-100 hides only as long as the visible scores are far above it. The exercise asks for "
        "something lower than any score.",
    ),
    Misconception(
        exercise="add-mask",
        name="fills hidden places with zero",
        edit=("-math.inf)", "0.0)"),
        say="A score of zero is not a weight of zero: the softmax makes e to the 0, that is 1, out of it.",
    ),
    Misconception(
        exercise="add-mask",
        name="fills hidden places with 1e-9, which is nearly zero and not very low",
        edit=("-math.inf)", "1e-9)"),
        say="1e-9 is a tiny number just above zero. What hides a score must be lower than every other score.",
    ),
    Misconception(
        exercise="add-mask",
        name="writes into the scores it was given",
        edit=("x.masked_fill(", "x.masked_fill_("),
        say="After the call the caller's own scores have changed. They may be needed again: return a new tensor.",
    ),
    Misconception(
        exercise="add-mask",
        name="lays the mask (B, L) along queries and keys",
        edit=("hidden[:, None, None, :]", "hidden"),
        say="Broadcasting starts at the last axis, so your mask (B, L) was taken as (T, L): each sentence's "
        "mask went to one "
        "query of all sentences. It stays silent only where B equals T or 1.",
    ),
    Misconception(
        exercise="add-mask",
        name="lays the batch of the mask along the heads",
        edit=("hidden[:, None, None, :]", "hidden[:, None, :]"),
        say="Your mask became (B, 1, L), and broadcasting took B for the heads: a mask belongs to a "
        "sentence, not to a head.",
    ),
    Misconception(
        exercise="add-mask",
        name="hides the rows of queries instead of the columns of keys",
        edit=("hidden[:, None, None, :]", "hidden[:, None, :, None]"),
        say="You took away the questions of the padding, and everybody else still looks at it. "
        "Besides, a whole row of minus infinity becomes nan.",
    ),
    Misconception(
        exercise="add-mask",
        name="takes zeros among the scores for hidden places",
        edit=("x.masked_fill(hidden, -math.inf)", "(x * ~hidden).masked_fill(x * ~hidden == 0, -math.inf)"),
        say="A visible word may well score exactly 0, and you hid it. What is hidden stands in the mask alone.",
    ),
    Misconception(
        exercise="add-mask",
        name="returns None when there is no mask",
        edit=("return x\n", "return\n"),
        say="Without a mask your function returns None, and the next line fails far from the cause. "
        "Every way through it has to return scores.",
    ),
    Misconception(
        exercise="add-mask",
        name="counts only ones as hidden",
        edit=("mask != 0", "mask == 1"),
        say="Nonzero hides, not only 1: a mask may hold any number.",
    ),
    Misconception(
        exercise="add-mask",
        name="counts only positive numbers as hidden",
        edit=("mask != 0", "mask > 0"),
        say="A mask of -1 hides as well: nonzero means larger than zero or smaller.",
    ),
    Misconception(
        exercise="add-mask",
        name="rounds a float mask down to whole numbers",
        edit=("mask != 0", "mask.long() != 0"),
        say="A mask of 0.5 hides as well, but made into a whole number it is 0. Compare before you convert.",
    ),
    Misconception(
        exercise="add-mask",
        name="treats scores (B, L) as if they had heads",
        edit=("if x.dim() == 4:", "if x.dim() >= 2:"),
        say="For one query the scores are (B, L), and yours come back with four axes: such a mask needs no new axes.",
    ),
    Misconception(
        exercise="add-mask",
        name="leaves scores (B, L) unmasked",
        edit=(
            "return x.masked_fill(hidden, -math.inf)",
            "return x.masked_fill(hidden, -math.inf) if x.dim() == 4 else x",
        ),
        say="Scores with heads are masked, but the scores (B, L) of a single query come back as they were.",
    ),
    Misconception(
        exercise="add-mask",
        name="cuts the scores off from the gradient",
        edit=("x.masked_fill(", "x.detach().masked_fill("),
        say="All values are right, but no gradient gets through: detach, .data and numpy cut the way to the scores.",
    ),
    Misconception(
        exercise="add-mask",
        name="writes ones into the caller's mask",
        edit=("hidden = mask != 0 ", "mask[mask != 0] = 1\n    hidden = mask == 1 "),
        say="After the call the caller's mask has other numbers. Compare it with 0, and write into nothing.",
    ),
    # ScaledDotProductAttention
    Misconception(
        exercise="scaled-dot-product-attention",
        name="leaves the work to torch's attention",
        edit=(
            "score = Q @ K.transpose(-2, -1) / self.scale",
            "keep = None if mask is None else (mask == 0)[:, None, None]\n"
            "        one_hot = torch.eye(K.size(-2), dtype=V.dtype).expand(*K.shape[:2], -1, -1)\n"
            "        att = F.scaled_dot_product_attention(Q, K, one_hot, attn_mask=keep, scale=1 / self.scale)\n"
            "        att = att if self.dropout is None else self.dropout(att)\n"
            "        return att @ V, att\n"
            "        score = Q @ K.transpose(-2, -1) / self.scale",
        ),
        say=HANDED_OVER,
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="does not scale",
        edit=(" / self.scale", ""),
        say="Your weights are sharper than they should be: the scores were not divided by the scale.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="multiplies by the scale",
        edit=(" / self.scale", " * self.scale"),
        say="A larger scale makes your weights sharper. It should make them more even.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="divides by the root of the scale",
        edit=(" / self.scale", " / self.scale**0.5"),
        say="The scale is already a root when it arrives. It is used as it is given.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="divides by the root of the width of a head, whatever the scale",
        edit=(" / self.scale", " / Q.size(-1)**0.5"),
        say="Your weights do not depend on the scale the layer was made with. It was given one: the width "
        "is only the usual choice.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="divides by the root of the model width",
        edit=(" / self.scale", " / (Q.size(1) * Q.size(-1))**0.5"),
        say="You divide by the root of all features together. The dot product is taken inside one head, "
        "and the number to divide by was given.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="divides the weights instead of the scores by the scale",
        edit=(
            """ / self.scale    # (B, H, T, L)
        att = add_mask(score, mask).softmax(-1)""",
            """    # (B, H, T, L)
        att = add_mask(score, mask).softmax(-1) / self.scale""",
        ),
        say="The weights of a query do not sum to 1. The scale belongs to the scores, before the softmax.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="takes the softmax over the queries",
        edit=("softmax(-1)", "softmax(-2)"),
        say="Your weights sum to 1 over the queries. Each query shares out its attention among the keys, "
        "the last axis.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="takes the softmax over the heads",
        edit=("softmax(-1)", "softmax(1)"),
        say="Your weights sum to 1 over the heads, so the heads compete. Each head does its attention by itself.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="takes the softmax over the batch",
        edit=("softmax(-1)", "softmax(0)"),
        say="Your weights sum to 1 over the sentences of the batch, which have nothing to do with each other.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="computes the softmax without subtracting the maximum",
        edit=(
            "att = add_mask(score, mask).softmax(-1)",
            """att = add_mask(score, mask).exp()
        att = att / att.sum(-1, keepdim=True)""",
        ),
        say="e to the 90 no longer fits into a float32, and infinity divided by infinity is nan. "
        "A softmax does not change when one number is taken off all scores of a row.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="ignores the mask",
        edit=("add_mask(score, mask)", "score"),
        say="Hidden keys have the same weight as without a mask: it never reaches the scores.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="sets hidden weights to zero after the softmax",
        edit=(
            "add_mask(score, mask).softmax(-1)",
            "score.softmax(-1) if mask is None else score.softmax(-1) * (mask == 0)[:, None, None]",
        ),
        say="Hidden keys have no weight, but the others do not sum to 1: the hidden ones had a share in the softmax.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="masks the weights with minus infinity after the softmax",
        edit=("add_mask(score, mask).softmax(-1)", "add_mask(score.softmax(-1), mask)"),
        say="There is minus infinity among your weights. It is a score that a softmax turns into 0, so it "
        "must come before it.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="inverts the mask",
        edit=("add_mask(score, mask)", "add_mask(score, None if mask is None else mask == 0)"),
        say="The padding has all the weight and the words have none: nonzero in the mask hides.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="lays the mask (B, L) along queries and keys",
        edit=("add_mask(score, mask)", "(score if mask is None else score.masked_fill(mask != 0, -math.inf))"),
        say="Broadcasting took your mask (B, L) as (T, L): each sentence's mask went to one query of all sentences.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="hides the queries of padding instead of the keys",
        edit=(
            "add_mask(score, mask)",
            "(score if mask is None else score.masked_fill((mask != 0)[:, None, :, None], -math.inf))",
        ),
        say="The rows of padding are nan and its columns still have weight. Hidden keys are columns, for every query.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="ignores dropout",
        edit=("self.dropout = None if dropout is None else nn.Dropout(dropout)", "self.dropout = None"),
        say="In training nothing is ever dropped: two calls give the same, and no weight is zero.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="takes dropout None for the usual one half",
        edit=("None if dropout is None else nn.Dropout(dropout)", "nn.Dropout(0.5 if dropout is None else dropout)"),
        say="None means no dropout, and half of your weights vanish in training.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="drops weights in evaluation too",
        edit=("att = self.dropout(att)", "att = F.dropout(att, self.dropout.p)"),
        say="After eval() two calls still differ. The function F.dropout does not know the mode of your "
        "layer by itself.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="does not rescale the weights that dropout leaves",
        edit=("att = self.dropout(att)", "att = self.dropout(att) * ((1 - self.dropout.p) if self.training else 1)"),
        say="The weights that stay have the size they had. They must make up for the missing ones, "
        "or evaluation sees larger sums than training did.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="divides the weights that dropout leaves by p",
        edit=(
            "att = self.dropout(att)",
            "att = self.dropout(att) * ((1 - self.dropout.p) / self.dropout.p if self.training else 1)",
        ),
        say="You divide what stays by the share that goes. At p = 0.5 both are alike; try p = 0.25.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="takes dropout for the probability to keep a weight",
        edit=("nn.Dropout(dropout)", "nn.Dropout(1 - dropout)"),
        say="With dropout 0.25 three quarters of your weights are zero: it is the probability to drop, not to keep.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="drops out the context instead of the weights",
        edit=(
            """if self.dropout is not None:
            att = self.dropout(att)
        context = att @ V                               # (B, H, T, D/H)
""",
            """context = att @ V
        if self.dropout is not None:
            context = self.dropout(context)
""",
        ),
        say="Your weights have no zeros in training and your context has: dropout came after the product "
        "with the values.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="returns the weights from before dropout",
        edit=(
            """if self.dropout is not None:
            att = self.dropout(att)
        context = att @ V """,
            """context = (att if self.dropout is None else self.dropout(att)) @ V """,
        ),
        say="In training the weights you return did not make the context you return. Return the ones that were used.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="drops out the scores before the softmax",
        edit=(
            """att = add_mask(score, mask).softmax(-1)         # (B, H, T, L)
        if self.dropout is not None:
            att = self.dropout(att)
""",
            """if self.dropout is not None:
            score = self.dropout(score)
        att = add_mask(score, mask).softmax(-1)
""",
        ),
        say="None of your weights is zero in training: a score that dropout sets to 0 still gets a weight "
        "from the softmax.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="mixes the keys instead of the values",
        edit=("att @ V", "att @ K"),
        say="Your context does not depend on the values at all. Keys are for finding, values are for mixing.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="exchanges keys and values",
        edit=("score = Q @ ", "K, V = V, K\n        score = Q @ "),
        say="Queries are compared with the values and the keys are mixed: the two have changed places.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="divides the caller's queries in place",
        edit=(
            "score = Q @ K.transpose(-2, -1) / self.scale",
            "Q.data /= self.scale\n        score = Q @ K.transpose(-2, -1)",
        ),
        say="After the call the caller's queries are smaller, and a second call gives another answer.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="masks by itself and counts only ones as hidden",
        edit=(
            "add_mask(score, mask)",
            "(score if mask is None else score.masked_fill((mask == 1)[:, None, None], -math.inf))",
        ),
        say="Nonzero hides, not only 1. You have a function that knows this.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="masks by itself and fills with -1000",
        edit=(
            "add_mask(score, mask)",
            "(score if mask is None else score.masked_fill((mask != 0)[:, None, None], -1000.0))",
        ),
        say="Where all other scores are lower than -1000, your hidden key gets the weight. Only minus infinity "
        "is lower than every score.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="masks in evaluation only",
        edit=("add_mask(score, mask)", "add_mask(score, None if self.training else mask)"),
        say="In training your hidden keys have weights. Padding is no word there either: the mask holds in "
        "training, too.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="drops weights in place",
        edit=("nn.Dropout(dropout)", "nn.Dropout(dropout, inplace=True)"),
        say="In training backward fails: the softmax needs its weights once more, and dropout has written into them.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="detaches the weights before dropout",
        edit=("att = self.dropout(att)", "att = self.dropout(att.detach() if self.training else att)"),
        say="In evaluation gradients flow, in training they do not: the weights are cut off from queries and keys.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="drops the same weights in every head and sentence",
        edit=("att = self.dropout(att)", "att = att * self.dropout(torch.ones_like(att[0, 0]))"),
        say="One draw decides for all heads and all sentences. Each weight has a draw of its own.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="cuts large scores off",
        edit=("Q @ K.transpose(-2, -1) / self.scale", "(Q @ K.transpose(-2, -1) / self.scale).clamp(-50, 50)"),
        say="Two scores beyond your limit get the same weight, although they differ. A softmax can take any score "
        "once the largest is taken off.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="learns the scale",
        edit=("self.scale = scale", "self.scale = nn.Parameter(torch.tensor(float(scale)))"),
        say="Your scale is a parameter, and training would change it. It is a number that was given.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="returns the weights first",
        edit=("return context, att", "return att, context"),
        say="The context comes first and the weights second; yours are exchanged.",
    ),
    Misconception(
        exercise="scaled-dot-product-attention",
        name="reshapes with view, which wants one order in memory",
        edit=(
            "score = Q @ K.transpose(-2, -1) / self.scale",
            "flat = lambda x: x.view(-1, *x.shape[2:])\n"
            "        score = (flat(Q) @ flat(K).transpose(1, 2)).view(*Q.shape[:3], -1) / self.scale",
        ),
        say="view fails for heads as a transpose leaves them, and that is how they arrive in "
        "SelfAttention. The @ takes any number of batch dimensions as they are.",
    ),
]


# self-attention.ipynb, second half

SPLIT_Q = "split_heads(self.W_Q(x), self.n_heads)      # (B, H, L, D/H)"
SPLIT_K = "split_heads(self.W_K(x), self.n_heads)      # (B, H, L, D/H)"
SPLIT_V = "split_heads(self.W_V(x), self.n_heads)      # (B, H, L, D/H)"
PROJECTIONS = f"""Q = {SPLIT_Q}
        K = {SPLIT_K}
        V = {SPLIT_V}
"""
UNNORMED = "return self.layer_norm(x + self.dropout(heard))"
BY_HAND = """out = x + self.dropout(heard)
        centred = out - out.mean(-1, keepdim=True)
        return centred / {deviation} * self.layer_norm.weight + self.layer_norm.bias"""


def of_both(name: str, edit: tuple[str, str], say: str) -> list[Misconception]:
    """A mistake that can be made in either class, in lines that both references share."""
    return [
        Misconception(exercise=exercise, name=name, edit=edit, say=say)
        for exercise in ("self-attention", "simplified-self-attention")
    ]


SELF_ATTENTION = [
    Misconception(
        exercise="self-attention",
        name="splits before projecting, so each head is projected by its own block of the matrices only",
        edit=(
            PROJECTIONS,
            """heads = split_heads(x, self.n_heads)
        blocks = range(0, x.size(-1), x.size(-1) // self.n_heads)
        Q, K, V = (
            torch.stack([
                F.linear(heads[:, h], W.weight[at:at + heads.size(-1), at:at + heads.size(-1)],
                         W.bias[at:at + heads.size(-1)])
                for h, at in enumerate(blocks)
            ], dim=1)
            for W in (self.W_Q, self.W_K, self.W_V)
        )
""",
        ),
        say="Each of your heads asks with its own part of the word only. A projection sees the whole width, so that a "
        "head may look at any feature; handing out comes afterwards.",
    ),
    Misconception(
        exercise="self-attention",
        name="splits first, glues the heads back as if they were words, and projects that",
        edit=(
            PROJECTIONS,
            """heads = split_heads(x, self.n_heads).reshape(x.shape)
        Q = split_heads(self.W_Q(heads), self.n_heads)
        K = split_heads(self.W_K(heads), self.n_heads)
        V = split_heads(self.W_V(heads), self.n_heads)
""",
        ),
        say="What your matrices project is no longer a word: the features of several words stand in one row. Project "
        "the words as they come, and split the result.",
    ),
    Misconception(
        exercise="self-attention",
        name="uses W_Q for the keys as well",
        edit=("split_heads(self.W_K(x)", "split_heads(self.W_Q(x)"),
        say="Your scores are symmetric although there are projections, and W_K gets no gradient. How a word asks and "
        "how it is found are two different things.",
    ),
    Misconception(
        exercise="self-attention",
        name="uses the keys as values",
        edit=("split_heads(self.W_V(x)", "split_heads(self.W_K(x)"),
        say="What is mixed are the keys, and W_V gets no gradient. How a word is found and what it hands over are two "
        "different things.",
    ),
    Misconception(
        exercise="self-attention",
        name="exchanges queries and keys",
        edit=("self.attention(Q, K, V, mask)", "self.attention(K, Q, V, mask)"),
        say="In your layer the keys ask and the queries are found. The table of scores is that of the formula, turned "
        "about its diagonal: follow one word and see which matrix makes its question.",
    ),
    Misconception(
        exercise="self-attention",
        name="does not project the values",
        edit=("split_heads(self.W_V(x)", "split_heads((x)"),
        say="Your words hand over themselves: changing W_V changes nothing. The values have a matrix of their own.",
    ),
    Misconception(
        exercise="self-attention",
        name="does not hand the mask on to the attention",
        edit=("self.attention(Q, K, V, mask)", "self.attention(Q, K, V)"),
        say="What stands in the padding changes your visible words. The mask arrives in forward; who needs it?",
    ),
    Misconception(
        exercise="self-attention",
        name="zeroes the hidden words instead of hiding them from the softmax",
        edit=(
            "context, _ = self.attention(Q, K, V, mask)      # (B, H, L, D/H)",
            """if mask is not None:
            V = V * (mask == 0)[:, None, :, None]
        context, _ = self.attention(Q, K, V)""",
        ),
        say="The hidden words hand over nothing any more, but they still get a share of the weights, and the visible "
        "words are heard too softly. A weight becomes zero only before the softmax.",
    ),
    Misconception(
        exercise="self-attention",
        name="adds the residual to the context instead of the word",
        edit=(UNNORMED, "return self.layer_norm(combine_heads(context) + self.dropout(heard))"),
        say="You add fc's output to fc's own input. The shapes agree, but the word that came in is lost. What should "
        "a skip connection skip?",
    ),
    Misconception(
        exercise="self-attention",
        name="adds the residual to the values",
        edit=(UNNORMED, "return self.layer_norm(combine_heads(V) + self.dropout(heard))"),
        say="What you add is what the word hands over, not the word itself. The residual goes around the whole layer, "
        "around the projections too.",
    ),
    Misconception(
        exercise="self-attention",
        name="adds the residual to the queries",
        edit=(UNNORMED, "return self.layer_norm(combine_heads(Q) + self.dropout(heard))"),
        say="What you add is the question of the word, not the word itself. The residual goes around the whole layer, "
        "around the projections too.",
    ),
    Misconception(
        exercise="self-attention",
        name="norms first and adds what was not normed (pre-norm)",
        edit=(
            PROJECTIONS + "        context",
            """words, x = x, self.layer_norm(x)
        Q = split_heads(self.W_Q(x), self.n_heads)
        K = split_heads(self.W_K(x), self.n_heads)
        V = split_heads(self.W_V(x), self.n_heads)
        context, _ = self.attention(Q, K, V, mask)
        return words + self.dropout(self.fc(combine_heads(context)))
        context""",
        ),
        say="Your layer norms what goes in, and what comes out has any size. That is pre-norm, which exists; the "
        "formula of this exercise norms the sum.",
    ),
    Misconception(
        exercise="self-attention",
        name="takes the residual from the normalised input",
        edit=(
            PROJECTIONS + "        context",
            """x = self.layer_norm(x)
        Q = split_heads(self.W_Q(x), self.n_heads)
        K = split_heads(self.W_K(x), self.n_heads)
        V = split_heads(self.W_V(x), self.n_heads)
        return x + self.dropout(self.fc(combine_heads(self.attention(Q, K, V, mask)[0])))
        context""",
        ),
        say="The norm stands at the entrance, and even the way around the layer goes through it, so the word that came "
        "in is not what you add. Read the formula from inside to outside: which step is the last?",
    ),
    Misconception(
        exercise="self-attention",
        name="norms the input and the sum",
        edit=(
            PROJECTIONS,
            """x = self.layer_norm(x)
        Q = split_heads(self.W_Q(x), self.n_heads)
        K = split_heads(self.W_K(x), self.n_heads)
        V = split_heads(self.W_V(x), self.n_heads)
""",
        ),
        say="Your answer does not change when a word comes in twice as long: it was normed before anything else "
        "happened. The formula has one norm only.",
    ),
    Misconception(
        exercise="self-attention",
        name="passes the mask on the wrong way round",
        edit=("self.attention(Q, K, V, mask)", "self.attention(Q, K, V, None if mask is None else mask == 0)"),
        say="The padding is all that your words listen to. Nonzero hides, here as in the attention: nothing has to be "
        "turned round on the way.",
    ),
    Misconception(
        exercise="self-attention",
        name="uses one matrix for queries and keys",
        edit=("self.W_K = nn.Linear(dim, dim)", "self.W_K = self.W_Q"),
        say="W_Q and W_K are one and the same object with you, so they cannot learn different weights.",
    ),
    Misconception(
        exercise="self-attention",
        name="drops the values as well",
        edit=("split_heads(self.W_V(x), self.n_heads)", "self.dropout(split_heads(self.W_V(x), self.n_heads))"),
        say="In training numbers of the values are dropped before they are mixed. Dropout has two places: the "
        "weights, and what fc gives.",
    ),
    Misconception(
        exercise="self-attention",
        name="drops what goes into fc and not the weights",
        edit=(
            "heard = self.fc(combine_heads(context)) ",
            "if self.training:\n"
            "            self.attention.dropout = None\n"
            "            context = self.dropout(self.attention(Q, K, V, mask)[0])\n"
            "        heard = self.fc(combine_heads(context)) ",
        ),
        say="In training numbers of what a head has mixed are dropped, and no weight ever is. "
        "The first dropout acts on the attention weights.",
    ),
    Misconception(
        exercise="self-attention",
        name="drops the queries as well",
        edit=("split_heads(self.W_Q(x), self.n_heads)", "split_heads(self.dropout(self.W_Q(x)), self.n_heads)"),
        say="In training numbers of the queries are dropped, so words look where they should not. Dropout acts on the "
        "attention weights, and on what fc gives.",
    ),
    *of_both(
        "forgets fc",
        ("self.fc(combine_heads(context))", "combine_heads(context)"),
        "The heads stand side by side and are never mixed; fc gets no gradient. One more matrix comes before the sum.",
    ),
    *of_both(
        "forgets the residual",
        (UNNORMED, "return self.layer_norm(self.dropout(heard))"),
        "Only what was heard leaves your layer; the word itself is lost. Words that hear the same leave the same.",
    ),
    *of_both(
        "adds the word after the norm, x + LN(f(x))",
        (UNNORMED, "return x + self.layer_norm(self.dropout(heard))"),
        "The mean of what leaves is not zero: you normed what was heard and added the word afterwards. The norm is "
        "the last step.",
    ),
    *of_both(
        "forgets the norm",
        (UNNORMED, "return x + self.dropout(heard)"),
        "The sum leaves as it is, and layer_norm gets no gradient. After many layers the numbers would have any size.",
    ),
    *of_both(
        "scales by the root of the model width",
        ("math.sqrt(dim // n_heads)", "math.sqrt(dim)"),
        "Your weights are too even, unless there is one head only: a score is a sum over the features of one head. "
        "How many are these?",
    ),
    *of_both(
        "does not scale the scores",
        ("math.sqrt(dim // n_heads)", "1.0"),
        "Your weights are too sharp, except where a head is one number wide. By what are the scores divided?",
    ),
    *of_both(
        "scales by the width of a head, without the root",
        ("math.sqrt(dim // n_heads)", "dim // n_heads"),
        "Your weights are too even: you divide by the width of a head, but scores grow like something smaller.",
    ),
    *of_both(
        "scales by the root of the number of heads",
        ("math.sqrt(dim // n_heads)", "math.sqrt(n_heads)"),
        "You divide by the root of the number of heads. That is right only where a head has as many features as "
        "there are heads: it is its features that count.",
    ),
    *of_both(
        "drops after the sum, so the word itself is hit",
        (UNNORMED, "return self.layer_norm(self.dropout(x + heard))"),
        "In training whole numbers of the word vanish, not only of what was heard. Dropout stands before the sum, so "
        "that the way around stays clear.",
    ),
    *of_both(
        "drops the output of the norm",
        (UNNORMED, "return self.dropout(self.layer_norm(x + heard))"),
        "In training zeros leave your layer after the norm. Dropout belongs to what was heard, before the sum.",
    ),
    *of_both(
        "drops before fc instead of after it",
        (
            "heard = self.fc(combine_heads(context))",
            "heard = self.fc(self.dropout(combine_heads(context)))\n        return self.layer_norm(x + heard)",
        ),
        "In training you drop what goes into fc, not what comes out: the bias of fc is never dropped.",
    ),
    *of_both(
        "drops before fc and after it",
        ("self.fc(combine_heads(context))", "self.fc(self.dropout(combine_heads(context)))"),
        "In training what goes into fc is dropped, and what comes out of it, too. Dropout has two places: the weights, "
        "and what fc gives.",
    ),
    *of_both(
        "does not hand the dropout on to the attention",
        ("math.sqrt(dim // n_heads), dropout)", "math.sqrt(dim // n_heads), None)"),
        "In training your attention weights are never dropped. The one number dropout is needed in two places.",
    ),
    *of_both(
        "leaves the attention at its own default dropout",
        ("math.sqrt(dim // n_heads), dropout)", "math.sqrt(dim // n_heads))"),
        "With dropout=None two calls in training still differ: ScaledDotProductAttention has a default of its own, "
        "and it is not None.",
    ),
    *of_both(
        "makes the dropout layer and never uses it",
        (UNNORMED, "return self.layer_norm(x + heard)"),
        "In training the output of fc is never dropped. The dropout was made in the constructor; where is it called?",
    ),
    *of_both(
        "drops one half of what fc gives, whatever the probability",
        ("nn.Dropout(dropout)", "nn.Dropout()"),
        "Whatever dropout is, half of what fc gives is dropped: nn.Dropout() has a probability of its own.",
    ),
    *of_both(
        "takes dropout for the probability to keep",
        ("nn.Dropout(dropout)", "nn.Dropout(1 - dropout)"),
        "With dropout 0.2 most of what fc gives is dropped: it is the probability to drop, not to keep.",
    ),
    *of_both(
        "drops in evaluation, too",
        (UNNORMED, "p = getattr(self.dropout, 'p', 0.0)\n        return self.layer_norm(x + F.dropout(heard, p))"),
        "In eval two calls differ. F.dropout does not know whether your layer is training unless it is told.",
    ),
    *of_both(
        "norms by hand with the unbiased deviation",
        (UNNORMED, BY_HAND.format(deviation="(out.var(-1, keepdim=True) + self.layer_norm.eps).sqrt()")),
        "Everything is too small by one factor: your variance divides by D - 1. The variance of a layer norm divides "
        "by D.",
    ),
    *of_both(
        "norms by hand with epsilon outside the root",
        (
            UNNORMED,
            BY_HAND.format(deviation="(out.var(-1, keepdim=True, unbiased=False).sqrt() + self.layer_norm.eps)"),
        ),
        "You are off by a few millionths, and by much more for words of small numbers: epsilon is added to the "
        "variance, not to its root.",
    ),
    *of_both(
        "norms over the words instead of the features",
        (
            UNNORMED,
            "out = (x + self.dropout(heard)).mT\n"
            "        return F.layer_norm(out, out.shape[-1:]).mT * self.layer_norm.weight + self.layer_norm.bias",
        ),
        "What one word leaves with depends on the size of the others, hidden ones included. Each word is normed by "
        "itself, over its features.",
    ),
    *of_both(
        "combines the heads by a plain reshape",
        ("combine_heads(context)", "context.reshape(x.shape)"),
        "Your rows hold one head of several words instead of all heads of one word. The axes have to be changed back "
        "before heads are joined.",
    ),
    *of_both(
        "interleaves the features of the heads",
        ("combine_heads(context)", "context.permute(0, 2, 3, 1).flatten(2)"),
        "The heads come out shuffled into each other, feature by feature. The block of head 0 comes first, as a whole.",
    ),
    *of_both(
        "ignores n_heads and uses one head",
        ("self.n_heads = n_heads", "self.n_heads = n_heads = 1"),
        "Whatever n_heads is, your answer is that of one head. Each head has a softmax of its own.",
    ),
    *of_both(
        "always uses eight heads",
        ("self.n_heads = n_heads", "self.n_heads = n_heads = 8"),
        "Your layer works for eight heads only. The number of heads is an argument.",
    ),
    *of_both(
        "accepts a width that the heads cannot share",
        ("if dim % n_heads != 0:", "if dim < n_heads:"),
        "SelfAttention(6, n_heads=4) is accepted, although four heads cannot share six features equally. Say so in "
        "the constructor.",
    ),
    *of_both(
        "accepts more heads than numbers",
        ("if dim % n_heads != 0:", "if n_heads < dim and dim % n_heads != 0:"),
        "More heads than features are accepted, such as 8 heads for 4 features: then a head has no feature at all. "
        "Look at the remainder, whichever is larger.",
    ),
    *of_both(
        "refuses with an assert, not with a ValueError",
        ("raise ValueError(", "raise AssertionError("),
        "A width that the heads cannot share is refused, but not with a ValueError. Python can be told to leave out "
        "asserts; who calls your class should be able to rely on the error.",
    ),
    *of_both(
        "hands on only the ones of the mask",
        ("mask) ", "None if mask is None else mask == 1) "),
        "Nonzero hides, not only 1: hand the mask on as it came.",
    ),
    *of_both(
        "rounds the mask to whole numbers before handing it on",
        ("mask) ", "None if mask is None else mask.long()) "),
        "A mask of 0.5 hides as well, but made into a whole number it is 0: hand the mask on as it came.",
    ),
    *of_both(
        "adds to x in place",
        (UNNORMED, "x += self.dropout(heard)\n        return self.layer_norm(x)"),
        "After the call the caller's x is another one: += writes into the tensor that was handed in.",
    ),
    *of_both(
        "returns the weights along with the words",
        (UNNORMED, "return self.layer_norm(x + self.dropout(heard)), _"),
        "You return two things. The specification asks for one tensor, (B, L, D), so that layers can be stacked.",
    ),
    Misconception(
        exercise="simplified-self-attention",
        name="keeps the three projections and uses them",
        edit=(
            "heads = split_heads(x, self.n_heads)                         # (B, H, L, D/H)\n"
            "        context, _ = self.attention(heads, heads, heads, mask)",
            "heads = self.n_heads\n"
            "        W_Q, W_K, W_V = (nn.Linear(x.size(-1), x.size(-1)).to(x) for _ in range(3))\n"
            "        context, _ = self.attention(split_heads(W_Q(x), heads), split_heads(W_K(x), heads), "
            "split_heads(W_V(x), heads), mask)",
        ),
        say="Your words are projected before they ask. What makes this layer simple is that the words themselves are "
        "queries, keys and values.",
    ),
    Misconception(
        exercise="simplified-self-attention",
        name="carries the projections along without using them",
        edit=(
            "self.fc = nn.Linear(dim, dim)",
            "self.fc = nn.Linear(dim, dim)\n"
            "        self.W_Q, self.W_K, self.W_V = (nn.Linear(dim, dim) for _ in range(3))",
        ),
        say="Three matrices are still among your parameters, and no gradient ever reaches them. If you inherit from "
        "SelfAttention: what does its constructor make?",
    ),
    Misconception(
        exercise="simplified-self-attention",
        name="projects the values with fc and leaves it out at the end",
        edit=(
            "self.attention(heads, heads, heads, mask)       # (B, H, L, D/H)\n"
            "        heard = self.fc(combine_heads(context))",
            "self.attention(heads, heads, split_heads(self.fc(x), self.n_heads), mask)\n"
            "        heard = combine_heads(context)",
        ),
        say="You project what is handed over. fc comes after the heads are joined, so that it can mix them.",
    ),
    Misconception(
        exercise="simplified-self-attention",
        name="still projects the values",
        edit=(
            "self.attention(heads, heads, heads, mask)",
            "self.attention(heads, heads, split_heads(self.fc(x), self.n_heads), mask)",
        ),
        say="Queries and keys are the words, but your values are not: they went through a matrix first.",
    ),
    Misconception(
        exercise="simplified-self-attention",
        name="does not hand the mask on to the attention",
        edit=("self.attention(heads, heads, heads, mask)", "self.attention(heads, heads, heads)"),
        say="What stands in the padding changes your visible words. The mask arrives in forward; who needs it?",
    ),
    Misconception(
        exercise="simplified-self-attention",
        name="uses x as one head, though the scale is that of several",
        edit=("split_heads(x, self.n_heads)", "split_heads(x, 1)"),
        say="All features are compared at once: your words have one head. The heads stay in the simplified version.",
    ),
    Misconception(
        exercise="simplified-self-attention",
        name="adds the residual to the context instead of the word",
        edit=(UNNORMED, "return self.layer_norm(combine_heads(context) + self.dropout(heard))"),
        say="You add fc's output to fc's own input. The shapes agree, but the word that came in is lost.",
    ),
    Misconception(
        exercise="simplified-self-attention",
        name="takes the residual from the normalised input",
        edit=("heads = split_heads", "x = self.layer_norm(x)\n        heads = split_heads"),
        say="Your answer does not change when a word comes in twice as long: it was normed before anything else "
        "happened. The formula has one norm only, and it comes last.",
    ),
    Misconception(
        exercise="simplified-self-attention",
        name="leaves the softmax out and mixes with the scores themselves",
        edit=(
            "context, _ = self.attention(heads, heads, heads, mask)       # (B, H, L, D/H)",
            "_ = heads @ heads.mT / heads.size(-1) ** 0.5\n"
            "        context = (_ if mask is None else _ * (mask == 0)[:, None, None]) @ heads",
        ),
        say="Your weights do not sum to 1. Only the projections go; the softmax stays.",
    ),
    Misconception(
        exercise="simplified-self-attention",
        name="sets what leaves the hidden places to zero",
        edit=(
            UNNORMED,
            "out = self.layer_norm(x + self.dropout(heard))\n"
            "        return out if mask is None else out.masked_fill((mask != 0).unsqueeze(-1), 0.0)",
        ),
        say="A hidden word leaves as zeros. The mask says whom nobody hears; such a word still hears the others.",
    ),
    Misconception(
        exercise="simplified-self-attention",
        name="drops the values as well",
        edit=("self.attention(heads, heads, heads, mask)", "self.attention(heads, heads, self.dropout(heads), mask)"),
        say="In training numbers of the values are dropped before they are mixed. Dropout has two places: the "
        "weights, and what fc gives.",
    ),
    Misconception(
        exercise="simplified-self-attention",
        name="drops what goes into fc and not the weights",
        edit=(
            "heard = self.fc(combine_heads(context)) ",
            "if self.training:\n"
            "            self.attention.dropout = None\n"
            "            context = self.dropout(self.attention(heads, heads, heads, mask)[0])\n"
            "        heard = self.fc(combine_heads(context)) ",
        ),
        say="In training numbers of what a head has mixed are dropped, and no weight ever is. "
        "The first dropout acts on the attention weights.",
    ),
]


# what-attention-learns.ipynb

INDEX_LOOKUP = [
    Misconception(
        exercise="index-lookup",
        name="ends in a softmax, so the logits are probabilities",
        edit=("return self.classifier(context), att", "return self.classifier(context).softmax(1), att"),
        say="Every row of your first output sums to 1. F.cross_entropy has a softmax of its own, and after two of them "
        "the loss of a perfect answer is still about 1.",
    ),
    Misconception(
        exercise="index-lookup",
        name="ends in a log-softmax",
        edit=("return self.classifier(context), att", "return self.classifier(context).log_softmax(1), att"),
        say="The exponentials of every row of your first output sum to 1: these are logarithms of probabilities. "
        "The docstring asks for the numbers before that.",
    ),
    Misconception(
        exercise="index-lookup",
        name="ends in a sigmoid",
        edit=("return self.classifier(context), att", "return self.classifier(context).sigmoid(), att"),
        say="Your logits lie between 0 and 1. F.cross_entropy has a softmax of its own; the last linear layer "
        "comes right before it.",
    ),
    Misconception(
        exercise="index-lookup",
        name="takes the softmax over the batch",
        edit=("scores.softmax(1)", "scores.softmax(0)"),
        say="Your weights sum to 1 over the sentences of the batch, and a sentence alone gets weight 1 everywhere. "
        "Which dimension holds the places?",
    ),
    Misconception(
        exercise="index-lookup",
        name="asks with a learned constant, whatever the index",
        edit=("self.places(index)", "self.places(torch.zeros_like(index))"),
        say="Ask the same sentences for another place: your weights do not move. The query must come from the index.",
    ),
    Misconception(
        exercise="index-lookup",
        name="embeds the index with the embedding of the symbols",
        edit=("self.places(index)", "self.embed(index)"),
        say="A place is not a symbol. With more places than symbols your model meets an index that its embedding "
        "does not have.",
    ),
    Misconception(
        exercise="index-lookup",
        name="classifies the last state instead of the context",
        edit=("self.classifier(context)", "self.classifier(states[:, -1])"),
        say="Your weights are right and unused: the asked place does not change the logits. What should the classifier "
        "see?",
    ),
    Misconception(
        exercise="index-lookup",
        name="classifies the query instead of the context",
        edit=("self.classifier(context)", "self.classifier(query)"),
        say="Change the symbols, and your logits stay the same: the classifier sees the question, not what was read.",
    ),
    Misconception(
        exercise="index-lookup",
        name="averages the states instead of weighing them",
        edit=("(att.unsqueeze(1) @ states).squeeze(1)", "states.mean(1)"),
        say="All places get the same say, whatever your weights are, so the asked place does not change the logits.",
    ),
    Misconception(
        exercise="index-lookup",
        name="adds up the weighted states over the batch",
        edit=("(att.unsqueeze(1) @ states).squeeze(1)", "torch.einsum('bl,cld->bd', att, states)"),
        say="A sentence alone gets another answer than in a batch: each weighted sum goes through the states of all "
        "sentences.",
    ),
    Misconception(
        exercise="index-lookup",
        name="lets the query of the first sentence ask for all",
        edit=(
            "(states @ query.unsqueeze(2)).squeeze(2)",
            "torch.tensordot(query, states, dims=([1], [2]))[0]",
        ),
        say="tensordot multiplies every query with every sentence, and you kept the first query only. The other "
        "sentences are asked for a place that nobody asked them for.",
    ),
    Misconception(
        exercise="index-lookup",
        name="reshapes (B, L, 2D) as if it were (L, B, 2D)",
        edit=(
            "states, _ = self.reader(self.embed(symbols))",
            "states, _ = self.reader(self.embed(symbols))\n"
            "        states = states.reshape(states.size(1), states.size(0), -1).transpose(0, 1)",
        ),
        say="A reshape does not exchange dimensions, it counts the numbers anew: the states of different sentences are "
        "mixed. A sentence alone gets another answer than in a batch.",
    ),
    Misconception(
        exercise="index-lookup",
        name="forgets batch_first, so the layer reads across the batch",
        edit=("batch_first=True, ", ""),
        say="Without batch_first a recurrent layer takes the first dimension for time: it reads from sentence to "
        "sentence. The shapes are the same, and a sentence alone gets another answer than in a batch.",
    ),
    Misconception(
        exercise="index-lookup",
        name="squeezes without naming the dimension",
        edit=("(states @ query.unsqueeze(2)).squeeze(2)", "(states @ query.unsqueeze(2)).squeeze()"),
        say="squeeze() removes every dimension of size 1, also a batch of one sentence.",
    ),
    Misconception(
        exercise="index-lookup",
        name="takes the exponential of the scores and does not divide by their sum",
        edit=("scores.softmax(1)", "scores.exp()"),
        say="Your weights are positive, but the weights of a sentence do not sum to 1.",
    ),
    Misconception(
        exercise="index-lookup",
        name="uses a sigmoid for each place instead of a softmax over the places",
        edit=("scores.softmax(1)", "scores.sigmoid()"),
        say="Each of your weights lies between 0 and 1, but together they do not sum to 1: the places do not compete.",
    ),
    Misconception(
        exercise="index-lookup",
        name="takes the softmax of the softmax",
        edit=("scores.softmax(1)", "scores.softmax(1).softmax(1)"),
        say="Your weights never become clear: after a second softmax one weight is at most e times another. One "
        "softmax is enough.",
    ),
    Misconception(
        exercise="index-lookup",
        name="returns the scores instead of the weights",
        edit=("return self.classifier(context), att", "return self.classifier(context), scores"),
        say="The second output has negative numbers and does not sum to 1: these are the scores, before the softmax.",
    ),
    Misconception(
        exercise="index-lookup",
        name="picks the place with the largest score",
        edit=("scores.softmax(1)", "F.one_hot(scores.argmax(1), scores.size(1)).to(scores.dtype)"),
        say="Taking the largest score has no gradient: nothing tells the query where it should have looked.",
    ),
    Misconception(
        exercise="index-lookup",
        name="detaches the weights before the weighted sum",
        edit=("(att.unsqueeze(1) @ states)", "(att.detach().unsqueeze(1) @ states)"),
        say="The layers that make the query get no gradient: the way from them to the loss is cut at the weights.",
    ),
    Misconception(
        exercise="index-lookup",
        name="compares the query with the places, never with the states",
        edit=(
            "(states @ query.unsqueeze(2)).squeeze(2)",
            "(query @ self.to_query(self.places.weight).T)[:, : symbols.size(1)]",
        ),
        say="Your weights are the same for every sentence: they come from the index alone. A score compares the query "
        "with a state.",
    ),
    Misconception(
        exercise="index-lookup",
        name="has no recurrent layer",
        edit=(
            "nn.GRU(dim, dim, batch_first=True, bidirectional=True)",
            "lambda x: (torch.cat([x + self.places.weight] * 2, -1), None)",
        ),
        say="Your vectors know their own symbol and their place, and nothing of their neighbours: nobody has read the "
        "sentence. The exercise asks for the states of an LSTM or a GRU.",
    ),
    Misconception(
        exercise="index-lookup",
        name="takes 32 for the width, whatever dim says",
        edit=("super().__init__()\n", "super().__init__()\n        dim = 32\n"),
        say="Your model has the same size for every dim.",
    ),
    Misconception(
        exercise="index-lookup",
        name="reads the sentence from its end and never turns the states round",
        edit=("self.embed(symbols)", "self.embed(symbols.flip(1))"),
        say="Your states stand in the opposite order of the symbols, so your first weight belongs to the last place. A "
        "bidirectional layer turns its second direction back by itself.",
    ),
    Misconception(
        exercise="index-lookup",
        name="returns the weights in the opposite order",
        edit=("return self.classifier(context), att", "return self.classifier(context), att.flip(1)"),
        say="The logits are right, but the weights that you return are turned round: the first belongs to the last "
        "place. Return them in the order in which they met the states.",
    ),
    Misconception(
        exercise="index-lookup",
        name="keeps the recurrent layer in a plain list",
        edit=(
            "self.reader = nn.GRU(dim, dim, batch_first=True, bidirectional=True)",
            "self.layers = [nn.GRU(dim, dim, batch_first=True, bidirectional=True)]\n"
            "        self.reader = lambda x: self.layers[0](x)",
        ),
        say="A plain list hides your recurrent layer from torch: the state_dict does not hold its weights, and the "
        "optimiser never changes them. nn.ModuleList shows what is in it.",
    ),
]


MISCONCEPTIONS = [*VANILLA, *HEADS_MASKS_AND_SCALE, *SELF_ATTENTION, *INDEX_LOOKUP]
