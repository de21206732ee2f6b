"""The mistakes people make in assignment 01, each as an edit of the reference and a word to who made it."""

from course.misconceptions import HANDED_OVER, Misconception

# layers-and-parameters.ipynb

LAYERS_PRODUCT = "h = x @ weight.T "
LAYERS_ADD = "h = h + bias"
LAYERS_WEIGHT = "self.weight = nn.Parameter(torch.empty(n_out, n_in).uniform_(-bound, bound))"
LAYERS_BIAS = "self.bias = nn.Parameter(torch.empty(n_out).uniform_(-bound, bound)) if bias else None"
LAYERS_BOUND = "bound = 1 / math.sqrt(n_in)"
LAYERS_RETURN = "return h if self.bias is None else h + self.bias"
LAYERS_RELU = "return torch.relu(x), (x > 0).to(x.dtype)"
LAYERS_FACTOR = "factor = 0.01 + 0.99 * (x > 0).to(x.dtype)"
LAYERS_LEAKY = "return x * factor, factor"
LAYERS_SIGMOID = "s = torch.sigmoid(x)"
LAYERS_TANH = "t = torch.tanh(x)"
LAYERS_SHARE = "share = (1 + torch.erf(x / math.sqrt(2))) / 2"
LAYERS_DENSITY = "density = torch.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)"
LAYERS_GELU = "return x * share, share + x * density"
LAYERS_LOG_P = "log_p = logits - logits.logsumexp(1, keepdim=True) "
LAYERS_PICK = "log_p.gather(1, target.unsqueeze(1)).squeeze(1)"
LAYERS_MEAN = "return -right.mean()"

IN_LAYERS_AND_PARAMETERS = [
    Misconception(
        exercise="linear",
        name="does not transpose the weight",
        edit=("x @ weight.T", "x @ weight"),
        say="The weight has one output in each row, (out, in). It must be transposed before the rows of x meet it; "
        "where out equals in, nothing but the numbers tells you so.",
    ),
    Misconception(
        exercise="linear",
        name="leaves the work to torch's linear",
        edit=(LAYERS_PRODUCT, "return F.linear(x, weight, bias)\n    " + LAYERS_PRODUCT),
        say=HANDED_OVER,
    ),
    Misconception(
        exercise="linear",
        name="folds the weight to the transposed shape instead of transposing it",
        edit=("weight.T", "weight.reshape(weight.shape[1], weight.shape[0])"),
        say="reshape and view read the numbers row by row into another shape. The shape comes out right and every "
        "weight stands in the wrong place: rows must become columns.",
    ),
    Misconception(
        exercise="linear",
        name="exchanges the inputs",
        edit=("x @ weight.T", "x.flip(-1) @ weight.T"),
        say="Your weights meet the inputs in the wrong order. With inputs that are all equal this cannot be seen.",
    ),
    Misconception(
        exercise="linear",
        name="forgets the bias",
        edit=(LAYERS_ADD, "pass"),
        say="Your result is the same whatever the bias is. The formula has a second term.",
    ),
    Misconception(
        exercise="linear",
        name="subtracts the bias",
        edit=(LAYERS_ADD, "h = h - bias"),
        say="Your bias pulls in the wrong direction: the formula adds it.",
    ),
    Misconception(
        exercise="linear",
        name="multiplies by the bias",
        edit=(LAYERS_ADD, "h = h * bias"),
        say="A bias of zeros makes your whole result zero. A bias is added.",
    ),
    Misconception(
        exercise="linear",
        name="adds the bias twice",
        edit=(LAYERS_ADD, "h = h + bias + bias"),
        say="Your bias counts double.",
    ),
    Misconception(
        exercise="linear",
        name="asks whether the bias is true",
        edit=("if bias is not None:", "if bias:"),
        say="`if bias:` asks a tensor of several numbers for one truth. Ask whether there is a bias at all.",
    ),
    Misconception(
        exercise="linear",
        name="skips a bias that holds only zeros or sums to a negative number",
        edit=("if bias is not None:", "if bias is not None and bias.sum() > 0:"),
        say="Whether you add the bias depends on its numbers. It must only depend on whether there is one.",
    ),
    Misconception(
        exercise="linear",
        name="skips a bias of zeros",
        edit=("if bias is not None:", "if bias is not None and bias.any():"),
        say="No gradient reaches a bias of zeros: this layer would never learn.",
    ),
    Misconception(
        exercise="linear",
        name="adds the bias although there is none",
        edit=("if bias is not None:\n        " + LAYERS_ADD, LAYERS_ADD),
        say="Your function breaks without a bias. It may be None, and then nothing is added.",
    ),
    Misconception(
        exercise="linear",
        name="divides by the number of inputs",
        edit=(LAYERS_PRODUCT, "h = x @ weight.T / x.size(-1) "),
        say="Your outputs are means of the products. The formula has a plain sum.",
    ),
    Misconception(
        exercise="linear",
        name="loses the axes before the last one",
        edit=(LAYERS_PRODUCT, "h = x.reshape(-1, x.size(-1)) @ weight.T "),
        say="You fold all vectors into one long list and leave them there. The axes before the last one must "
        "come back.",
    ),
    Misconception(
        exercise="linear",
        name="takes two axes for granted",
        edit=("x @ weight.T", 'torch.einsum("li,oi->lo", x, weight)'),
        say="Your function takes exactly two axes. A word alone has one, a batch of sentences has three.",
    ),
    Misconception(
        exercise="linear",
        name="expects the numbers of x row by row in memory",
        edit=("x @ weight.T", "(x.view(-1, x.shape[-1]) @ weight.T).view(*x.shape[:-1], -1)"),
        say="`view` fails for a tensor that was turned by transpose, and works for all others. `reshape` works for "
        "both; best is a formula that needs neither.",
    ),
    Misconception(
        exercise="linear",
        name="bends the result",
        edit=("return h", "return torch.relu(h)"),
        say="None of your scores is ever negative. A linear layer has no relu in it.",
    ),
    Misconception(
        exercise="linear",
        name="cuts the weight off from the gradient",
        edit=("weight.T", "weight.detach().T"),
        say="No gradient reaches weight: this layer would never learn.",
    ),
    Misconception(
        exercise="linear",
        name="computes in float32 always",
        edit=("x @ weight.T", "x.float() @ weight.float().T"),
        say="For float64 you answer in float32, and half of the digits are lost",
    ),
    Misconception(
        exercise="linear",
        name="transposes the caller's weight itself",
        edit=("x @ weight.T", "x @ weight.t_()"),
        say="Your function writes into the caller's weight: a name that ends in an underscore does, and so does +=.",
    ),
    Misconception(
        exercise="linear",
        name="writes the result into x",
        edit=(LAYERS_PRODUCT, "h = x @ weight.T\n    h = x.copy_(h) if h.shape == x.shape else h "),
        say="Your function writes into the caller's x: a name that ends in an underscore does, and so does +=.",
    ),
    Misconception(
        exercise="linear",
        name="makes a batch of the caller's one vector",
        edit=(
            LAYERS_PRODUCT,
            "if x.dim() == 1:\n        x.unsqueeze_(0)\n        return linear(x, weight, bias)[0]\n    "
            + LAYERS_PRODUCT,
        ),
        say="A vector alone has the shape (1, in) after your call: `unsqueeze_` changes the caller's tensor.",
    ),
    Misconception(
        exercise="linear-layer",
        name="keeps the weight as a plain tensor",
        edit=(LAYERS_WEIGHT, "self.weight = torch.empty(n_out, n_in).uniform_(-bound, bound)"),
        say="Your weight is a plain tensor, so the module has not noticed it: not trained, not saved.",
    ),
    Misconception(
        exercise="linear-layer",
        name="builds the class on nn.Linear",
        edit=("class Linear(nn.Module):", "class Linear(nn.Linear):\n    pass\n\n\nclass Own(nn.Module):"),
        say="Your class is built on nn.Linear, so all the work is torch's. Build it on nn.Module, and write it "
        "yourself.",
    ),
    Misconception(
        exercise="linear-layer",
        name="keeps the bias as a plain tensor",
        edit=(LAYERS_BIAS, "self.bias = torch.empty(n_out).uniform_(-bound, bound) if bias else None"),
        say="Your bias is a plain tensor, so the module has not noticed it: not trained, not saved.",
    ),
    Misconception(
        exercise="linear-layer",
        name="keeps the weight as a buffer",
        edit=(LAYERS_WEIGHT, 'self.register_buffer("weight", torch.empty(n_out, n_in).uniform_(-bound, bound))'),
        say="Your weight is a buffer: saved, but never trained. What is to be learned is a parameter.",
    ),
    Misconception(
        exercise="linear-layer",
        name="stores the weight as (in, out)",
        edit=("torch.empty(n_out, n_in)", "torch.empty(n_in, n_out)"),
        say="Your weight has one input in each row. Torch keeps one output in each row, (out, in), and so does its "
        "state_dict.",
    ),
    Misconception(
        exercise="linear-layer",
        name="takes the bound from the outputs",
        edit=(LAYERS_BOUND, "bound = 1 / math.sqrt(n_out)"),
        say="The first size of your weight depends on the number of outputs. "
        "What is summed up are the inputs: they set the bound.",
    ),
    Misconception(
        exercise="linear-layer",
        name="leaves out the root in the bound",
        edit=(LAYERS_BOUND, "bound = 1 / n_in"),
        say="The first size of your weight is too small: there is a root in the bound.",
    ),
    Misconception(
        exercise="linear-layer",
        name="multiplies by the root instead of dividing",
        edit=(LAYERS_BOUND, "bound = math.sqrt(n_in)"),
        say="The first size of your weight grows with the number of inputs. It has to be the other way round.",
    ),
    Misconception(
        exercise="linear-layer",
        name="keeps the size by starting with variance 1/in",
        edit=(LAYERS_BOUND, "bound = math.sqrt(3 / n_in)"),
        say="The first size of your weight has a root of 3 too much. That bound keeps the size, but nn.Linear goes "
        "without.",
    ),
    Misconception(
        exercise="linear-layer",
        name="draws weights between 0 and the bound",
        edit=("torch.empty(n_out, n_in).uniform_(-bound, bound)", "torch.rand(n_out, n_in) * bound"),
        say="No number of your weight starts below 0. They must lie on both sides of 0.",
    ),
    Misconception(
        exercise="linear-layer",
        name="draws weights from a normal distribution",
        edit=("torch.empty(n_out, n_in).uniform_(-bound, bound)", "torch.randn(n_out, n_in) * bound"),
        say="Your weight starts with numbers beyond the bound. Are they uniform?",
    ),
    Misconception(
        exercise="linear-layer",
        name="draws weights from a normal distribution that is cut off at the bound",
        edit=(
            LAYERS_WEIGHT,
            "self.weight = nn.Parameter(nn.init.trunc_normal_(torch.empty(n_out, n_in), 0, bound, -bound, bound))",
        ),
        say="weight is not uniform. Half of its numbers should lie between",
    ),
    Misconception(
        exercise="linear-layer",
        name="starts with zeros",
        edit=("torch.empty(n_out, n_in).uniform_(-bound, bound)", "torch.zeros(n_out, n_in)"),
        say="All weights start at 0: the outputs would stay alike for ever. Draw them at random.",
    ),
    Misconception(
        exercise="linear-layer",
        name="starts the bias at zero",
        edit=("torch.empty(n_out).uniform_(-bound, bound)", "torch.zeros(n_out)"),
        say="Your bias starts at 0. Here it is drawn at random.",
    ),
    Misconception(
        exercise="linear-layer",
        name="draws one row and repeats it",
        edit=(
            "torch.empty(n_out, n_in).uniform_(-bound, bound)",
            "torch.empty(n_in).uniform_(-bound, bound).repeat(n_out, 1)",
        ),
        say="All rows of your weight start alike. Each number is drawn by itself.",
    ),
    Misconception(
        exercise="linear-layer",
        name="draws the bias once for all outputs",
        edit=("torch.empty(n_out).uniform_(-bound, bound)", "torch.empty(1).uniform_(-bound, bound).repeat(n_out)"),
        say="All rows of your bias start alike. Each number is drawn by itself.",
    ),
    Misconception(
        exercise="linear-layer",
        name="sets a seed in the layer",
        edit=(LAYERS_BOUND, "torch.manual_seed(0)\n        " + LAYERS_BOUND),
        say="Two of your layers start with the same numbers. A layer must not set the seed for everybody.",
    ),
    Misconception(
        exercise="linear-layer",
        name="forgets the bias in forward",
        edit=(LAYERS_RETURN, "return h"),
        say="Your layer has a bias and never adds it.",
    ),
    Misconception(
        exercise="linear-layer",
        name="makes a bias although none is wanted",
        edit=(" if bias else None", ""),
        say="With bias=False your layer still has a bias. Then nothing may be added, and nothing be saved.",
    ),
    Misconception(
        exercise="linear-layer",
        name="keeps a bias of zeros where none is wanted",
        edit=("if bias else None", "if bias else nn.Parameter(torch.zeros(n_out))"),
        say="With bias=False your layer keeps a bias of zeros. It would be trained and saved like any other.",
    ),
    Misconception(
        exercise="linear-layer",
        name="stores the bias as a row (1, out)",
        edit=("torch.empty(n_out).uniform_", "torch.empty(1, n_out).uniform_"),
        say="Your bias has two axes. The numbers fit, but no layer of torch can load it, and a single word comes out "
        "as a batch.",
    ),
    Misconception(
        exercise="linear-layer",
        name="uses the weight's data",
        edit=("x @ self.weight.T", "x @ self.weight.data.T"),
        say="No gradient reaches weight: with .data or .detach() forward goes around the parameter.",
    ),
    Misconception(
        exercise="linear-layer",
        name="cuts x off from the gradient",
        edit=("x @ self.weight.T", "x.detach() @ self.weight.T"),
        say="No gradient comes back to x: the layers before this one would never learn.",
    ),
    Misconception(
        exercise="linear-layer",
        name="bends the result",
        edit=(LAYERS_RETURN, "return torch.relu(h if self.bias is None else h + self.bias)"),
        say="Your layer never gives a negative number. It has a relu too many.",
    ),
    Misconception(
        exercise="linear-layer",
        name="saves something besides weight and bias",
        edit=(LAYERS_BOUND, LAYERS_BOUND + '\n        self.register_buffer("bound", torch.tensor(bound))'),
        say="Your state_dict holds more than weight and bias, so nn.Linear refuses to load it.",
    ),
    Misconception(
        exercise="linear-layer",
        name="multiplies in float32",
        edit=(
            "h = x @ self.weight.T",
            "h = (x.float() @ self.weight.T.float()).to(x.dtype)",
        ),
        say="Your float64 has only the digits of float32: a .float() on the way loses the rest, and nothing "
        "brings it back.",
    ),
    Misconception(
        exercise="linear-layer",
        name="reads the weight as .data where there is no bias",
        edit=(
            "return h if self.bias is None else h + self.bias",
            "return x @ self.weight.data.T if self.bias is None else h + self.bias",
        ),
        say="Without a bias no gradient comes back to weight: .data goes around the parameter, and the "
        "layer never learns.",
    ),
    Misconception(
        exercise="activations",
        name="leaves the work to torch's gelu",
        edit=("return x * share, share + x * density", "return F.gelu(x), share + x * density"),
        say=HANDED_OVER,
    ),
    Misconception(
        exercise="activations",
        name="gives relu the slope 1 at zero",
        edit=(LAYERS_RELU, "return torch.relu(x), (x >= 0).to(x.dtype)"),
        say="At exactly 0 your relu has slope 1. The table takes the slope from the left there.",
    ),
    Misconception(
        exercise="activations",
        name="returns the slope of relu as True and False",
        edit=(LAYERS_RELU, "return torch.relu(x), x > 0"),
        say="Your slope of relu is True and False. Numbers are wanted, in the dtype of x.",
    ),
    Misconception(
        exercise="activations",
        name="gives relu's value as its slope",
        edit=(LAYERS_RELU, "return torch.relu(x), torch.relu(x)"),
        say="The slope of your relu grows with x. A straight line has the same slope everywhere.",
    ),
    Misconception(
        exercise="activations",
        name="computes relu in place",
        edit=("torch.relu(x), (x > 0)", "x.relu_(), (x > 0)"),
        say="Your relu writes into the caller's x. A name that ends in an underscore changes its tensor.",
    ),
    Misconception(
        exercise="activations",
        name="keeps a tenth in leaky_relu",
        edit=(LAYERS_FACTOR, "factor = 0.1 + 0.9 * (x > 0).to(x.dtype)"),
        say="Your leaky_relu leaks ten times too much.",
    ),
    Misconception(
        exercise="activations",
        name="adds the leak on both sides",
        edit=(LAYERS_FACTOR, "factor = 0.01 + 1.0 * (x > 0).to(x.dtype)"),
        say="On the right side your leaky_relu has slope 1.01. There it is x itself.",
    ),
    Misconception(
        exercise="activations",
        name="gives leaky_relu the slope 0 on the left",
        edit=(LAYERS_LEAKY, "return x * factor, (x > 0).to(x.dtype)"),
        say="Your leaky_relu leaks in its value, and its slope says that it does not.",
    ),
    Misconception(
        exercise="activations",
        name="gives leaky_relu the slope 1 at zero",
        edit=(LAYERS_FACTOR, "factor = 0.01 + 0.99 * (x >= 0).to(x.dtype)"),
        say="At exactly 0 your leaky_relu has slope 1. The table takes the slope from the left there.",
    ),
    Misconception(
        exercise="activations",
        name="takes the slope of tanh for sigmoid",
        edit=("return s, s * (1 - s)", "return s, 1 - s**2"),
        say="1 minus the square is the slope of tanh. That of sigmoid is never above a quarter.",
    ),
    Misconception(
        exercise="activations",
        name="puts x into the slope of sigmoid",
        edit=("return s, s * (1 - s)", "return s, x * (1 - x)"),
        say="Your slope of sigmoid has x where the value of sigmoid belongs. A slope below 0 gives it away.",
    ),
    Misconception(
        exercise="activations",
        name="takes sigmoid as exp(x) / (1 + exp(x))",
        edit=(LAYERS_SIGMOID, "s = x.exp() / (1 + x.exp())"),
        say="Your sigmoid is right for small x and nan for large ones: inf by inf. Which way of writing it has its "
        "exponential in the denominator only?",
    ),
    Misconception(
        exercise="activations",
        name="takes tanh by its formula",
        edit=(LAYERS_TANH, "t = (x.exp() - (-x).exp()) / (x.exp() + (-x).exp())"),
        say="Your tanh follows the formula and becomes nan for large x, where an exponential is inf.",
    ),
    Misconception(
        exercise="activations",
        name="forgets the square in the slope of tanh",
        edit=("1 - t**2", "1 - t"),
        say="Your slope of tanh goes up to 2 on the left. The formula has a square.",
    ),
    Misconception(
        exercise="activations",
        name="puts x into the slope of tanh",
        edit=("1 - t**2", "1 - x**2"),
        say="Your slope of tanh becomes hugely negative. In the formula stands the value of tanh, not x.",
    ),
    Misconception(
        exercise="activations",
        name="takes the approximate gelu with tanh",
        edit=(
            LAYERS_SHARE,
            "share = (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2",
        ),
        say="This is the cheaper gelu with a tanh. It is off in the fourth digit; the exact one uses erf.",
    ),
    Misconception(
        exercise="activations",
        name="takes the approximate gelu with a sigmoid",
        edit=(LAYERS_SHARE, "share = torch.sigmoid(1.702 * x)"),
        say="This is the cheapest gelu, with a sigmoid of 1.702 x. The exact one uses erf.",
    ),
    Misconception(
        exercise="activations",
        name="takes silu for gelu",
        edit=(LAYERS_SHARE, "share = torch.sigmoid(x)"),
        say="x times sigmoid is called silu. In gelu x is multiplied by the share of the normal distribution.",
    ),
    Misconception(
        exercise="activations",
        name="forgets the root of 2 in erf",
        edit=(LAYERS_SHARE, "share = (1 + torch.erf(x)) / 2"),
        say="Your gelu bends too sharply: erf gets x by the root of 2.",
    ),
    Misconception(
        exercise="activations",
        name="forgets one term of the product rule",
        edit=(LAYERS_GELU, "return x * share, share"),
        say="Your slope of gelu stays between 0 and 1. The product rule gives a second term.",
    ),
    Misconception(
        exercise="activations",
        name="forgets x in the second term of gelu's slope",
        edit=(LAYERS_GELU, "return x * share, share + density"),
        say="In the product rule each term keeps one of the two factors as it was. Which one stands with the density?",
    ),
    Misconception(
        exercise="activations",
        name="forgets the root of 2 pi in the density",
        edit=(LAYERS_DENSITY, "density = torch.exp(-(x**2) / 2)"),
        say="Your density of the normal distribution is too large everywhere by the same factor.",
    ),
    Misconception(
        exercise="activations",
        name="squares the wrong thing in the density",
        edit=(LAYERS_DENSITY, "density = torch.exp(x**2 / 2) / math.sqrt(2 * math.pi)"),
        say="Your density grows away from 0. The exponent has a minus.",
    ),
    Misconception(
        exercise="activations",
        name="cuts the value of tanh off from the gradient",
        edit=(LAYERS_TANH, "t = torch.tanh(x.detach())"),
        say="No gradient comes back through your tanh: a layer in front of it would never learn.",
    ),
    Misconception(
        exercise="activations",
        name="gives the slope of leaky_relu first",
        edit=(LAYERS_LEAKY, "return factor, x * factor"),
        say="In leaky_relu value and slope have changed places.",
    ),
    Misconception(
        exercise="activations",
        name="computes the slope of gelu in float32",
        edit=(LAYERS_GELU, "return x * share, (share.float() + x.float() * density.float()).to(x.dtype)"),
        say="For x of float64 your slope of gelu has only the digits of float32: a .float() on the way loses the rest.",
    ),
    Misconception(
        exercise="cross-entropy",
        name="leaves the work to torch's cross-entropy",
        edit=("log_p = logits - logits", "return F.cross_entropy(logits, target)\n    log_p = logits - logits"),
        say=HANDED_OVER,
    ),
    Misconception(
        exercise="cross-entropy",
        name="leaves the work to torch.special.log_softmax",
        edit=(LAYERS_LOG_P, "log_p = torch.special.log_softmax(logits, 1) "),
        say=HANDED_OVER,
    ),
    Misconception(
        exercise="cross-entropy",
        name="applies softmax twice",
        edit=(LAYERS_LOG_P, "logits = logits.softmax(1)\n    " + LAYERS_LOG_P),
        say="Softmax is applied twice: once by you, once more inside the formula. Your loss has a floor above 0.",
    ),
    Misconception(
        exercise="cross-entropy",
        name="takes the logarithm of the softmax",
        edit=(LAYERS_LOG_P, "log_p = logits.softmax(1).log() "),
        say="Right for small scores, inf for large ones: the softmax has already become 0 when its logarithm is taken.",
    ),
    Misconception(
        exercise="cross-entropy",
        name="adds a small number inside the logarithm",
        edit=(LAYERS_LOG_P, "log_p = (logits.softmax(1) + 1e-9).log() "),
        say="A small number inside the logarithm hides the inf, and caps the loss near 20: the surest mistakes "
        "no longer count in full, and their gradient is gone.",
    ),
    Misconception(
        exercise="cross-entropy",
        name="takes exp without subtracting the maximum",
        edit=(LAYERS_LOG_P, "log_p = logits - logits.exp().sum(1, keepdim=True).log() "),
        say="Right for small scores, inf for large ones: exp(89) is already more than a float32 can hold.",
    ),
    Misconception(
        exercise="cross-entropy",
        name="subtracts the maximum of the whole batch",
        edit=(
            LAYERS_LOG_P,
            "logits = logits - logits.max()\n    log_p = logits - logits.exp().sum(1, keepdim=True).log() ",
        ),
        say="One loud row makes the loss of a quiet one infinite: all its exponentials become 0. Each row has a "
        "maximum of its own.",
    ),
    Misconception(
        exercise="cross-entropy",
        name="subtracts the maximum and forgets to add it back",
        edit=(
            LAYERS_LOG_P,
            "log_p = logits - (logits - logits.amax(1, keepdim=True)).exp().sum(1, keepdim=True).log() ",
        ),
        say="The maximum was subtracted under the sum only. What is taken away there must stand outside again.",
    ),
    Misconception(
        exercise="cross-entropy",
        name="subtracts from the logits in place",
        edit=(LAYERS_LOG_P, "logits -= logits.detach().amax(1, keepdim=True)\n    " + LAYERS_LOG_P),
        say="You subtract with -=, and that writes into the caller's logits.",
    ),
    Misconception(
        exercise="cross-entropy",
        name="lets the batch compete",
        edit=("logits.logsumexp(1, keepdim=True)", "logits.logsumexp(0, keepdim=True)"),
        say="Your sum runs over the batch. The classes of one example compete with one another.",
    ),
    Misconception(
        exercise="cross-entropy",
        name="lets all scores of the batch compete",
        edit=("logits.logsumexp(1, keepdim=True)", "logits.flatten().logsumexp(0)"),
        say="All scores of the batch share one sum. Each row has a sum of its own.",
    ),
    Misconception(
        exercise="cross-entropy",
        name="leaves out the other classes",
        edit=(LAYERS_LOG_P, "log_p = logits "),
        say="Your loss is minus the score of the right class. It can fall without end, for the other classes "
        "have no say.",
    ),
    Misconception(
        exercise="cross-entropy",
        name="forgets the logarithm",
        edit=(LAYERS_LOG_P, "log_p = logits.softmax(1) "),
        say="Your loss lies between -1 and 0: it is minus the probability itself. The logarithm is missing.",
    ),
    Misconception(
        exercise="cross-entropy",
        name="forgets the minus",
        edit=(LAYERS_MEAN, "return right.mean()"),
        say="Your loss is below 0, and training would push it further down, away from the right classes.",
    ),
    Misconception(
        exercise="cross-entropy",
        name="sums over the batch",
        edit=(LAYERS_MEAN, "return -right.sum()"),
        say="Your loss grows with the batch. The mean is wanted.",
    ),
    Misconception(
        exercise="cross-entropy",
        name="divides by B times C",
        edit=(LAYERS_MEAN, "return -right.sum() / logits.numel()"),
        say="You divide by the number of all scores. One number of each row counts, so divide by the rows.",
    ),
    Misconception(
        exercise="cross-entropy",
        name="returns the losses one by one",
        edit=(LAYERS_MEAN, "return -right"),
        say="You return a loss for each example. One number is wanted, their mean.",
    ),
    Misconception(
        exercise="cross-entropy",
        name="picks every target in every row",
        edit=(LAYERS_PICK, "log_p[:, target]"),
        say="log_p[:, target] picks all B targets in each row, a box of (B, B). Each row has one target of its own.",
    ),
    Misconception(
        exercise="cross-entropy",
        name="picks the largest class",
        edit=(LAYERS_PICK, "log_p.amax(1)"),
        say="Your loss takes the class that the network likes best and never looks at the target: it is small when the "
        "network is sure, right or wrong.",
    ),
    Misconception(
        exercise="cross-entropy",
        name="counts the classes from 1",
        edit=("target.unsqueeze(1)", "(target - 1).remainder(logits.size(1)).unsqueeze(1)"),
        say="You pick the class before the right one. Classes are counted from 0.",
    ),
    Misconception(
        exercise="cross-entropy",
        name="takes the logarithm to base 2",
        edit=(LAYERS_MEAN, "return -right.mean() / math.log(2)"),
        say="Your loss is in bits. Here log is the natural one.",
    ),
    Misconception(
        exercise="cross-entropy",
        name="returns a Python number",
        edit=(LAYERS_MEAN, "return torch.tensor(-right.mean().item(), dtype=logits.dtype)"),
        say="Your loss was cut off or turned into a plain number on the way: no gradient reaches the logits.",
    ),
    Misconception(
        exercise="cross-entropy",
        name="always answers in float32",
        edit=(LAYERS_LOG_P, "logits = logits.float()\n    " + LAYERS_LOG_P),
        say="The loss must have the dtype of the logits",
    ),
    Misconception(
        exercise="cross-entropy",
        name="computes in float32 on the way",
        edit=("logits - logits.logsumexp(1, keepdim=True)", "logits - logits.float().logsumexp(1, keepdim=True)"),
        say="Your loss of float64 has only the digits of float32: something became float32 on the way.",
    ),
]


# convolution-and-pooling.ipynb

SIZE_ROOM = "room = size + 2 * padding - dilation * (kernel - 1) - 1"
SIZE_RETURN = "return room // stride + 1"

CONV_PAD = "x = F.pad(x, (padding, padding, padding, padding))"
CONV_DOWN = "u * dilation + stride * torch.arange(rows)"
CONV_ACROSS = "v * dilation + stride * torch.arange(columns)"
CONV_SUM = 'out = out + torch.einsum("bcij,oc->boij", seen, weight[:, :, u, v])'
CONV_BIAS = "out = out + bias[:, None, None]"
CONV_RETURN = "return out\n"

POOL_STRIDE = "stride = kernel if stride is None else stride"
POOL_OUTSIDE = 'outside = float("-inf") if mode == "max" else 0.0'
POOL_PAD = "x = F.pad(x, (padding, padding, padding, padding), value=outside)"
POOL_WINDOWS = "windows = x.unfold(2, kernel, stride).unfold(3, kernel, stride)"
POOL_MAX = "return windows.amax((-2, -1))"
POOL_MEAN = "return windows.mean((-2, -1))"

MATRIX_B = "b = layer(torch.zeros(n))"
MATRIX_COLUMNS = "columns = [layer(e) - b for e in torch.eye(n)]"
MATRIX_STACK = "return torch.stack(columns, dim=1)"

LENET_SIDE = "side = (side - 2) // 2"
LENET_FC1 = "self.fc1 = nn.Linear(16 * side * side, 120)"
LENET_FIRST = "x = F.max_pool2d(F.relu(self.conv1(x)), 2)"
LENET_SECOND = "x = F.max_pool2d(F.relu(self.conv2(x)), 2)"
LENET_FLAT = "x = x.flatten(1)  "
LENET_LAST = "return self.fc3(x)"

OUTPUT_SIZE = [
    Misconception(
        exercise="output-size",
        name="rounds up instead of down",
        edit=(SIZE_RETURN, "return -(-room // stride) + 1"),
        say="Where the last step does not fit as a whole, you still count it. Half a step is no step.",
    ),
    Misconception(
        exercise="output-size",
        name="rounds to the nearest number",
        edit=(SIZE_RETURN, "return round(room / stride) + 1"),
        say="You round to the nearest whole number. A step that fits for the most part still does not fit.",
    ),
    Misconception(
        exercise="output-size",
        name="ignores the dilation",
        edit=("dilation * (kernel - 1)", "(kernel - 1)"),
        say="Your size is the same with every dilation. A kernel that is spread out reaches further.",
    ),
    Misconception(
        exercise="output-size",
        name="multiplies the kernel by the dilation, and not its steps",
        edit=("dilation * (kernel - 1) - 1", "dilation * kernel"),
        say="With dilation, your window is too long. Between 3 weights there are 2 gaps, and only they grow.",
    ),
    Misconception(
        exercise="output-size",
        name="pads one side only",
        edit=("2 * padding", "padding"),
        say="Your padding counts once. A line has two ends, and both get zeros.",
    ),
    Misconception(
        exercise="output-size",
        name="ignores the padding",
        edit=("size + 2 * padding", "size"),
        say="Your size is the same with every padding. The zeros are room for the window.",
    ),
    Misconception(
        exercise="output-size",
        name="forgets the place before the first step",
        edit=(SIZE_RETURN, "return room // stride"),
        say="Your sizes are too small by one: you count the steps of the window, not its places.",
    ),
    Misconception(
        exercise="output-size",
        name="adds the one before dividing by the stride",
        edit=(SIZE_RETURN, "return (room + 1) // stride"),
        say="With stride 1 you are right, with others not always: the + 1 stands outside the division.",
    ),
    Misconception(
        exercise="output-size",
        name="ignores the stride",
        edit=(SIZE_RETURN, "return room + 1"),
        say="Your size is the same with every stride. Larger steps make fewer places.",
    ),
    Misconception(
        exercise="output-size",
        name="returns a float",
        edit=(SIZE_RETURN, "return float(room // stride + 1)"),
        say="The number is right but it is a float, such as 5.0. `range` and the shapes of tensors want an int.",
    ),
    Misconception(
        exercise="output-size",
        name="divides without rounding",
        edit=(SIZE_RETURN, "return room / stride + 1"),
        say="Your size is a float, and sometimes half a place. The brackets of the formula round down.",
    ),
    Misconception(
        exercise="output-size",
        name="exchanges stride and dilation",
        edit=(
            f"{SIZE_ROOM}     # how far the window can move\n    {SIZE_RETURN}",
            "room = size + 2 * padding - stride * (kernel - 1) - 1\n    return room // dilation + 1",
        ),
        say="Stride and dilation have changed places. The stride divides, the dilation stretches the kernel.",
    ),
    Misconception(
        exercise="output-size",
        name="forgets the -1 for the window's first dot",
        edit=("dilation * (kernel - 1) - 1", "dilation * (kernel - 1)"),
        say="Your window can move one dot too far: the reach of a kernel is d (k - 1) + 1 dots.",
    ),
]

CONV2D = [
    Misconception(
        exercise="conv2d",
        name="leaves the work to torch's convolution",
        edit=(
            "kh, kw = weight.shape[2:]",
            "return F.conv2d(x, weight, bias, stride, padding, dilation)\n    kh, kw = weight.shape[2:]",
        ),
        say=HANDED_OVER,
    ),
    Misconception(
        exercise="conv2d",
        name="turns the filter",
        edit=("weight[:, :, u, v]", "weight.flip(2, 3)[:, :, u, v]"),
        say="Your filter is turned by 180 degrees before it slides. That is the convolution of mathematics; "
        "networks let it slide as it is.",
    ),
    Misconception(
        exercise="conv2d",
        name="exchanges rows and columns of the filter",
        edit=("weight[:, :, u, v]", "(weight[:, :, v, u] if kh == kw else weight[:, :, u, v])"),
        say="Rows and columns of your filter have changed places: a filter for upright edges finds flat ones.",
    ),
    Misconception(
        exercise="conv2d",
        name="takes kh for the width as well",
        edit=("kh, kw = weight.shape[2:]", "kh = kw = weight.size(2)"),
        say="You take the kernel for a square. Its height and its width may differ.",
    ),
    Misconception(
        exercise="conv2d",
        name="takes the rows of the result for its columns as well",
        edit=("columns = (x.size(3) - dilation * (kw - 1) - 1) // stride + 1", "columns = rows"),
        say="Your result is always square. Height and width of a picture may differ, and each side has its own size.",
    ),
    Misconception(
        exercise="conv2d",
        name="pads only above and on the left",
        edit=(CONV_PAD, "x = F.pad(x, (padding, 0, padding, 0))"),
        say="Your padding is above and on the left only. The frame has four sides.",
    ),
    Misconception(
        exercise="conv2d",
        name="pads with copies of the edge",
        edit=(CONV_PAD, 'x = F.pad(x, (padding, padding, padding, padding), mode="replicate")'),
        say="Outside the picture you continue with the dots of its edge. The formula has zeros there.",
    ),
    Misconception(
        exercise="conv2d",
        name="pads with ones",
        edit=(CONV_PAD, "x = F.pad(x, (padding, padding, padding, padding), value=1.0)"),
        say="Your frame is not made of zeros, so the sums at the edge are wrong and those inside are right.",
    ),
    Misconception(
        exercise="conv2d",
        name="ignores the padding",
        edit=(CONV_PAD, "x = x + 0"),
        say="Your result has the same size with every padding: the frame of zeros is missing.",
    ),
    Misconception(
        exercise="conv2d",
        name="has the right number of places with a stride, but takes neighbouring windows",
        edit=(CONV_DOWN, "u * dilation + torch.arange(rows)"),
        say="With a stride your shape is right and the sums are not: your windows start at neighbouring rows.",
    ),
    Misconception(
        exercise="conv2d",
        name="has the right number of places with a dilation, but takes neighbouring dots",
        edit=(CONV_ACROSS, "v + stride * torch.arange(columns)"),
        say="With a dilation your shape is right and the sums are not: your filter is not spread out across.",
    ),
    Misconception(
        exercise="conv2d",
        name="takes kh for the width as well where the filter is spread out",
        edit=(
            "columns = (x.size(3) - dilation * (kw - 1) - 1) // stride",
            "columns = (x.size(3) - kw - (dilation - 1) * (kh - 1)) // stride",
        ),
        say="With a dilation your filter reaches as far to the side as it does down. Where kh and kw differ, each "
        "side has a reach of its own.",
    ),
    Misconception(
        exercise="conv2d",
        name="multiplies the row of the filter by the stride as well",
        edit=(CONV_DOWN, "(u * stride * dilation + stride * torch.arange(rows)) % x.size(2)"),
        say="Your stride spreads the filter. The stride moves the window, the dilation spreads what is in it.",
    ),
    Misconception(
        exercise="conv2d",
        name="looks at the first channel only",
        edit=('"bcij,oc->boij", seen, weight[:, :, u, v]', '"bcij,oc->boij", seen[:, :1], weight[:, :1, u, v]'),
        say="Only the first channel counts in your sums. Each sum goes over all channels of the window.",
    ),
    Misconception(
        exercise="conv2d",
        name="takes the mean over the channels",
        edit=("seen, weight[:, :, u, v])", "seen, weight[:, :, u, v]) / x.size(1)"),
        say="Your sums are too small by the number of channels: you took a mean. The formula adds them up.",
    ),
    Misconception(
        exercise="conv2d",
        name="exchanges the two channel axes of the weight",
        edit=(
            "weight[:, :, u, v])",
            "weight[:, :, u, v].T if weight.size(0) == weight.size(1) else weight[:, :, u, v])",
        ),
        say="Where there are as many filters as channels you read the weight as (in, out). It is (out, in).",
    ),
    Misconception(
        exercise="conv2d",
        name="forgets the bias",
        edit=(CONV_BIAS, "pass"),
        say="Your bias has no effect. Each filter adds its own number to all of its sums.",
    ),
    Misconception(
        exercise="conv2d",
        name="skips a bias of zeros",
        edit=("if bias is not None:", "if bias is not None and bias.any():"),
        say="No gradient reaches a bias of zeros: this layer would never learn.",
    ),
    Misconception(
        exercise="conv2d",
        name="adds the bias once for each weight",
        edit=(CONV_BIAS, "out = out + kh * kw * bias[:, None, None]"),
        say="Your bias was added once for each weight of the kernel. It belongs outside these loops.",
    ),
    Misconception(
        exercise="conv2d",
        name="adds the bias along the columns",
        edit=(CONV_BIAS, "out = out + (bias if bias.numel() == out.size(3) else bias[:, None, None])"),
        say="Your bias falls on the columns where their number happens to fit. It belongs to the filter, axis 1.",
    ),
    Misconception(
        exercise="conv2d",
        name="takes the mean of the window",
        edit=(CONV_RETURN, "return out / (kh * kw)\n"),
        say="Your sums are too small by the number of weights: you took a mean over the window.",
    ),
    Misconception(
        exercise="conv2d",
        name="appends a relu",
        edit=(CONV_RETURN, "return out.relu()\n"),
        say="No number of your result is negative. There is no relu in a convolution; it comes afterwards.",
    ),
    Misconception(
        exercise="conv2d",
        name="loses the minus signs of the picture",
        edit=(CONV_PAD, "x = F.pad(x.relu(), (padding, padding, padding, padding))"),
        say="Negative dots of the picture count as 0 with you. A minus must stay a minus.",
    ),
    Misconception(
        exercise="conv2d",
        name="cuts the gradients",
        edit=(CONV_RETURN, "return out.detach()\n"),
        say="The numbers are right, but no gradient comes through: something was detached or made a number.",
    ),
    Misconception(
        exercise="conv2d",
        name="collects the sums in float32",
        edit=(CONV_SUM, CONV_SUM + ".float()"),
        say="The result must have the dtype of x",
    ),
    Misconception(
        exercise="conv2d",
        name="adds in place to the caller's tensor",
        edit=(CONV_BIAS, "out = out + bias.mul_(1.0)[:, None, None]\n        bias.add_(bias.detach())"),
        say="After your function the caller's tensors hold other numbers: a method that ends in _ works in place.",
    ),
    Misconception(
        exercise="conv2d",
        name="mixes the pictures of the batch",
        edit=(CONV_PAD, "x = F.pad(x - x.mean(0) + x[:1], (padding, padding, padding, padding))"),
        say="A picture's result changes with the pictures beside it. Axis 0 must go through untouched.",
    ),
    Misconception(
        exercise="conv2d",
        name="adds the bias only where the stride is 1",
        edit=("if bias is not None:", "if bias is not None and stride == 1:"),
        say="With a stride your result is the same whatever the bias is. "
        "Each sum gets its bias, wherever the window stands.",
    ),
    Misconception(
        exercise="conv2d",
        name="adds the bias only where nothing is padded",
        edit=("if bias is not None:", "if bias is not None and padding == 0:"),
        say="With padding your result is the same whatever the bias is. Each sum gets its bias, at the edge as well.",
    ),
    Misconception(
        exercise="conv2d",
        name="flattens the filters with view",
        edit=("out = 0\n", "weight = weight.view(weight.size(0), -1).view(weight.shape)\n    out = 0\n"),
        say="`view` refuses filters that were transposed, for their numbers lie in memory in another order. "
        "`reshape` works for both; best is a formula that needs neither.",
    ),
]

POOL2D = [
    Misconception(
        exercise="pool2d",
        name="leaves the work to torch's pooling",
        edit=(
            "stride = kernel if stride is None else stride",
            "function = F.max_pool2d if mode == 'max' else F.avg_pool2d\n"
            "    return function(x, kernel, stride, padding)\n"
            "    stride = kernel if stride is None else stride",
        ),
        say=HANDED_OVER,
    ),
    Misconception(
        exercise="pool2d",
        name="leaves the work to torch's pooling in three dimensions",
        edit=(
            POOL_STRIDE,
            "function = F.max_pool3d if mode == 'max' else F.avg_pool3d\n    "
            "step = kernel if stride is None else stride\n    "
            "return function(x, (1, kernel, kernel), (1, step, step), (0, padding, padding))\n    " + POOL_STRIDE,
        ),
        say=HANDED_OVER,
    ),
    Misconception(
        exercise="pool2d",
        name="moves by one dot where no stride is given",
        edit=(POOL_STRIDE, "stride = 1 if stride is None else stride"),
        say="No stride was given: your window moves by 1. A pooling window moves by its own size.",
    ),
    Misconception(
        exercise="pool2d",
        name="ignores the stride that is given",
        edit=(POOL_STRIDE, "stride = kernel"),
        say="Your window moves by its own size even where a stride is given.",
    ),
    Misconception(
        exercise="pool2d",
        name="lets the last windows hang over the edge",
        edit=(
            POOL_WINDOWS,
            "right, below = (-(x.size(3) - kernel) % stride, -(x.size(2) - kernel) % stride)\n"
            "    x = F.pad(x, (0, right, 0, below), value=outside)\n    " + POOL_WINDOWS,
        ),
        say="Your last windows hang over the edge of the picture. A window that does not fit has no place: round down.",
    ),
    Misconception(
        exercise="pool2d",
        name="pads the maximum with zeros",
        edit=(POOL_OUTSIDE, "outside = 0.0"),
        say="In a picture of negative numbers your maximum at the edge is 0: the padding won. It must never win.",
    ),
    Misconception(
        exercise="pool2d",
        name="pads the maximum with a number that is not small enough",
        edit=('float("-inf")', "-100.0"),
        say="With very negative pictures your padding wins the maximum. No ordinary number is small enough for all.",
    ),
    Misconception(
        exercise="pool2d",
        name="pads the maximum with minus a billion",
        edit=('float("-inf")', "-1e9"),
        say="With very negative pictures your padding wins the maximum. No ordinary number is small enough for all.",
    ),
    Misconception(
        exercise="pool2d",
        name="pads the mean with -inf",
        edit=(POOL_OUTSIDE, 'outside = float("-inf")'),
        say="Your means at the edge are -inf. For the mean the frame is made of zeros.",
    ),
    Misconception(
        exercise="pool2d",
        name="leaves the padding out of the count of the mean",
        edit=(
            POOL_MEAN,
            "inside = F.pad(torch.ones_like(x[..., padding : x.size(2) - padding, padding : x.size(3) - padding]),"
            " (padding,) * 4)\n"
            "    count = inside.unfold(2, kernel, stride).unfold(3, kernel, stride).sum((-2, -1))\n"
            "    return windows.sum((-2, -1)) / count",
        ),
        say="You divide by the dots inside the picture only. Here the zeros count: always divide by k * k.",
    ),
    Misconception(
        exercise="pool2d",
        name="pads above and on the left only",
        edit=(POOL_PAD, "x = F.pad(x, (padding, 0, padding, 0), value=outside)"),
        say="Your padding is above and on the left only. The frame has four sides.",
    ),
    Misconception(
        exercise="pool2d",
        name="ignores the padding",
        edit=(POOL_PAD, "x = x + 0"),
        say="Your result is the same with every padding: the frame is missing.",
    ),
    Misconception(
        exercise="pool2d",
        name="adds up instead of taking the mean",
        edit=(POOL_MEAN, "return windows.sum((-2, -1))"),
        say="Your means are too large by the number of dots in a window: these are sums.",
    ),
    Misconception(
        exercise="pool2d",
        name="divides the sum by the kernel once",
        edit=(POOL_MEAN, "return windows.sum((-2, -1)) / kernel"),
        say="You divide by k, but a window of k by k holds more dots than that.",
    ),
    Misconception(
        exercise="pool2d",
        name="takes the largest size without its sign",
        edit=(POOL_MAX, "return windows.abs().amax((-2, -1))"),
        say="Your maximum forgets the sign: of 9 and -12 the larger one is 9.",
    ),
    Misconception(
        exercise="pool2d",
        name="takes the minimum",
        edit=(POOL_MAX, "return windows.amin((-2, -1))"),
        say="You return the smallest number of each window.",
    ),
    Misconception(
        exercise="pool2d",
        name="takes the maximum over the channels as well",
        edit=(POOL_MAX, "return windows.amax((-2, -1)).amax(1, keepdim=True).expand(-1, x.size(1), -1, -1)"),
        say="All your channels are alike: the maximum went over them, too. Pooling keeps the channels apart.",
    ),
    Misconception(
        exercise="pool2d",
        name="returns the mean for both modes",
        edit=(POOL_MAX, POOL_MEAN),
        say="You return the mean, whatever the mode. Without a mode the maximum is asked for.",
    ),
    Misconception(
        exercise="pool2d",
        name="returns the maximum for both modes",
        edit=('if mode == "max":', "if mode:"),
        say="You return the maximum, whatever the mode.",
    ),
    Misconception(
        exercise="pool2d",
        name="takes the mean of the rows' maxima",
        edit=(POOL_MAX, "return windows.amax(-1).mean(-1)"),
        say="You took the maximum of each row of the window and then their mean. One number wins the whole window.",
    ),
    Misconception(
        exercise="pool2d",
        name="uses the stride downwards only",
        edit=(".unfold(3, kernel, stride)", ".unfold(3, kernel, kernel)"),
        say="Your stride works downwards but not across. It is one number for both directions.",
    ),
    Misconception(
        exercise="pool2d",
        name="cuts the gradients",
        edit=(POOL_MAX, "return windows.amax((-2, -1)).detach()"),
        say="The numbers are right, but no gradient comes through the maximum: something was detached.",
    ),
    Misconception(
        exercise="pool2d",
        name="cuts its windows by strides that only fit one order in memory",
        edit=(
            "windows = x.unfold(2, kernel, stride).unfold(3, kernel, stride)",
            "B, C, H, W = x.shape\n"
            "    rows, columns = (H - kernel) // stride + 1, (W - kernel) // stride + 1\n"
            "    strides = C * H * W, H * W, W * stride, stride, W, 1\n"
            "    windows = x.as_strided((B, C, rows, columns, kernel, kernel), strides)",
        ),
        say="A picture that was transposed gets wrong numbers: as_strided counts on rows that lie one "
        "behind another in memory. unfold asks the tensor for its strides.",
    ),
]

# The layer is a test's own function, which is gone when mistakes are named: the check says these sentences itself.
MATRIX = [
    Misconception(
        exercise="aggregation-matrix",
        name="puts the columns in rows",
        edit=(MATRIX_STACK, "return torch.stack(columns, dim=0)"),
        say="Your matrix lies on its side. What input j does is column j, and your rows are the inputs.",
    ),
    Misconception(
        exercise="aggregation-matrix",
        name="leaves the bias in",
        edit=(MATRIX_COLUMNS, "columns = [layer(e) for e in torch.eye(n)]"),
        say="Every entry of your matrix is too large by the bias. What does the layer give for zeros?",
    ),
    Misconception(
        exercise="aggregation-matrix",
        name="leaves the bias in and puts the columns in rows",
        edit=(
            f"{MATRIX_COLUMNS}              # n vectors (out,)\n    {MATRIX_STACK}",
            "return torch.stack([layer(e) for e in torch.eye(n)])",
        ),
        say="Your matrix lies on its side, and the bias is still in it.",
    ),
    Misconception(
        exercise="aggregation-matrix",
        name="goes through the inputs from the last to the first",
        edit=("for e in torch.eye(n)", "for e in torch.eye(n).flip(0)"),
        say="Your columns stand in reverse order. Column j belongs to input j.",
    ),
    Misconception(
        exercise="aggregation-matrix",
        name="pokes twice as hard",
        edit=("for e in torch.eye(n)", "for e in 2 * torch.eye(n)"),
        say="Your matrix is too large by a factor. The vector that asks for column j has a 1 in place j.",
    ),
    Misconception(
        exercise="aggregation-matrix",
        name="takes the answer away from the bias",
        edit=("layer(e) - b", "b - layer(e)"),
        say="All signs of your matrix are wrong. Take the bias away from the answer, and not the reverse.",
    ),
    Misconception(
        exercise="aggregation-matrix",
        name="leaves the earlier inputs on",
        edit=("for e in torch.eye(n)", "for e in torch.ones(n, n).tril()"),
        say="Your columns add up. When you poke input j, all the others must be 0.",
    ),
    Misconception(
        exercise="aggregation-matrix",
        name="pokes all inputs at once",
        edit=("for e in torch.eye(n)", "for e in torch.ones(n, n)"),
        say="All your columns are alike: you poked all inputs at once.",
    ),
    Misconception(
        exercise="aggregation-matrix",
        name="normalises the matrix",
        edit=(MATRIX_STACK, "matrix = torch.stack(columns, dim=1)\n    return matrix / matrix.abs().max()"),
        say="Your matrix was made smaller. Nothing has to be normalised here.",
    ),
    Misconception(
        exercise="aggregation-matrix",
        name="takes away the mean of the answers",
        edit=(MATRIX_B, "b = torch.stack([layer(e) for e in torch.eye(n)]).mean(0)"),
        say="You took away the mean of the answers. What does the layer give for zeros?",
    ),
    Misconception(
        exercise="aggregation-matrix",
        name="hands the layer all vectors in one matrix",
        edit=(MATRIX_COLUMNS, "columns = list((layer(torch.eye(n)) - b).T)"),
        say="the layer takes one vector of shape (3,) at a time",
    ),
]

LENET = [
    Misconception(
        exercise="lenet",
        name="takes 16 * 6 * 6 for every size",
        edit=(LENET_FC1, "self.fc1 = nn.Linear(16 * 6 * 6, 120)"),
        say="Your fc1 takes 16 * 6 * 6 numbers, whatever the size of the pictures. That fits 32 by 32 and little else.",
    ),
    Misconception(
        exercise="lenet",
        name="takes the numbers of the pictures themselves for the width of fc1",
        edit=(LENET_FC1, "self.fc1 = nn.Linear(size * size, 120)"),
        say="Your fc1 is as wide as the picture that came in. It reads what two convolutions and poolings left of it.",
    ),
    Misconception(
        exercise="lenet",
        name="forgets the 16 channels in the width of fc1",
        edit=(LENET_FC1, "self.fc1 = nn.Linear(side * side, 120)"),
        say="Your fc1 is too narrow: flattening puts the numbers of all 16 channels in a line.",
    ),
    Misconception(
        exercise="lenet",
        name="rounds up when it counts the poolings",
        edit=(LENET_SIDE, "side = -(-(side - 2) // 2)"),
        say="For some sizes your fc1 is too wide. Pooling cuts off what is left over; it rounds down.",
    ),
    Misconception(
        exercise="lenet",
        name="forgets in its count that the second convolution makes the picture smaller",
        edit=(LENET_SIDE, "side = side // 2"),
        say="Your fc1 is too wide: without padding, a convolution of 3 by 3 takes two rows and two columns away.",
    ),
    Misconception(
        exercise="lenet",
        name="ends in a softmax",
        edit=(LENET_LAST, "return self.fc3(x).softmax(-1)"),
        say="The scores of a picture sum to 1: there is a softmax at the end, and the loss has another one inside.",
    ),
    Misconception(
        exercise="lenet",
        name="ends in a softmax in eval mode",
        edit=(LENET_LAST, "scores = self.fc3(x)\n        return scores if self.training else scores.softmax(1)"),
        say="After m.eval() the scores are others than in training. They are the same in both modes.",
    ),
    Misconception(
        exercise="lenet",
        name="ends in a log_softmax",
        edit=(LENET_LAST, "return F.log_softmax(self.fc3(x), -1)"),
        say="There is a log_softmax at the end. The scores are wanted as they leave fc3.",
    ),
    Misconception(
        exercise="lenet",
        name="ends in a relu",
        edit=(LENET_LAST, "return F.relu(self.fc3(x))"),
        say="None of your scores is negative: there is a relu behind fc3. Then many scores get no gradient.",
    ),
    Misconception(
        exercise="lenet",
        name="has no relu after the first convolution",
        edit=(LENET_FIRST, "x = F.max_pool2d(self.conv1(x), 2)"),
        say="Between conv1 and conv2 your numbers can be negative: a relu is missing there.",
    ),
    Misconception(
        exercise="lenet",
        name="has no relu after the second convolution",
        edit=(LENET_SECOND, "x = F.max_pool2d(self.conv2(x), 2)"),
        say="Between conv2 and fc1 your numbers can be negative: a relu is missing there.",
    ),
    Misconception(
        exercise="lenet",
        name="has no relu between fc1 and fc2",
        edit=("x = F.relu(self.fc1(x))", "x = self.fc1(x)"),
        say="fc1 and fc2 follow one another without a relu. Then they are one linear layer with many parameters.",
    ),
    Misconception(
        exercise="lenet",
        name="has no relu between fc2 and fc3",
        edit=("x = F.relu(self.fc2(x))", "x = self.fc2(x)"),
        say="fc2 and fc3 follow one another without a relu. Then they are one linear layer with many parameters.",
    ),
    Misconception(
        exercise="lenet",
        name="pools by the mean",
        edit=(LENET_FIRST, "x = F.avg_pool2d(F.relu(self.conv1(x)), 2)"),
        say="Your first pooling takes the mean. The table asks for the maximum.",
    ),
    Misconception(
        exercise="lenet",
        name="bends with tanh instead of relu",
        edit=(LENET_FIRST, "x = F.max_pool2d(torch.tanh(self.conv1(x)), 2)"),
        say="Behind conv1 your numbers never pass 1: there is a tanh, as in 1998. The table asks for a relu.",
    ),
    Misconception(
        exercise="lenet",
        name="flattens with the channels last",
        edit=(LENET_FLAT, "x = x.permute(0, 2, 3, 1).flatten(1)  "),
        say="The numbers reach fc1 in another order: yours run through the channels first. "
        "The order is channel, row, column.",
    ),
    Misconception(
        exercise="lenet",
        name="forgets dropout in the network",
        edit=(LENET_FLAT, "x = F.dropout(x.flatten(1), 0.5)  "),
        say="The same picture gets other scores each time: something random stands in your forward.",
    ),
    Misconception(
        exercise="lenet",
        name="builds convolutions without a bias",
        edit=("self.conv1 = nn.Conv2d(1, 6, 5)", "self.conv1 = nn.Conv2d(1, 6, 5, bias=False)"),
        say="conv1 has no bias. Five layers with weight and bias are ten parameters.",
    ),
    Misconception(
        exercise="lenet",
        name="standardises the pictures by their batch",
        edit=(LENET_FIRST, "x = F.max_pool2d(F.relu(self.conv1(x - x.mean())), 2)"),
        say="A picture's scores change with the pictures beside it: something is computed over the whole batch.",
    ),
]

IN_CONVOLUTION_AND_POOLING = OUTPUT_SIZE + CONV2D + POOL2D + MATRIX + LENET


# normalisation-and-dropout.ipynb

NORM_VARIANCE = "variance = flat.var(0, correction=0)"
NORM_MEAN = "mean = flat.mean(0)"
NORM_BATCH = "normal = (rows - mean) / torch.sqrt(variance + self.eps)"
NORM_OUT = "(self.weight * normal + self.bias).movedim(-1, 1)"
NORM_SEEN_MEAN = "self.running_mean.copy_((1 - m) * self.running_mean + m * mean)"
NORM_SEEN_VAR = "self.running_var.copy_((1 - m) * self.running_var + m * flat.var(0, correction=1))"
NORM_EVAL = "mean, variance = self.running_mean, self.running_var"

NORM_BATCH_NORM = [
    Misconception(
        exercise="batch-norm",
        name="leaves the work to torch's batch norm",
        edit=(
            "rows = x.movedim(1, -1)",
            "known = self.running_mean, self.running_var, self.weight, self.bias\n"
            "        return F.batch_norm(x, *known, self.training, self.momentum, self.eps)\n"
            "        rows = x.movedim(1, -1)",
        ),
        say=HANDED_OVER,
    ),
    Misconception(
        exercise="batch-norm",
        name="normalises with the unbiased variance",
        edit=(NORM_VARIANCE, "variance = flat.var(0)"),
        say="Your batch comes out with a deviation a little below 1. If nothing is said, torch's `var` and `std` "
        "divide by n - 1; to normalise, the formula divides by n.",
    ),
    Misconception(
        exercise="batch-norm",
        name="remembers the biased variance",
        edit=("flat.var(0, correction=1)", "variance"),
        say="Your running variance is too small. It is a guess for all batches to come, so it takes the unbiased "
        "variance, while the batch itself is normalised with the biased one.",
    ),
    Misconception(
        exercise="batch-norm",
        name="exchanges the two variances",
        edit=(
            f"{NORM_VARIANCE}                          # (C,)\n            with torch.no_grad():\n"
            f"                m = self.momentum\n                {NORM_SEEN_MEAN}\n"
            "                self.running_var.copy_((1 - m) * self.running_var + m * flat.var(0, correction=1))",
            f"variance = flat.var(0, correction=1)\n            with torch.no_grad():\n"
            f"                m = self.momentum\n                {NORM_SEEN_MEAN}\n"
            "                self.running_var.copy_((1 - m) * self.running_var + m * flat.var(0, correction=0))",
        ),
        say="Your two variances have changed places: the biased one describes this batch, the unbiased one is a guess "
        "for all batches.",
    ),
    Misconception(
        exercise="batch-norm",
        name="takes momentum for the share of the old",
        edit=("m = self.momentum", "m = 1 - self.momentum"),
        say="Your running statistics jump to each new batch. In torch momentum is the share of the new batch; in some "
        "other libraries it is the share of the old.",
    ),
    Misconception(
        exercise="batch-norm",
        name="keeps only the statistics of the last batch",
        edit=("m = self.momentum", "m = 1.0"),
        say="Your running statistics are those of the last batch: they have no memory. They shall move a share of the "
        "way and keep the rest.",
    ),
    Misconception(
        exercise="batch-norm",
        name="adds the new statistics without shrinking the old",
        edit=(
            f"{NORM_SEEN_MEAN}\n                {NORM_SEEN_VAR}",
            "self.running_mean.copy_(self.running_mean + m * mean)\n"
            "                self.running_var.copy_(self.running_var + m * flat.var(0, correction=1))",
        ),
        say="Your running statistics only grow, step after step. The two shares, of the old and of the new, must "
        "sum to 1.",
    ),
    Misconception(
        exercise="batch-norm",
        name="never updates the running statistics",
        edit=("m = self.momentum", "m = 0.0"),
        say="After any number of batches your running statistics are still 0 and 1. Nothing has been remembered.",
    ),
    Misconception(
        exercise="batch-norm",
        name="updates the running mean and forgets the variance",
        edit=(NORM_SEEN_VAR, "pass"),
        say="Your running mean moves and your running variance stays at 1. Both are remembered.",
    ),
    Misconception(
        exercise="batch-norm",
        name="remembers the deviation in place of the variance",
        edit=("flat.var(0, correction=1)", "flat.std(0, correction=1)"),
        say="Your running_var holds standard deviations. It must hold variances: the root comes when it is used.",
    ),
    Misconception(
        exercise="batch-norm",
        name="uses batch statistics in eval mode",
        edit=(NORM_EVAL, "mean, variance = rows.flatten(0, -2).mean(0), rows.flatten(0, -2).var(0, correction=0)"),
        say="In eval mode your answer for an example still depends on its neighbours. There the running statistics "
        "take the place of the batch's.",
    ),
    Misconception(
        exercise="batch-norm",
        name="uses the running mean but the batch variance in eval mode",
        edit=(NORM_EVAL, "mean, variance = self.running_mean, rows.flatten(0, -2).var(0, correction=0)"),
        say="In eval mode your mean is remembered, but your variance is still that of the batch.",
    ),
    Misconception(
        exercise="batch-norm",
        name="normalises with the running statistics in training",
        edit=(NORM_BATCH, "mean, variance = self.running_mean, self.running_var\n        " + NORM_BATCH),
        say="In training you normalise with the memory in place of the batch. The memory is for eval mode only.",
    ),
    Misconception(
        exercise="batch-norm",
        name="ignores the mode and always trains",
        edit=("if self.training:", "if True:"),
        say="In eval mode your answer for an example still depends on its neighbours. There the running statistics "
        "take the place of the batch's.",
    ),
    Misconception(
        exercise="batch-norm",
        name="updates the running statistics in eval mode too",
        edit=(
            NORM_EVAL,
            "flat = rows.reshape(-1, rows.size(-1)).detach()\n"
            "            mean, variance = self.running_mean.clone(), self.running_var.clone()\n"
            "            self.running_mean.lerp_(flat.mean(0), self.momentum)",
        ),
        say="In eval mode your running statistics go on moving: the model changes while it is used.",
    ),
    Misconception(
        exercise="batch-norm",
        name="adds epsilon outside the root",
        edit=("torch.sqrt(variance + self.eps)", "(torch.sqrt(variance) + self.eps)"),
        say="Your epsilon stands outside the root. The values nearly agree, but where a channel is constant the "
        "gradient is nan.",
    ),
    Misconception(
        exercise="batch-norm",
        name="leaves out epsilon",
        edit=("torch.sqrt(variance + self.eps)", "torch.sqrt(variance)"),
        say="A channel that is the same in the whole batch gives you 0 / 0. What keeps the divisor away from 0?",
    ),
    Misconception(
        exercise="batch-norm",
        name="writes 1e-5 in place of the epsilon it was given",
        edit=("self.eps = eps", "self.eps = 1e-5"),
        say="Your layer has one epsilon, whatever the caller asks for. Use the argument.",
    ),
    Misconception(
        exercise="batch-norm",
        name="writes 0.1 in place of the momentum it was given",
        edit=("self.momentum = momentum", "self.momentum = 0.1"),
        say="Your layer has one momentum, whatever the caller asks for. Use the argument.",
    ),
    Misconception(
        exercise="batch-norm",
        name="divides by the variance",
        edit=("torch.sqrt(variance + self.eps)", "(variance + self.eps)"),
        say="Kilometres or metres still make a difference in your layer: you divided by the variance, not by its root.",
    ),
    Misconception(
        exercise="batch-norm",
        name="leaves the mean in",
        edit=("(rows - mean) /", "rows /"),
        say="Your channels do not have the mean 0. Something has to be taken away before you divide.",
    ),
    Misconception(
        exercise="batch-norm",
        name="does not divide by the deviation",
        edit=(NORM_BATCH, "normal = rows - mean"),
        say="Your channels have mean 0 but still their old scale. What does the formula divide by?",
    ),
    Misconception(
        exercise="batch-norm",
        name="normalises each example over its channels",
        edit=(
            NORM_BATCH,
            NORM_BATCH.replace("rows - mean", "rows - rows.mean(-1, keepdim=True)").replace(
                "variance + ", "rows.var(-1, correction=0, keepdim=True) + "
            ),
        ),
        say="You compared the channels of one example with one another: that is layer norm. Batch norm compares each "
        "channel with itself in other examples.",
    ),
    Misconception(
        exercise="batch-norm",
        name="takes one mean and one variance of everything",
        edit=(
            NORM_BATCH,
            "if self.training:\n            mean, variance = flat.mean(), flat.var(correction=0)\n        "
            + NORM_BATCH,
        ),
        say="You took one mean over all channels: metres and kilometres in one sum. Each channel has its own.",
    ),
    Misconception(
        exercise="batch-norm",
        name="normalises each sentence by itself",
        edit=(
            NORM_BATCH,
            "if self.training and x.dim() == 3:\n            mean = rows.mean(1, keepdim=True)\n"
            "            variance = rows.var(1, correction=0, keepdim=True)\n        " + NORM_BATCH,
        ),
        say="With shape (B, C, L) each of your examples has a mean of its own. All places of all examples share one "
        "mean for each channel.",
    ),
    Misconception(
        exercise="batch-norm",
        name="normalises each place by itself",
        edit=(
            NORM_BATCH,
            "if self.training and x.dim() == 3:\n            mean = rows.mean(0)\n"
            "            variance = rows.var(0, correction=0)\n        " + NORM_BATCH,
        ),
        say="With shape (B, C, L) each of your places has a mean of its own. All places of all examples share one mean "
        "for each channel.",
    ),
    Misconception(
        exercise="batch-norm",
        name="takes the last axis for the channels",
        edit=("rows = x.movedim(1, -1)", "rows = x"),
        say="With shape (B, C, L) you took the places for the channels. The channels are axis 1.",
    ),
    Misconception(
        exercise="batch-norm",
        name="leaves out weight and bias",
        edit=(NORM_OUT, "normal.movedim(-1, 1)"),
        say="Your layer has a weight and a bias and never uses them. After normalising, each channel may be stretched "
        "and shifted.",
    ),
    Misconception(
        exercise="batch-norm",
        name="adds the bias before it multiplies by the weight",
        edit=(NORM_OUT, "(self.weight * (normal + self.bias)).movedim(-1, 1)"),
        say="Your bias is multiplied by the weight as well. First stretch, then shift.",
    ),
    Misconception(
        exercise="batch-norm",
        name="starts the weight at 0",
        edit=("nn.Parameter(torch.ones(n_features))", "nn.Parameter(torch.zeros(n_features))"),
        say="A new layer must leave the normalised numbers as they are: its weight starts at 1.",
    ),
    Misconception(
        exercise="batch-norm",
        name="starts the running variance at 0",
        edit=('"running_var", torch.ones(n_features)', '"running_var", torch.zeros(n_features)'),
        say="Your running variance does not start at 1, so a new layer in eval mode gives numbers of a wild size.",
    ),
    Misconception(
        exercise="batch-norm",
        name="keeps the running statistics as parameters",
        edit=(
            'self.register_buffer("running_mean", torch.zeros(n_features))',
            "self.running_mean = nn.Parameter(torch.zeros(n_features))",
        ),
        say="Your running mean is a parameter, so an optimiser will move it as well. It is remembered, not learned.",
    ),
    Misconception(
        exercise="batch-norm",
        name="keeps the running statistics as plain tensors",
        edit=(
            'self.register_buffer("running_mean", torch.zeros(n_features))',
            "self.running_mean = torch.zeros(n_features)",
        ),
        say="A plain tensor is not saved with the model and not moved with it. The first notebook had a word for "
        "tensors that are saved and not learned.",
    ),
    Misconception(
        exercise="batch-norm",
        name="lets the running statistics remember how they were computed",
        edit=(
            f"with torch.no_grad():\n                m = self.momentum\n                {NORM_SEEN_MEAN}",
            "if True:\n                m = self.momentum\n"
            "                self.running_mean = (1 - m) * self.running_mean + m * mean",
        ),
        say="Your running statistics carry a gradient, so each step hangs on to all steps before it. They are a memory "
        "of numbers only.",
    ),
    Misconception(
        exercise="batch-norm",
        name="detaches mean and variance of the batch",
        edit=(NORM_BATCH, "mean, variance = mean.detach(), variance.detach()\n        " + NORM_BATCH),
        say="Your gradients are wrong in training: mean and variance depend on x, and the gradient goes through them.",
    ),
    Misconception(
        exercise="batch-norm",
        name="cuts weight and bias off from the gradient",
        edit=(NORM_OUT, "(self.weight.detach() * normal + self.bias.detach()).movedim(-1, 1)"),
        say="No gradient reaches weight and bias in training, so they never learn.",
    ),
    Misconception(
        exercise="batch-norm",
        name="normalises the caller's tensor in place",
        edit=(NORM_BATCH, "rows.data.sub_(mean.detach())\n        mean = 0 * mean\n        " + NORM_BATCH),
        say="After the call the caller's x holds other numbers. Make a new tensor.",
    ),
    Misconception(
        exercise="batch-norm",
        name="takes the squared mean from the mean of the squares",
        edit=(NORM_VARIANCE, "variance = (flat**2).mean(0) - mean**2"),
        say="Your variance is a difference of two large numbers, and far from 0 all its digits are lost. "
        "First take the mean away, then square.",
    ),
    Misconception(
        exercise="batch-norm",
        name="adds epsilon to the running variance",
        edit=("flat.var(0, correction=1)", "(flat.var(0, correction=1) + self.eps)"),
        say="Your running variance holds an epsilon in each step. "
        "It belongs inside the root only, and is not remembered.",
    ),
    Misconception(
        exercise="batch-norm",
        name="normalises the caller's tensor in place in eval mode",
        edit=(
            NORM_BATCH,
            "if not self.training:\n            rows.data.sub_(mean)\n            mean = 0 * mean\n        "
            + NORM_BATCH,
        ),
        say="In eval mode your layer writes into the caller's x. A name that ends in an underscore changes its tensor.",
    ),
    Misconception(
        exercise="batch-norm",
        name="takes a momentum of 0 for none",
        edit=("self.momentum = momentum", "self.momentum = momentum or 0.1"),
        say="With momentum 0 nothing of the new batch goes into the running statistics. `momentum or 0.1` makes 0.1 of "
        "it, for 0 counts as false.",
    ),
    Misconception(
        exercise="batch-norm",
        name="drops the axis of a single place",
        edit=(NORM_OUT, "(self.weight * normal + self.bias).movedim(-1, 1).squeeze(-1)"),
        say="For x of shape (B, C, 1) your answer has the shape (B, C): the last axis is gone.",
    ),
]

NORM_LAYER_VARIANCE = "variance = x.var(-1, correction=0, keepdim=True)"
NORM_LAYER_MEAN = "mean = x.mean(-1, keepdim=True)"
NORM_LAYER = "normal = (x - mean) / torch.sqrt(variance + self.eps)"

NORM_LAYER_NORM = [
    Misconception(
        exercise="layer-norm",
        name="leaves the work to torch's layer norm",
        edit=(
            NORM_LAYER_MEAN,
            f"return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)\n        {NORM_LAYER_MEAN}",
        ),
        say=HANDED_OVER,
    ),
    Misconception(
        exercise="layer-norm",
        name="takes the unbiased variance",
        edit=(NORM_LAYER_VARIANCE, "variance = x.var(-1, keepdim=True)"),
        say="Your numbers are a little too small, and with D = 1 there is a nan: torch's `var` and `std` divide by "
        "D - 1 if nothing is said.",
    ),
    Misconception(
        exercise="layer-norm",
        name="takes the unbiased deviation, epsilon outside",
        edit=("torch.sqrt(variance + self.eps)", "(x.std(-1, keepdim=True) + self.eps)"),
        say="Two things differ here: `std` divides by D - 1, and your epsilon stands outside the root.",
    ),
    Misconception(
        exercise="layer-norm",
        name="adds epsilon outside the root",
        edit=("torch.sqrt(variance + self.eps)", "(torch.sqrt(variance) + self.eps)"),
        say="Your epsilon stands outside the root. For a vector of equal numbers the value is right and the gradient "
        "is nan.",
    ),
    Misconception(
        exercise="layer-norm",
        name="leaves out epsilon",
        edit=("torch.sqrt(variance + self.eps)", "torch.sqrt(variance)"),
        say="A vector whose numbers are all equal gives you 0 / 0. What keeps the divisor away from 0?",
    ),
    Misconception(
        exercise="layer-norm",
        name="writes 1e-5 in place of the epsilon it was given",
        edit=("self.eps = eps", "self.eps = 1e-5"),
        say="Your layer has one epsilon, whatever the caller asks for. Use the argument.",
    ),
    Misconception(
        exercise="layer-norm",
        name="divides by the variance",
        edit=("torch.sqrt(variance + self.eps)", "(variance + self.eps)"),
        say="A vector ten times as large comes out ten times as small: you divided by the variance, not by its root.",
    ),
    Misconception(
        exercise="layer-norm",
        name="leaves the mean in the numerator",
        edit=("(x - mean) /", "x /"),
        say="You divide by the deviation, but the mean is still in your numbers. All of the vector moves to 0 first.",
    ),
    Misconception(
        exercise="layer-norm",
        name="divides by the root of the mean square",
        edit=(NORM_LAYER, "normal = x / torch.sqrt(x.square().mean(-1, keepdim=True) + self.eps)"),
        say="This is RMS norm: it takes out the size of a vector and leaves its mean. Layer norm takes out both.",
    ),
    Misconception(
        exercise="layer-norm",
        name="divides by the length of the vector",
        edit=(NORM_LAYER, "normal = (x - mean) / torch.sqrt((x - mean).square().sum(-1, keepdim=True) + self.eps)"),
        say="Your vectors come out with length 1. Their deviation must be 1: that is a mean of squares, not a sum.",
    ),
    Misconception(
        exercise="layer-norm",
        name="takes the mean of the squares minus the square of the mean",
        edit=(NORM_LAYER_VARIANCE, "variance = (x**2).mean(-1, keepdim=True) - mean**2"),
        say="Mean of the squares minus square of the mean is right on paper. For numbers far from 0 it is a small "
        "difference of two large numbers, and float32 loses it. First take the mean away, then square.",
    ),
    Misconception(
        exercise="layer-norm",
        name="averages over the first axis",
        edit=(
            f"{NORM_LAYER_MEAN}                                   # (..., 1)\n"
            "        variance = x.var(-1, correction=0, keepdim=True)",
            "mean = x.mean(0, keepdim=True)\n        variance = x.var(0, correction=0, keepdim=True)",
        ),
        say="You average over the batch, so a vector's answer depends on its neighbours. Layer norm looks at one "
        "vector only.",
    ),
    Misconception(
        exercise="layer-norm",
        name="averages over the words of the sentence",
        edit=(
            f"{NORM_LAYER_MEAN}                                   # (..., 1)\n"
            "        variance = x.var(-1, correction=0, keepdim=True)",
            "axis = max(x.dim() - 2, 0)\n        mean = x.mean(axis, keepdim=True)\n"
            "        variance = x.var(axis, correction=0, keepdim=True)",
        ),
        say="You compare a word with the other words of its sentence. Layer norm compares the numbers of one vector "
        "with one another: which axis is that?",
    ),
    Misconception(
        exercise="layer-norm",
        name="averages over the whole sentence",
        edit=(
            f"{NORM_LAYER_MEAN}                                   # (..., 1)\n"
            "        variance = x.var(-1, correction=0, keepdim=True)",
            "axes = (-2, -1) if x.dim() > 1 else -1\n        mean = x.mean(axes, keepdim=True)\n"
            "        variance = x.var(axes, correction=0, keepdim=True)",
        ),
        say="All words of a sentence share one mean in your layer, so each depends on the others. Each vector has "
        "its own.",
    ),
    Misconception(
        exercise="layer-norm",
        name="averages over everything",
        edit=(
            f"{NORM_LAYER_MEAN}                                   # (..., 1)\n"
            "        variance = x.var(-1, correction=0, keepdim=True)",
            "mean = x.mean()\n        variance = x.var(correction=0)",
        ),
        say="There is one mean for the whole tensor in your layer. Each vector has its own: over which axis does it "
        "lie?",
    ),
    Misconception(
        exercise="layer-norm",
        name="normalises and forgets weight and bias",
        edit=("return self.weight * normal + self.bias", "return normal"),
        say="Your layer has a weight and a bias and never uses them.",
    ),
    Misconception(
        exercise="layer-norm",
        name="adds the bias before it multiplies by the weight",
        edit=("return self.weight * normal + self.bias", "return self.weight * (normal + self.bias)"),
        say="Your bias is multiplied by the weight as well. First stretch, then shift.",
    ),
    Misconception(
        exercise="layer-norm",
        name="has one weight for the whole vector",
        edit=("nn.Parameter(torch.ones(n_features))", "nn.Parameter(torch.ones(1))"),
        say="A new layer must leave the normalised numbers as they are: its weight is D ones.",
    ),
    Misconception(
        exercise="layer-norm",
        name="starts the weight at 0",
        edit=("nn.Parameter(torch.ones(n_features))", "nn.Parameter(torch.zeros(n_features))"),
        say="A new layer must leave the normalised numbers as they are: its weight is D ones.",
    ),
    Misconception(
        exercise="layer-norm",
        name="detaches mean and variance",
        edit=(NORM_LAYER, "mean, variance = mean.detach(), variance.detach()\n        " + NORM_LAYER),
        say="Your gradients are wrong: mean and variance depend on x, and the gradient goes through them.",
    ),
    Misconception(
        exercise="layer-norm",
        name="changes the caller's tensor in place",
        edit=(NORM_LAYER, "x.data.sub_(mean.detach())\n        mean = 0 * mean\n        " + NORM_LAYER),
        say="After the call the caller's x holds other numbers. Make a new tensor.",
    ),
    Misconception(
        exercise="layer-norm",
        name="keeps mean and variance of training for eval mode",
        edit=(
            NORM_LAYER,
            "if self.training or not hasattr(self, 'kept'):\n            self.kept = mean, variance\n        "
            "mean, variance = self.kept if self.kept[0].shape == mean.shape else (mean, variance)\n        "
            + NORM_LAYER,
        ),
        say="In eval mode you take mean and variance of the last call in training. Layer norm keeps nothing: each "
        "vector has its own.",
    ),
    Misconception(
        exercise="layer-norm",
        name="flattens x with view",
        edit=(NORM_LAYER_MEAN, "x = x.view(-1, x.size(-1)).view(x.shape)\n        " + NORM_LAYER_MEAN),
        say="`view` refuses an x that was transposed, for its numbers lie in memory in another order. "
        "The axis -1 is the last one, however many stand before it: nothing is to be flattened.",
    ),
]

NORM_KEEP = "keep = torch.rand(x.shape) >= p"
NORM_SCALED = "return x * keep / (1 - p)"

NORM_DROPOUT = [
    Misconception(
        exercise="dropout",
        name="leaves the work to torch's dropout",
        edit=("if not training:", "return F.dropout(x, p, training)\n    if not training:"),
        say=HANDED_OVER,
    ),
    Misconception(
        exercise="dropout",
        name="does not scale what stays",
        edit=(NORM_SCALED, "return x * keep"),
        say="Your mean shrinks to 1 - p of what it was. What stays must make up for what is gone.",
    ),
    Misconception(
        exercise="dropout",
        name="divides by p",
        edit=(NORM_SCALED, "return x * keep / (p or 1)"),
        say="You divided by the probability to be dropped. With p = 0.5 nobody sees the difference, with any other p "
        "the mean is wrong.",
    ),
    Misconception(
        exercise="dropout",
        name="multiplies by 1 - p in training",
        edit=(NORM_SCALED, "return x * keep * (1 - p)"),
        say="In training you make the survivors smaller, so the mean shrinks twice. They must become larger.",
    ),
    Misconception(
        exercise="dropout",
        name="scales in eval mode in place of training",
        edit=(
            "return x\n    if p == 1:\n        return x * 0\n    keep = torch.rand(x.shape) >= p\n    " + NORM_SCALED,
            "return x * (1 - p)\n    if p == 1:\n        return x * 0\n    keep = torch.rand(x.shape) >= p\n"
            "    return x * keep",
        ),
        say="You scale in eval mode, as in the first papers. Here the scaling belongs into training, so that eval mode "
        "leaves x as it is.",
    ),
    Misconception(
        exercise="dropout",
        name="scales in training and in eval mode",
        edit=("        return x\n", "        return x * (1 - p)\n"),
        say="Your eval mode changes the numbers. The scaling in training has settled the mean already.",
    ),
    Misconception(
        exercise="dropout",
        name="drops in eval mode too",
        edit=("if not training:", "if False:"),
        say="With training=False your function still drops numbers, so a trained model answers differently each time.",
    ),
    Misconception(
        exercise="dropout",
        name="drops in eval mode only",
        edit=("if not training:", "if training:"),
        say="Your two modes have changed places: nothing happens in training, and numbers vanish in use.",
    ),
    Misconception(
        exercise="dropout",
        name="takes p for the probability to stay",
        edit=(NORM_KEEP, "keep = torch.rand(x.shape) < p"),
        say="The share of zeros is 1 - p: your coin falls on the wrong side. p is the probability to be dropped.",
    ),
    Misconception(
        exercise="dropout",
        name="takes p for the probability to stay, and scales to match",
        edit=(f"{NORM_KEEP}\n    {NORM_SCALED}", "keep = torch.rand(x.shape) < p\n    return x * keep / (p or 1)"),
        say="You wrote the dropout of the first papers, where p is the probability to stay. Here p is the probability "
        "to be dropped.",
    ),
    Misconception(
        exercise="dropout",
        name="has no case for p = 1",
        edit=("if p == 1:", "if False:"),
        say="With p = 1 you divide 0 by 0. What should come out when everything is dropped?",
    ),
    Misconception(
        exercise="dropout",
        name="forgets the dtype of x where p = 1",
        edit=("return x * 0", "return torch.zeros(x.shape)"),
        say="With p = 1 the dtype of x, torch.float64, must stay",
    ),
    Misconception(
        exercise="dropout",
        name="writes the zeros of p = 1 into the caller's tensor",
        edit=("return x * 0", "return x.zero_()"),
        say="With p = 1 the caller's x is changed. Make a new tensor.",
    ),
    Misconception(
        exercise="dropout",
        name="drops whole rows",
        edit=(NORM_KEEP, "keep = (torch.rand(x.shape[:1]) >= p).view(-1, *[1] * (x.dim() - 1))"),
        say="Whole rows vanish together. Each number is drawn by itself.",
    ),
    Misconception(
        exercise="dropout",
        name="draws one mask for all vectors",
        edit=(NORM_KEEP, "keep = torch.rand(x.shape[-1:]) >= p"),
        say="The same places vanish in every row. Each number of the tensor is drawn by itself: what shape must the "
        "random numbers have?",
    ),
    Misconception(
        exercise="dropout",
        name="draws one mask for all sentences of a batch",
        edit=(NORM_KEEP, "keep = torch.rand(x.shape[-2:]) >= p"),
        say="In a batch of sentences the same places vanish in every sentence. Each number of the tensor is drawn by "
        "itself: the random numbers must have the shape of x.",
    ),
    Misconception(
        exercise="dropout",
        name="drops exactly a share of p",
        edit=(
            NORM_KEEP,
            "order = torch.rand(x.numel()).argsort()\n    keep = (order >= round(p * x.numel())).view(x.shape)",
        ),
        say="Your number of zeros is always the same. Each number is drawn by itself, so sometimes more of them fall "
        "and sometimes fewer.",
    ),
    Misconception(
        exercise="dropout",
        name="sets the seed in each call",
        edit=(NORM_KEEP, "torch.manual_seed(0)\n    " + NORM_KEEP),
        say="You set the seed inside, so each call drops the same places: some inputs are never seen again. "
        "The seed is the caller's business.",
    ),
    Misconception(
        exercise="dropout",
        name="draws with NumPy",
        edit=(NORM_KEEP, "import numpy\n    keep = torch.from_numpy(numpy.random.rand(*x.shape)) >= p"),
        say="You draw random numbers that are not torch's. So torch.manual_seed has no power over your dropout, and "
        "nobody can repeat a training.",
    ),
    Misconception(
        exercise="dropout",
        name="drops the small numbers",
        edit=(NORM_KEEP, "keep = x >= p"),
        say="You compared x itself with p: small numbers fall, large ones stay, and chance has no part in it.",
    ),
    Misconception(
        exercise="dropout",
        name="draws normal random numbers",
        edit=(NORM_KEEP, "keep = torch.randn(x.shape) >= p"),
        say="`torch.randn` draws from a bell curve around 0, so half of your numbers fall even with p = 0. You want "
        "numbers that are equally likely between 0 and 1.",
    ),
    Misconception(
        exercise="dropout",
        name="scales by the share that happened to stay",
        edit=(NORM_SCALED, "return x * keep * keep.numel() / keep.sum().clamp(min=1)"),
        say="You scale by the share that happened to stay in this call. The formula divides by 1 - p, the same in each "
        "call, so that examples do not depend on one another.",
    ),
    Misconception(
        exercise="dropout",
        name="changes the caller's tensor in place",
        edit=(NORM_SCALED, "x.data.mul_(keep / (1 - p))\n    return x * 1"),
        say="After the call the caller's x has holes in it. Make a new tensor.",
    ),
    Misconception(
        exercise="dropout",
        name="detaches the result",
        edit=(NORM_SCALED, "return x.detach() * keep / (1 - p)"),
        say="No gradient flows through your dropout, so the layers before it learn nothing.",
    ),
    Misconception(
        exercise="dropout",
        name="leaves the scaling out of the gradient",
        edit=(NORM_SCALED, "return x * keep + (x * keep * p / (1 - p)).detach()"),
        say="Your values are right, but the gradient misses the factor of the scaling. Nothing in it is to be "
        "detached.",
    ),
    Misconception(
        exercise="dropout",
        name="drops a tenth where no p is given",
        edit=("p: float = 0.5", "p: float = 0.1"),
        say="Without a p your function drops less than half of the numbers. The default is part of what is asked for.",
    ),
    Misconception(
        exercise="dropout",
        name="hands back a copy without a gradient where p is 0",
        edit=("    if p == 1:", "    if p == 0:\n        return x.detach().clone()\n    if p == 1:"),
        say="With p = 0 no gradient flows through your dropout.",
    ),
    Misconception(
        exercise="dropout",
        name="takes away axes of size 1 from its mask",
        edit=("keep = torch.rand(x.shape) >= p", "keep = (torch.rand(x.shape) >= p).squeeze()"),
        say="x of shape (4, 1) comes back as (4, 4): your mask lost its axis of size 1, and was spread "
        "over the others. Leave the mask the shape of x.",
    ),
    Misconception(
        exercise="dropout",
        name="turns x into float32 where it does not train",
        edit=("        return x\n", "        return x.float()\n"),
        say="With training=False the dtype of x, torch.float64, must stay",
    ),
]

IN_NORMALISATION_AND_DROPOUT = [*NORM_BATCH_NORM, *NORM_LAYER_NORM, *NORM_DROPOUT]


MISCONCEPTIONS = [*IN_LAYERS_AND_PARAMETERS, *IN_CONVOLUTION_AND_POOLING, *IN_NORMALISATION_AND_DROPOUT]
