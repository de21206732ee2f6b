"""The mistakes people make in assignment 06, each as an edit of the reference and a word to who made it."""

from course.misconceptions import Misconception

# external-attention.ipynb

EXTERNAL_FIRST = "log_share = score.log_softmax(-2)"
EXTERNAL_SECOND = "return log_share.softmax(-1)"
EXTERNAL_POSITION = "position = x.flatten(2).transpose(1, 2)"
EXTERNAL_ATT = "att = double_normalisation(self.memory_key(position))"
EXTERNAL_OUT = "out = self.memory_value(att)"
EXTERNAL_RETURN = "return out.transpose(1, 2).reshape(x.shape), att"

IN_EXTERNAL_ATTENTION = [
    Misconception(
        exercise="double-normalisation",
        name="takes a softmax over the slots only",
        edit=("score.log_softmax(-2)", "score"),
        say="Your pixels never compete: each is normalised by itself, and the same light added to all of them changes "
        "the weights. The positions come first.",
    ),
    Misconception(
        exercise="double-normalisation",
        name="stops after the softmax over the positions",
        edit=("log_share.softmax(-1)", "log_share.exp()"),
        say="Your columns sum to 1 and your rows do not. That is the first of the two steps.",
    ),
    Misconception(
        exercise="double-normalisation",
        name="exchanges the two axes",
        edit=(
            "score.log_softmax(-2)    # (..., L, S): the log of what each position gets of a slot\n"
            "    return log_share.softmax(-1)",
            "score.log_softmax(-1)\n    return log_share.softmax(-2)",
        ),
        say="At the end your columns sum to 1, the rows do not: softmax over the slots, sum over the positions. "
        "The authors' code keeps the slots before the positions; here they come last.",
    ),
    Misconception(
        exercise="double-normalisation",
        name="takes a softmax of the shares as the second step",
        edit=(EXTERNAL_SECOND, "return log_share.exp().softmax(-1)"),
        say="Your weights are all close to even. After the first step the numbers are already positive: "
        "the second step divides them, it takes no exponential of them.",
    ),
    Misconception(
        exercise="double-normalisation",
        name="adds 1e-9 to the sum",
        edit=(EXTERNAL_SECOND, "return log_share.exp() / (1e-9 + log_share.exp().sum(-1, keepdim=True))"),
        say="Right for ordinary scores. But a pixel that scores far below the others disappears: its row sums to less "
        "than 1, or to 0, since 1e-9 is larger than its shares.",
    ),
    Misconception(
        exercise="double-normalisation",
        name="divides zero by zero",
        edit=(EXTERNAL_SECOND, "return log_share.exp() / log_share.exp().sum(-1, keepdim=True)"),
        say="Right for ordinary scores, nan beside a bright pixel: the shares of the others are too small for a float, "
        "and 0 is divided by 0. Stay with logarithms for longer.",
    ),
    Misconception(
        exercise="double-normalisation",
        name="clamps the sum from below",
        edit=(EXTERNAL_SECOND, "return log_share.exp() / log_share.exp().sum(-1, keepdim=True).clamp(min=1e-12)"),
        say="No nan any more, but a pixel far below the others gets the weights 0 and 0. "
        "It has an answer; a lower limit for the sum cannot find it.",
    ),
    Misconception(
        exercise="double-normalisation",
        name="takes axis 1 for the positions",
        edit=("score.log_softmax(-2)", "score.log_softmax(1)"),
        say="Right for a batch (B, L, S), wrong where an axis of heads stands in front, and for a single picture: "
        "there axis 1 is something else.",
    ),
    Misconception(
        exercise="double-normalisation",
        name="takes axis 0 for the positions",
        edit=("score.log_softmax(-2)", "score.log_softmax(0)"),
        say="In a batch your pictures compete with one another: axis 0 is the batch there. "
        "Count the axes from the end.",
    ),
    Misconception(
        exercise="double-normalisation",
        name="takes axis 2 for the slots",
        edit=("log_share.softmax(-1)", "log_share.softmax(min(2, score.dim() - 1))"),
        say="With heads in front, axis 2 holds the positions and not the slots. Count from the end.",
    ),
    Misconception(
        exercise="double-normalisation",
        name="lets all numbers of a picture share a single 1",
        edit=(EXTERNAL_SECOND, "return score.flatten(-2).softmax(-1).view_as(score)"),
        say="Position and slot together share one 1, so the numbers of a whole picture sum to 1. "
        "There are two sums, one along each axis.",
    ),
    Misconception(
        exercise="double-normalisation",
        name="lets the positions of all pictures compete",
        edit=(
            "score.log_softmax(-2)",
            "score.reshape(-1, score.size(-1)).log_softmax(0).view_as(score)",
        ),
        say="A picture's weights depend on the other pictures of the batch in your code. "
        "Each picture shares out its own 1 for each slot.",
    ),
    Misconception(
        exercise="double-normalisation",
        name="divides the scores by their sum, without an exponential",
        edit=(EXTERNAL_FIRST, "log_share = (score / score.abs().sum(-2, keepdim=True)).abs().log()"),
        say="There is no exponential in your first step. Scores can be 0 or negative, weights cannot.",
    ),
    Misconception(
        exercise="double-normalisation",
        name="divides by the root of the sum of squares",
        edit=(EXTERNAL_SECOND, "return F.normalize(log_share.exp(), dim=-1)"),
        say="Your rows have length 1 and not the sum 1. The second step divides by the sum.",
    ),
    Misconception(
        exercise="double-normalisation",
        name="scales the scores by the root of the number of slots",
        edit=("score.log_softmax(-2)", "(score / score.size(-1) ** 0.5).log_softmax(-2)"),
        say="Your weights are more even than those of the formula: the scores were scaled. Nothing is scaled here.",
    ),
    Misconception(
        exercise="double-normalisation",
        name="detaches the sums over the positions",
        edit=("score.log_softmax(-2)", "score - score.logsumexp(-2, keepdim=True).detach()"),
        say="All values are right, the gradient is not: the sums over the positions are cut off from the graph, "
        "and they are how the pixels influence one another.",
    ),
    Misconception(
        exercise="double-normalisation",
        name="changes the scores it is given",
        edit=("score.log_softmax(-2)", "score.sub_(score.logsumexp(-2, keepdim=True).detach())"),
        say="After your function the caller's scores are other numbers. An operation with an underscore at its end, "
        "or -=, writes into the tensor it is given.",
    ),
    Misconception(
        exercise="double-normalisation",
        name="knows only three numbers of axes",
        edit=("score.log_softmax(-2)", "score.log_softmax({2: 0, 3: 1, 4: 2}[score.dim()])"),
        say="With more axes in front your function fails. Count the axes from the end: -2 and -1.",
    ),
    Misconception(
        exercise="double-normalisation",
        name="flattens the axes in front with view",
        edit=(
            "score.log_softmax(-2)",
            "score.view(-1, *score.shape[-2:]).log_softmax(1).view(score.shape)",
        ),
        say="`view` refuses scores whose axes in front were transposed, for their numbers lie in memory in another "
        "order. Axes counted from the end need no flattening.",
    ),
    Misconception(
        exercise="external-attention",
        name="views pictures as pixels without exchanging the axes",
        edit=(EXTERNAL_POSITION, "position = x.reshape(x.size(0), -1, x.size(1))"),
        say="The rows of your list are not pixels: a view cuts the channels into pieces, for they come one after the "
        "other in memory. Print the small photo's list and look for 'she', (0, 2).",
    ),
    Misconception(
        exercise="external-attention",
        name="views the output as pictures without exchanging the axes back",
        edit=("out.transpose(1, 2).reshape(x.shape)", "out.reshape(x.shape)"),
        say="Your weights are right and the colours of the output lie in stripes: the way back into a picture skipped "
        "the exchange of axes.",
    ),
    Misconception(
        exercise="external-attention",
        name="returns a list of pixels instead of pictures",
        edit=("out.transpose(1, 2).reshape(x.shape)", "out"),
        say="Your output is a list of pixels, (B, L, C). A picture comes in, so a picture goes out.",
    ),
    Misconception(
        exercise="external-attention",
        name="reads the pictures column by column",
        edit=(
            "x.flatten(2).transpose(1, 2)                  #",
            "x.transpose(2, 3).flatten(2).transpose(1, 2)  #",
        ),
        say="You read the picture from top to bottom, column after column. The order is that of a book, row by row.",
    ),
    Misconception(
        exercise="external-attention",
        name="takes a softmax over the slots only",
        edit=("double_normalisation(self.memory_key(position))", "self.memory_key(position).softmax(-1)"),
        say="In your layer a pixel knows nothing of the rest of the picture: there is one softmax, over the slots.",
    ),
    Misconception(
        exercise="external-attention",
        name="takes a softmax over the positions only",
        edit=("double_normalisation(self.memory_key(position))", "self.memory_key(position).softmax(1)"),
        say="The weights of a position do not sum to 1 in your layer: the second step is missing.",
    ),
    Misconception(
        exercise="external-attention",
        name="normalises the transposed scores",
        edit=(
            "double_normalisation(self.memory_key(position))",
            "double_normalisation(self.memory_key(position).transpose(1, 2)).transpose(1, 2)",
        ),
        say="double_normalisation got (B, S, L) from you and took the slots for positions. "
        "It expects the slots on the last axis.",
    ),
    Misconception(
        exercise="external-attention",
        name="scales the scores by the root of the channels",
        edit=("self.memory_key(position)", "self.memory_key(position) / x.size(1) ** 0.5"),
        say="Your scores are divided by the root of C. That belongs to the transformer; this layer scales nothing.",
    ),
    Misconception(
        exercise="external-attention",
        name="reads the answer from the key memory",
        edit=(EXTERNAL_OUT, "out = att @ self.memory_key.weight"),
        say="Your output is mixed from the rows of the key memory, and the value memory is never used. "
        "There are two memories: one is asked, the other answers.",
    ),
    Misconception(
        exercise="external-attention",
        name="mixes the pixels of the picture instead of the value memory",
        edit=(EXTERNAL_OUT, "out = att @ (att.transpose(1, 2) @ position)"),
        say="What you mix are the pixels of the picture. External attention takes its content from the value memory.",
    ),
    Misconception(
        exercise="external-attention",
        name="adds the picture to the output",
        edit=(EXTERNAL_RETURN, "return out.transpose(1, 2).reshape(x.shape) + x, att"),
        say="Your output is the right one plus the picture. A residual belongs to the block around this layer.",
    ),
    Misconception(
        exercise="external-attention",
        name="gives the key memory a bias",
        edit=(
            "self.memory_key = nn.Linear(n_channels, n_slots, bias=False)",
            "self.memory_key = nn.Linear(n_channels, n_slots)",
        ),
        say="memory_key has a bias. It adds the same number to a whole column of scores, and you know what a softmax "
        "over the positions makes of that: nothing.",
    ),
    Misconception(
        exercise="external-attention",
        name="gives the value memory a bias",
        edit=(
            "self.memory_value = nn.Linear(n_slots, n_channels, bias=False)",
            "self.memory_value = nn.Linear(n_slots, n_channels)",
        ),
        say="memory_value has a bias. The output is a mix of the rows of the memory and of nothing else.",
    ),
    Misconception(
        exercise="external-attention",
        name="starts the value memory as a copy of the key memory",
        edit=(
            "self.memory_value = nn.Linear(n_slots, n_channels, bias=False)",
            "self.memory_value = nn.Linear(n_slots, n_channels, bias=False)\n"
            "        self.memory_value.weight.data = self.memory_key.weight.data.T",
        ),
        say="Your two memories start as one: the value memory is the transposed key memory. "
        "Here each has initial values of its own.",
    ),
    Misconception(
        exercise="external-attention",
        name="keeps the memories out of the gradient",
        edit=(EXTERNAL_ATT, "att = double_normalisation(self.memory_key(position)).detach()"),
        say="No gradient passes your weights, so the key memory can never learn. Something is detached.",
    ),
    Misconception(
        exercise="external-attention",
        name="returns the weights as (B, S, L)",
        edit=(EXTERNAL_RETURN, "return out.transpose(1, 2).reshape(x.shape), att.transpose(1, 2)"),
        say="Your output is right, the weights you return are transposed: positions come before slots, (B, L, S).",
    ),
    Misconception(
        exercise="external-attention",
        name="returns the scores instead of the weights",
        edit=(EXTERNAL_RETURN, "return out.transpose(1, 2).reshape(x.shape), self.memory_key(position)"),
        say="Your output is right, but what you return beside it are the scores, before any normalisation.",
    ),
    Misconception(
        exercise="external-attention",
        name="writes into the caller's picture",
        edit=(EXTERNAL_POSITION, "position = x.sub_(x.detach().mean((2, 3), keepdim=True)).flatten(2).transpose(1, 2)"),
        say="After your forward the caller's picture is another one. Something writes into x.",
    ),
    Misconception(
        exercise="external-attention",
        name="treats the whole batch as one big picture",
        edit=(
            "double_normalisation(self.memory_key(position))",
            "double_normalisation(self.memory_key(position).flatten(0, 1)).view(*position.shape[:2], -1)",
        ),
        say="The weights of a picture depend on the other pictures of the batch: all their pixels stand in one list.",
    ),
    Misconception(
        exercise="external-attention",
        name="normalises by itself, with 1e-9 added to the sum",
        edit=(
            EXTERNAL_ATT,
            "att = self.memory_key(position).softmax(1)\n        att = att / (1e-9 + att.sum(-1, keepdim=True))",
        ),
        say="Right for ordinary pictures. Beside a very bright pixel the others disappear: their weights are 0. "
        "You have written double_normalisation for that.",
    ),
    Misconception(
        exercise="external-attention",
        name="normalises by itself, and divides zero by zero",
        edit=(
            EXTERNAL_ATT,
            "att = self.memory_key(position).softmax(1)\n        att = att / att.sum(-1, keepdim=True)",
        ),
        say="Right for ordinary pictures, nan beside a very bright pixel: 0 is divided by 0. "
        "You have written double_normalisation for that.",
    ),
    Misconception(
        exercise="external-attention",
        name="starts the value memory at zero",
        edit=(
            "self.memory_value = nn.Linear(n_slots, n_channels, bias=False)",
            "self.memory_value = nn.Linear(n_slots, n_channels, bias=False)\n"
            "        nn.init.zeros_(self.memory_value.weight)",
        ),
        say="Your value memory starts at zero, so at first no gradient reaches the key memory. "
        "Both start with the values of nn.Linear.",
    ),
    Misconception(
        exercise="external-attention",
        name="starts the memories normal with deviation 1",
        edit=(
            "self.memory_value = nn.Linear(n_slots, n_channels, bias=False)",
            "self.memory_value = nn.Linear(n_slots, n_channels, bias=False)\n"
            "        for memory in (self.memory_key, self.memory_value):\n            nn.init.normal_(memory.weight)",
        ),
        say="Your memories start with numbers of your own. They keep the values that nn.Linear gives them.",
    ),
    Misconception(
        exercise="attention-cost",
        name="takes the height for the number of positions",
        edit=("height * width, n_channels", "height, n_channels"),
        say="A wider picture costs the same in your count. Every row has width positions.",
    ),
    Misconception(
        exercise="attention-cost",
        name="adds height and width",
        edit=("height * width, n_channels", "height + width, n_channels"),
        say="A picture of 2 by 3 has 6 positions. You counted 5.",
    ),
    Misconception(
        exercise="attention-cost",
        name="takes the height times itself",
        edit=("height * width, n_channels", "height * height, n_channels"),
        say="Your pictures are all square. There are height times width positions.",
    ),
    Misconception(
        exercise="attention-cost",
        name="leaves out one of the products over pairs of positions",
        edit=("2 * L * L * C", "L * L * C"),
        say="In self-attention two products have L times L in them, the scores and the mix. One is missing.",
    ),
    Misconception(
        exercise="attention-cost",
        name="leaves out one of the products with the memory",
        edit=("2 * L * C * S", "L * C * S"),
        say="External attention meets its memory twice, once for the scores and once for the mix.",
    ),
    Misconception(
        exercise="attention-cost",
        name="counts three linear layers in self-attention",
        edit=("4 * L * C * C", "3 * L * C * C"),
        say="Query, key and value are three linear layers. The table names a fourth.",
    ),
    Misconception(
        exercise="attention-cost",
        name="leaves the linear layers of self-attention out",
        edit=("4 * L * C * C + 2", "2"),
        say="Your self-attention has only the pairs. Its four linear layers cost something too.",
    ),
    Misconception(
        exercise="attention-cost",
        name="leaves the linear layers of external attention out",
        edit=("2 * L * C * C + 2 * L * C * S", "2 * L * C * S"),
        say="Your external attention has only the memory. In the block a linear layer stands before it and one after.",
    ),
    Misconception(
        exercise="attention-cost",
        name="counts a linear layer as L times C",
        edit=("4 * L * C * C", "4 * L * C"),
        say="A linear layer from C to C takes C times C multiplications at each position, not C.",
    ),
    Misconception(
        exercise="attention-cost",
        name="lets every position meet every position in external attention",
        edit=("2 * L * C * S", "2 * L * L * S"),
        say="L times L in external attention? A position meets the S slots, and no other position.",
    ),
    Misconception(
        exercise="attention-cost",
        name="gives the linear layers of external attention the width of the memory",
        edit=("2 * L * C * C", "2 * L * S * S"),
        say="The linear layers around the memory go from C to C. The number of slots plays no part in them.",
    ),
    Misconception(
        exercise="attention-cost",
        name="counts additions as well",
        edit=("return self_attention, external_attention", "return 2 * self_attention, 2 * external_attention"),
        say="Both of your numbers are twice too large. Only multiplications are counted.",
    ),
    Misconception(
        exercise="attention-cost",
        name="returns the two numbers in the wrong order",
        edit=("return self_attention, external_attention", "return external_attention, self_attention"),
        say="Your two numbers have changed places. Self-attention comes first.",
    ),
    Misconception(
        exercise="attention-cost",
        name="takes the pairs as half of the square",
        edit=("2 * L * L * C", "L * (L - 1) * C"),
        say="You counted each pair of positions once. Query and key are different vectors: "
        "i asks j and j asks i, and each asks itself.",
    ),
]


# channel-and-spatial.ipynb

VIEW_OF_MAPS = (
    "`view` refuses maps that were transposed, for their numbers lie in memory in another order. "
    "`flatten` and `reshape` take any."
)

SE_SCALE = "x * weight.unsqueeze(-1).unsqueeze(-1), weight"
SE_GATE = "torch.sigmoid(self.expand(hidden))"
SE_RELU = "self.reduce(z).relu()"
SE_SQUEEZE = "z = x.mean((2, 3))"
ECA_SCALE = "x * weight[:, :, None, None], weight"
ECA_GATE = "weight = torch.sigmoid(score)"
ECA_SCORE = "score = self.conv(z.unsqueeze(1)).squeeze(1)"
ECA_SQUEEZE = "z = x.mean((2, 3))"
ECA_T = "int((math.log2(channels) + b) / gamma)"
ECA_ODD = "t if t % 2 == 1 else t + 1"

CHANNEL_OF_MAX = "self.expand(self.reduce(x.amax((2, 3))).relu())"
CHANNEL_GATE = "torch.sigmoid(of_mean + of_max)"
SPATIAL_GATE = "torch.sigmoid(self.conv(torch.cat([mean, largest], 1)))"
SPATIAL_CONV = "nn.Conv2d(2, 1, kernel, padding=kernel // 2)"
SPATIAL_MEAN = "x.mean(1, keepdim=True)"
SPATIAL_MAX = "x.amax(1, keepdim=True)"
CBAM_FIRST = "x = x * what.unsqueeze(-1).unsqueeze(-1)"
CBAM_OUT = "return x * where, what, where"

SQUEEZE_EXCITATION = [
    (
        "leaves out the squeeze",
        "return " + SE_SCALE,
        "weight = torch.sigmoid(self.expand(self.reduce(x.movedim(1, -1)).relu())).movedim(-1, 1)\n"
        "        return x * weight, weight",
        "You have a gate for each dot of each map. The squeeze makes one number of each whole map first.",
    ),
    (
        "feeds the second layer with the means",
        "self.expand(hidden)",
        "self.expand(z)",
        "Your second layer takes the means once more, so what the first layer and the relu found is thrown away. "
        "The widths do not even fit, unless C / r happens to be C.",
    ),
    (
        "has no relu between the layers",
        SE_RELU,
        "self.reduce(z)",
        "There is no relu between your two layers, and two linear layers in a row are one. In the check the exchanged "
        "picture shows it.",
    ),
    (
        "has a sigmoid between the layers",
        SE_RELU,
        "self.reduce(z).sigmoid()",
        "Between your two layers stands a sigmoid. The formula has the relu there, and the sigmoid at the end.",
    ),
    (
        "has a relu6 between the layers",
        SE_RELU,
        "F.relu6(self.reduce(z))",
        "Between your two layers stands a relu6, as in networks for telephones: it cuts off at 6. The relu of the "
        "formula has no upper end.",
    ),
    (
        "has a gelu between the layers",
        SE_RELU,
        "F.gelu(self.reduce(z))",
        "Between your two layers stands a gelu. It is close to the relu of the formula, and not the same.",
    ),
    (
        "has a relu at the end too",
        SE_GATE,
        "self.expand(hidden).relu()",
        "Your gates end in a relu: they can be larger than 1. What keeps a number between 0 and 1?",
    ),
    (
        "leaves out the sigmoid",
        SE_GATE,
        "self.expand(hidden)",
        "Your gates are the bare scores, negative ones included. A gate lies between 0 and 1.",
    ),
    (
        "takes a softmax over the channels",
        SE_GATE,
        "self.expand(hidden).softmax(1)",
        "Your gates sum to 1 over the channels: one opens only if another shuts. Here every channel has its own gate.",
    ),
    (
        "squeezes with the maximum",
        SE_SQUEEZE,
        "z = x.amax((2, 3))",
        "Your squeeze takes the largest dot of each map. Squeeze and excitation takes the mean.",
    ),
    (
        "squeezes with the sum",
        SE_SQUEEZE,
        "z = x.sum((2, 3))",
        "Your squeeze takes the sum, so the same picture twice as large has other gates. The formula takes the mean.",
    ),
    (
        "squeezes over batch and places",
        SE_SQUEEZE,
        "z = x.mean((0, 2, 3)).expand(x.size(0), -1)",
        "Your means run over the batch too: all pictures get the same gates. That is what batch norm does.",
    ),
    (
        "adds the gates",
        SE_SCALE,
        "x + weight.unsqueeze(-1).unsqueeze(-1), weight",
        "You added the gates to the maps. Then a gate of 0 lets everything through.",
    ),
    (
        "adds x to the scaled maps",
        SE_SCALE,
        "x + x * weight.unsqueeze(-1).unsqueeze(-1), weight",
        "Your output is x plus the scaled x, so no channel can be turned off. The residual belongs to the block around "
        "this layer.",
    ),
    (
        "gives the gates to the columns",
        SE_SCALE,
        "x * (weight[:, None, None] if x.size(1) == x.size(3) else weight[:, :, None, None]), weight",
        "Where the width equals C, your gates go to the columns. Shapes line up from the right: "
        "two axes are missing there.",
    ),
    (
        "lets the hidden width become 0",
        "max(1, channels // reduction)",
        "channels // reduction",
        "With fewer channels than the reduction your hidden width is 0: the gates are then the same for every picture.",
    ),
    (
        "makes the hidden width larger",
        "max(1, channels // reduction)",
        "channels * reduction",
        "Your hidden layer is wider than C. The reduction divides.",
    ),
    (
        "has no biases",
        "self.expand = nn.Linear(hidden, channels)",
        "self.expand = nn.Linear(hidden, channels, bias=False)",
        "expand has no bias. The docstring asks for two linear layers with bias.",
    ),
    (
        "detaches the gates",
        SE_GATE,
        "torch.sigmoid(self.expand(hidden)).detach()",
        "The numbers are right, but no gradient reaches the gates: reduce and expand would never learn.",
    ),
    (
        "reads a layer as .data",
        SE_RELU,
        "F.linear(z, self.reduce.weight.data, self.reduce.bias.data).relu()",
        "The numbers are right, but .data stands outside the graph: no gradient reaches reduce. Call the layer.",
    ),
    (
        "freezes a layer",
        "self.reduce = nn.Linear(channels, hidden)",
        "self.reduce = nn.Linear(channels, hidden).requires_grad_(False)",
        "Your layer reduce is frozen. It can never learn which channels matter.",
    ),
    (
        "scales x in place",
        "return " + SE_SCALE,
        "x.data.mul_(weight.unsqueeze(-1).unsqueeze(-1))\n        return x * 1, weight",
        "Your forward multiplies the caller's own tensor. Make a new one.",
    ),
    (
        "returns only the output",
        "return " + SE_SCALE,
        "return x * weight.unsqueeze(-1).unsqueeze(-1)",
        "forward returns two things, the scaled maps and the gates.",
    ),
    (
        "flattens the maps with view",
        SE_SQUEEZE,
        "z = x.view(x.size(0), x.size(1), -1).mean(-1)",
        VIEW_OF_MAPS,
    ),
]

EFFICIENT = [
    (
        "leaves an even kernel",
        ECA_ODD,
        "max(1, t)",
        "Your kernel size can be even. Such a window has no middle, and the width changes with the padding.",
    ),
    (
        "goes down from an even number",
        ECA_ODD,
        "t if t % 2 == 1 else max(1, t - 1)",
        "If the whole part of t is even, the nearest odd number lies above it, not below.",
    ),
    (
        "goes up from an odd number too",
        ECA_ODD,
        "t + 1 if t % 2 == 1 else t + 1 + t % 2",
        "You add 1 to odd numbers too, and then they are even.",
    ),
    (
        "takes the natural logarithm",
        ECA_T,
        "int((math.log(channels) + b) / gamma)",
        "Your logarithm has base e. The formula counts doublings: base 2.",
    ),
    (
        "adds b after the division",
        ECA_T,
        "int(math.log2(channels) / gamma + b)",
        "You add b after dividing by gamma. In the formula b is divided too.",
    ),
    (
        "multiplies by gamma",
        ECA_T,
        "int((math.log2(channels) + b) * gamma)",
        "Your window is far too wide: gamma divides.",
    ),
    (
        "rounds t before looking for the odd number",
        ECA_T,
        "round((math.log2(channels) + b) / gamma)",
        "You rounded t, and then looked for an odd number: 3.6 becomes 4 and then 5, though 3 is nearer.",
    ),
    (
        "rounds t up before looking for the odd number",
        ECA_T,
        "math.ceil((math.log2(channels) + b) / gamma)",
        "You rounded t up, and then looked for an odd number: 3.5 becomes 4 and then 5, though 3 is nearer.",
    ),
    (
        "cuts the logarithm down to a whole number",
        ECA_T,
        "int((int(math.log2(channels)) + b) / gamma)",
        "Right where the number of channels is a power of 2. For others the logarithm has a fraction, and it counts.",
    ),
    (
        "ignores the kernel that is given",
        "eca_kernel(channels) if kernel is None else kernel",
        "eca_kernel(channels)",
        "Your layer always computes the kernel size from the channels, also where the caller gives one.",
    ),
    (
        "has always kernel 3",
        "eca_kernel(channels) if kernel is None else kernel",
        "3 if kernel is None else kernel",
        "Without a kernel, your layer always takes 3. It should come from the number of channels.",
    ),
    (
        "has always kernel 5",
        "eca_kernel(channels) if kernel is None else kernel",
        "5 if kernel is None else kernel",
        "Without a kernel, your layer always takes 5. It should come from the number of channels.",
    ),
    (
        "forgets the padding",
        "nn.Conv1d(1, 1, k, padding=k // 2, bias=False)",
        "nn.Conv1d(1, 1, k, bias=False)",
        "Without padding fewer gates come out than channels went in.",
    ),
    (
        "keeps the bias",
        "nn.Conv1d(1, 1, k, padding=k // 2, bias=False)",
        "nn.Conv1d(1, 1, k, padding=k // 2)",
        "Your convolution has a bias. ECA has k weights and nothing else.",
    ),
    (
        "has a filter for each channel",
        "nn.Conv1d(1, 1, k, padding=k // 2, bias=False)",
        "nn.Conv1d(channels, channels, k, padding=k // 2, bias=False)",
        "Your layer has filters for every pair of channels. The window slides along the channels: "
        "they are the length, and the convolution has one channel.",
    ),
    (
        "pads with copies of the ends",
        "padding=k // 2, bias=False",
        "padding=k // 2, bias=False, padding_mode='replicate'",
        "At both ends of the list your window sees copies of the last channel. The padding is zeros.",
    ),
    (
        "turns the filter around",
        ECA_SCORE,
        "score = self.conv(z.unsqueeze(1).flip(-1)).squeeze(1).flip(-1)",
        "Your filter runs backwards along the channels: neighbours before and after are exchanged.",
    ),
    (
        "slides along the batch",
        ECA_SCORE,
        "score = self.conv(z.T.unsqueeze(1)).squeeze(1).T",
        "Your window slides along the batch: a gate listens to the neighbouring pictures. The channels are the line.",
    ),
    (
        "leaves out the sigmoid",
        ECA_GATE,
        "weight = score",
        "Your gates are the bare scores, negative ones included. A gate lies between 0 and 1.",
    ),
    (
        "takes a softmax over the channels",
        ECA_GATE,
        "weight = score.softmax(1)",
        "Your gates sum to 1 over the channels: one opens only if another shuts. Here every channel has its own gate.",
    ),
    (
        "squeezes with the maximum",
        ECA_SQUEEZE,
        "z = x.amax((2, 3))",
        "Your squeeze takes the largest dot of each map. ECA takes the mean.",
    ),
    (
        "gives the gates to the columns",
        ECA_SCALE,
        "x * (weight[:, None, None] if x.size(1) == x.size(3) else weight[:, :, None, None]), weight",
        "Where the width equals C, your gates go to the columns. Shapes line up from the right: "
        "two axes are missing there.",
    ),
    (
        "detaches the gates",
        ECA_GATE,
        "weight = torch.sigmoid(score).detach()",
        "The numbers are right, but no gradient reaches the gates: the filter would never learn.",
    ),
    (
        "reads the filter as .data",
        ECA_SCORE,
        "score = F.conv1d(z.unsqueeze(1), self.conv.weight.data, padding='same').squeeze(1)",
        "The numbers are right, but .data stands outside the graph: no gradient reaches the filter. Call the layer.",
    ),
    (
        "flattens the maps with view",
        ECA_SQUEEZE,
        "z = x.view(x.size(0), x.size(1), -1).mean(-1)",
        VIEW_OF_MAPS,
    ),
]

CHANNEL = [
    (
        "takes the mean twice",
        "x.amax((2, 3))",
        "x.mean(3).mean(2)",
        "Both of your squeezes are the mean. One of them is the maximum.",
    ),
    (
        "takes the maximum twice",
        "x.mean((2, 3))",
        "x.flatten(2).max(-1).values",
        "Both of your squeezes are the maximum. One of them is the mean.",
    ),
    (
        "takes the mean only",
        CHANNEL_GATE,
        "torch.sigmoid(of_mean)",
        "Your gates hear the mean only, as in squeeze and excitation. The maximum has a say here too.",
    ),
    (
        "takes the maximum only",
        CHANNEL_GATE,
        "torch.sigmoid(of_max)",
        "Your gates hear the maximum only. The mean has a say too.",
    ),
    (
        "adds mean and maximum before the MLP",
        CHANNEL_GATE,
        "torch.sigmoid(self.expand(self.reduce(x.mean([2, 3]) + x.amax([2, 3])).relu()))",
        "You added mean and maximum and sent the sum through the MLP once. Each goes through by itself; "
        "then b_2 counts twice, and the relu can shut for one of them.",
    ),
    (
        "applies the relu after adding",
        CHANNEL_GATE,
        "torch.sigmoid(\n            self.expand((self.reduce(x.mean([2, 3])) + self.reduce(x.amax([2, 3]))).relu()))",
        "You added the hidden numbers and then took one relu. The relu works on each of the two, and the results of "
        "the whole MLP are added.",
    ),
    (
        "adds two sigmoids",
        CHANNEL_GATE,
        "torch.sigmoid(of_mean) + torch.sigmoid(of_max)",
        "You added two sigmoids, so a gate can reach 2. Add the scores, then take one sigmoid.",
    ),
    (
        "multiplies two sigmoids",
        CHANNEL_GATE,
        "torch.sigmoid(of_mean) * torch.sigmoid(of_max)",
        "You multiplied two sigmoids. The formula adds the scores first and takes one sigmoid.",
    ),
    (
        "averages the two scores",
        CHANNEL_GATE,
        "torch.sigmoid((of_mean + of_max) / 2)",
        "Your scores are half as large as they should be: you took the mean of the two, the formula takes the sum.",
    ),
    (
        "takes the larger of the two scores",
        CHANNEL_GATE,
        "torch.sigmoid(torch.maximum(of_mean, of_max))",
        "You took the larger of the two scores. The formula adds them.",
    ),
    (
        "does not share the MLP",
        "self.expand = nn.Linear(hidden, channels)",
        "self.expand = nn.Linear(hidden, channels)\n        self.reduce_max = nn.Linear(channels, hidden)\n"
        "        self.expand_max = nn.Linear(hidden, channels)",
        "You have a second MLP for the maximum. One MLP serves both, that is what shared means.",
    ),
    (
        "leaves out the sigmoid",
        CHANNEL_GATE,
        "of_mean + of_max",
        "Your gates are the bare scores. A gate lies between 0 and 1.",
    ),
    (
        "takes a softmax over the channels",
        CHANNEL_GATE,
        "(of_mean + of_max).softmax(1)",
        "Your gates sum to 1 over the channels. Here every channel has its own gate.",
    ),
    (
        "has no relu for the maximum",
        CHANNEL_OF_MAX,
        "self.expand(self.reduce(x.amax((2, 3))))",
        "On the way of the maximum the relu is missing. It is the same MLP, relu included.",
    ),
    (
        "takes the largest size instead of the largest value",
        "x.amax((2, 3))",
        "x.abs().amax((2, 3))",
        "You took the largest value without its sign. A map that is negative everywhere has a negative maximum.",
    ),
    (
        "lets the hidden width become 0",
        "max(1, channels // reduction)",
        "channels // reduction",
        "With fewer channels than the reduction your hidden width is 0: the gates are then the same for every picture.",
    ),
    (
        "multiplies the maps already",
        "return " + CHANNEL_GATE,
        "return x * torch.sigmoid(of_mean + of_max)[:, :, None, None]",
        "You returned the scaled maps. This time only the gates are asked for.",
    ),
    (
        "takes the maximum as a bare number",
        "x.amax((2, 3))",
        "x.detach().amax((2, 3))",
        "The numbers are right, but no gradient passes through the maximum.",
    ),
    (
        "reads a layer as .data on the way of the mean",
        "self.reduce(x.mean((2, 3))).relu()",
        "F.linear(x.mean((2, 3)), self.reduce.weight.data, self.reduce.bias.data).relu()",
        "The numbers are right, but .data stands outside the graph: reduce learns from the maximum only. Call the "
        "layer.",
    ),
    (
        "freezes a layer",
        "self.reduce = nn.Linear(channels, hidden)",
        "self.reduce = nn.Linear(channels, hidden).requires_grad_(False)",
        "Your layer reduce is frozen. It can never learn which channels matter.",
    ),
    (
        "flattens the maps with view",
        "x.amax((2, 3))",
        "x.view(x.size(0), x.size(1), -1).amax(-1)",
        VIEW_OF_MAPS,
    ),
]

SPATIAL = [
    (
        "leaves out the sigmoid",
        SPATIAL_GATE,
        "self.conv(torch.cat([mean, largest], 1))",
        "Your gates are the bare scores of the convolution. What makes gates of them?",
    ),
    (
        "puts the maximum first",
        "[mean, largest]",
        "[largest, mean]",
        "Your maximum map comes first. With the weights of somebody else the two maps would then be mixed up: "
        "mean first, maximum second.",
    ),
    (
        "takes the mean twice",
        SPATIAL_MAX,
        "x.sum(1, keepdim=True) / x.size(1)",
        "Both of your maps are the mean over the channels. One of them is the maximum.",
    ),
    (
        "takes the maximum twice",
        SPATIAL_MEAN,
        "x.max(1, keepdim=True).values",
        "Both of your maps are the maximum over the channels. One of them is the mean.",
    ),
    (
        "forgets the padding",
        SPATIAL_CONV,
        "nn.Conv2d(2, 1, kernel)",
        "Your convolution makes the picture smaller: without padding there are fewer gates than places.",
    ),
    (
        "pads by the whole kernel",
        SPATIAL_CONV,
        "nn.Conv2d(2, 1, kernel, padding=kernel - 1)",
        "Your convolution makes the picture larger. How far does the window reach out on each side?",
    ),
    (
        "pads by 3 whatever the kernel is",
        SPATIAL_CONV,
        "nn.Conv2d(2, 1, kernel, padding=3)",
        "Your padding fits the kernel of 7 only.",
    ),
    (
        "has always a kernel of 7",
        SPATIAL_CONV,
        "nn.Conv2d(2, 1, 7, padding=3)",
        "Your kernel is 7 by 7 whatever the caller asks for.",
    ),
    (
        "has no bias",
        SPATIAL_CONV,
        "nn.Conv2d(2, 1, kernel, padding=kernel // 2, bias=False)",
        "Your convolution has no bias. The docstring asks for one.",
    ),
    (
        "pads with copies of the edge",
        SPATIAL_CONV,
        "nn.Conv2d(2, 1, kernel, padding=kernel // 2, padding_mode='replicate')",
        "At the edges your window sees copies of the edge. The padding is zeros.",
    ),
    (
        "pools over the places",
        SPATIAL_MEAN,
        "x.mean((2, 3), keepdim=True).mean(1, keepdim=True).expand_as(x[:, :1])",
        "Your mean is the same number at every place. It runs over the channels, and the places stay.",
    ),
    (
        "takes a softmax over the places",
        SPATIAL_GATE,
        "self.conv(torch.cat([mean, largest], 1)).flatten(1).softmax(1).view_as(mean)",
        "Your gates sum to 1 over the picture: the larger it is, the darker. Here every place has its own gate.",
    ),
    (
        "takes the sum of the channels",
        SPATIAL_MEAN,
        "x.sum(1, keepdim=True)",
        "Your first map is the sum over the channels. The formula takes the mean.",
    ),
    (
        "takes the largest size instead of the largest value",
        SPATIAL_MAX,
        "x.abs().amax(1, keepdim=True)",
        "You took the largest value without its sign. Below zero that is another dot.",
    ),
    (
        "drops the axis of the channel",
        SPATIAL_GATE,
        "torch.sigmoid(self.conv(torch.cat([mean, largest], 1))).squeeze(1)",
        "Your gates have lost the axis of size 1. Without it they line up with the wrong axes of x.",
    ),
    (
        "multiplies the maps already",
        "return " + SPATIAL_GATE,
        "return x * torch.sigmoid(self.conv(torch.cat([mean, largest], 1)))",
        "You returned the scaled maps. Only the gates are asked for.",
    ),
    (
        "takes the maximum as a bare number",
        SPATIAL_MAX,
        "x.detach().amax(1, keepdim=True)",
        "The numbers are right, but no gradient passes through the maximum.",
    ),
    (
        "reads the convolution as .data",
        SPATIAL_GATE,
        "torch.sigmoid(\n            F.conv2d(torch.cat([mean, largest], 1), self.conv.weight.data, self.conv.bias, "
        "padding='same'))",
        "The numbers are right, but .data stands outside the graph: no gradient reaches conv. Call the layer.",
    ),
    (
        "freezes the convolution",
        SPATIAL_CONV,
        SPATIAL_CONV + ".requires_grad_(False)",
        "Your convolution is frozen. It can never learn which places matter.",
    ),
]

CBAM_ALL = """what = self.channel(x)                                    # (B, C)
        x = x * what.unsqueeze(-1).unsqueeze(-1)                  # (B, C, height, width)
        where = self.spatial(x)                                   # (B, 1, height, width)
        return x * where, what, where"""

BOTH = [
    (
        "judges the places before the channels are gated",
        CBAM_ALL,
        "what, where = self.channel(x), self.spatial(x)\n"
        "        return x * what[:, :, None, None] * where, what, where",
        "Your spatial part saw x as it came. It must see the maps after the channel gates, with the haze turned down.",
    ),
    (
        "takes the spatial part first",
        CBAM_ALL,
        "where = self.spatial(x)\n        x = x * where\n        what = self.channel(x)\n"
        "        return x * what[:, :, None, None], what, where",
        "You asked where first, and then what. The channel gates come first.",
    ),
    (
        "forgets the channel gates in the output",
        CBAM_ALL,
        "what = self.channel(x)\n        where = self.spatial(x * what[:, :, None, None])\n"
        "        return x * where, what, where",
        "Your spatial gates are right, but they multiply x as it came. The channel gates are lost on the way.",
    ),
    (
        "does not use the spatial gates",
        CBAM_OUT,
        "return x, what, where",
        "Your spatial gates are computed and returned, but nothing is multiplied by them.",
    ),
    (
        "adds x at the end",
        CBAM_ALL,
        "what = self.channel(x)\n        scaled = x * what[:, :, None, None]\n        where = self.spatial(scaled)\n"
        "        return x + scaled * where, what, where",
        "You added x to the result, so nothing can be turned off. The residual belongs to the block around CBAM.",
    ),
    (
        "adds the two scaled maps",
        CBAM_ALL,
        "what = self.channel(x)\n        scaled = x * what[:, :, None, None]\n        where = self.spatial(scaled)\n"
        "        return scaled + scaled * where, what, where",
        "You added what the first part left to what the second left. The second formula has only one product.",
    ),
    (
        "gives the channel gates to the columns",
        CBAM_FIRST,
        "x = x * (what[:, None, None] if x.size(1) == x.size(3) else what[:, :, None, None])",
        "Where the width equals C, your channel gates go to the columns. Shapes line up from the right.",
    ),
    (
        "asks the channel part again after the spatial part",
        CBAM_OUT,
        "what = self.channel(x * where)\n        return x * where, what, where",
        "You called channel twice, and returned gates that are not the ones you used.",
    ),
    (
        "applies the channel gates twice",
        CBAM_OUT,
        "return x * where * what[:, :, None, None], what, where",
        "The channel gates are in your output twice: once before the spatial part, and once more at the end.",
    ),
    (
        "takes a sigmoid of the gates once more",
        CBAM_FIRST,
        "what = what.sigmoid()\n        x = x * what.unsqueeze(-1).unsqueeze(-1)",
        "What channel returns are gates already. After another sigmoid none of them can be shut.",
    ),
    (
        "does not hand on the kernel",
        "SpatialAttention(kernel)",
        "SpatialAttention()",
        "Your spatial part always has a kernel of 7: the caller's kernel stops at your constructor.",
    ),
    (
        "does not hand on the reduction",
        "ChannelAttention(channels, reduction)",
        "ChannelAttention(channels)",
        "Your channel part always has a reduction of 16: the caller's reduction stops at your constructor.",
    ),
    (
        "returns the gates in the other order",
        CBAM_OUT,
        "return x * where, where, what",
        "The two gates are returned in the wrong order: first the channels', then the places'.",
    ),
    (
        "returns only the output",
        CBAM_OUT,
        "return x * where",
        "forward returns three things: the output and the two kinds of gates.",
    ),
    (
        "detaches the channel gates",
        CBAM_FIRST,
        "x = x * what.detach().unsqueeze(-1).unsqueeze(-1)",
        "The numbers are right, but no gradient passes from your output through the channel gates: "
        "the channel part would never learn.",
    ),
    (
        "detaches the spatial gates",
        CBAM_OUT,
        "return x * where.detach(), what, where",
        "The numbers are right, but no gradient passes from your output through the spatial gates: "
        "the spatial part would never learn.",
    ),
    (
        "detaches the maps that the spatial part sees",
        "where = self.spatial(x)",
        "where = self.spatial(x.detach())",
        "The numbers are right, but your spatial part sees maps that are cut off from the graph: the channel gates "
        "never hear what the spatial gates made of them.",
    ),
    (
        "applies the spatial gates in place",
        CBAM_OUT,
        "x *= where\n        return x, what, where",
        "The numbers are right, but you write over the maps that the spatial part has seen, and backward still needs "
        "them. Make a new tensor of the product.",
    ),
    (
        "freezes the channel part",
        "self.channel = ChannelAttention(channels, reduction)",
        "self.channel = ChannelAttention(channels, reduction).requires_grad_(False)",
        "Your channel part is frozen. It can never learn which channels matter.",
    ),
]

IN_CHANNEL_AND_SPATIAL = [
    Misconception(exercise=exercise, name=name, edit=(right, wrong), say=say)
    for exercise, mistakes in {
        "squeeze-excitation": SQUEEZE_EXCITATION,
        "eca": EFFICIENT,
        "channel-attention": CHANNEL,
        "spatial-attention": SPATIAL,
        "cbam": BOTH,
    }.items()
    for name, right, wrong, say in mistakes
]


# attention-over-places.ipynb

PLACES_SOFTMAX = "weights = (query @ key).softmax(-1)"
PLACES_INIT = "nn.init.zeros_(self.out.weight)\n        nn.init.zeros_(self.out.bias)"
PLACES_ADD = "return x + self.out(heard), weights"
PLACES_BACK = "heard = (weights @ value).transpose(1, 2)"
PLACES_CUT = "x = x.reshape(B, C, height // size, size, width // size, size)"
PLACES_ORDER = "x = x.permute(0, 2, 4, 1, 3, 5)"
PLACES_EMBED = "F.linear(patches(x, weight.shape[-1]), weight.flatten(1), bias)"
PLACES_JOIN = "words = torch.cat([token, words], 1) + self.position"
PLACES_ANSWER = "return self.head(self.norm(words[:, 0]))"
PLACES_FIRM = "if height % size or width % size:"

IN_ATTENTION_OVER_PLACES = [
    Misconception(
        exercise="non-local",
        name="divides the scores by the root of the inner width",
        edit=(PLACES_SOFTMAX, "weights = (query @ key / key.size(1) ** 0.5).softmax(-1)"),
        say="Your weights are more even than the formula's: you divided the scores by a root. The transformer does "
        "that, this block does not.",
    ),
    Misconception(
        exercise="non-local",
        name="takes the softmax over the asking places",
        edit=(PLACES_SOFTMAX, "weights = (query @ key).softmax(1)"),
        say="Your columns sum to 1 instead of your rows: the askers compete. Each asking place has one whole of its "
        "own to share out among the places it asks.",
    ),
    Misconception(
        exercise="non-local",
        name="takes one softmax over all pairs of a picture",
        edit=(PLACES_SOFTMAX, "weights = (query @ key).flatten(1).softmax(1).view(len(x), key.size(2), key.size(2))"),
        say="All weights of a picture together sum to 1. Each asking place has a whole 1 of its own.",
    ),
    Misconception(
        exercise="non-local",
        name="takes the softmax over the batch",
        edit=(PLACES_SOFTMAX, "weights = (query @ key).softmax(0)"),
        say="Your weights sum to 1 over the batch: the pictures compete with one another. Look at which axis holds "
        "the places that are asked.",
    ),
    Misconception(
        exercise="non-local",
        name="divides by the number of places instead of a softmax",
        edit=(PLACES_SOFTMAX, "weights = (query @ key) / key.size(2)"),
        say="Your weights are scores divided by the number of places. That is the dot product version of the paper; "
        "asked for is the softmax.",
    ),
    Misconception(
        exercise="non-local",
        name="takes exp without subtracting the maximum",
        edit=(
            PLACES_SOFTMAX,
            "weights = (query @ key).exp()\n        weights = weights / weights.sum(-1, keepdim=True)",
        ),
        say="Right for small scores, nan for large ones: exp(89) is more than a float32 can hold. A number added to "
        "all scores of a row changes no weight. Choose it well.",
    ),
    Misconception(
        exercise="non-local",
        name="exchanges theta and phi",
        edit=(
            "query = self.theta(x).flatten(2).transpose(1, 2)        # (B, L, inner)\n        key = self.phi(x)",
            "query = self.phi(x).flatten(2).transpose(1, 2)        # (B, L, inner)\n        key = self.theta(x)",
        ),
        say="theta and phi have changed places. Theta belongs to the place that asks, and the rows of the weights "
        "are the askers.",
    ),
    Misconception(
        exercise="non-local",
        name="uses theta for the keys too",
        edit=("key = self.phi(x)", "key = self.theta(x)"),
        say="Your weights do not change when phi does: queries and keys come from the same layer. Each has its own.",
    ),
    Misconception(
        exercise="non-local",
        name="mixes the keys instead of g",
        edit=("value = self.g(x)", "value = self.phi(x)"),
        say="Your weights are right, but what they mix is phi of the places. The values have a layer of their own.",
    ),
    Misconception(
        exercise="non-local",
        name="views places as channels on the way in",
        edit=(
            "query = self.theta(x).flatten(2).transpose(1, 2)        # (B, L, inner)",
            "query = self.theta(x).flatten(2)\n"
            "        query = query.reshape(query.size(0), query.size(2), query.size(1))",
        ),
        say="Your queries have the right shape and the wrong numbers: a view pairs a channel of one place with the "
        "same channel of the next. The axes must be exchanged, not renamed.",
    ),
    Misconception(
        exercise="non-local",
        name="views the answers back without exchanging the axes",
        edit=(
            PLACES_BACK,
            "heard = weights @ value\n        heard = heard.reshape(len(x), heard.size(2), heard.size(1))",
        ),
        say="Your weights are right, but the answers arrive at the wrong places and channels. They are (B, L, inner) "
        "after the mix; a view alone does not bring the channels to the front.",
    ),
    Misconception(
        exercise="non-local",
        name="exchanges height and width on the way back",
        edit=("heard.unflatten(2, x.shape[2:])", "heard.unflatten(2, (x.size(3), x.size(2))).transpose(2, 3)"),
        say="Places are numbered row by row, and yours come back column by column. A square picture hides it, "
        "a picture of 2 by 3 does not.",
    ),
    Misconception(
        exercise="non-local",
        name="leaves out the residual",
        edit=(PLACES_ADD, "return self.out(heard), weights"),
        say="A new block of yours gives back zeros. What the places heard is added to the picture, it does not "
        "replace it.",
    ),
    Misconception(
        exercise="non-local",
        name="gives out the picture instead of what the places heard",
        edit=(PLACES_ADD, "return x + self.out(x), weights"),
        say="Your output does not depend on the weights at all: out was given the picture. It takes what the places "
        "have heard.",
    ),
    Misconception(
        exercise="non-local",
        name="out starts as torch makes it",
        edit=(PLACES_INIT, "pass"),
        say="A new block of yours changes the picture. Weight and bias of out must start at zero, so that the block "
        "can be put into a trained network.",
    ),
    Misconception(
        exercise="non-local",
        name="only the weight of out starts at zero",
        edit=(PLACES_INIT, "nn.init.zeros_(self.out.weight)"),
        say="A new block of yours adds the same small vector everywhere: the bias of out is not zero at the start.",
    ),
    Misconception(
        exercise="non-local",
        name="starts g at zero instead of out",
        edit=(PLACES_INIT, "for layer in (self.g, self.out):\n            nn.init.zeros_(layer.weight)"),
        say="Only out starts at zero, with its bias. If g is zero too, neither of the two gets a gradient, and the "
        "block never learns.",
    ),
    Misconception(
        exercise="non-local",
        name="keeps all channels inside when none are given",
        edit=(
            "inner = max(1, channels // 2) if inner is None else inner",
            "inner = channels if inner is None else inner",
        ),
        say="Without a number the block works with half of the channels inside, rounded down. Yours has all of them.",
    ),
    Misconception(
        exercise="non-local",
        name="writes into the caller's picture",
        edit=(PLACES_ADD, "return x.add_(self.out(heard)), weights"),
        say="After the call the caller's picture has changed. Names that end in an underscore write into the tensor "
        "they are given.",
    ),
    Misconception(
        exercise="non-local",
        name="cuts large scores off",
        edit=(PLACES_SOFTMAX, "weights = (query @ key).clamp(-80, 80).softmax(-1)"),
        say="Two scores above your limit become equal, and their weights too. A softmax needs no limit.",
    ),
    Misconception(
        exercise="non-local",
        name="freezes out",
        edit=(PLACES_INIT, PLACES_INIT + "\n        self.out.requires_grad_(False)"),
        say="In your block out is frozen, so it stays at zero for ever. Zero is only where it starts.",
    ),
    Misconception(
        exercise="non-local",
        name="reads theta as .data",
        edit=("query = self.theta(x)", "query = F.conv2d(x, self.theta.weight.data, self.theta.bias.data)"),
        say="The numbers are right, but .data stands outside the graph: no gradient reaches theta. Call the layer.",
    ),
    Misconception(
        exercise="non-local",
        name="starts all biases at zero",
        edit=(
            "nn.init.zeros_(self.out.bias)",
            "for layer in (self.theta, self.phi, self.g, self.out):\n            nn.init.zeros_(layer.bias)",
        ),
        say="All your biases start at zero. Only those of out do; the others keep what torch gives them.",
    ),
    Misconception(
        exercise="non-local",
        name="starts theta, phi and g normal with deviation 1",
        edit=(
            PLACES_INIT,
            PLACES_INIT + "\n        for layer in (self.theta, self.phi, self.g):\n"
            "            nn.init.normal_(layer.weight)",
        ),
        say="theta, phi and g start with numbers of your own. They keep what torch gives them.",
    ),
    Misconception(
        exercise="non-local",
        name="has no inner channel where there is one channel",
        edit=("max(1, channels // 2)", "channels // 2"),
        say="For one channel, channels // 2 is 0, and the block has nothing to compare with. At least one "
        "inner channel is asked for.",
    ),
    Misconception(
        exercise="patches",
        name="cuts with a plain view",
        edit=(
            PLACES_CUT,
            "return x.reshape(B, height // size * (width // size), C * size * size)\n"
            "    x = x.reshape(B, C, height // size, size, width // size, size)",
        ),
        say="Your patches are pieces of lines, not squares. A view moves no number, and the dots of a square do not "
        "lie side by side in memory.",
    ),
    Misconception(
        exercise="patches",
        name="takes every second dot: cuts the axes in the wrong order",
        edit=(
            PLACES_CUT,
            "x = x.reshape(B, C, size, height // size, size, width // size).permute(0, 1, 3, 2, 5, 4)",
        ),
        say="Your patches take dots from all over the picture. When height is cut, the row of the patch is the outer "
        "of the two axes and the row inside the patch the inner one.",
    ),
    Misconception(
        exercise="patches",
        name="numbers the patches column by column",
        edit=(PLACES_ORDER, "x = x.permute(0, 4, 2, 1, 3, 5)"),
        say="Your patches are whole, but they are numbered down the columns. Read them like a text, row by row.",
    ),
    Misconception(
        exercise="patches",
        name="turns each patch on its side",
        edit=(PLACES_ORDER, "x = x.permute(0, 2, 4, 1, 5, 3)"),
        say="Inside a patch your dots are read column by column. They go row by row.",
    ),
    Misconception(
        exercise="patches",
        name="puts the channels last inside a patch",
        edit=(PLACES_ORDER, "x = x.permute(0, 2, 4, 3, 5, 1)"),
        say="The numbers of a patch start with all channels of its first dot. Asked for is channel 0 of all dots, "
        "then channel 1: only so they meet the right weights of the kernel.",
    ),
    Misconception(
        exercise="patches",
        name="keeps each channel as a patch of its own",
        edit=(
            PLACES_ORDER,
            "x = x.permute(0, 1, 2, 4, 3, 5).reshape(B, -1, 1, C, size, size)",
        ),
        say="The channels of one square have landed in different patches. A patch holds its square of all channels.",
    ),
    Misconception(
        exercise="patches",
        name="does not check whether the size divides the picture, and cuts the rest off",
        edit=(
            PLACES_FIRM,
            "x = x[:, :, : height // size * size, : width // size * size]\n    B, C, height, width = x.shape\n"
            "    " + PLACES_FIRM,
        ),
        say="Your function cuts off what does not fit, silently. A picture that cannot be cut into whole patches is "
        "refused with a ValueError.",
    ),
    Misconception(
        exercise="patches",
        name="leaves it to torch to refuse a size",
        edit=(PLACES_FIRM, "if False:"),
        say="A size that does not divide the picture ends in an error of torch about shapes. Look first whether it "
        "divides height and width, and raise a ValueError that says so.",
    ),
    Misconception(
        exercise="patches",
        name="checks the height only",
        edit=(PLACES_FIRM, "if height % size:"),
        say="A width that cannot be cut is not refused with a ValueError that says so. Height and width are both to "
        "be checked.",
    ),
    Misconception(
        exercise="patches",
        name="refuses only when the number of dots does not fit",
        edit=(PLACES_FIRM, "if (height * width) % (size * size):"),
        say="A picture of 3 by 12 dots has room for nine patches of 4 dots, and none of them is a square of 2 by 2. "
        "The size must divide each of the two sides.",
    ),
    Misconception(
        exercise="patches",
        name="embeds without the bias",
        edit=(PLACES_EMBED, "F.linear(patches(x, weight.shape[-1]), weight.flatten(1))"),
        say="Your vectors do not change when the bias does.",
    ),
    Misconception(
        exercise="patches",
        name="flattens the weight with the channels last",
        edit=("weight.flatten(1), bias", "weight.permute(0, 2, 3, 1).flatten(1), bias"),
        say="embed is right for one channel only: the numbers of the weight are not in the order of the numbers of "
        "a patch.",
    ),
    Misconception(
        exercise="patches",
        name="flips the kernel",
        edit=("weight.flatten(1), bias", "weight.flip(2, 3).flatten(1), bias"),
        say="You turned the kernel around, as a convolution in mathematics does. In these networks nothing is "
        "flipped: the first weight meets the first dot.",
    ),
    Misconception(
        exercise="patches",
        name="lets the kernel go on by one dot",
        edit=("return " + PLACES_EMBED, "return F.conv2d(x, weight, bias).flatten(2).transpose(1, 2)"),
        say="You get far too many vectors: the window goes on by one dot each time. Patches do not overlap.",
    ),
    Misconception(
        exercise="patches",
        name="returns the vectors with the width before the patches",
        edit=("return " + PLACES_EMBED, "return F.conv2d(x, weight, bias, stride=weight.shape[-1]).flatten(2)"),
        say="Your vectors are (B, D, L), as a convolution leaves them. A row of words is (B, L, D).",
    ),
    Misconception(
        exercise="vision-transformer",
        name="adds no position to the class token",
        edit=(PLACES_JOIN, "words = torch.cat([token, words + self.position[:, 1:]], 1)"),
        say="Your class token has no position: the first of the position vectors is never used. Put the token in "
        "front first, then add all positions.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="adds no positions at all",
        edit=(PLACES_JOIN, "words = torch.cat([token, words], 1)"),
        say="Your answer does not change when the positions do.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="adds one position to all patches",
        edit=(PLACES_JOIN, "words = torch.cat([token, words], 1) + self.position[:, :1]"),
        say="All your places get the same position vector, so none of them knows where it is.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="multiplies by the positions",
        edit=(PLACES_JOIN, "words = torch.cat([token, words], 1) * self.position"),
        say="Positions are added to the vectors, not multiplied with them.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="puts the class token at the end",
        edit=(PLACES_JOIN, "words = torch.cat([words, token], 1) + self.position"),
        say="Your class token stands behind the patches, while the answer is read from the front and the first "
        "position is the token's.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="puts the class token at the end and reads the end",
        edit=(
            PLACES_JOIN + "           # (B, 1 + L, D)",
            "words = torch.cat([words, token], 1) + self.position\n"
            "        for block in self.blocks:\n            words = block(words)\n"
            "        return self.head(self.norm(words[:, -1]))",
        ),
        say="You read the class token, but it stands at the end and got the position of the last patch. The first "
        "position is the token's.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="reads the last patch",
        edit=(PLACES_ANSWER, "return self.head(self.norm(words[:, -1]))"),
        say="Your answer comes from the last patch. The class token stands in front.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="averages over all places",
        edit=(PLACES_ANSWER, "return self.head(self.norm(words).mean(1))"),
        say="Your answer is a mean over all places. That is a good network too, but here the class token alone "
        "gives the answer.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="averages over the patches",
        edit=(PLACES_ANSWER, "return self.head(self.norm(words[:, 1:].mean(1)))"),
        say="Your class token is never read: the answer is a mean over the patches.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="leaves out the last norm",
        edit=(PLACES_ANSWER, "return self.head(words[:, 0])"),
        say="The last norm is missing. With the norm first, what leaves the blocks has not been normed.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="returns probabilities",
        edit=(PLACES_ANSWER, "return self.head(self.norm(words[:, 0])).softmax(-1)"),
        say="Your rows sum to 1: there is a softmax. The cross-entropy takes logits and has a softmax of its own.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="puts the norm behind, as in the first transformer",
        edit=("batch_first=True, norm_first=True", "batch_first=True, norm_first=False"),
        say="Your blocks have the norm behind the sum, torch's default. The vision transformer has it first.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="lets the first axis be the places",
        edit=("batch_first=True, norm_first=True", "norm_first=True"),
        say="All pictures get the same answer: without batch_first the class token of a picture asks the class tokens "
        "of the other pictures, which are just like it, and never meets a patch.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="keeps the dropout of torch's default",
        edit=("dropout=0.0, ", ""),
        say="Asked twice, your network gives two answers: torch's layer has dropout unless you say otherwise.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="keeps relu in the blocks",
        edit=('activation="gelu", ', ""),
        say="Your blocks have a relu inside, torch's default. Here it is gelu.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="keeps the width 2048 inside the blocks",
        edit=("dim, n_heads, 4 * dim,", "dim, n_heads,"),
        say="The feed-forward part of your blocks is 2048 wide, torch's default. Here it is four times dim.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="uses the first block each time",
        edit=("words = block(words)", "words = self.blocks[0](words)"),
        say="Your second block is never used: the first one runs again. Does each turn of the loop use its block?",
    ),
    Misconception(
        exercise="vision-transformer",
        name="gives the same block n_layers times",
        edit=(
            "for _ in range(n_layers)\n        )",
            "for _ in range(n_layers)\n        )\n"
            "        self.blocks = nn.ModuleList(self.blocks[0] for _ in range(n_layers))",
        ),
        say="Your blocks share one set of weights. Each block is a layer of its own.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="makes a plain list of the blocks",
        edit=("self.blocks = nn.ModuleList(\n", "self.blocks = list(\n"),
        say="A plain list hides the blocks from the model: they have no place among the parameters, and the "
        "optimiser never sees them.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="cuts the patches with a plain view",
        edit=(
            "self.embedding(patches(x, self.patch))",
            "self.embedding(x.reshape(len(x), -1, patches(x, self.patch).size(2)))",
        ),
        say="Your network reads stripes, not squares. You have written a function that cuts patches: use it.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="makes a class token that is not a parameter",
        edit=("self.class_token = nn.Parameter(torch.zeros(1, 1, dim))", "self.class_token = torch.zeros(1, 1, dim)"),
        say="Your class token is a plain tensor: no optimiser ever sees it, and it stays as it is.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="freezes the class token",
        edit=(
            "nn.Parameter(torch.zeros(1, 1, dim))",
            "nn.Parameter(torch.zeros(1, 1, dim), requires_grad=False)",
        ),
        say="Your class token is frozen and stays at zero. It is a question that is learned.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="adds the positions as .data",
        edit=(PLACES_JOIN, "words = torch.cat([token, words], 1) + self.position.data"),
        say="The numbers are right, but .data stands outside the graph: your positions never learn.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="starts the positions evenly spread",
        edit=(
            "0.02 * torch.randn(1, 1 + (size // patch) ** 2, dim)",
            "0.02 * 12**0.5 * (torch.rand(1, 1 + (size // patch) ** 2, dim) - 0.5)",
        ),
        say="Your positions have the right deviation, but they are spread evenly. They start normal.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="starts the position of the class token at zero",
        edit=("self.blocks = nn.ModuleList(\n", "self.position.data[:, 0] = 0\n        self.blocks = nn.ModuleList(\n"),
        say="The position of your class token starts at zero. It starts random like all the others.",
    ),
    Misconception(
        exercise="vision-transformer",
        name="returns probabilities in eval mode",
        edit=(
            PLACES_ANSWER,
            "logits = self.head(self.norm(words[:, 0]))\n"
            "        return logits if self.training else logits.softmax(-1)",
        ),
        say="After eval() your answers are probabilities, in training they are logits. Return logits in both modes: "
        "the largest stays the largest.",
    ),
]


MISCONCEPTIONS = [*IN_EXTERNAL_ATTENTION, *IN_CHANNEL_AND_SPATIAL, *IN_ATTENTION_OVER_PLACES]
