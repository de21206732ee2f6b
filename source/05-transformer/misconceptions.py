"""The mistakes people make in assignment 05, each as an edit of the reference and a word to who made it."""

from course.misconceptions import Misconception

# positions-and-blocks.ipynb

PLACES_ANGLE = "angle = place / 10000 ** (even / width)"
PLACES_SINE = "table[:, 0::2] = angle.sin()"
PLACES_COSINE = "table[:, 1::2] = angle.cos()[:, : width // 2]"
PLACES_BOTH = PLACES_SINE + "\n    " + PLACES_COSINE

PLACES = [
    Misconception(
        exercise="positional-encoding",
        name="multiplies by the power of 10000 where the formula divides",
        edit=(PLACES_ANGLE, "angle = place * 10000 ** (even / width)"),
        say="Your hands become faster and faster. Each hand of this clock is slower than the one before.",
    ),
    Misconception(
        exercise="positional-encoding",
        name="doubles the exponent",
        edit=("(even / width)", "(2 * even / width)"),
        say="Your exponent is twice too large: the numbers 0, 2, 4, ... are the values of 2i already, "
        "and you doubled them once more.",
    ),
    Misconception(
        exercise="positional-encoding",
        name="takes i/D for the exponent, not 2i/D",
        edit=("(even / width)", "(even / 2 / width)"),
        say="Your slowest hand is a hundred times too fast. The exponent has 2i over the width, and you have i.",
    ),
    Misconception(
        exercise="positional-encoding",
        name="exchanges sine and cosine",
        edit=(
            PLACES_BOTH,
            "table[:, 0::2] = angle.cos()\n    table[:, 1::2] = angle.sin()[:, : width // 2]",
        ),
        say="Place 0 of yours reads 1 0 1 0. Even features are sines, odd features are cosines.",
    ),
    Misconception(
        exercise="positional-encoding",
        name="puts all sines first and then all cosines",
        edit=(
            PLACES_BOTH,
            "hands = angle.size(1)\n    table[:, :hands] = angle.sin()\n"
            "    table[:, hands:] = angle.cos()[:, : width // 2]",
        ),
        say="Your sines fill the left half and your cosines the right one. The two numbers of a hand are neighbours.",
    ),
    Misconception(
        exercise="positional-encoding",
        name="gives the cosine of a hand another speed than its sine",
        edit=(
            PLACES_BOTH,
            "every = place / 10000 ** (torch.arange(width) / width)\n"
            "    table[:, 0::2] = every[:, 0::2].sin()\n    table[:, 1::2] = every[:, 1::2].cos()",
        ),
        say="Each of your features has a speed of its own. Sine and cosine of one hand share their angle; "
        "only then is a step of k places a turn.",
    ),
    Misconception(
        exercise="positional-encoding",
        name="counts places from 1",
        edit=("torch.arange(length).unsqueeze(1)", "torch.arange(1, length + 1).unsqueeze(1)"),
        say="Your first row is that of place 1. The first word stands at place 0, where all hands point up.",
    ),
    Misconception(
        exercise="positional-encoding",
        name="counts hands from 1",
        edit=("(even / width)", "((even + 2) / width)"),
        say="Your first hand is already a slow one. Hands are counted from 0, and hand 0 turns by 1 for each word.",
    ),
    Misconception(
        exercise="positional-encoding",
        name="takes another base than 10000",
        edit=("10000 **", "1000 **"),
        say="Your first hand is right and the others are too fast, by more and more. Look at the base of the power.",
    ),
    Misconception(
        exercise="positional-encoding",
        name="divides whole numbers and gives all hands one speed",
        edit=("(even / width)", "(even // width)"),
        say="All your hands turn at the same speed. What is 2 // 4?",
    ),
    Misconception(
        exercise="positional-encoding",
        name="takes shares of the length for places",
        edit=("torch.arange(length).unsqueeze(1)", "(torch.arange(length) / length).unsqueeze(1)"),
        say="The third word has another row in a long sentence than in a short one. "
        "Places are counted; they are not shares of the length.",
    ),
    Misconception(
        exercise="positional-encoding",
        name="rounds an odd width up in the exponent",
        edit=("(even / width)", "(even / (width + width % 2))"),
        say="Even widths are right. For an odd width you computed the table of the next even width and cut it: "
        "the exponent has the real width.",
    ),
    Misconception(
        exercise="positional-encoding",
        name="leaves the last feature of an odd width at zero",
        edit=(PLACES_SINE, "table[:, 0 : width - width % 2 : 2] = angle.sin()[:, : width // 2]"),
        say="For odd widths your last feature is 0 at every place. It is the sine of one more hand.",
    ),
    Misconception(
        exercise="positional-encoding",
        name="breaks at odd widths",
        edit=("angle.cos()[:, : width // 2]", "angle.cos()"),
        say="Even widths are right, odd ones raise an error: there is a cosine less than there are sines.",
    ),
    Misconception(
        exercise="positional-encoding",
        name="takes degrees for radians",
        edit=(PLACES_SINE, "angle = angle.deg2rad()\n    " + PLACES_SINE),
        say="Your hand 0 turns by one degree for a word. The angles of this formula are in radians.",
    ),
    Misconception(
        exercise="positional-encoding",
        name="has no more than 1024 places",
        edit=("return table", "return table[:1024]"),
        say="You end at 1024 places, whatever is asked for. The formula knows no last place: make as many rows as "
        "`length` says.",
    ),
    Misconception(
        exercise="positional-encoding",
        name="makes a table of 5000 places, and no more",
        edit=(
            "place = torch.arange(length).unsqueeze(1)          # (L, 1)\n",
            "place = torch.arange(5000).unsqueeze(1)[:length]\n    length = len(place)\n",
        ),
        say="A sentence of 6000 words gets 5000 rows. There is no longest sentence: the table is as long "
        "as it is asked to be.",
    ),
    Misconception(
        exercise="add-positions",
        name="counts the sentences of the batch instead of the words",
        edit=(
            "places = positional_encoding(x.size(1), x.size(2))",
            "places = positional_encoding(x.size(0), x.size(2)).unsqueeze(1)",
        ),
        say="All words of a sentence get the same row, and each sentence another one: "
        "you counted along the batch. Which axis holds the words?",
    ),
    Misconception(
        exercise="add-positions",
        name="goes on counting from sentence to sentence",
        edit=(
            "places = positional_encoding(x.size(1), x.size(2))",
            "places = positional_encoding(x.size(0) * x.size(1), x.size(2)).view(x.shape)",
        ),
        say="Your second sentence starts where the first one ended. Each sentence begins at place 0.",
    ),
    Misconception(
        exercise="add-positions",
        name="multiplies the words by their places",
        edit=("x + places.to(x)", "x * places.to(x)"),
        say="A word of zeros stays zero with you, wherever it stands. The row of the place is added.",
    ),
    Misconception(
        exercise="add-positions",
        name="puts the place beside the word",
        edit=("x + places.to(x)", "torch.cat([x, places.to(x).expand_as(x)], -1)"),
        say="Your words have become twice as wide: the place stands beside them. It is added to them.",
    ),
    Misconception(
        exercise="add-positions",
        name="returns the places without the words",
        edit=("x + places.to(x)", "places.to(x).expand_as(x)"),
        say="Your answer does not depend on the words at all.",
    ),
    Misconception(
        exercise="add-positions",
        name="writes into the caller's words",
        edit=("return x + places.to(x)", "x += places.to(x)\n    return x"),
        say="After the call the caller's words have changed: `+=` writes into the tensor it is given.",
    ),
    Misconception(
        exercise="add-positions",
        name="changes the precision of the words",
        edit=("x + places.to(x)", "x + places"),
        say="Words of half precision come back as float32: the table decides. The dtype of the words should.",
    ),
    Misconception(
        exercise="add-positions",
        name="adds in float32, whatever the words are",
        edit=("x + places.to(x)", "(x.float() + places.float()).to(x)"),
        say="The dtype is right, but words of float64 lose half of their digits on the way: you add in float32.",
    ),
    Misconception(
        exercise="add-positions",
        name="multiplies the words by the root of the width first",
        edit=("x + places.to(x)", "x * x.size(-1) ** 0.5 + places.to(x)"),
        say="Your words have become longer by the root of the width. The paper does this to its embeddings; "
        "this function only adds.",
    ),
    Misconception(
        exercise="add-positions",
        name="cuts the gradient to the words",
        edit=("x + places.to(x)", "x.detach() + places.to(x)"),
        say="The numbers are right, but no gradient comes back to the words. Only the table is constant.",
    ),
    Misconception(
        exercise="add-positions",
        name="counts the places from the end",
        edit=("x + places.to(x)", "x + places.flip(0).to(x)"),
        say="Your last word stands at place 0. Places are counted from the first word.",
    ),
    Misconception(
        exercise="add-positions",
        name="makes a table of twenty places, however long the sentences are",
        edit=("positional_encoding(x.size(1), x.size(2))", "positional_encoding(20, x.size(2))[: x.size(1)]"),
        say="Your table ends after twenty places. A longer sentence needs more: the words tell how many.",
    ),
]

HEADS_SPLIT = "x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)"
HEADS_MASK = "scores = scores.masked_fill(hidden.unsqueeze(1) != 0, -math.inf)"
HEADS_SOFTMAX = "weights = scores.softmax(-1)"
HEADS_COMBINE = "(weights @ V).transpose(1, 2).flatten(2)"
HEADS_RETURN = "return self.W_O(context), weights"
HEADS_THREE = "hidden = mask.unsqueeze(1) if mask.dim() == 2 else mask     # (B, 1, S) or (B, T, S)\n            "

HEADS = [
    Misconception(
        exercise="multi-head-attention",
        name="does not scale the scores",
        edit=(" / math.sqrt(Q.size(-1))", ""),
        say="Your weights are too sharp as soon as a head is wider than 1: the scores are not scaled.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="scales by the root of the whole width",
        edit=("math.sqrt(Q.size(-1))", "math.sqrt(query.size(-1))"),
        say="Your weights are too even: you divide by the root of D. A dot product in a head has D/H terms.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="scales without the root",
        edit=("math.sqrt(Q.size(-1))", "Q.size(-1)"),
        say="Your weights are too even: you divide by the width of a head, not by its root.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="multiplies by the root of the width of a head",
        edit=("K.mT / math", "K.mT * math"),
        say="Your weights are far too sharp: the root is multiplied instead of divided by.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="takes the softmax over the queries",
        edit=(HEADS_SOFTMAX, "weights = scores.softmax(-2)"),
        say="Your weights sum to 1 over the queries. Each query shares out its attention among the keys.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="takes the softmax over the heads",
        edit=(HEADS_SOFTMAX, "weights = scores.softmax(1)"),
        say="Your weights sum to 1 over the heads: they compete with one another. The keys of one query should.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="splits by a plain view",
        edit=(HEADS_SPLIT, "x.reshape(x.size(0), self.n_heads, x.size(1), -1)"),
        say="Your heads hold whole words instead of a part of each word: a view moves no number. "
        "Split the features first, then let two axes change places.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="deals the features out to the heads in turn",
        edit=(HEADS_SPLIT, "x.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)"),
        say="Your head 0 gets features 0, H, 2H, ... It should get the first D/H features, a block of neighbours.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="combines without moving the heads back",
        edit=(HEADS_COMBINE, "(weights @ V).reshape(query.shape)"),
        say="Your weights are right, and the output mixes up words and heads: before the heads are joined, "
        "each word must have its heads side by side.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="leaves out W_O",
        edit=(HEADS_RETURN, "return context, weights"),
        say="Your output does not change when W_O does. The heads lie side by side and were never mixed.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="adds a skip that is not asked for",
        edit=(HEADS_RETURN, "return query + self.W_O(context), weights"),
        say="You added the words that asked. The skip belongs to the layer around this one.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="asks its own sentence",
        edit=(
            "K = self._in_heads(self.W_K(key_value))                    # (B, H, S, D/H)\n"
            "        V = self._in_heads(self.W_V(key_value))",
            "K = self._in_heads(self.W_K(query))\n        V = self._in_heads(self.W_V(query))",
        ),
        say="key_value has no say in your answer: keys and values come from the words that ask.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="uses one matrix for keys and values",
        edit=("self.W_V(key_value)", "self.W_K(key_value)"),
        say="Your values change with W_K and not with W_V. How a word is found and what it hands over "
        "are two matrices.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="mixes the words instead of the values",
        edit=("self.W_V(key_value)", "key_value"),
        say="You mix the words as they came. What is mixed are the values, made by W_V.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="splits the words before projecting them",
        edit=(
            "Q = self._in_heads(self.W_Q(query))",
            "blocks = [slice(h * Q_, (h + 1) * Q_) for Q_ in [query.size(-1) // self.n_heads] "
            "for h in range(self.n_heads)]\n"
            "        Q = torch.stack([F.linear(query[..., b], self.W_Q.weight[b, b], self.W_Q.bias[b]) "
            "for b in blocks], 1)",
        ),
        say="Each of your heads asks with its own part of the word only. First project the whole word, then split.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="ignores the mask",
        edit=("if mask is not None:", "if False:"),
        say="With a mask and without one your answer is the same.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="inverts the mask",
        edit=("hidden.unsqueeze(1) != 0", "hidden.unsqueeze(1) == 0"),
        say="Your queries see what is hidden and nothing else. In this course nonzero hides.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="hides after the softmax",
        edit=(
            HEADS_MASK + "\n        " + HEADS_SOFTMAX,
            "pass\n        weights = scores.softmax(-1)\n        if mask is not None:\n"
            "            weights = weights.masked_fill(hidden.unsqueeze(1) != 0, 0.0)",
        ),
        say="Hidden keys have no weight, but the others do not sum to 1 any more: the mask came after the softmax.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="multiplies the scores by the mask",
        edit=(HEADS_MASK, "scores = scores * (hidden.unsqueeze(1) == 0)"),
        say="Your hidden keys have the score 0, and a score of 0 is a weight like any other.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="takes every score of zero for hidden",
        edit=(
            HEADS_MASK,
            "scores = scores * (hidden.unsqueeze(1) == 0)\n"
            "            scores = scores.masked_fill(scores == 0, -math.inf)",
        ),
        say="You hide whoever has the score 0. That can be a word that is simply not interesting.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="adds the mask to the scores",
        edit=(HEADS_MASK, "scores = scores + hidden.unsqueeze(1)"),
        say="You added the mask to the scores: hidden keys are heard better than before.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="fills with a number that is not small enough",
        edit=("!= 0, -math.inf)", "!= 0, -10.0)"),
        say="A hidden key still has a little weight, and all of it where the other scores are very low. "
        "Which number is lower than every score?",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="fills with -10000",
        edit=("!= 0, -math.inf)", "!= 0, -10000.0)"),
        say="Where all other scores are lower than -10000, your hidden key gets the weight. Only minus infinity "
        "is lower than every score.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="leaves a mask (B, S) to broadcasting",
        edit=(
            HEADS_THREE + HEADS_MASK,
            "hidden = mask if mask.dim() == 2 else mask.unsqueeze(1)     # (T, S) or (B, 1, T, S)\n"
            "            scores = scores.masked_fill(hidden != 0, -math.inf)",
        ),
        say="A mask (B, S) was taken for (T, S): query 0 got the mask of sentence 0, query 1 that of sentence 1. "
        "Say where the missing axes are.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="takes the first axis of a mask (B, T, S) for the heads",
        edit=(
            HEADS_THREE + HEADS_MASK,
            "hidden = mask[:, None, None] if mask.dim() == 2 else mask\n"
            "            scores = scores.masked_fill(hidden != 0, -math.inf)",
        ),
        say="A mask (B, T, S) was laid over the heads: head 0 got the mask of sentence 0. "
        "The axis of the heads is missing in it.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="hides in the first head only",
        edit=(
            HEADS_MASK,
            "scores = torch.cat([scores[:, :1].masked_fill(hidden.unsqueeze(1) != 0, -math.inf), scores[:, 1:]], 1)",
        ),
        say="Your first head obeys the mask, the others see everything.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="returns the weights averaged over the heads",
        edit=(HEADS_RETURN, "return self.W_O(context), weights.mean(1)"),
        say="You return one map of weights for each sentence. Each head has its own.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="returns the scores for the weights",
        edit=(HEADS_RETURN, "return self.W_O(context), scores"),
        say="The second thing you return does not sum to 1: these are the scores.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="accepts heads that cannot share the width",
        edit=("if dim % n_heads != 0:", "if dim < n_heads:"),
        say="4 heads on width 6: your constructor accepts it, and the trouble comes later. A ValueError says so early.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="asserts that heads can share the width, where a ValueError is asked for",
        edit=(
            'raise ValueError(f"n_heads must divide dim, for heads share the width: got {n_heads} and {dim}")',
            "assert dim % n_heads == 0",
        ),
        say="You refuse heads that cannot share the width, but with an AssertionError. A ValueError is asked for: "
        "asserts can be switched off.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="accepts more heads than numbers",
        edit=("if dim % n_heads != 0:", "if n_heads < dim and dim % n_heads != 0:"),
        say="8 heads on width 4: your constructor accepts it, and a head has no number at all. Look at the remainder, "
        "whichever is larger.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="hides only where the mask is 1",
        edit=("hidden.unsqueeze(1) != 0", "hidden.unsqueeze(1) == 1"),
        say="A mask of 2, -1 or 0.5 hides nothing in your layer. All that is not zero hides.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="adds a mask (B, T, S) of floats to the scores",
        edit=(
            HEADS_MASK,
            "added = mask.dim() == 3 and mask.is_floating_point()\n"
            "            scores = scores + hidden.unsqueeze(1) if added else "
            "scores.masked_fill(hidden.unsqueeze(1) != 0, -math.inf)",
        ),
        say="A mask (B, T, S) of floats is added to your scores, as torch does it. In this course a number that is not "
        "zero hides, whatever its dtype.",
    ),
    Misconception(
        exercise="multi-head-attention",
        name="cuts large scores off",
        edit=(
            "scores = Q @ K.mT / math.sqrt(Q.size(-1))",
            "scores = (Q @ K.mT / math.sqrt(Q.size(-1))).clamp(-80, 80)",
        ),
        say="Two scores that are very large weigh the same with you: you cut them off. A softmax takes any score.",
    ),
]

LAYER_POST = "x = self.norm1(x + heard(x))\n        return self.norm2(x + thought(x))"
LAYER_PRE = "x = x + heard(self.norm1(x))\n            return x + thought(self.norm2(x))"
LAYER_HEARD = "return self.dropout(self.attention(x, x, mask)[0])"
LAYER_THOUGHT = "return self.dropout(self.linear2(self.linear1(x).relu()))"

LAYER = [
    Misconception(
        exercise="encoder-layer",
        name="does post-norm whatever norm_first says",
        edit=("if self.norm_first:", "if False:"),
        say="norm_first=True and False give the same with you: both are post-norm.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="does pre-norm whatever norm_first says",
        edit=("if self.norm_first:", "if True:"),
        say="norm_first=True and False give the same with you: both are pre-norm.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="turns a mask for single queries round",
        edit=("(x, x, mask)", "(x, x, mask.mT if mask is not None and mask.dim() == 3 else mask)"),
        say="Your layer turns a mask (B, L, L) round before it hands it on. Row t says what word t must not hear: "
        "queries come first, as in the scores. Hand it on as it came.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="exchanges the two orders",
        edit=("if self.norm_first:", "if not self.norm_first:"),
        say="Both orders are right, and norm_first chooses the wrong one of them.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="post-norm: takes the norm before the sum",
        edit=(LAYER_POST, "x = x + self.norm1(heard(x))\n        return x + self.norm2(thought(x))"),
        say="Your post-norm is x + LN(f(x)): what was heard is normed alone, and the sum leaves as it is. "
        "First the sum, then the norm.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="post-norm: no skip around the attention",
        edit=("self.norm1(x + heard(x))", "self.norm1(heard(x))"),
        say="In post-norm the word itself is lost after the attention. What is added to what it heard?",
    ),
    Misconception(
        exercise="encoder-layer",
        name="post-norm: no skip around the feed-forward layer",
        edit=("self.norm2(x + thought(x))", "self.norm2(thought(x))"),
        say="In post-norm your second sub-layer has no skip.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="post-norm: the second skip comes from the input of the layer",
        edit=(LAYER_POST, "y = self.norm1(x + heard(x))\n        return self.norm2(x + thought(y))"),
        say="Your second skip goes back to the input of the layer and passes the attention by. "
        "It starts at the output of norm1.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="post-norm: the norm of x is added",
        edit=(LAYER_POST, "x = self.norm1(x) + heard(x)\n        return self.norm2(x) + thought(x)"),
        say="Your post-norm is LN(x) + f(x). The norm comes after the sum.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="post-norm: uses norm1 twice",
        edit=("self.norm2(x + thought(x))", "self.norm1(x + thought(x))"),
        say="norm2 has no effect in your post-norm: norm1 is used for both sub-layers.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="post-norm: leaves out norm1",
        edit=("x = self.norm1(x + heard(x))", "x = x + heard(x)"),
        say="norm1 has no effect in your post-norm. Each of the two sums gets a norm.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="pre-norm: the skips start after the norm",
        edit=(
            LAYER_PRE,
            "x = self.norm1(x)\n            x = x + heard(x)\n            x = self.norm2(x)\n"
            "            return x + thought(x)",
        ),
        say="In pre-norm your skips start after the norm: LN(x) + f(LN(x)). What is added is x itself.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="pre-norm: the first skip starts after the norm",
        edit=("x = x + heard(self.norm1(x))", "x = self.norm1(x)\n            x = x + heard(x)"),
        say="In pre-norm your first skip carries the normed word. It passes the norm by.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="pre-norm: the feed-forward layer is told x without a norm",
        edit=("thought(self.norm2(x))", "thought(x)"),
        say="norm2 has no effect in your pre-norm.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="pre-norm: uses norm1 twice",
        edit=("thought(self.norm2(x))", "thought(self.norm1(x))"),
        say="norm2 has no effect in your pre-norm: norm1 is used for both sub-layers.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="pre-norm: only the words that ask are normed",
        edit=(
            "x = x + heard(self.norm1(x))",
            "x = x + self.dropout(self.attention(self.norm1(x), x, mask)[0])",
        ),
        say="In pre-norm your queries are normed, and keys and values are not. Self-attention of LN(x) is meant.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="pre-norm: puts one more norm at the end of the layer",
        edit=("return x + thought(self.norm2(x))", "return self.norm2(x + thought(self.norm2(x)))"),
        say="Your pre-norm ends with a norm. That one comes once, after the last layer of a whole stack.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="pre-norm: both sub-layers work on the same x",
        edit=(LAYER_PRE, "return x + heard(self.norm1(x)) + thought(self.norm2(x))"),
        say="In pre-norm your feed-forward layer does not know what the attention brought: "
        "both work on the input. They come one after the other.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="leaves out the relu",
        edit=("self.linear1(x).relu()", "self.linear1(x)"),
        say="Nothing bends between linear1 and linear2: together they are one linear layer.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="puts the relu after linear2",
        edit=("self.linear2(self.linear1(x).relu())", "self.linear2(self.linear1(x)).relu()"),
        say="Your feed-forward layer can only add, never take away: the relu comes last. "
        "It belongs between the two linear layers.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="takes gelu for relu",
        edit=("self.linear1(x).relu()", "F.gelu(self.linear1(x))"),
        say="Close, but not it: small negative numbers leak through your bend. The formula has max(0, ·).",
    ),
    Misconception(
        exercise="encoder-layer",
        name="does not hand on the mask",
        edit=("self.attention(x, x, mask)[0]", "self.attention(x, x)[0]"),
        say="With a mask and without one your layer answers the same. Who gets the mask?",
    ),
    Misconception(
        exercise="encoder-layer",
        name="drops nothing of what the attention gives",
        edit=(LAYER_HEARD, "return self.attention(x, x, mask)[0]"),
        say="In training, what the attention gives is never dropped.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="drops nothing of what the feed-forward layer gives",
        edit=(LAYER_THOUGHT, "return self.linear2(self.linear1(x).relu())"),
        say="In training, what the feed-forward layer gives is never dropped.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="drops in evaluation too",
        edit=(
            LAYER_THOUGHT,
            "return F.dropout(self.linear2(self.linear1(x).relu()), self.dropout.p)",
        ),
        say="In evaluation two calls of your layer differ: something is dropped. "
        "F.dropout does not know the mode of your module.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="drops with the probability of keeping",
        edit=("nn.Dropout(dropout)", "nn.Dropout(1 - dropout)"),
        say="You keep the share that should be dropped.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="drops without scaling what stays",
        edit=(
            LAYER_HEARD,
            "return self.dropout(self.attention(x, x, mask)[0]) * (1 - self.dropout.p if self.training else 1)",
        ),
        say="In training the sum of what was heard is smaller than in evaluation: what stays is divided by 1 - p.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="drops parts of the word on its skip",
        edit=(
            LAYER_POST,
            "x = self.norm1(self.dropout(x) + heard(x))\n        return self.norm2(x + thought(x))",
        ),
        say="In training the word itself has holes. Dropout acts on what a sub-layer gives, never on the skip.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="shares one norm between the two sub-layers",
        edit=("self.norm2 = nn.LayerNorm(dim)", "self.norm2 = self.norm1"),
        say="norm1 and norm2 are one and the same object with you, so they cannot learn different weights.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="drops between linear1 and linear2, too",
        edit=("self.linear2(self.linear1(x).relu())", "self.linear2(self.dropout(self.linear1(x).relu()))"),
        say="What the relu gives is dropped as well. torch does so, but the formulas have dropout only on what a "
        "sub-layer gives.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="drops what the attention is told, too",
        edit=(LAYER_HEARD, "x = self.dropout(x)\n            return self.dropout(self.attention(x, x, mask)[0])"),
        say="In training the words lose numbers before they come to the attention. Dropout acts only on what a "
        "sub-layer gives.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="drops what the feed-forward layer is told, too",
        edit=("self.linear1(x)", "self.linear1(self.dropout(x))"),
        say="In training numbers are dropped before linear1 sees them. Dropout acts only on what a sub-layer gives.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="post-norm: drops what the sub-layers are told, too",
        edit=(
            LAYER_POST,
            "x = self.norm1(x + heard(self.dropout(x)))\n        return self.norm2(x + thought(self.dropout(x)))",
        ),
        say="In training, with post-norm, the words lose numbers before the sub-layers hear them. Dropout acts only on "
        "what a sub-layer gives.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="drops whole words",
        edit=("nn.Dropout(dropout)", "nn.Dropout1d(dropout)"),
        say="In training a word loses all it has heard, or nothing of it. Each number is dropped by itself.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="hands on a mask that hides only where it was 1",
        edit=("self.attention(x, x, mask)", "self.attention(x, x, None if mask is None else mask == 1)"),
        say="Your attention understands any mask, but you hand on only its ones. All that is not zero hides.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="detaches what the feed-forward layer is told in pre-norm",
        edit=("return x + thought(self.norm2(x))", "return x + thought(self.norm2(x.detach()))"),
        say="The numbers are right, but in pre-norm no gradient goes back through the feed-forward layer: the skip "
        "alone carries it.",
    ),
    Misconception(
        exercise="encoder-layer",
        name="gives the norms an epsilon of their own",
        edit=(
            "self.norm1 = nn.LayerNorm(dim)\n        self.norm2 = nn.LayerNorm(dim)",
            "self.norm1 = nn.LayerNorm(dim, eps=1e-6)\n        self.norm2 = nn.LayerNorm(dim, eps=1e-6)",
        ),
        say="Your last digits are not those of torch: you changed the small number that a norm adds below its root.",
    ),
]

IN_POSITIONS_AND_BLOCKS = [*PLACES, *HEADS, *LAYER]


# transformer.ipynb

TRANSFORMER_SQUARE = "torch.ones(length, length, dtype=torch.bool).triu(1)"
TRANSFORMER_HEARD = "self.self_attn(x, x, x, attn_mask=future, key_padding_mask=padding)"
TRANSFORMER_READ = "self.multihead_attn(a, memory, memory, key_padding_mask=memory_padding)"
TRANSFORMER_A = "self.norm1(x + self.dropout(heard))"
TRANSFORMER_B = "self.norm2(a + self.dropout(read))"
TRANSFORMER_Y = "self.norm3(b + self.dropout(thought))"
TRANSFORMER_ENCODED = "memory = layer(memory, src_key_padding_mask=no_source)"
TRANSFORMER_DECODED = "x = layer(x, memory, future, no_target, no_source)"
TRANSFORMER_PLACED = "self.dropout(self.embedding(words) + self.position(places))"

IN_TRANSFORMER = [
    Misconception(
        exercise="causal-mask",
        name="hides the diagonal, too",
        edit=(".triu(1)", ".triu(0)"),
        say="The first place sees nobody, not even itself, and its weights are nan. "
        "What stands at its own place is not the answer yet: remember the shift.",
    ),
    Misconception(
        exercise="causal-mask",
        name="lets each place see one place ahead",
        edit=(".triu(1)", ".triu(2)"),
        say="Each place sees one word of the future, and that word is exactly the answer. Count from the "
        "diagonal again.",
    ),
    Misconception(
        exercise="causal-mask",
        name="hides the past instead of the future",
        edit=(".triu(1)", ".tril(-1)"),
        say="Your triangle is flipped: the last place sees only itself, and the first sees everything. "
        "Rows ask, columns are asked.",
    ),
    Misconception(
        exercise="causal-mask",
        name="is True where something may be seen",
        edit=(".triu(1)", ".tril()"),
        say="You listed what may be seen. In this course, and in torch's attention, True hides.",
    ),
    Misconception(
        exercise="causal-mask",
        name="returns a mask of floats",
        edit=(".triu(1)", ".triu(1).float()"),
        say="The numbers are right, the dtype is not. torch's attention adds a mask of floats to the scores, "
        "so a 1 makes the future a bit louder.",
    ),
    Misconception(
        exercise="causal-mask",
        name="returns minus infinity and zeros to be added to the scores",
        edit=(TRANSFORMER_SQUARE, "torch.full((length, length), -torch.inf).triu(1)"),
        say="This is a mask to be added to scores. Here a mask says only yes or no: True hides, in dtype torch.bool.",
    ),
    Misconception(
        exercise="causal-mask",
        name="hides nothing",
        edit=("torch.ones(", "torch.zeros("),
        say="Nothing is True in your mask: the whole future is open, and the network can read its answers.",
    ),
    Misconception(
        exercise="causal-mask",
        name="hides everything but the place itself",
        edit=(TRANSFORMER_SQUARE, "~torch.eye(length, dtype=torch.bool)"),
        say="Each place sees only itself: the past is hidden as well, so nobody remembers anything.",
    ),
    Misconception(
        exercise="causal-mask",
        name="shows only the word just before, besides the place itself",
        edit=(".triu(1)", ".triu(1) | torch.ones(length, length, dtype=torch.bool).tril(-2)"),
        say="Up to three places nothing looks wrong. In a longer sentence your places forget what is two words back.",
    ),
    Misconception(
        exercise="causal-mask",
        name="adds an axis for the batch",
        edit=(".triu(1)", ".triu(1).unsqueeze(0)"),
        say="One square is enough: the future is the same for all sentences, so there is no axis for the batch here.",
    ),
    Misconception(
        exercise="causal-mask",
        name="cuts its square out of one with 16 places",
        edit=(TRANSFORMER_SQUARE, "torch.ones(16, 16, dtype=torch.bool).triu(1)[:length, :length]"),
        say="Your square never has more than 16 places. The length tells how many there are.",
    ),
    Misconception(
        exercise="target-mask",
        name="hides only where both reasons hold",
        edit=("future | no_word", "future & no_word"),
        say="You hide only what is padding and in the future at once. One reason is enough.",
    ),
    Misconception(
        exercise="target-mask",
        name="shows padding in the future again",
        edit=("future | no_word", "future ^ no_word"),
        say="Where both reasons hold, they cancel each other in your mask, and padding in the future can be seen.",
    ),
    Misconception(
        exercise="target-mask",
        name="hides the rows of the padding instead of its columns",
        edit=(".unsqueeze(1)", ".unsqueeze(2)"),
        say="You took away the question of the padding: a whole row is hidden. Nobody may ask it, so its column goes.",
    ),
    Misconception(
        exercise="target-mask",
        name="hides rows and columns of the padding",
        edit=("return future | no_word", "return future | no_word | no_word.transpose(1, 2)"),
        say="Rows of padding are hidden completely, and a softmax over nothing is nan. Padding may ask.",
    ),
    Misconception(
        exercise="target-mask",
        name="forgets the future",
        edit=("return future | no_word", "return no_word.expand(-1, words.size(1), -1)"),
        say="The padding is hidden and the future is not: in a sentence without padding your mask hides nothing.",
    ),
    Misconception(
        exercise="target-mask",
        name="forgets the padding",
        edit=("return future | no_word", "return future.expand(len(words), -1, -1)"),
        say="The future is hidden and the padding is not. With padding between the words it can be heard.",
    ),
    Misconception(
        exercise="target-mask",
        name="hides the words and shows the padding",
        edit=("words == padding", "words != padding"),
        say="Your mask hides every word and leaves the padding. True must stand where there is no word.",
    ),
    Misconception(
        exercise="target-mask",
        name="takes 0 for padding whatever is given",
        edit=("words == padding", "words == 0"),
        say="You look for the number 0. Which number stands for padding is told by the second argument.",
    ),
    Misconception(
        exercise="target-mask",
        name="takes all numbers up to the padding's for padding",
        edit=("words == padding", "words <= padding"),
        say="With padding=7 the words 1 to 6 vanish as well. Only one number stands for padding.",
    ),
    Misconception(
        exercise="target-mask",
        name="hides the BOS, too",
        edit=("words == padding", "words <= padding + 1"),
        say="The beginning of the sentence is hidden as well. BOS is a word: the first place has nothing else to see.",
    ),
    Misconception(
        exercise="target-mask",
        name="lines up the sentences with the rows of the square",
        edit=(".unsqueeze(1)", ""),
        say="(T, T) and (B, T) fit together only if B is T or 1, and then sentence b hides things in row b of all. "
        "One axis is missing.",
    ),
    Misconception(
        exercise="target-mask",
        name="adds the two reasons to integers",
        edit=("future | no_word", "future.long() + no_word.long()"),
        say="Your mask holds 0, 1 and 2. The docstring asks for dtype torch.bool: hidden or not.",
    ),
    Misconception(
        exercise="target-mask",
        name="counts only padding at the end of the longest sentence",
        edit=("(words == padding)", "(words == padding).all(0, keepdim=True).expand_as(words)"),
        say="You hide a place only if it is padding in all sentences. Each sentence has its own padding.",
    ),
    Misconception(
        exercise="target-mask",
        name="lets the first place be seen, whatever it holds",
        edit=("return future | no_word", "mask = future | no_word\n    mask[..., 0] = False\n    return mask"),
        say="Padding in the first place can be seen. Padding is hidden wherever it occurs.",
    ),
    Misconception(
        exercise="target-mask",
        name="opens the rows in which everything is hidden",
        edit=(
            "return future | no_word",
            "mask = future | no_word\n    return mask & ~mask.all(-1, keepdim=True)",
        ),
        say="A place with nothing to see sees everything with you, the future too. Its row stays hidden as a whole.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="takes keys and values of the cross-attention from the decoder",
        edit=(TRANSFORMER_READ, "self.multihead_attn(a, a, a)"),
        say="Another source, and your answer stays the same: the cross-attention asks the target itself. "
        "Who is found, and who hands over?",
    ),
    Misconception(
        exercise="decoder-layer",
        name="asks with the memory in the cross-attention",
        edit=(TRANSFORMER_READ, "self.multihead_attn(memory, a, a)"),
        say="Your queries are the source words, so one answer for each source word comes back. "
        "Who needs to know something here?",
    ),
    Misconception(
        exercise="decoder-layer",
        name="asks the memory with the x from before the self-attention",
        edit=(TRANSFORMER_READ, "self.multihead_attn(x, memory, memory, key_padding_mask=memory_padding)"),
        say="Your second part asks with the x that came in, as if the first part had not happened. It asks with a.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="exchanges the padding of target and source",
        edit=(
            "attn_mask=future, key_padding_mask=padding)           # (B, T, D)\n"
            "        a = self.norm1(x + self.dropout(heard))\n"
            "        read, _ = self.multihead_attn(a, memory, memory, key_padding_mask=memory_padding)",
            "attn_mask=future, key_padding_mask=memory_padding)\n"
            "        a = self.norm1(x + self.dropout(heard))\n"
            "        read, _ = self.multihead_attn(a, memory, memory, key_padding_mask=padding)",
        ),
        say="The two padding masks are exchanged. A mask goes where its words are the keys.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="forgets the mask of the future",
        edit=("attn_mask=future, ", ""),
        say="The first place changes with the last word: nobody hides the future in your self-attention.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="forgets the padding of the target",
        edit=(", key_padding_mask=padding)", ")"),
        say="The future is hidden, the padding of the target is heard. Both masks go into the self-attention.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="forgets the padding of the source",
        edit=(", key_padding_mask=memory_padding)", ")"),
        say="What stands in the padding of the source reaches your answer. The cross-attention needs a mask as well.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="hides the future in the source, too",
        edit=(
            "memory, memory, key_padding_mask=memory_padding)",
            "memory, memory, key_padding_mask=memory_padding, attn_mask=None if future is None else "
            "F.pad(future, (0, max(0, memory.size(1) - x.size(1))))[:, :memory.size(1)])",
        ),
        say="The mask of the future is at work in your cross-attention. The source is known to its end: no "
        "future there.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="turns the padding mask of the target round",
        edit=(
            "key_padding_mask=padding)",
            "key_padding_mask=None if padding is None else ~padding & padding.any(1, keepdim=True))",
        ),
        say="You hide the words and let the padding be heard. torch's masks of dtype bool hide where they are True.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="puts the norm before the part",
        edit=(
            "heard, _ = " + TRANSFORMER_HEARD + "           # (B, T, D)\n        a = " + TRANSFORMER_A,
            "normed = self.norm1(x)\n"
            "        heard, _ = self.self_attn(normed, normed, normed, attn_mask=future, key_padding_mask=padding)\n"
            "        a = x + self.dropout(heard)",
        ),
        say="You norm what goes into the self-attention, and the sum leaves without a norm. "
        "Here the norm comes after the sum.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="norms what the self-attention brings instead of the sum",
        edit=(TRANSFORMER_A, "x + self.norm1(self.dropout(heard))"),
        say="You norm what was heard and then add it. The norm works on the sum.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="adds nothing after the self-attention",
        edit=(TRANSFORMER_A, "self.norm1(self.dropout(heard))"),
        say="After the self-attention the word itself is lost: only what it heard is left. What should it be added to?",
    ),
    Misconception(
        exercise="decoder-layer",
        name="adds nothing after the cross-attention",
        edit=(TRANSFORMER_B, "self.norm2(self.dropout(read))"),
        say="After reading the source, all that the target had said is lost. What should it be added to?",
    ),
    Misconception(
        exercise="decoder-layer",
        name="adds what was read to the x from the beginning",
        edit=(TRANSFORMER_B, "self.norm2(x + self.dropout(read))"),
        say="What was read is added to the x that came in, so what the self-attention heard is lost. "
        "Each sum takes the result of the part before.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="adds nothing after the feed-forward part",
        edit=(TRANSFORMER_Y, "self.norm3(self.dropout(thought))"),
        say="Your third part has no sum around it: what came in is replaced, where it should be added to.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="leaves out the last norm",
        edit=(TRANSFORMER_Y, "b + self.dropout(thought)"),
        say="The last sum leaves without a norm. There are three norms, one after each sum.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="uses the first norm twice",
        edit=(TRANSFORMER_B, "self.norm1(a + self.dropout(read))"),
        say="norm1 works twice in your layer and norm2 never: it gets no gradient.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="uses one attention for both",
        edit=(TRANSFORMER_READ, "self.self_attn(a, memory, memory, key_padding_mask=memory_padding)"),
        say="Your layer listens and reads with the same matrices, and multihead_attn is never used.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="thinks about what was there before the source was read",
        edit=("self.linear1(b)", "self.linear1(a)"),
        say="Your feed-forward part gets a, so it never thinks about what was read in the source. It gets b.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="forgets the relu",
        edit=("self.linear1(b).relu()", "self.linear1(b)"),
        say="Two linear layers with nothing between them are one linear layer. What stands between W1 and W2?",
    ),
    Misconception(
        exercise="decoder-layer",
        name="takes a gelu",
        edit=("self.linear1(b).relu()", "F.gelu(self.linear1(b))"),
        say="Your feed-forward part bends with a gelu. Many newer models do; this formula has a relu.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="applies the relu after linear2",
        edit=("self.linear2(self.linear1(b).relu())", "self.linear2(self.linear1(b)).relu()"),
        say="Your relu comes after linear2, so the part can only add, never take away. It stands between the two "
        "layers.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="forgets dropout after the self-attention",
        edit=(TRANSFORMER_A, "self.norm1(x + heard)"),
        say="What the self-attention brings is never dropped on its way into the sum.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="forgets dropout after the feed-forward part",
        edit=(TRANSFORMER_Y, "self.norm3(b + thought)"),
        say="What linear2 brings is never dropped on its way into the sum.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="drops the sum instead of what the part brings",
        edit=(TRANSFORMER_B, "self.norm2(self.dropout(a + read))"),
        say="Your dropout strikes the whole sum, so the word itself can be lost. It strikes only what is added.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="drops the memory, too",
        edit=("(a, memory, memory, ", "(a, *[self.dropout(memory)] * 2, "),
        say="In training the memory loses numbers before it is read. Dropout acts on what a part brings, not on "
        "what it is told.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="drops what the self-attention is told, too",
        edit=("self.self_attn(x, x, x, ", "self.self_attn(*[self.dropout(x)] * 3, "),
        say="In training x loses numbers before the self-attention hears it. Dropout acts on what a part brings, "
        "not on what it is told.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="reads before it listens",
        edit=(
            "heard, _ = " + TRANSFORMER_HEARD + "           # (B, T, D)\n        a = " + TRANSFORMER_A + "\n"
            "        read, _ = " + TRANSFORMER_READ + "        # (B, T, D)\n        b = " + TRANSFORMER_B,
            "read, _ = self.multihead_attn(x, memory, memory, key_padding_mask=memory_padding)\n"
            "        a = self.norm2(x + self.dropout(read))\n"
            "        heard, _ = self.self_attn(a, a, a, attn_mask=future, key_padding_mask=padding)\n"
            "        b = self.norm1(a + self.dropout(heard))",
        ),
        say="Each part alone is right, but you read the source before you listen to the target. "
        "Look at the order of the three lines.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="uses one head",
        edit=(
            "self.multihead_attn = nn.MultiheadAttention(width, n_heads,",
            "self.multihead_attn = nn.MultiheadAttention(width, 1,",
        ),
        say="With one head your numbers are right, with more they are not: n_heads does not reach both attentions.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="leaves batch_first out of the self-attention",
        edit=(
            "self.self_attn = nn.MultiheadAttention(width, n_heads, dropout=dropout, batch_first=True)",
            "self.self_attn = nn.MultiheadAttention(width, n_heads, dropout=dropout)",
        ),
        say="Your self-attention takes the first axis for the words, so sentences of the batch listen to each other. "
        "Which argument puts the batch first?",
    ),
    Misconception(
        exercise="decoder-layer",
        name="makes a mask of the future itself, whatever it is given",
        edit=("attn_mask=future,", "attn_mask=None if future is None else causal_mask(x.size(1)),"),
        say="Your layer hides what comes later, whatever `future` says. It is a mask like any other.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="writes zeros into the memory where it is padding",
        edit=(
            "read, _ = ",
            "if memory_padding is not None:\n            memory[memory_padding] = 0.0\n        read, _ = ",
        ),
        say="After the call the caller's memory has changed. The next layer reads it as well: write nothing into it.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="drops without dividing what stays",
        edit=(
            "self.dropout = nn.Dropout(dropout)",
            "self.dropout = lambda part: part * (torch.rand_like(part) >= dropout) if self.training else part",
        ),
        say="In training your parts bring less than in evaluation: what is not dropped is to be divided by 1 - p.",
    ),
    Misconception(
        exercise="decoder-layer",
        name="drops what linear1 is told",
        edit=("self.linear1(b)", "self.linear1(self.dropout(b))"),
        say="Dropout also acts on what the feed-forward part is told. It acts on what a part brings, before the sum.",
    ),
    Misconception(
        exercise="transformer",
        name="forgets the mask of the future",
        edit=("layer(x, memory, future, ", "layer(x, memory, None, "),
        say="Your logits change when a later word of the target changes. Such a model trains well and cannot write.",
    ),
    Misconception(
        exercise="transformer",
        name="hides the future in the first decoder layer only",
        edit=(TRANSFORMER_DECODED, TRANSFORMER_DECODED + "\n            future = None"),
        say="One of your decoder layers gets no mask of the future. One that looks is enough.",
    ),
    Misconception(
        exercise="transformer",
        name="forgets the padding in the encoder",
        edit=(TRANSFORMER_ENCODED, "memory = layer(memory)"),
        say="In your encoder the words listen to the padding. The cross-attention hides it, but by then it is in "
        "the words.",
    ),
    Misconception(
        exercise="transformer",
        name="hides BOS and EOS in the source as padding",
        edit=("source == 0, target == 0", "source <= 2, target == 0"),
        say="Your source is deaf to the words 1 and 2. Only 0 is padding.",
    ),
    Misconception(
        exercise="transformer",
        name="hides the padding in the first encoder layer only",
        edit=(TRANSFORMER_ENCODED, TRANSFORMER_ENCODED + "\n            no_source = torch.zeros_like(no_source)"),
        say="After your first encoder layer the padding of the source can be heard. Every layer needs the mask.",
    ),
    Misconception(
        exercise="transformer",
        name="forgets the padding of the source in the decoder",
        edit=("future, no_target, no_source)", "future, no_target)"),
        say="Your encoder hides the padding, and your decoder reads its vectors. It counts twice.",
    ),
    Misconception(
        exercise="transformer",
        name="forgets the padding of the target",
        edit=("future, no_target, no_source)", "future, None, no_source)"),
        say="Padding between the words of the target is heard by the words after it. "
        "The mask of the future hides only padding at the end.",
    ),
    Misconception(
        exercise="transformer",
        name="hides the padding of the first sentence in all sentences",
        edit=("future = causal_mask(target.size(1))", "future = target_mask(target)[0]"),
        say="One sentence of the batch decides what is hidden in all the others: its square went in for the future. "
        "The future is the same for all, the padding is not.",
    ),
    Misconception(
        exercise="transformer",
        name="gives the attention a square for each sentence",
        edit=("future = causal_mask(target.size(1))", "future = target_mask(target)"),
        say="Your mask of the future is (B, T, T), and the attention wants one square (T, T) for all sentences. "
        "The padding goes in separately.",
    ),
    Misconception(
        exercise="transformer",
        name="hides the future in the encoder as well",
        edit=(
            TRANSFORMER_ENCODED,
            "memory = layer(memory, src_mask=causal_mask(source.size(1)), src_key_padding_mask=no_source)",
        ),
        say="Your encoder reads from left to right only, so the first words of the source do not know the last ones. "
        "There is no future in the source.",
    ),
    Misconception(
        exercise="transformer",
        name="forgets the positions",
        edit=(TRANSFORMER_PLACED, "self.dropout(self.embedding(words))"),
        say="To your model a source is a bag of words: exchange two of them, and nothing moves. Nobody adds the "
        "positions.",
    ),
    Misconception(
        exercise="transformer",
        name="takes the position from the sentence's place in the batch",
        edit=(
            "self.position(places)",
            "self.position(torch.arange(len(words)) % len(self.position.weight)).unsqueeze(1)",
        ),
        say="All words of a sentence get the same position, and it depends on the other sentences of the batch. "
        "Which axis counts the places?",
    ),
    Misconception(
        exercise="transformer",
        name="multiplies word and position",
        edit=("self.embedding(words) + self.position(places)", "self.embedding(words) * self.position(places)"),
        say="Your model moves with order and places as it should, but its numbers are others: "
        "the vector of the place is added, not multiplied.",
    ),
    Misconception(
        exercise="transformer",
        name="counts the places from 1",
        edit=("torch.arange(words.size(1))", "torch.arange(1, words.size(1) + 1) % len(self.position.weight)"),
        say="The word at place 0 gets row 1 of the table. Places are counted from 0.",
    ),
    Misconception(
        exercise="transformer",
        name="takes place 0 for padding",
        edit=(
            "self.position = nn.Embedding(max_length, width)",
            "self.position = nn.Embedding(max_length, width, padding_idx=0)",
        ),
        say="The vector of place 0 never learns. Padding is a number of a word, not of a place: every sentence "
        "begins at place 0.",
    ),
    Misconception(
        exercise="transformer",
        name="returns probabilities",
        edit=("return self.output(x)", "return self.output(x).softmax(-1)"),
        say="Your rows sum to 1: these are probabilities. The cross-entropy takes the softmax itself.",
    ),
    Misconception(
        exercise="transformer",
        name="reads the embedded source and skips the encoder",
        edit=(TRANSFORMER_DECODED, "x = layer(x, placed(source), future, no_target, no_source)"),
        say="Your decoder reads the bare words of the source. The encoder works for nothing: no gradient reaches it.",
    ),
    Misconception(
        exercise="transformer",
        name="lets each encoder layer start from the words again",
        edit=(TRANSFORMER_ENCODED, "memory = layer(placed(source), src_key_padding_mask=no_source)"),
        say="Only your last encoder layer counts: each one starts from the words, and what the one before made "
        "is thrown away.",
    ),
    Misconception(
        exercise="transformer",
        name="lets decoder layer n read encoder layer n",
        edit=(
            TRANSFORMER_ENCODED
            + "\n        x = placed(target)                                      # (B, T, D)"
            + "\n        for layer in self.decoder:\n            "
            + TRANSFORMER_DECODED,
            "pass\n        x = placed(target)\n"
            "        for below, layer in zip(self.encoder, self.decoder):\n"
            "            memory = below(memory, src_key_padding_mask=no_source)\n"
            "            x = layer(x, memory, future, no_target, no_source)",
        ),
        say="Your first decoder layer reads the first encoder layer, the second the second. "
        "All of them read the same memory, the last one.",
    ),
    Misconception(
        exercise="transformer",
        name="lets a decoder layer read what the decoder layer before has made of the memory",
        edit=(TRANSFORMER_DECODED, TRANSFORMER_DECODED + "\n            memory, no_source = x, no_target"),
        say="From your second decoder layer on, the target reads itself in place of the source. "
        "The memory stays the same for all layers.",
    ),
    Misconception(
        exercise="transformer",
        name="repeats one decoder layer",
        edit=(
            "nn.ModuleList([DecoderLayer(width, n_heads, hidden, dropout) for _ in range(n_layers)])",
            "nn.ModuleList([DecoderLayer(width, n_heads, hidden, dropout)] * n_layers)",
        ),
        say="Your decoder layers are one layer in several places: a list times a number copies the name, not the "
        "layer.",
    ),
    Misconception(
        exercise="transformer",
        name="keeps the decoder layers in a plain list",
        edit=(
            "nn.ModuleList([DecoderLayer(width, n_heads, hidden, dropout) for _ in range(n_layers)])",
            "[DecoderLayer(width, n_heads, hidden, dropout) for _ in range(n_layers)]",
        ),
        say="The parameters of your decoder layers are nowhere to be found: a plain list hides its modules from torch.",
    ),
    Misconception(
        exercise="transformer",
        name="makes only one encoder layer",
        edit=("batch_first=True) for _ in range(n_layers)", "batch_first=True) for _ in range(1)"),
        say="Your encoder has one layer, whatever n_layers says.",
    ),
    Misconception(
        exercise="transformer",
        name="leaves batch_first out of the encoder layers",
        edit=(", batch_first=True)", ")"),
        say="Your encoder takes the first axis for the words, so the sentences of a batch listen to each other.",
    ),
    Misconception(
        exercise="transformer",
        name="does not hand dropout to the decoder layers",
        edit=("DecoderLayer(width, n_heads, hidden, dropout)", "DecoderLayer(width, n_heads, hidden)"),
        say="Your decoder layers drop with their own default, whatever the model was told.",
    ),
    Misconception(
        exercise="transformer",
        name="drops nothing of the words' vectors",
        edit=(TRANSFORMER_PLACED, "self.embedding(words) + self.position(places)"),
        say="The vectors of the words go into the first layers whole: dropout should act on the sum of word and "
        "position.",
    ),
    Misconception(
        exercise="transformer",
        name="builds the encoder layers without dropout",
        edit=("n_heads, hidden, dropout, batch_first=True)", "n_heads, hidden, 0.0, batch_first=True)"),
        say="In your encoder nothing is dropped, whatever the model was told.",
    ),
    Misconception(
        exercise="transformer",
        name="drops words and places each for themselves",
        edit=(TRANSFORMER_PLACED, "self.dropout(self.embedding(words)) + self.dropout(self.position(places))"),
        say="You drop numbers of the word and numbers of the place, and then add. Dropout acts on their sum.",
    ),
    Misconception(
        exercise="transformer",
        name="drops nothing of the vectors of the source",
        edit=(
            "memory = placed(source)",
            "memory = self.embedding(source) + self.position(torch.arange(source.size(1)))",
        ),
        say="The vectors of the target are dropped in training, those of the source never.",
    ),
    Misconception(
        exercise="transformer",
        name="drops the vectors of the source twice",
        edit=("memory = placed(source)", "memory = self.dropout(placed(source))"),
        say="The vectors of the source go through dropout twice, those of the target once.",
    ),
    Misconception(
        exercise="transformer",
        name="drops what leaves the encoder, too",
        edit=("x = placed(target) ", "memory = self.dropout(memory)\n        x = placed(target) "),
        say="Between encoder and decoder you drop once more. The memory goes to the decoder as it is.",
    ),
    Misconception(
        exercise="transformer",
        name="shifts the target inside the model",
        edit=("x = placed(target) ", "x = placed(F.pad(target[:, :-1], (1, 0), value=1)) "),
        say="Your model shifts the target once more: place t no longer sees its own word. The caller has shifted "
        "already.",
    ),
    Misconception(
        exercise="transformer",
        name="goes on counting places where the source ended",
        edit=(
            "x = placed(target) ",
            "x = placed(torch.cat([source, target], 1))[:, source.size(1):] ",
        ),
        say="The first target word gets the place after the last source word. Both sentences count from 0.",
    ),
    Misconception(
        exercise="transformer",
        name="returns the logits of the last place only",
        edit=("return self.output(x)", "return self.output(x[:, -1:])"),
        say="Only the last place gets an answer. In training all places are asked at once.",
    ),
    Misconception(
        exercise="transformer",
        name="reads padding in front of the source",
        edit=(
            "no_source, no_target = source == 0, target == 0",
            "no_source, no_target = (source == 0) & ((source != 0).cumsum(1) > 0), target == 0",
        ),
        say="Padding in front of the source is read. 0 is padding wherever it stands.",
    ),
]


# training-and-decoding.ipynb

TRAINING_LOSS = "loss = -(1 - smoothing) * right - smoothing * everyone"
TRAINING_RATE = "min(step**-0.5, step * warmup**-1.5)"
TRAINING_BEST = "best = model(source, target)[:, -1].argmax(-1)"
TRAINING_REAL = "real = target != padding"
TRAINING_OLD = "if cache is not None:"

IN_TRAINING_AND_DECODING = [
    Misconception(
        exercise="label-smoothing",
        name="does not smooth at all",
        edit=(TRAINING_LOSS, "loss = -right"),
        say="Your loss does not change with the smoothing: it is the plain cross-entropy, which is never satisfied.",
    ),
    Misconception(
        exercise="label-smoothing",
        name="deals the smoothing out to the V - 1 other words",
        edit=("everyone = log_p.mean(-1)", "everyone = (log_p.sum(-1) - right) / (log_p.size(-1) - 1)"),
        say="You deal epsilon out to the other words only. Here, as in torch, the right word has its share too.",
    ),
    Misconception(
        exercise="label-smoothing",
        name="gives nothing to the number of the padding",
        edit=(
            "everyone = log_p.mean(-1)",
            "everyone = (log_p.sum(-1) - log_p[..., padding]) / (log_p.size(-1) - 1)",
        ),
        say="You leave the number of the padding out of the target. It is one of the V numbers and has its share, too: "
        "only places of padding are left out.",
    ),
    Misconception(
        exercise="label-smoothing",
        name="exchanges epsilon and 1 - epsilon",
        edit=(TRAINING_LOSS, "loss = -smoothing * right - (1 - smoothing) * everyone"),
        say="Your target is nearly even, and the right word has little: epsilon and 1 - epsilon have changed places.",
    ),
    Misconception(
        exercise="label-smoothing",
        name="adds the share of everyone and takes nothing away",
        edit=("-(1 - smoothing) * right", "-right"),
        say="Your q sums to 1 + epsilon: everybody got a share, and the right word gave nothing.",
    ),
    Misconception(
        exercise="label-smoothing",
        name="gives epsilon to each word instead of epsilon / V",
        edit=("log_p.mean(-1)", "log_p.sum(-1)"),
        say="Each word gets the whole epsilon from you. It is one epsilon for all V words together.",
    ),
    Misconception(
        exercise="label-smoothing",
        name="forgets the minus",
        edit=("return loss[real].mean()", "return -loss[real].mean()"),
        say="Your loss is negative, and training would make the right words less probable. Where has the minus gone?",
    ),
    Misconception(
        exercise="label-smoothing",
        name="lets places of padding count",
        edit=("return loss[real].mean()", "return loss.mean()"),
        say="Your loss depends on what stands at places of padding. There is nothing to be learned there.",
    ),
    Misconception(
        exercise="label-smoothing",
        name="divides by all places",
        edit=("return loss[real].mean()", "return loss[real].sum() / real.numel()"),
        say="Padding is out of the sum, but not out of the count: your loss shrinks as a batch gets more padding.",
    ),
    Misconception(
        exercise="label-smoothing",
        name="takes the mean of each sentence first, then of the sentences",
        edit=("return loss[real].mean()", "return ((loss * real).sum(1) / real.sum(1).clamp(min=1)).mean()"),
        say="Each sentence weighs the same for you, however many words it has. The mean is over all words.",
    ),
    Misconception(
        exercise="label-smoothing",
        name="returns the sum",
        edit=("return loss[real].mean()", "return loss[real].sum()"),
        say="This is the sum over all words. Divide by their number, or a larger batch takes larger steps.",
    ),
    Misconception(
        exercise="label-smoothing",
        name="returns a loss for each word",
        edit=("return loss[real].mean()", "return loss[real]"),
        say="You return many losses. Training needs one number.",
    ),
    Misconception(
        exercise="label-smoothing",
        name="takes the logarithm of a softmax",
        edit=("logits.log_softmax(-1)", "logits.softmax(-1).log()"),
        say="With large logits a probability becomes exactly 0, and its logarithm is minus infinity.",
    ),
    Misconception(
        exercise="label-smoothing",
        name="takes exponentials of the raw logits",
        edit=("logits.log_softmax(-1)", "logits - logits.exp().sum(-1, keepdim=True).log()"),
        say="exp(89) is more than a float32 can hold. Your loss becomes infinite as soon as logits are large.",
    ),
    Misconception(
        exercise="label-smoothing",
        name="takes the softmax over the places",
        edit=("log_softmax(-1)", "log_softmax(1)"),
        say="Your probabilities sum to 1 over the places of a sentence. The words compete at each place by themselves.",
    ),
    Misconception(
        exercise="label-smoothing",
        name="takes the logits for log-probabilities",
        edit=("logits.log_softmax(-1)", "logits"),
        say="You use the logits as they came. A constant added to all of them changes your loss, and must not.",
    ),
    Misconception(
        exercise="label-smoothing",
        name="takes the softmax twice",
        edit=("logits.log_softmax(-1)", "logits.softmax(-1).log_softmax(-1)"),
        say="There are two softmaxes in your loss. The second sees only numbers from 0 to 1: nothing is ever sure.",
    ),
    Misconception(
        exercise="label-smoothing",
        name="holds 0 for the padding, whatever number is given",
        edit=(TRAINING_REAL, "real = target != 0"),
        say="The number of the padding is handed over. You look for 0 in any case.",
    ),
    Misconception(
        exercise="label-smoothing",
        name="keeps no gradient",
        edit=("log_p = logits.log_softmax(-1)", "log_p = logits.detach().log_softmax(-1)"),
        say="The value is right, but no gradient comes back to the logits: nothing can be learned from this loss.",
    ),
    Misconception(
        exercise="label-smoothing",
        name="takes away every axis of length 1",
        edit=(".unsqueeze(-1)).squeeze(-1)", ".unsqueeze(-1)).squeeze()"),
        say="It breaks when each sentence has one word: squeeze() takes away every axis of length 1. Say which one.",
    ),
    Misconception(
        exercise="label-smoothing",
        name="takes 0 for padding as well",
        edit=("real = target != padding ", "real = (target != padding) & (target != 0) "),
        say="Where `padding` is another number, 0 is a word like all others, and you leave it out.",
    ),
    Misconception(
        exercise="label-smoothing",
        name="flattens the target with view, which wants one order in memory",
        edit=(
            "right = log_p.gather(-1, target.unsqueeze(-1)).squeeze(-1)",
            "right = log_p.flatten(0, 1).gather(-1, target.view(-1, 1)).view(target.shape)",
        ),
        say="view fails for a target that was cut out of longer rows, as words[:, 1:] is. Use reshape or flatten.",
    ),
    Misconception(
        exercise="warm-up",
        name="takes the larger of the two",
        edit=("min(", "max("),
        say="Your rate is high at the start, falls, and then rises without end. Which of the two is meant?",
    ),
    Misconception(
        exercise="warm-up",
        name="has no warm-up",
        edit=(TRAINING_RATE, "step**-0.5"),
        say="Your first step is the largest of all. That is the step which should be tiny.",
    ),
    Misconception(
        exercise="warm-up",
        name="never stops rising",
        edit=(TRAINING_RATE, "(step * warmup**-1.5)"),
        say="Your rate rises for ever. After the warm-up the other part is the smaller one.",
    ),
    Misconception(
        exercise="warm-up",
        name="leaves out the width",
        edit=("width**-0.5 * ", ""),
        say="Your rate does not depend on the width of the model. Wider models take smaller steps.",
    ),
    Misconception(
        exercise="warm-up",
        name="multiplies by the root of the width",
        edit=("width**-0.5", "width**0.5"),
        say="With a wider model your steps get larger. The root of the width stands below the line.",
    ),
    Misconception(
        exercise="warm-up",
        name="divides by the width without a root",
        edit=("width**-0.5", "width**-1"),
        say="Your rate is divided by the whole width. It should be its root.",
    ),
    Misconception(
        exercise="warm-up",
        name="divides by w instead of w to the power of 1.5",
        edit=("warmup**-1.5", "warmup**-1"),
        say="Your rise is too steep, so the two parts meet too early. Look at the power of w.",
    ),
    Misconception(
        exercise="warm-up",
        name="divides by the root of w",
        edit=("warmup**-1.5", "warmup**-0.5"),
        say="With you the rise is over almost at once. Look at the power of w: at step w both parts must be equal.",
    ),
    Misconception(
        exercise="warm-up",
        name="falls with the step instead of its root",
        edit=("min(step**-0.5", "min(step**-1"),
        say="After the warm-up your rate falls too fast: at four times the step it should be a half, not a quarter.",
    ),
    Misconception(
        exercise="warm-up",
        name="stays at the peak",
        edit=(TRAINING_RATE, "min(warmup**-0.5, step * warmup**-1.5)"),
        say="You keep the rate at its peak. After the warm-up it falls with the root of the step.",
    ),
    Misconception(
        exercise="warm-up",
        name="counts steps from 0",
        edit=(TRAINING_RATE, "min((step + 1) ** -0.5, (step + 1) * warmup**-1.5)"),
        say="Your rates are those of the step after. The step you are given is 1 for the first step already.",
    ),
    Misconception(
        exercise="warm-up",
        name="takes 4000 whatever the warm-up",
        edit=("warmup**-1.5", "4000**-1.5"),
        say="The warm-up is handed over, and your rate does not look at it.",
    ),
    Misconception(
        exercise="greedy-decode",
        name="gives the model the newest word first",
        edit=("model(source, target)[:, -1]", "model(source, target.flip(-1))[:, -1]"),
        say="The model reads from left to right: BOS comes first and the newest word last, in the order of writing.",
    ),
    Misconception(
        exercise="greedy-decode",
        name="reads the logits of the first place",
        edit=("[:, -1].argmax", "[:, 0].argmax"),
        say="You write the same word at each step: what comes after BOS. Take the last place, "
        "and put what was written into the question.",
    ),
    Misconception(
        exercise="greedy-decode",
        name="takes the least probable word",
        edit=(".argmax(-1)", ".argmin(-1)"),
        say="You write the least probable word each time.",
    ),
    Misconception(
        exercise="greedy-decode",
        name="draws the word by chance",
        edit=(
            TRAINING_BEST,
            "best = torch.multinomial(model(source, target)[:, -1].softmax(-1), 1).squeeze(1)",
        ),
        say="You draw words by chance: two calls can differ. Greedy takes the most probable word, always.",
    ),
    Misconception(
        exercise="greedy-decode",
        name="gives the model only the last word",
        edit=("model(source, target)[", "model(source, target[:, -1:])["),
        say="Your model is given only the newest word. It knows nothing of the words before, nor where it stands.",
    ),
    Misconception(
        exercise="greedy-decode",
        name="does not put padding after EOS",
        edit=("best = best.masked_fill(ended, padding)", "best = best"),
        say="What the model says after EOS stands in your sentences. Nobody should read on there.",
    ),
    Misconception(
        exercise="greedy-decode",
        name="repeats EOS instead of padding",
        edit=("masked_fill(ended, padding)", "masked_fill(ended, eos)"),
        say="Your short rows end with a chain of EOS. A sentence ends once; the rest of the row is padding.",
    ),
    Misconception(
        exercise="greedy-decode",
        name="forgets which rows have ended",
        edit=("ended = ended | (best == eos)", "ended = best == eos"),
        say="A row that has ended gets one place of padding and comes back to life. Padding is not EOS, so your flag "
        "forgets.",
    ),
    Misconception(
        exercise="greedy-decode",
        name="takes a written padding number for the end",
        edit=("ended = ended | (best == eos)", "ended = (best == padding) | (best == eos)"),
        say="A row ends for you when the number of the padding is written. Only EOS ends a row.",
    ),
    Misconception(
        exercise="greedy-decode",
        name="stops when the first row ends",
        edit=("ended.all()", "ended.any()"),
        say="You stop for all as soon as one row has ended. The others are cut off.",
    ),
    Misconception(
        exercise="greedy-decode",
        name="never stops early",
        edit=("if ended.all():", "if False:"),
        say="All rows have ended, and you go on asking until max_length: each step costs, and writes only padding.",
    ),
    Misconception(
        exercise="greedy-decode",
        name="asks to the end and cuts off what is too much",
        edit=(
            "if ended.all():\n            break\n    return target[:, 1:]",
            "pass\n    written = target[:, 1:]\n"
            "    return written[:, : int(((written == eos).cumsum(1) == 0).sum(1).max()) + 1]",
        ),
        say="What you return is right, but the model was asked until max_length, and each step costs. Stop asking when "
        "all rows have ended.",
    ),
    Misconception(
        exercise="greedy-decode",
        name="asks once more after the end",
        edit=("return target[:, 1:]", "model(source, target)\n    return target[:, 1:]"),
        say="Your model is asked once more when all is written. Nobody uses that answer, and each step costs.",
    ),
    Misconception(
        exercise="greedy-decode",
        name="returns BOS as well",
        edit=("return target[:, 1:]", "return target"),
        say="Your rows begin with BOS. It was given, not written.",
    ),
    Misconception(
        exercise="greedy-decode",
        name="cuts the last column off",
        edit=("return target[:, 1:]", "return target[:, 1:-1]"),
        say="The last column is missing. EOS was written and belongs to the sentence.",
    ),
    Misconception(
        exercise="greedy-decode",
        name="writes one word too few",
        edit=("range(max_length)", "range(max_length - 1)"),
        say="max_length words are allowed, and you count BOS as one of them.",
    ),
    Misconception(
        exercise="greedy-decode",
        name="begins with 1, whatever BOS is",
        edit=("(source.size(0), 1), bos)", "(source.size(0), 1), 1)"),
        say="The number of BOS is handed over, but your sentences begin with 1.",
    ),
    Misconception(
        exercise="greedy-decode",
        name="looks for 2, whatever EOS is",
        edit=("(best == eos)", "(best == 2)"),
        say="The number of EOS is handed over, but you wait for a 2.",
    ),
    Misconception(
        exercise="greedy-decode",
        name="fills with 0, whatever the padding is",
        edit=("masked_fill(ended, padding)", "masked_fill(ended, 0)"),
        say="The number of the padding is handed over, but you fill with 0.",
    ),
    Misconception(
        exercise="greedy-decode",
        name="gives the decoder the source without its first word",
        edit=("torch.full((source.size(0), 1), bos)", "source[:, :1]"),
        say="Your target begins with a word of the source. A sentence begins with BOS.",
    ),
    Misconception(
        exercise="cached-attention",
        name="asks before the new word is in the cache",
        edit=(
            "for part in (query, key, value))",
            "for part in (query, *(cache or (key, value))))",
        ),
        say="Your new word hears only the words before it. Its own key and value belong to what it may hear.",
    ),
    Misconception(
        exercise="cached-attention",
        name="forgets the words before",
        edit=(TRAINING_OLD, "if False:"),
        say="Your cache never grows: each word hears only itself.",
    ),
    Misconception(
        exercise="cached-attention",
        name="puts the new word in front",
        edit=(
            "key = torch.cat([cache[0], key], 1)",
            "cache = cache[0], cache[1].flip(1)\n        key = torch.cat([key, cache[0]], 1).flip(1)",
        ),
        say="The words in your cache are not in their order, or keys and values not in the same one. "
        "The new word comes last.",
    ),
    Misconception(
        exercise="cached-attention",
        name="puts new keys and values before the old ones",
        edit=(
            "return heard @ out_weight.T + out_bias, (key, value)",
            "return heard @ out_weight.T + out_bias, (key.roll(1, 1), value.roll(1, 1))",
        ),
        say="Your cache has the new word first. The output does not mind, but whoever reads the cache does.",
    ),
    Misconception(
        exercise="cached-attention",
        name="exchanges keys and values in the cache",
        edit=("+ out_bias, (key, value)", "+ out_bias, (value, key)"),
        say="In your cache keys and values have changed places: from the second word on they are mixed up.",
    ),
    Misconception(
        exercise="cached-attention",
        name="caches the keys twice",
        edit=("torch.cat([cache[1], value], 1)", "torch.cat([cache[0], value], 1)"),
        say="The old words hand over their keys where their values should be.",
    ),
    Misconception(
        exercise="cached-attention",
        name="caches the values only",
        edit=(
            "key = torch.cat([cache[0], key], 1)",
            "key = key.expand(-1, cache[0].size(1) + 1, -1)",
        ),
        say="All words in your cache have the key of the newest one, so they all weigh the same.",
    ),
    Misconception(
        exercise="cached-attention",
        name="does not scale the scores",
        edit=(" / q.size(-1) ** 0.5", ""),
        say="Your weights are sharper than they should be: the root of d is missing.",
    ),
    Misconception(
        exercise="cached-attention",
        name="scales with the width of the model",
        edit=("q.size(-1) ** 0.5", "x.size(-1) ** 0.5"),
        say="You divide by the root of D. Each head compares vectors of width d = D / H.",
    ),
    Misconception(
        exercise="cached-attention",
        name="divides by d without the root",
        edit=("q.size(-1) ** 0.5", "q.size(-1)"),
        say="Your scores are divided by d, and the weights become too even. It should be its root.",
    ),
    Misconception(
        exercise="cached-attention",
        name="uses one head whatever n_heads",
        edit=("part.unflatten(-1, (n_heads, -1))", "part.unflatten(-1, (1, -1))"),
        say="With several heads your weights are the same for all features: you never split.",
    ),
    Misconception(
        exercise="cached-attention",
        name="splits the features crosswise",
        edit=(
            "part.unflatten(-1, (n_heads, -1)).transpose(1, 2)",
            "part.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)",
        ),
        say="Your heads take every H-th feature. Head 0 has the first D/H features.",
    ),
    Misconception(
        exercise="cached-attention",
        name="splits the heads by a plain view",
        edit=(
            "part.unflatten(-1, (n_heads, -1)).transpose(1, 2)",
            "part.reshape(part.size(0), n_heads, part.size(1), -1)",
        ),
        say="The shapes of your heads are right, but with more than one word they mix words and features. "
        "Split the last axis, then exchange two axes.",
    ),
    Misconception(
        exercise="cached-attention",
        name="takes the softmax over the heads",
        edit=("scores.softmax(-1)", "scores.softmax(1)"),
        say="With you the heads compete with one another. In each head the words compete.",
    ),
    Misconception(
        exercise="cached-attention",
        name="leaves out the biases",
        edit=("(x @ in_weight.T + in_bias)", "(x @ in_weight.T)"),
        say="Your projections have no bias: with in_bias 0 everything is right.",
    ),
    Misconception(
        exercise="cached-attention",
        name="leaves out the last linear layer",
        edit=("return heard @ out_weight.T + out_bias,", "return heard,"),
        say="Your heads are joined, but out_weight and out_bias have no say.",
    ),
    Misconception(
        exercise="cached-attention",
        name="forgets the transpose of the weights",
        edit=("heard @ out_weight.T", "heard @ out_weight"),
        say="Your last layer is turned round: weights are stored as (out, in), so the transposed matrix is needed.",
    ),
    Misconception(
        exercise="cached-attention",
        name="takes the rows in the order keys, queries, values",
        edit=("query, key, value = (", "key, query, value = ("),
        say="in_weight holds the rows of the queries first, then the keys, then the values.",
    ),
    Misconception(
        exercise="cached-attention",
        name="mixes the keys instead of the values",
        edit=("(scores.softmax(-1) @ v)", "(scores.softmax(-1) @ k)"),
        say="Your weights are right, but what they mix are the keys. The values are what words hand over.",
    ),
    Misconception(
        exercise="cached-attention",
        name="takes exponentials without subtracting the maximum",
        edit=("scores.softmax(-1)", "(scores.exp() / scores.exp().sum(-1, keepdim=True))"),
        say="For large scores your output is nan. A number taken off all scores changes no weight.",
    ),
    Misconception(
        exercise="cached-attention",
        name="keeps the cache split into heads",
        edit=("+ out_bias, (key, value)", "+ out_bias, (k, v)"),
        say="Your cache is split into heads. It should hold (B, t, D).",
    ),
    Misconception(
        exercise="cached-attention",
        name="caches the words instead of keys and values",
        edit=("+ out_bias, (key, value)", "+ out_bias, (x.unsqueeze(1), x.unsqueeze(1))"),
        say="Your cache holds the vectors of words as they came. What should be kept are their keys and values.",
    ),
    Misconception(
        exercise="cached-attention",
        name="cuts the gradient of the cache",
        edit=(
            "key = torch.cat([cache[0], key], 1)",
            "key = torch.cat([cache[0].detach(), key], 1)",
        ),
        say="The values are right, but no gradient comes back to the old keys. Nothing has to be detached here.",
    ),
    Misconception(
        exercise="cached-attention",
        name="cuts the gradient of the weights",
        edit=("x @ in_weight.T", "x @ in_weight.detach().T"),
        say="The values are right, but no gradient comes back to in_weight, so it would never learn. Nothing has "
        "to be detached here.",
    ),
    Misconception(
        exercise="cached-attention",
        name="cuts the gradient of the new cache",
        edit=("out_bias, (key, value)", "out_bias, (key.detach(), value.detach())"),
        say="No gradient goes from the new cache back to the word: are its keys or values detached?",
    ),
]


MISCONCEPTIONS = [*IN_POSITIONS_AND_BLOCKS, *IN_TRANSFORMER, *IN_TRAINING_AND_DECODING]
