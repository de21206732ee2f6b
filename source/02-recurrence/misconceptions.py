"""The mistakes people make in assignment 02, each as an edit of the reference and a word to who made it."""

from course.misconceptions import HANDED_OVER, Misconception

# words-and-states.ipynb

NUMBERING_LENGTHS = "lengths = torch.tensor([len(sentence) for sentence in sentences]) "
NUMBERING_WRITE = "numbers[row, place] = vocabulary.get(word, 1)"
NUMBERING_WORDS = "for place, word in enumerate(sentence):"
NUMBERING_RETURN = "return numbers, lengths"

ONE_HOT_LINE = "return (numbers.unsqueeze(-1) == places).float()"

EMBEDDING_ZEROS = """        if padding_idx is not None:
            table[padding_idx] = 0
"""
EMBEDDING_WHERE = "return torch.where(is_padding, rows.detach(), rows)"
EMBEDDING_NEW = "layer = cls(*table.shape, padding_idx=padding_idx)"
EMBEDDING_TABLE = "layer.weight = nn.Parameter(table.detach().clone(), requires_grad=not freeze)"

RNN_STEP_STATE = "from_state = h @ W_hh.T + b_hh"
RNN_STEP_WORD = "from_word = x @ W_ih.T + b_ih"
RNN_STEP_TANH = "return torch.tanh(from_word + from_state)"

RNN_CALL = "h = rnn_step(x[:, t], h, W_ih, W_hh, b_ih, b_hh)"
RNN_LOOP = "for t in range(x.size(1)):"
RNN_RETURN = "return torch.stack(states, dim=1), h "
RNN_APPEND = "states.append(h)"

IN_WORDS_AND_STATES = [
    # numbering
    Misconception(
        exercise="numbering",
        name="gives unknown words the number of padding",
        edit=("vocabulary.get(word, 1)", "vocabulary.get(word, 0)"),
        say="An unknown word and padding get the same number from you. "
        "Then nobody can tell a word that was there from a place where none was.",
    ),
    Misconception(
        exercise="numbering",
        name="fills up with the number of unknown words",
        edit=(
            "torch.zeros(len(sentences), int(lengths.max()), dtype=torch.int64)",
            "torch.ones(len(sentences), int(lengths.max()), dtype=torch.int64)",
        ),
        say="Your box is filled up with 1, the unknown word. A short sentence seems to end in strange words.",
    ),
    Misconception(
        exercise="numbering",
        name="pads before the words",
        edit=("numbers[row, place] =", "numbers[row, place - len(sentence)] ="),
        say="Your short sentences stand at the right edge of the box. The padding comes after the words.",
    ),
    Misconception(
        exercise="numbering",
        name="returns the length of the box for every sentence",
        edit=(NUMBERING_RETURN, "return numbers, torch.full_like(lengths, numbers.size(1))"),
        say="All your lengths are equal: that is the size of the box. What is asked for is the number of words of each "
        "sentence, the one thing that the box does not show.",
    ),
    Misconception(
        exercise="numbering",
        name="does not count unknown words",
        edit=(NUMBERING_LENGTHS, "lengths = torch.tensor([sum(w in vocabulary for w in s) for s in sentences])"),
        say="Your lengths leave out unknown words (or your box is too small for them). "
        "A word that nobody knows is still a word of the sentence.",
    ),
    Misconception(
        exercise="numbering",
        name="counts the numbers above 1 for the lengths",
        edit=(NUMBERING_RETURN, "return numbers, (numbers > 1).sum(1)"),
        say="Your lengths count known words only. The unknown word has a place in the sentence, so it counts.",
    ),
    Misconception(
        exercise="numbering",
        name="leaves unknown words out of the sentence",
        edit=(NUMBERING_WORDS, "for place, word in enumerate(w for w in sentence if w in vocabulary):"),
        say="You skip unknown words, and the words behind them move forward. Each word keeps its place.",
    ),
    Misconception(
        exercise="numbering",
        name="gives each new word a number of its own",
        edit=("vocabulary.get(word, 1)", "vocabulary.setdefault(word, len(vocabulary) + 2)"),
        say="An unknown word gets a new number from you. The table that comes next has no row for it: "
        "a vocabulary does not grow while it is used.",
    ),
    Misconception(
        exercise="numbering",
        name="writes unknown words into the caller's vocabulary",
        edit=("vocabulary.get(word, 1)", "vocabulary.setdefault(word, 1)"),
        say="The numbers are right, but the words that were not known stand in the caller's vocabulary now. "
        "Look words up without writing them.",
    ),
    Misconception(
        exercise="numbering",
        name="looks words up in lower case",
        edit=("vocabulary.get(word, 1)", "vocabulary.get(word.lower(), 1)"),
        say="You changed the words before you looked them up. 'The' is not 'the' here; look up what is written.",
    ),
    Misconception(
        exercise="numbering",
        name="takes punctuation off the words",
        edit=("vocabulary.get(word, 1)", 'vocabulary.get(word.strip(".,!?"), 1)'),
        say="You changed the words before you looked them up. 'bank.' is not 'bank' here; look up what is written.",
    ),
    Misconception(
        exercise="numbering",
        name="numbers the words by their place in the vocabulary",
        edit=(
            "vocabulary.get(word, 1)",
            "list(vocabulary).index(word) + 2 if word in vocabulary else 1",
        ),
        say="You count the place of a word in the dict. The number of a word is what the dict says.",
    ),
    Misconception(
        exercise="numbering",
        name="sorts the sentences by length",
        edit=(
            "    numbers = torch.zeros(",
            "    sentences = sorted(sentences, key=len, reverse=True)\n    numbers = torch.zeros(",
        ),
        say="Your rows stand in another order than the sentences. Whoever asked for row 1 gets another sentence.",
    ),
    Misconception(
        exercise="numbering",
        name="makes numbers of a kind that is not whole",
        edit=("int(lengths.max()), dtype=torch.int64", "int(lengths.max())"),
        say="Your numbers are floats. They are names of rows, and a row 2.0 does not exist: use torch.int64.",
    ),
    Misconception(
        exercise="numbering",
        name="cuts all sentences to the shortest",
        edit=(
            NUMBERING_WORDS,
            "for place, word in enumerate(sentence[: min(map(len, sentences))]):",
        ),
        say="Long sentences lose their end: only as many words are written as the shortest sentence has.",
    ),
    Misconception(
        exercise="numbering",
        name="squeezes the batch away",
        edit=(NUMBERING_RETURN, "return numbers.squeeze(), lengths"),
        say="A batch of one sentence loses its batch axis. It is a batch all the same: shape (1, L).",
    ),
    Misconception(
        exercise="numbering",
        name="takes the words out of the caller's sentences",
        edit=(NUMBERING_WORDS, "for place in range(len(sentence)):\n            word = sentence.pop(0)"),
        say="After your call the caller's sentences are empty: pop takes a word out of the list itself. "
        "Read without taking.",
    ),
    # one-hot
    Misconception(
        exercise="one-hot",
        name="makes as many places as the batch needs",
        edit=("torch.arange(n)", "torch.arange(int(numbers.max()) + 1)"),
        say="The width of your vectors depends on the largest number in the batch. "
        "Two batches then do not fit the same table: n places, always.",
    ),
    Misconception(
        exercise="one-hot",
        name="returns whole numbers",
        edit=(ONE_HOT_LINE, "return (numbers.unsqueeze(-1) == places).long()"),
        say="Your ones and zeros are right, but of an integer dtype. A product with a float table will refuse them.",
    ),
    Misconception(
        exercise="one-hot",
        name="returns true and false",
        edit=(ONE_HOT_LINE, "return numbers.unsqueeze(-1) == places"),
        say="Your vectors are bool. To be multiplied with weights they must be float32.",
    ),
    Misconception(
        exercise="one-hot",
        name="counts places from 1",
        edit=("torch.arange(n)", "torch.arange(1, n + 1)"),
        say="Your ones stand one place too far to the left, and number 0 has none. Places are counted from 0.",
    ),
    Misconception(
        exercise="one-hot",
        name="writes the number instead of a 1",
        edit=(ONE_HOT_LINE, "return (numbers.unsqueeze(-1) == places) * numbers.unsqueeze(-1).float()"),
        say="At its place stands the number itself. Then word 7 is again seven times word 1, "
        "and that was to be got rid of.",
    ),
    Misconception(
        exercise="one-hot",
        name="fills all places up to the number",
        edit=("== places", ">= places"),
        say="All places up to the number are 1, as on a thermometer. The words are in an order again. One is hot.",
    ),
    Misconception(
        exercise="one-hot",
        name="fills all places but the number",
        edit=("== places", "!= places"),
        say="Your vectors are 1 everywhere but at the number: the other way round.",
    ),
    Misconception(
        exercise="one-hot",
        name="leaves padding without a 1",
        edit=(ONE_HOT_LINE, "return ((numbers.unsqueeze(-1) == places) & (places > 0)).float()"),
        say="Number 0 becomes a vector of zeros. That it is padding is no matter here: each number has its axis.",
    ),
    Misconception(
        exercise="one-hot",
        name="puts the new axis first",
        edit=(ONE_HOT_LINE, "return (numbers.unsqueeze(-1) == places).float().movedim(-1, 0)"),
        say="Your new axis stands in front. Each number becomes a vector, so the new axis comes to the end.",
    ),
    Misconception(
        exercise="one-hot",
        name="puts the new axis after the batch",
        edit=("numbers.unsqueeze(-1) == places).float()", "numbers.unsqueeze(1) == places.view(-1, 1)).float()"),
        say="Your places stand between the sentences and the words. The new axis comes to the end, for any shape.",
    ),
    Misconception(
        exercise="one-hot",
        name="flattens the batch",
        edit=(ONE_HOT_LINE, "return (numbers.reshape(-1, 1) == places).float()"),
        say="All sentences became one long list of words. The shape of the numbers stays, an axis is added.",
    ),
    # embedding
    Misconception(
        exercise="embedding",
        name="asks whether padding_idx is true, and misses 0",
        edit=(EMBEDDING_ZEROS, EMBEDDING_ZEROS.replace("if padding_idx is not None:", "if padding_idx:")),
        say="With padding_idx=0 your row of padding starts with random numbers. `if padding_idx:` is false for 0.",
    ),
    Misconception(
        exercise="embedding",
        name="lets the padding learn when its number is 0",
        edit=("if self.padding_idx is None:", "if not self.padding_idx:"),
        say="For padding_idx=0, and only there, the padding gets a gradient: 0 counts as false.",
    ),
    Misconception(
        exercise="embedding",
        name="lets the padding learn",
        edit=(EMBEDDING_WHERE, "return rows"),
        say="The row of padding is zeros at the start and gets a gradient. After one step of training it is not zeros.",
    ),
    Misconception(
        exercise="embedding",
        name="takes number 0 for padding without being told",
        edit=("padding_idx: int | None = None) -> None", "padding_idx: int | None = 0) -> None"),
        say="Nobody named a padding_idx, and still row 0 is zeros and never learns. Without one no row is padding.",
    ),
    Misconception(
        exercise="embedding",
        name="takes row 0 of a given table for padding without being told",
        edit=(
            "freeze: bool = True, padding_idx: int | None = None",
            "freeze: bool = True, padding_idx: int | None = 0",
        ),
        say="Row 0 of a given table does not learn, and nobody named a padding_idx. Without one no row is padding.",
    ),
    Misconception(
        exercise="embedding",
        name="does not start the padding with zeros",
        edit=(EMBEDDING_ZEROS, ""),
        say="The row of padding_idx starts with random numbers, and since it never learns, it keeps them.",
    ),
    Misconception(
        exercise="embedding",
        name="loses padding_idx in from_pretrained",
        edit=(EMBEDDING_NEW, "layer = cls(*table.shape)"),
        say="from_pretrained was told padding_idx and did not tell the new layer: the padding learns.",
    ),
    Misconception(
        exercise="embedding",
        name="writes zeros into the row of padding of a given table",
        edit=(
            EMBEDDING_TABLE,
            EMBEDDING_TABLE + "\n        if padding_idx is not None:\n            layer.weight.data[padding_idx] = 0",
        ),
        say="A given table is taken as it is, and you wrote zeros into the row of padding. "
        "Only a fresh table gets its zeros.",
    ),
    Misconception(
        exercise="embedding",
        name="writes zeros into the caller's table",
        edit=(
            EMBEDDING_NEW,
            EMBEDDING_NEW + "\n        if padding_idx is not None:\n            table[padding_idx] = 0",
        ),
        say="After your from_pretrained the caller's table is another: a row was set to zero.",
    ),
    Misconception(
        exercise="embedding",
        name="returns zeros for padding whatever the table says",
        edit=(EMBEDDING_WHERE, "return torch.where(is_padding, torch.zeros_like(rows), rows)"),
        say="For padding you return zeros, even where the table has other numbers in this row. "
        "padding_idx says who does not learn, not what stands there.",
    ),
    Misconception(
        exercise="embedding",
        name="never freezes",
        edit=("requires_grad=not freeze", "requires_grad=True"),
        say="With freeze=True your table learns all the same. A frozen parameter has requires_grad False.",
    ),
    Misconception(
        exercise="embedding",
        name="freezes when it should not",
        edit=("requires_grad=not freeze", "requires_grad=freeze"),
        say="freeze=False should learn and yours is frozen, and the other way round.",
    ),
    Misconception(
        exercise="embedding",
        name="learns by default",
        edit=("freeze: bool = True", "freeze: bool = False"),
        say="Without a word about it a given table is frozen. You changed the default.",
    ),
    Misconception(
        exercise="embedding",
        name="forgets the given table",
        edit=(EMBEDDING_TABLE, "layer.weight.requires_grad_(not freeze)"),
        say="from_pretrained makes a layer of the right size, with other numbers. Where did the table go?",
    ),
    Misconception(
        exercise="embedding",
        name="keeps the table as a plain tensor",
        edit=("self.weight = nn.Parameter(table)", "self.weight = table"),
        say="Your table is a plain tensor. No optimiser finds it and no file saves it: it must be an nn.Parameter.",
    ),
    Misconception(
        exercise="embedding",
        name="keeps the table as a buffer",
        edit=("self.weight = nn.Parameter(table)", 'self.register_buffer("weight", table)'),
        say="Your table is a buffer: it is saved and never learns. It must be an nn.Parameter.",
    ),
    Misconception(
        exercise="embedding",
        name="starts with uniform numbers between 0 and 1",
        edit=("torch.randn(n, width)", "torch.rand(n, width)"),
        say="Your new table has no negative number: `rand` is uniform from 0 to 1. Standard normal is asked for.",
    ),
    Misconception(
        exercise="embedding",
        name="starts with a table of zeros",
        edit=("torch.randn(n, width)", "torch.zeros(n, width)"),
        say="All words start with the same vector, zeros. Then the network cannot tell them apart.",
    ),
    Misconception(
        exercise="embedding",
        name="keeps the table transposed, as a linear layer would",
        edit=("torch.randn(n, width)", "torch.randn(width, n)"),
        say="Your table has a word in each column, as nn.Linear has. Here each word is a row: (n, width).",
    ),
    Misconception(
        exercise="embedding",
        name="detaches all rows",
        edit=(EMBEDDING_WHERE, "return rows.detach()"),
        say="Right values, and no gradient at all with a padding_idx: every row is detached. "
        "Only the padding should be.",
    ),
    Misconception(
        exercise="embedding",
        name="detaches the words and lets the padding learn",
        edit=("torch.where(is_padding, rows.detach(), rows)", "torch.where(is_padding, rows, rows.detach())"),
        say="In your table only the padding learns, and all words stand still. It should be the other way round.",
    ),
    Misconception(
        exercise="embedding",
        name="keeps the row of padding out of training, and its neighbour too",
        edit=("numbers == self.padding_idx", "numbers <= self.padding_idx"),
        say="All rows up to padding_idx get no gradient. Padding is a single number.",
    ),
    Misconception(
        exercise="embedding",
        name="flattens the numbers with view",
        edit=("rows = self.weight[numbers] ", "rows = self.weight[numbers.view(-1)].view(*numbers.shape, -1) "),
        say="`view` refuses a box that was transposed, for its numbers lie in memory in another order. "
        "A table takes numbers of any shape as they are.",
    ),
    Misconception(
        exercise="embedding",
        name="draws one number for each row",
        edit=("torch.randn(n, width)", "torch.randn(n, 1).repeat(1, width)"),
        say="Each of your words starts with one number, repeated over the width. "
        "All entries are drawn, each for itself.",
    ),
    Misconception(
        exercise="embedding",
        name="lets the padding learn in eval mode",
        edit=("if self.padding_idx is None:", "if self.padding_idx is None or not self.training:"),
        say="In eval mode the row of the padding gets a gradient. The mode has nothing to do with it.",
    ),
    # rnn-step
    Misconception(
        exercise="rnn-step",
        name="leaves the work to torch's RNN cell",
        edit=(RNN_STEP_TANH, "return torch.rnn_tanh_cell(x, h, W_ih, W_hh, b_ih, b_hh)"),
        say=HANDED_OVER,
    ),
    Misconception(
        exercise="rnn-step",
        name="leaves out the tanh",
        edit=(RNN_STEP_TANH, "return from_word + from_state"),
        say="Your state can leave the range from -1 to 1, and over many words it will grow. The tanh is missing.",
    ),
    Misconception(
        exercise="rnn-step",
        name="multiplies the state with W_hh and not with its transpose",
        edit=("h @ W_hh.T", "h @ W_hh"),
        say="W_hh is square, so `h @ W_hh` runs. But then its columns act where its rows should.",
    ),
    Misconception(
        exercise="rnn-step",
        name="forgets the old state",
        edit=("h @ W_hh.T", "0"),
        say="Your new state is the same whatever was read before. A step that does not hear the old state forgets.",
    ),
    Misconception(
        exercise="rnn-step",
        name="forgets the bias of the state",
        edit=(RNN_STEP_STATE, "from_state = h @ W_hh.T"),
        say="b_hh plays no role in your step. There are two biases, and both are added.",
    ),
    Misconception(
        exercise="rnn-step",
        name="forgets the bias of the word",
        edit=(RNN_STEP_WORD, "from_word = x @ W_ih.T"),
        say="b_ih plays no role in your step. There are two biases, and both are added.",
    ),
    Misconception(
        exercise="rnn-step",
        name="adds the same bias twice",
        edit=("W_hh.T + b_hh", "W_hh.T + b_ih"),
        say="You add b_ih twice and b_hh not at all.",
    ),
    Misconception(
        exercise="rnn-step",
        name="takes the tanh of each part before the sum",
        edit=(RNN_STEP_TANH, "return torch.tanh(from_word) + torch.tanh(from_state)"),
        say="Your state reaches up to 2: two values of a tanh were added. There is one tanh, around the sum.",
    ),
    Misconception(
        exercise="rnn-step",
        name="takes the tanh of the word's part only",
        edit=(RNN_STEP_TANH, "return torch.tanh(from_word) + from_state"),
        say="Only what comes from the word passes the tanh. What comes from the old state can grow without end.",
    ),
    Misconception(
        exercise="rnn-step",
        name="uses a sigmoid",
        edit=("torch.tanh(", "torch.sigmoid("),
        say="No number of your state is ever negative: that is a sigmoid. The formula has a tanh.",
    ),
    Misconception(
        exercise="rnn-step",
        name="uses a relu",
        edit=("torch.tanh(", "torch.relu("),
        say="Your state has no negative numbers and can pass 1: that is a relu. The formula has a tanh.",
    ),
    Misconception(
        exercise="rnn-step",
        name="adds the old state without W_hh",
        edit=("h @ W_hh.T", "h"),
        say="W_hh has no say in your step: the old state is added as it was.",
    ),
    Misconception(
        exercise="rnn-step",
        name="multiplies word and state instead of adding them",
        edit=("from_word + from_state", "from_word * from_state"),
        say="You multiply the two parts. In the formula they are added.",
    ),
    Misconception(
        exercise="rnn-step",
        name="lets half of the old state through",
        edit=(RNN_STEP_TANH, "return (h + torch.tanh(from_word + from_state)) / 2"),
        say="Your new state is a mixture of the old one and the formula. That idea comes later, with gates.",
    ),
    Misconception(
        exercise="rnn-step",
        name="writes the new state into the old one",
        edit=(RNN_STEP_TANH, "return h.copy_(torch.tanh(from_word + from_state))"),
        say="Your step writes into one of the tensors that it was given. The caller may still need it: make a new one.",
    ),
    Misconception(
        exercise="rnn-step",
        name="detaches the old state",
        edit=("h @ W_hh.T", "h.detach() @ W_hh.T"),
        say="Your step uses the old state, but no gradient goes back to it: no earlier word learns from this one.",
    ),
    Misconception(
        exercise="rnn-step",
        name="detaches the new state",
        edit=(RNN_STEP_TANH, "return torch.tanh(from_word + from_state).detach()"),
        say="No gradient comes through your step: something is detached on the way.",
    ),
    Misconception(
        exercise="rnn-step",
        name="squeezes a batch of one away",
        edit=(RNN_STEP_TANH, "return torch.tanh(from_word + from_state).squeeze()"),
        say="A batch of one sentence, or a state of width 1, loses an axis: squeeze() takes every axis of size 1.",
    ),
    # rnn
    Misconception(
        exercise="rnn",
        name="leaves the work to torch's RNN",
        edit=(
            "h, states = h_0, []",
            "weights = [W_ih, W_hh, b_ih, b_hh]\n"
            "    out, h_n = torch.rnn_tanh(x, h_0[None], weights, True, 1, 0.0, False, False, True)\n"
            "    return out, h_n[0]\n"
            "    h, states = h_0, []",
        ),
        say=HANDED_OVER,
    ),
    Misconception(
        exercise="rnn",
        name="starts from zeros and ignores h_0",
        edit=("h, states = h_0, []", "h, states = torch.zeros_like(h_0), []"),
        say="Whatever h_0 is handed in, your first state is the same. The reading starts from h_0.",
    ),
    Misconception(
        exercise="rnn",
        name="takes every step from h_0",
        edit=("h = rnn_step(x[:, t], h, ", "h = rnn_step(x[:, t], h_0, "),
        say="Each of your states knows a single word: every step starts from h_0 "
        "and not from where the last one ended.",
    ),
    Misconception(
        exercise="rnn",
        name="reads from the last word to the first",
        edit=(RNN_LOOP, "for t in reversed(range(x.size(1))):"),
        say="You read from the end. Your first state knows the last word.",
    ),
    Misconception(
        exercise="rnn",
        name="reads backwards and stores in reading order",
        edit=("x[:, t], h,", "x[:, -t], h,"),
        say="Your steps take the words in another order: first the first, then the last, then the one before it.",
    ),
    Misconception(
        exercise="rnn",
        name="puts h_0 among the states",
        edit=("h, states = h_0, []", "h, states = h_0, [h_0]"),
        say="You return one state more than there are words: h_0 is not a state after a word.",
    ),
    Misconception(
        exercise="rnn",
        name="stores the state before each word",
        edit=(
            RNN_CALL + "   # (B, D)\n        " + RNN_APPEND,
            RNN_APPEND + "\n        " + RNN_CALL,
        ),
        say="Your states stand one place too late: the first is h_0, and the last word's state is missing from out.",
    ),
    Misconception(
        exercise="rnn",
        name="returns the words on the first axis",
        edit=("torch.stack(states, dim=1)", "torch.stack(states)"),
        say="Your out is (L, B, D), as nn.RNN gives it without batch_first. Here the batch comes first.",
    ),
    Misconception(
        exercise="rnn",
        name="brings the axes in order by a plain view",
        edit=("torch.stack(states, dim=1)", "torch.stack(states).view(x.size(0), x.size(1), -1)"),
        say="The shape of your out is right and the sentences are mixed: a view moves no number. "
        "Follow one state of the second sentence to see where it went.",
    ),
    Misconception(
        exercise="rnn",
        name="joins the states along the width",
        edit=("torch.stack(states, dim=1)", "torch.cat(states, dim=1)"),
        say="Your states were joined into one long row for each sentence. `cat` uses an axis that is there; "
        "a new one is needed.",
    ),
    Misconception(
        exercise="rnn",
        name="returns the first state as the last",
        edit=(RNN_RETURN, "return torch.stack(states, dim=1), states[0] "),
        say="Your h_n is the state after the first word. It knows nothing of the rest of the sentence.",
    ),
    Misconception(
        exercise="rnn",
        name="takes the last sentence for the last word",
        edit=(RNN_RETURN, "return torch.stack(states, dim=1), torch.stack(states, dim=1)[-1] "),
        say="Your h_n holds all states of the last sentence. The last word lies on the other axis.",
    ),
    Misconception(
        exercise="rnn",
        name="gives the last state an axis for layers",
        edit=(RNN_RETURN, "return torch.stack(states, dim=1), h.unsqueeze(0) "),
        say="Your h_n has three axes, as that of nn.RNN has. Here it is (B, D).",
    ),
    Misconception(
        exercise="rnn",
        name="takes the mean of the states for the last one",
        edit=(RNN_RETURN, "return torch.stack(states, dim=1), torch.stack(states).mean(0) "),
        say="Your h_n is the mean of all states. It should be the last of them.",
    ),
    Misconception(
        exercise="rnn",
        name="leaves out the last word",
        edit=("range(x.size(1))", "range(max(1, x.size(1) - 1))"),
        say="The last word is never read: your out has a place too few.",
    ),
    Misconception(
        exercise="rnn",
        name="takes as many steps as there are sentences",
        edit=("range(x.size(1))", "range(x.size(0))"),
        say="Your loop counts the sentences of the batch and not the words. With B different from L it shows.",
    ),
    Misconception(
        exercise="rnn",
        name="cuts the gradient between the steps",
        edit=(RNN_APPEND, RNN_APPEND + "\n        h = h.detach()"),
        say="Your states depend on h_0, but no gradient passes from one step to the one before: "
        "the network can never learn to remember.",
    ),
    Misconception(
        exercise="rnn",
        name="detaches the states that it collects",
        edit=(RNN_APPEND, "states.append(h.detach())"),
        say="The states that you collect are detached: nothing can learn from them.",
    ),
    Misconception(
        exercise="rnn",
        name="detaches the last state",
        edit=(RNN_RETURN, "return torch.stack(states, dim=1), h.detach() "),
        say="Your h_n is detached: who reads on from it, or scores the sentence with it, gets no gradient back.",
    ),
    Misconception(
        exercise="rnn",
        name="collects the states in a float32 box",
        edit=(
            RNN_RETURN,
            "return torch.stack(states, dim=1).float(), h ",
        ),
        say="Sentences in float64 come back in float32. A box that you make yourself needs the dtype of x.",
    ),
    Misconception(
        exercise="rnn",
        name="adds the states up",
        edit=("torch.stack(states, dim=1)", "torch.stack(states, dim=1).cumsum(1)"),
        say="Your states are running sums: they grow past 1. Each place holds the state after its word and no more.",
    ),
    Misconception(
        exercise="rnn",
        name="writes the states into the caller's h_0",
        edit=("states.append(h)", "states.append(h)\n        h_0.data.copy_(h)"),
        say="After your call the caller's h_0 is another. He may want to read a second sentence from it.",
    ),
    Misconception(
        exercise="rnn",
        name="writes all states into one tensor",
        edit=(
            RNN_CALL,
            "h = h if t else h.clone()\n        h.data.copy_(rnn_step(x[:, t], h, W_ih, W_hh, b_ih, b_hh))",
        ),
        say="All your states are the last one. The list holds one tensor many times, and each step writes over it.",
    ),
]


# gates.ipynb

GATES_LSTM_ROWS = "i, f, g, o = rows.chunk(4, dim=-1)"
GATES_LSTM_SUM = "rows = x @ W_ih.T + b_ih + h @ W_hh.T + b_hh"
GATES_LSTM_CELL = "c = f.sigmoid() * c + i.sigmoid() * g.tanh()"
GATES_LSTM_STATE = "h = o.sigmoid() * c.tanh()"

GATES_LSTM_STEP = [
    Misconception(
        exercise="lstm-step",
        name="leaves the work to torch's LSTM cell",
        edit=("rows = x @ W_ih.T", "return torch.lstm_cell(x, (h, c), W_ih, W_hh, b_ih, b_hh)\n    rows = x @ W_ih.T"),
        say=HANDED_OVER,
    ),
    Misconception(
        exercise="lstm-step",
        name="exchanges the input gate and the forget gate",
        edit=(GATES_LSTM_ROWS, "f, i, g, o = rows.chunk(4, dim=-1)"),
        say="Your input gate and your forget gate have changed places: what should be kept is written, and what should "
        "be written is kept. torch's rows begin with i.",
    ),
    Misconception(
        exercise="lstm-step",
        name="takes the rows in the order i, f, o, g",
        edit=(GATES_LSTM_ROWS, "i, f, o, g = rows.chunk(4, dim=-1)"),
        say="Your candidate and your output gate have changed places. Papers often write i, f, o, g; "
        "the rows here stand as torch has them.",
    ),
    Misconception(
        exercise="lstm-step",
        name="takes the rows in the order i, g, f, o",
        edit=(GATES_LSTM_ROWS, "i, g, f, o = rows.chunk(4, dim=-1)"),
        say="Your forget gate is made of the rows of the candidate, and the reverse. Look at the order of the blocks.",
    ),
    Misconception(
        exercise="lstm-step",
        name="takes the rows of the four blocks interleaved",
        edit=(GATES_LSTM_ROWS, "i, f, g, o = rows.unflatten(-1, (-1, 4)).unbind(-1)"),
        say="You took every fourth row for a gate. The rows lie in four blocks: first all D rows of i, then all of f.",
    ),
    Misconception(
        exercise="lstm-step",
        name="adds i and g where the formula multiplies",
        edit=("i.sigmoid() * g.tanh()", "i.sigmoid() + g.tanh()"),
        say="Your cell grows also where nothing should be written: the candidate gets in whatever the gate says. "
        "A gate multiplies what passes through it.",
    ),
    Misconception(
        exercise="lstm-step",
        name="adds f and c where the formula multiplies",
        edit=("f.sigmoid() * c +", "f.sigmoid() + c +"),
        say="With its forget gate closed your cell still holds all it had. A gate multiplies what passes through it.",
    ),
    Misconception(
        exercise="lstm-step",
        name="keeps with 1 - i, as a GRU would",
        edit=("f.sigmoid() * c +", "(1 - i.sigmoid()) * c +"),
        say="You keep what is not written. That is a GRU's habit; an LSTM has a gate of its own for keeping, "
        "and yours has no say.",
    ),
    Misconception(
        exercise="lstm-step",
        name="makes the candidate with a sigmoid",
        edit=("g.tanh()", "g.sigmoid()"),
        say="Your candidate is never negative, so your cell can only count upwards. The candidate is no gate.",
    ),
    Misconception(
        exercise="lstm-step",
        name="cuts the cell at -10 and 10",
        edit=(GATES_LSTM_CELL, f"{GATES_LSTM_CELL}\n    c = c.clamp(-10, 10)"),
        say="Your cell stops at 10. A cell has no limits: one that keeps all and adds 1 each time counts on.",
    ),
    Misconception(
        exercise="lstm-step",
        name="leaves the candidate without its tanh",
        edit=("g.tanh()", "g"),
        say="Your candidate is not limited to -1 .. 1: something is missing around g.",
    ),
    Misconception(
        exercise="lstm-step",
        name="shows the cell without tanh",
        edit=(GATES_LSTM_STATE, "h = o.sigmoid() * c"),
        say="Your state can leave the range from -1 to 1, because it shows the bare cell. "
        "Look at the line for h once more.",
    ),
    Misconception(
        exercise="lstm-step",
        name="shows the old cell",
        edit=(GATES_LSTM_CELL, GATES_LSTM_STATE + GATES_LSTM_CELL.replace("c =", "\n    return h,")),
        say="Your state shows the cell as it was before this step. First renew the cell, then show it.",
    ),
    Misconception(
        exercise="lstm-step",
        name="puts the sigmoid of the output gate around the product",
        edit=(GATES_LSTM_STATE, "h = (o * c.tanh()).sigmoid()"),
        say="Your state lies between 0 and 1 and is never negative. Which of the two factors is the gate?",
    ),
    Misconception(
        exercise="lstm-step",
        name="uses tanh for the gates",
        edit=(GATES_LSTM_CELL, "c = f.tanh() * c + i.tanh() * g.tanh()"),
        say="Your gates can be negative, so they can turn a value round. A gate lies between 0 and 1.",
    ),
    Misconception(
        exercise="lstm-step",
        name="leaves out the bias b_hh",
        edit=(GATES_LSTM_SUM, "rows = x @ W_ih.T + b_ih + h @ W_hh.T"),
        say="Your step never uses b_hh. There are two biases, one with each matrix.",
    ),
    Misconception(
        exercise="lstm-step",
        name="leaves out the bias b_ih",
        edit=(GATES_LSTM_SUM, "rows = x @ W_ih.T + h @ W_hh.T + b_hh"),
        say="Your step never uses b_ih. There are two biases, one with each matrix.",
    ),
    Misconception(
        exercise="lstm-step",
        name="does not look at the state before",
        edit=(GATES_LSTM_SUM, "rows = x @ W_ih.T + b_ih + b_hh"),
        say="Your gates look at the word only. They must also hear h, the state before the step.",
    ),
    Misconception(
        exercise="lstm-step",
        name="lets the gates look at the cell instead of the state",
        edit=("h @ W_hh.T", "c @ W_hh.T"),
        say="Your gates look at the cell c. In this LSTM they look at what is shown, the state h.",
    ),
    Misconception(
        exercise="lstm-step",
        name="returns cell and state in exchanged places",
        edit=("return h, c", "return c, h"),
        say="You return the cell first. The order is state, then cell, as in nn.LSTMCell.",
    ),
    Misconception(
        exercise="lstm-step",
        name="changes the caller's cell in place",
        edit=(GATES_LSTM_CELL, "c.mul_(f.sigmoid()).add_(i.sigmoid() * g.tanh())"),
        say="Your step writes into one of the tensors that it was given. The caller may still need it: make a new one.",
    ),
    Misconception(
        exercise="lstm-step",
        name="cuts the gradient between the steps",
        edit=(GATES_LSTM_CELL, "c = (f.sigmoid() * c.detach() + i.sigmoid() * g.tanh())"),
        say="The numbers are right, but no gradient flows from the new cell to the old one. That road is what the "
        "LSTM was made for.",
    ),
    Misconception(
        exercise="lstm-step",
        name="detaches the cell that it returns",
        edit=("return h, c", "return h, c.detach()"),
        say="The cell that you return is detached. The next step starts from it, and no gradient comes back.",
    ),
]

GATES_LSTM_CALL = "h, c = lstm_step(x[:, t], h, c, W_ih, W_hh, b_ih, b_hh)"
GATES_LSTM_ORDER = "reversed(range(length)) if reverse else range(length)"
GATES_LSTM_RETURN = "return torch.stack(out, 1), (h, c)"

GATES_LSTM = [
    Misconception(
        exercise="lstm",
        name="ignores the flag reverse",
        edit=(GATES_LSTM_ORDER, "range(length)"),
        say="Your answer is the same with reverse=True: you always read from left to right.",
    ),
    Misconception(
        exercise="lstm",
        name="reads every sequence from right to left",
        edit=(GATES_LSTM_ORDER, "reversed(range(length))"),
        say="You read from right to left even without reverse=True.",
    ),
    Misconception(
        exercise="lstm",
        name="gives the states of the reverse direction in the order of reading",
        edit=("torch.stack(out, 1)", "torch.stack(out[::-1] if reverse else out, 1)"),
        say="With reverse=True your states stand in the order in which you read. out[:, t] must belong to word t, "
        "so that both directions can be laid side by side.",
    ),
    Misconception(
        exercise="lstm",
        name="takes out[:, -1] for the last state in both directions",
        edit=(GATES_LSTM_RETURN, "return torch.stack(out, 1), (out[-1], c)"),
        say="With reverse=True your h_n has read one word only. The reading ends at the first word, "
        "so the last state does not stand in the last place.",
    ),
    Misconception(
        exercise="lstm",
        name="starts from zeros whatever state is given",
        edit=("h, c = state", "h, c = (torch.zeros_like(part) for part in state)"),
        say="The state that is handed in has no effect: you begin with zeros.",
    ),
    Misconception(
        exercise="lstm",
        name="does not hand on the cell",
        edit=(GATES_LSTM_CALL, "h, c = lstm_step(x[:, t], h, state[1], W_ih, W_hh, b_ih, b_hh)"),
        say="Each of your steps begins with the first cell again, so nothing is kept. Hand the new c to the next step.",
    ),
    Misconception(
        exercise="lstm",
        name="does not hand on the state",
        edit=(GATES_LSTM_CALL, "h, c = lstm_step(x[:, t], state[0], c, W_ih, W_hh, b_ih, b_hh)"),
        say="Each of your steps sees the first state h again. Hand the new h to the next step.",
    ),
    Misconception(
        exercise="lstm",
        name="collects the cells",
        edit=("out[t] = h", "out[t] = c"),
        say="Your out holds the cells. What an LSTM shows at each word is its state h.",
    ),
    Misconception(
        exercise="lstm",
        name="collects the state before the word",
        edit=(GATES_LSTM_CALL, "out[t] = h\n        " + GATES_LSTM_CALL + "\n        continue"),
        say="Your out is one step late: at word t stands the state before this word was read.",
    ),
    Misconception(
        exercise="lstm",
        name="puts the length first",
        edit=("torch.stack(out, 1)", "torch.stack(out)"),
        say="Your out has the length in front of the batch. That is torch's shape without batch_first=True; "
        "here it is (B, L, D).",
    ),
    Misconception(
        exercise="lstm",
        name="takes as many steps as there are sentences",
        edit=("length = x.size(1)", "length = x.size(0)"),
        say="Your loop counts the sentences of the batch and not the words. Which axis of x is the length?",
    ),
    Misconception(
        exercise="lstm",
        name="takes the two parts of the given state in exchanged places",
        edit=("h, c = state", "c, h = state"),
        say="You read the pair that is handed in as (c_0, h_0). The state comes first: (h_0, c_0).",
    ),
    Misconception(
        exercise="lstm",
        name="returns cell and state in exchanged places",
        edit=(GATES_LSTM_RETURN, "return torch.stack(out, 1), (c, h)"),
        say="In the pair that you return the cell comes first. The order is (h_n, c_n).",
    ),
    Misconception(
        exercise="lstm",
        name="leaves out the last word",
        edit=(GATES_LSTM_ORDER, GATES_LSTM_ORDER.replace("length", "length - 1")),
        say="The last word is never read. Count the steps for a sentence of one word.",
    ),
    Misconception(
        exercise="lstm",
        name="detaches the states that it collects",
        edit=("out[t] = h", "out[t] = h.detach()"),
        say="The states in your out are detached: nothing can learn from them.",
    ),
    Misconception(
        exercise="lstm",
        name="detaches the state between the steps",
        edit=("out[t] = h", "out[t] = h\n        h = h.detach()"),
        say="The numbers are right, but between two steps your state is detached: no gradient goes back through it.",
    ),
    Misconception(
        exercise="lstm",
        name="collects the states in a float32 box",
        edit=("torch.stack(out, 1)", "torch.stack(out, 1).float()"),
        say="Words in float64 come back in float32. A box that you make yourself needs the dtype of x.",
    ),
    Misconception(
        exercise="lstm",
        name="detaches the state when it reads backwards",
        edit=("        out[t] = h\n", "        out[t] = h\n        h = h.detach() if reverse else h\n"),
        say="Read forwards the gradients are right. Read backwards, your state is detached after each "
        "word, so no word hears from those read later.",
    ),
]

GATES_GRU_NEW = "n = torch.tanh(x_n + r * h_n)"
GATES_GRU_MIX = "return (1 - z) * n + z * h"
GATES_GRU_ROWS_X = "x_r, x_z, x_n = (x @ W_ih.T + b_ih).chunk(3, dim=-1)"
GATES_GRU_ROWS_H = "h_r, h_z, h_n = (h @ W_hh.T + b_hh).chunk(3, dim=-1)"
GATES_GRU_GATES = "r = torch.sigmoid(x_r + h_r)\n    z = torch.sigmoid(x_z + h_z)"

GATES_GRU_STEP = [
    Misconception(
        exercise="gru-step",
        name="leaves the work to torch's GRU cell",
        edit=(GATES_GRU_MIX, "return torch.gru_cell(x, h, W_ih, W_hh, b_ih, b_hh)"),
        say=HANDED_OVER,
    ),
    Misconception(
        exercise="gru-step",
        name="complements z, as 1409.0473 does",
        edit=(GATES_GRU_MIX, "return (1 - z) * h + z * n"),
        say="Your z is the share of what is new. In torch's GRU z is the share of the old state that stays.",
    ),
    Misconception(
        exercise="gru-step",
        name="resets before the hidden product",
        edit=(GATES_GRU_NEW, "n = torch.tanh(x_n + (r * h) @ W_hh.chunk(3)[2].T + b_hh.chunk(3)[2])"),
        say="Your reset gate works on h before the matrix. That is the GRU of the papers; "
        "torch applies r after the product, bias included.",
    ),
    Misconception(
        exercise="gru-step",
        name="keeps the bias of the hidden part out of reach of the reset gate",
        edit=(GATES_GRU_NEW, "n = torch.tanh(x_n + r * (h_n - b_hh.chunk(3)[2]) + b_hh.chunk(3)[2])"),
        say="With the reset gate closed your candidate still hears the hidden bias. In torch's GRU this bias stands "
        "inside the bracket that r multiplies.",
    ),
    Misconception(
        exercise="gru-step",
        name="lets the reset gate work on the word as well",
        edit=(GATES_GRU_NEW, "n = torch.tanh(r * (x_n + h_n))"),
        say="With the reset gate closed your candidate does not hear the word any more. "
        "r is there to forget the past only.",
    ),
    Misconception(
        exercise="gru-step",
        name="has no reset gate",
        edit=(GATES_GRU_NEW, "n = torch.tanh(x_n + h_n)"),
        say="Your r changes nothing. Where does it stand in the formula?",
    ),
    Misconception(
        exercise="gru-step",
        name="takes z for r and r for z",
        edit=(GATES_GRU_GATES, GATES_GRU_GATES.replace("r =", "? =").replace("z =", "r =").replace("? =", "z =")),
        say="Your reset gate and your update gate have changed places. torch's rows are r, z, n.",
    ),
    Misconception(
        exercise="gru-step",
        name="exchanges the update gate's rows of one matrix only",
        edit=("x_r, x_z, x_n =", "x_z, x_r, x_n ="),
        say="Your two matrices are cut in different orders: the word's part of r meets the state's part of z.",
    ),
    Misconception(
        exercise="gru-step",
        name="takes the rows of the three blocks interleaved",
        edit=(GATES_GRU_ROWS_X, "x_r, x_z, x_n = (x @ W_ih.T + b_ih).unflatten(-1, (-1, 3)).unbind(-1)"),
        say="You took every third row for a gate. The rows lie in three blocks: first all D rows of r, then all of z.",
    ),
    Misconception(
        exercise="gru-step",
        name="does not transpose the blocks of W_hh",
        edit=(GATES_GRU_ROWS_H, "h_r, h_z, h_n = (h @ U + b for U, b in zip(W_hh.chunk(3), b_hh.chunk(3)))"),
        say="You cut W_hh into three square blocks and multiply with them as they stand. "
        "Each needs its transpose, and nothing crashes without it.",
    ),
    Misconception(
        exercise="gru-step",
        name="leaves the candidate without its tanh",
        edit=(GATES_GRU_NEW, "n = x_n + r * h_n"),
        say="Your candidate is not limited to -1 .. 1: something is missing around it.",
    ),
    Misconception(
        exercise="gru-step",
        name="makes the candidate with a sigmoid",
        edit=(GATES_GRU_NEW, "n = torch.sigmoid(x_n + r * h_n)"),
        say="Your candidate is never negative. The candidate is no gate.",
    ),
    Misconception(
        exercise="gru-step",
        name="leaves out the bias b_hh",
        edit=("(h @ W_hh.T + b_hh)", "(h @ W_hh.T)"),
        say="Your step never uses b_hh. There are two biases, one with each matrix.",
    ),
    Misconception(
        exercise="gru-step",
        name="adds the old state without weight",
        edit=(GATES_GRU_MIX, "return (1 - z) * n + h"),
        say="Your old state is added as it is, and grows without end. Old and new share one cake.",
    ),
    Misconception(
        exercise="gru-step",
        name="cuts the gradient between the steps",
        edit=(GATES_GRU_MIX, "return (1 - z) * n + z * h.detach()"),
        say="The numbers are right, but along the road z * h no gradient reaches the old state.",
    ),
    Misconception(
        exercise="gru-step",
        name="changes the caller's state in place",
        edit=(GATES_GRU_MIX, "return h.mul_(z).add_((1 - z) * n)"),
        say="Your step writes into one of the tensors that it was given. The caller may still need it: make a new one.",
    ),
]

GATES_PAPER_NEW = "n = torch.tanh(x @ W_n.T + (r * h) @ U_n.T + b_n)"
GATES_PAPER_MIX = "return (1 - z) * h + z * n"

GATES_PAPER_GRU_STEP = [
    Misconception(
        exercise="paper-gru-step",
        name="keeps with z, as torch does",
        edit=(GATES_PAPER_MIX, "return (1 - z) * n + z * h"),
        say="Your z is the share of the old state. That is torch's GRU; in this paper z is the share of what is new.",
    ),
    Misconception(
        exercise="paper-gru-step",
        name="resets after the hidden product, as torch does",
        edit=(GATES_PAPER_NEW, "n = torch.tanh(x @ W_n.T + r * (h @ U_n.T) + b_n)"),
        say="Your reset gate works after the matrix. That is torch's GRU; "
        "in this paper r meets h itself, before the matrix.",
    ),
    Misconception(
        exercise="paper-gru-step",
        name="has no reset gate",
        edit=(GATES_PAPER_NEW, "n = torch.tanh(x @ W_n.T + h @ U_n.T + b_n)"),
        say="Your r changes nothing. Where does it stand in the formula?",
    ),
    Misconception(
        exercise="paper-gru-step",
        name="lets the reset gate work on the word as well",
        edit=(GATES_PAPER_NEW, "n = torch.tanh(r * (x @ W_n.T + h @ U_n.T) + b_n)"),
        say="With the reset gate closed your candidate does not hear the word any more. "
        "r is there to forget the past only.",
    ),
    Misconception(
        exercise="paper-gru-step",
        name="mixes with the state after the reset",
        edit=(GATES_PAPER_MIX, "return (1 - z) * (r * h) + z * n"),
        say="Your reset also shrinks the state that is kept. r is for the candidate; the last line keeps h itself.",
    ),
    Misconception(
        exercise="paper-gru-step",
        name="takes z for r and r for z",
        edit=("r, z = (x @ W_g.T + h @ U_g.T + b_g)", "z, r = (x @ W_g.T + h @ U_g.T + b_g)"),
        say="Your reset gate and your update gate have changed places. The rows are r, z, candidate.",
    ),
    Misconception(
        exercise="paper-gru-step",
        name="computes the gates from the state alone",
        edit=("(x @ W_g.T + h @ U_g.T + b_g)", "(h @ U_g.T + b_g)"),
        say="Your gates do not see the word. They hear both, the word and the state before.",
    ),
    Misconception(
        exercise="paper-gru-step",
        name="computes the gates from the word alone",
        edit=("(x @ W_g.T + h @ U_g.T + b_g)", "(x @ W_g.T + b_g)"),
        say="Your gates do not see the state before. They hear both, the word and the state.",
    ),
    Misconception(
        exercise="paper-gru-step",
        name="leaves out the bias of the candidate",
        edit=("(r * h) @ U_n.T + b_n)", "(r * h) @ U_n.T)"),
        say="The bias of the candidate has no effect in your step.",
    ),
    Misconception(
        exercise="paper-gru-step",
        name="leaves out the biases of the gates",
        edit=("h @ U_g.T + b_g)", "h @ U_g.T)"),
        say="The biases of the gates have no effect in your step.",
    ),
    Misconception(
        exercise="paper-gru-step",
        name="makes the candidate with a sigmoid",
        edit=("n = torch.tanh(", "n = torch.sigmoid("),
        say="Your candidate is never negative. The candidate is no gate.",
    ),
    Misconception(
        exercise="paper-gru-step",
        name="does not transpose the candidate's hidden matrix",
        edit=("(r * h) @ U_n.T", "(r * h) @ U_n"),
        say="The rows of U make the outputs, so a row of h is multiplied by the transposed matrix. "
        "Here nothing crashes without it, because U_n is square.",
    ),
    Misconception(
        exercise="paper-gru-step",
        name="writes the reset into the caller's state",
        edit=(
            "n = torch.tanh(x @ W_n.T + (r * h) @ U_n.T + b_n)",
            "old = h.clone()\n    n = torch.tanh(x @ W_n.T + h.mul_(r) @ U_n.T + b_n)\n    h = old",
        ),
        say="You wrote into the caller's h. A name that ends in an underscore changes its tensor.",
    ),
]

GATES_LAST = "return torch.cat([h_n[-2], h_n[-1]], dim=-1)"

GATES_LAST_STATES = [
    Misconception(
        exercise="last-states",
        name="takes the backward state only",
        edit=(GATES_LAST, "return h_n[-1]"),
        say="h_n[-1] is the backward state alone. The forward state stands one place before it.",
    ),
    Misconception(
        exercise="last-states",
        name="takes the bottom layer",
        edit=(GATES_LAST, "return torch.cat([h_n[0], h_n[1]], dim=-1)"),
        say="You took the two states of the lowest layer. Count the places of h_n from the top layer.",
    ),
    Misconception(
        exercise="last-states",
        name="puts the backward state first",
        edit=(GATES_LAST, "return torch.cat([h_n[-1], h_n[-2]], dim=-1)"),
        say="Backward and forward have changed places. Forward comes first, as in out.",
    ),
    Misconception(
        exercise="last-states",
        name="thinks that all forward layers come first",
        edit=(GATES_LAST, "return torch.cat([h_n[len(h_n) // 2 - 1], h_n[-1]], dim=-1)"),
        say="With more than one layer your forward state comes from the wrong layer. "
        "The directions alternate: layer 0 forward, layer 0 backward, layer 1 forward and so on.",
    ),
    Misconception(
        exercise="last-states",
        name="glues the two states together with a reshape",
        edit=(GATES_LAST, "return h_n[-2:].reshape(h_n.size(1), -1)"),
        say="The shape is right and the sentences are mixed: reshape walks through one direction of all sentences "
        "before the other begins.",
    ),
    Misconception(
        exercise="last-states",
        name="mixes the two states number by number",
        edit=(GATES_LAST, "return torch.stack([h_n[-2], h_n[-1]], dim=-1).flatten(1)"),
        say="The numbers of your two states alternate: forward, backward, forward and so on. "
        "First comes the whole forward state, then the backward one.",
    ),
    Misconception(
        exercise="last-states",
        name="takes the places 2 and 3, which are on top of two layers only",
        edit=(GATES_LAST, "return torch.cat([h_n[2], h_n[3]], dim=-1)"),
        say="You take the places 2 and 3 of h_n, counted from 0. With another number of layers the top is elsewhere: "
        "count from the end.",
    ),
    Misconception(
        exercise="last-states",
        name="reads h_n as if the batch came first",
        edit=(GATES_LAST, "return torch.cat([h_n[:, -2], h_n[:, -1]], dim=-1)"),
        say="You index the batch. h_n is never batch first, also with batch_first=True.",
    ),
    Misconception(
        exercise="last-states",
        name="adds the two states",
        edit=(GATES_LAST, "return h_n[-2] + h_n[-1]"),
        say="You add the two directions; the answer has width 2D, with one state behind the other.",
    ),
    Misconception(
        exercise="last-states",
        name="stacks the sentences of the two directions",
        edit=(GATES_LAST, "return torch.cat([h_n[-2], h_n[-1]], dim=0)"),
        say="You have put the sentences of the two directions below one another. The batch stays B; the width doubles.",
    ),
    Misconception(
        exercise="last-states",
        name="returns all layers",
        edit=(GATES_LAST, "return h_n.transpose(0, 1).flatten(1)"),
        say="You return the states of all layers. Only the top layer is asked for.",
    ),
    Misconception(
        exercise="last-states",
        name="keeps the directions on an axis of their own",
        edit=(GATES_LAST, "return h_n[-2:].transpose(0, 1)"),
        say="Your answer has an axis for the directions. Lay the two states behind one another, in a row of width 2D.",
    ),
    Misconception(
        exercise="last-states",
        name="drops the batch axis of a single sentence",
        edit=(GATES_LAST, "return torch.cat([h_n[-2], h_n[-1]], dim=-1).squeeze(0)"),
        say="With a batch of one sentence your batch axis disappears. One sentence is still a batch.",
    ),
]

IN_GATES = [*GATES_LSTM_STEP, *GATES_LSTM, *GATES_GRU_STEP, *GATES_PAPER_GRU_STEP, *GATES_LAST_STATES]


# tagger.ipynb

TAGGER_ORDER = "order = lengths.argsort(descending=True)"
TAGGER_SIZES = "batch_sizes = [int((lengths > t).sum()) for t in range(int(lengths.max()))]"
TAGGER_DATA = "data = torch.cat([x[order[:n], t] for t, n in enumerate(batch_sizes)])"
TAGGER_PACKED = "return data, batch_sizes, order"

PACK = [
    Misconception(
        exercise="pack",
        name="writes the sentences one after another in the caller's order",
        edit=(TAGGER_DATA, "data = torch.cat([x[b, : lengths[b]] for b in range(len(x))])"),
        say="Your data goes sentence after sentence. A network that works on all sentences at once "
        "needs the first words of all of them, then the second words.",
    ),
    Misconception(
        exercise="pack",
        name="sorts the sentences and writes them one after another",
        edit=(TAGGER_DATA, "data = torch.cat([x[b, : lengths[b]] for b in order])"),
        say="The longest sentence comes first in your data, but whole. Cut by steps, across the sentences.",
    ),
    Misconception(
        exercise="pack",
        name="goes step by step without sorting",
        edit=(TAGGER_DATA, "data = torch.cat([x[lengths > t, t] for t in range(len(batch_sizes))])"),
        say="In each step your sentences stand in the caller's order. Then the first rows of a step are not those "
        "of the longest sentences, and the states no longer lie under one another.",
    ),
    Misconception(
        exercise="pack",
        name="sorts the shortest sentence first",
        edit=(TAGGER_ORDER, "order = lengths.argsort()"),
        say="You sorted the shortest sentence first. Which sentences must stand at the top when the others end?",
    ),
    Misconception(
        exercise="pack",
        name="takes the first rows of the unsorted box",
        edit=("x[order[:n], t]", "x[:n, t]"),
        say="You take the first rows of the box as it came. The sentences that still have a word are "
        "the first ones after sorting.",
    ),
    Misconception(
        exercise="pack",
        name="returns the inverse of the order",
        edit=(TAGGER_PACKED, "return data, batch_sizes, order.argsort()"),
        say="Your order is the inverse: it tells where each sentence went. Wanted is which sentence stands where.",
    ),
    Misconception(
        exercise="pack",
        name="sorts with the inverse of the order",
        edit=(TAGGER_ORDER, "order = lengths.argsort(descending=True).argsort()"),
        say="You applied argsort twice: that tells to which place each sentence goes. "
        "One argsort tells which sentence stands at each place.",
    ),
    Misconception(
        exercise="pack",
        name="returns the sorted lengths as the order",
        edit=(TAGGER_PACKED, "return data, batch_sizes, lengths.sort(descending=True).values"),
        say="What you return as order are the sorted lengths. The order holds the numbers of the sentences: "
        "sort gives two things, and argsort the one that is needed.",
    ),
    Misconception(
        exercise="pack",
        name="counts a sentence one step too long",
        edit=("lengths > t", "lengths >= t"),
        say="Your batch sizes count each sentence one step too long. With steps counted from 0, "
        "a sentence of 2 words has words at steps 0 and 1.",
    ),
    Misconception(
        exercise="pack",
        name="goes on to the end of the box with empty steps",
        edit=("range(int(lengths.max()))", "range(x.size(1))"),
        say="Where the box is wider than its longest sentence, your batch sizes end in zeros. "
        "There are as many steps as the longest sentence has words.",
    ),
    Misconception(
        exercise="pack",
        name="forgets the last step",
        edit=("range(int(lengths.max()))", "range(int(lengths.max()) - 1)"),
        say="The last word of the longest sentence is missing. Python's range ends before its last number already.",
    ),
    Misconception(
        exercise="pack",
        name="takes the sorted lengths for the batch sizes",
        edit=(TAGGER_PACKED, "return data, lengths[order].tolist(), order"),
        say="Your batch sizes are the lengths: words of a sentence. A batch size counts sentences, one for each step.",
    ),
    Misconception(
        exercise="pack",
        name="packs the padding as well",
        edit=("x[order[:n], t]", "x[order, t]"),
        say="Each of your steps holds all sentences, also those that have ended: the padding was packed too. "
        "The batch size of the step says how many to take.",
    ),
    Misconception(
        exercise="pack",
        name="guesses the lengths from zeros in the box",
        edit=(TAGGER_ORDER, "lengths = (x != 0).any(-1).sum(1)\n    order = lengths.argsort(descending=True)"),
        say="You guessed the lengths from zeros in x. Padding need not be zero, and a word may be. "
        "The lengths are given.",
    ),
    Misconception(
        exercise="pack",
        name="counts the caller's lengths down",
        edit=(
            TAGGER_SIZES,
            "batch_sizes = []\n    while lengths.max() > 0:\n"
            "        batch_sizes.append(int((lengths > 0).sum()))\n        lengths -= 1",
        ),
        say="After your call the caller's lengths are gone: `-=` changes the tensor that you were given. "
        "Count with a new one.",
    ),
    Misconception(
        exercise="pack",
        name="sets the padding of the caller's box to zero",
        edit=(TAGGER_ORDER, "x.data[torch.arange(x.size(1)) >= lengths.unsqueeze(1)] = 0\n    " + TAGGER_ORDER),
        say="Your function writes into the caller's box. There is no need to: padding is simply not taken.",
    ),
    Misconception(
        exercise="pack",
        name="cuts the graph with detach",
        edit=("x[order[:n], t]", "x[order[:n], t].detach()"),
        say="No gradient comes through your data, so the embedding behind it would never learn. "
        "Something cuts the graph on the way.",
    ),
    Misconception(
        exercise="pack",
        name="counts the sentences in floats",
        edit=("int((lengths > t).sum())", "float((lengths > t).sum())"),
        say="Your batch sizes are floats. They count sentences, so they are whole numbers.",
    ),
    Misconception(
        exercise="pack",
        name="squeezes the data",
        edit=(TAGGER_PACKED, "return data.squeeze(), batch_sizes, order"),
        say="With a single word or a width of 1 your data loses an axis: squeeze() removes every axis of size 1.",
    ),
]

TAGGER_BOX = "box = data.new_zeros(len(order), len(batch_sizes), data.size(1))"
TAGGER_PLACE = "box[order[:len(step)], t] = step"
TAGGER_UNPACKED = "return box"

UNPACK = [
    Misconception(
        exercise="unpack",
        name="leaves the sentences in sorted order",
        edit=(TAGGER_PLACE, "box[:len(step), t] = step"),
        say="Your box is still sorted, longest first. Each sentence would be compared with another one's tags, "
        "and no shape would tell.",
    ),
    Misconception(
        exercise="unpack",
        name="reads with the order instead of its inverse",
        edit=(
            TAGGER_PLACE + "\n    return box",
            "box[:len(step), t] = step\n    return box[order]",
        ),
        say="You applied the order twice. To come home, read with its inverse, or write with the order itself: "
        "sorted row i belongs to sentence order[i].",
    ),
    Misconception(
        exercise="unpack",
        name="fills the padding with ones",
        edit=("data.new_zeros", "data.new_ones"),
        say="Your padding is 1, which looks like the state of a very sure network. Padding is 0 here.",
    ),
    Misconception(
        exercise="unpack",
        name="repeats the last state in the padding",
        edit=(
            TAGGER_PLACE,
            TAGGER_PLACE + "\n        if t:\n            box[order[len(step):], t] = box[order[len(step):], t - 1]",
        ),
        say="In your padding each sentence's last state is repeated. Padding is 0.",
    ),
    Misconception(
        exercise="unpack",
        name="returns the steps as the first axis",
        edit=(TAGGER_UNPACKED, "return box.transpose(0, 1)"),
        say="Your box is (L, B, E), steps first. The caller's box has the sentences on its first axis.",
    ),
    Misconception(
        exercise="unpack",
        name="reads data sentence after sentence",
        edit=(
            "for t, step in enumerate(data.split(batch_sizes)):                     # step (n_t, E)\n"
            "        box[order[:len(step)], t] = step",
            "start = 0\n    for i, b in enumerate(order.tolist()):\n        n = sum(size > i for size in batch_sizes)\n"
            "        box[b, :n] = data[start:start + n]\n        start += n",
        ),
        say="You cut the data into sentences. Its rows go by steps: all first words, then all second words.",
    ),
    Misconception(
        exercise="unpack",
        name="makes the box float32 whatever the data is",
        edit=(TAGGER_BOX, "box = torch.zeros(len(order), len(batch_sizes), data.size(1))"),
        say="In float64 your box comes back in float32, and digits are lost: torch.zeros does not know about data.",
    ),
    Misconception(
        exercise="unpack",
        name="puts each step one place too late",
        edit=(TAGGER_PLACE, "box[order[:len(step)], (t + 1) % len(batch_sizes)] = step"),
        say="Your words stand one place too far to the right. Steps are counted from 0.",
    ),
    Misconception(
        exercise="unpack",
        name="makes the box one step too wide",
        edit=("len(batch_sizes), data", "len(batch_sizes) + 1, data"),
        say="Your box has one place too many: it has as many places as there are batch sizes.",
    ),
    Misconception(
        exercise="unpack",
        name="cuts the graph with detach",
        edit=("t] = step", "t] = step.detach()"),
        say="No gradient comes back through your box, so nothing in front of it can learn.",
    ),
    Misconception(
        exercise="unpack",
        name="squeezes the box",
        edit=(TAGGER_UNPACKED, "return box.squeeze()"),
        say="A batch of one, or a width of one, loses its axis: squeeze() removes every axis of size 1.",
    ),
    Misconception(
        exercise="unpack",
        name="takes the sizes out of the caller's list",
        edit=(
            "for t, step in enumerate(data.split(batch_sizes)): ",
            "start = 0\n    for t in range(len(batch_sizes)):\n        n = batch_sizes.pop(0)\n"
            "        step, start = data[start : start + n], start + n ",
        ),
        say="After your call the caller's batch_sizes are empty: pop takes a number out of the list itself.",
    ),
]

TAGGER_REAL = "torch.arange(tags.size(1)) < lengths.unsqueeze(1)"
TAGGER_MEAN = "-right.mean()"

MASKED = [
    Misconception(
        exercise="masked-cross-entropy",
        name="counts the padding",
        edit=(TAGGER_REAL, "tags >= 0"),
        say="What stands in the padding changes your loss. Which places are words is told by the lengths alone.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="divides by the size of the box",
        edit=(TAGGER_MEAN, "-right.sum() / tags.numel()"),
        say="Your loss shrinks when the box grows: padding is out of the sum, but still in the count.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="takes the mean of the sentences' means",
        edit=(
            TAGGER_MEAN,
            "-torch.stack([part.mean() for part in right.split(lengths.tolist())]).mean()",
        ),
        say="A word in a short sentence weighs more in your loss than one in a long sentence: "
        "you took means of means. Each word has the same weight.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="sums instead of averaging",
        edit=(TAGGER_MEAN, "-right.sum()"),
        say="Your loss grows with the number of words: the sum is still to be divided.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="divides by the number of sentences",
        edit=(TAGGER_MEAN, "-right.sum() / len(lengths)"),
        say="You divided by the number of sentences, so long sentences cost more. The mean is one over words.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="forgets the minus",
        edit=(TAGGER_MEAN, "right.mean()"),
        say="Your loss is negative, and a training would make the right tags less probable. A minus is missing.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="takes places whose tag is 0 for padding",
        edit=(TAGGER_REAL, "(torch.arange(tags.size(1)) < lengths.unsqueeze(1)) & (tags != 0)"),
        say="Words whose right tag is number 0 are missing from your loss. 0 is a tag like any other here.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="guesses the padding from tag 0 and ignores the lengths",
        edit=(TAGGER_REAL, "(tags != 0)"),
        say="You took tag 0 for padding and never looked at the lengths. 0 is the tag of a noun, "
        "and padding may hold any number.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="hides the words and keeps the padding",
        edit=(" < lengths", " >= lengths"),
        say="Your loss is computed on the padding alone. The comparison points the wrong way.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="takes one place too many in each sentence",
        edit=(" < lengths", " <= lengths"),
        say="You count one place behind the end of each sentence. A sentence of 2 words has the places 0 and 1.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="leaves out the last word of each sentence",
        edit=("lengths.unsqueeze(1)", "(lengths.unsqueeze(1) - 1)"),
        say="The last word of each sentence is missing from your loss, and a sentence of one word altogether.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="takes the softmax twice",
        edit=("scores[real].log_softmax(-1)", "scores[real].softmax(-1).log_softmax(-1)"),
        say="Your softmax is taken twice: the second one sees probabilities, which all lie close together. "
        "The loss can then never come near 0.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="leaves out the logarithm",
        edit=(".log_softmax(-1)", ".softmax(-1)"),
        say="Your loss is a mean of probabilities: the logarithm is missing.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="takes the scores for log-probabilities",
        edit=("scores[real].log_softmax(-1)", "scores[real]"),
        say="You read the scores as if they were logarithms of probabilities. They have not seen a softmax yet.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="takes the softmax over the words",
        edit=(".log_softmax(-1)", ".log_softmax(0)"),
        say="Your softmax runs over the words of the batch. The tags of one word have to compete.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="takes the logarithm of the softmax",
        edit=(".log_softmax(-1)", ".softmax(-1).log()"),
        say="Right for small scores. For large ones a probability becomes 0, and its logarithm -inf. "
        "Take both in one step.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="adds a small number inside the logarithm",
        edit=(".log_softmax(-1)", ".softmax(-1).add(1e-9).log()"),
        say="With 1e-9 inside the logarithm no word can cost more than about 20, and the gradient dies there. "
        "There is a way to take softmax and logarithm in one step.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="takes the logarithm to base 2",
        edit=(TAGGER_MEAN, "-right.mean() / math.log(2)"),
        say="Your loss is larger than it should be by the factor 1.44: that is the logarithm to base 2.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="returns a tensor of shape (1,)",
        edit=(TAGGER_MEAN, "-right.mean(0)"),
        say="Your loss has shape (1,). A loss is a single number, shape ().",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="writes into the caller's tags",
        edit=(TAGGER_REAL, TAGGER_REAL + "\n    tags.masked_fill_(~real, -100)"),
        say="Your function writes into the caller's tags. Whoever wants them again finds other numbers: "
        "work on a copy.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="multiplies the scores by the mask instead of leaving places out",
        edit=(
            "log_p = scores[real].log_softmax(-1)                                   # (sum of lengths, C)\n"
            "    right = log_p.gather(1, tags[real].unsqueeze(1))                       # (sum of lengths, 1)",
            "log_p = (scores * real.unsqueeze(-1)).log_softmax(-1)\n"
            "    right = log_p.gather(2, tags.clamp(min=0).unsqueeze(-1))",
        ),
        say="You set the scores of the padding to 0. That is not nothing: each padded place still costs ln C. "
        "Leave these places out, of the sum and of the count.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="makes room for negative tags in the padding only",
        edit=(
            "log_p = scores[real].log_softmax(-1)                                   # (sum of lengths, C)\n"
            "    right = log_p.gather(1, tags[real].unsqueeze(1))                       # (sum of lengths, 1)",
            "log_p = scores.log_softmax(-1)\n"
            "    right = log_p.gather(2, tags.clamp(min=0).unsqueeze(-1)).squeeze(-1)[real]",
        ),
        say="You look up the tags of the padding as well, and there any number can stand, also one above C - 1. "
        "Leave the padding out before you look up a tag.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="flattens scores and tags with view",
        edit=(
            "return -right.mean()",
            "return F.cross_entropy(scores.view(-1, scores.size(-1))[real.flatten()], tags.view(-1)[real.flatten()])",
        ),
        say="`view` refuses a box that was transposed, for its numbers lie in memory in another order. "
        "`reshape` and `flatten` take any box.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="computes the loss in float32",
        edit=("scores[real].log_softmax(-1)", "scores[real].float().log_softmax(-1).to(scores.dtype)"),
        say="For scores of float64 your loss has only the digits of float32: a .float() on the way loses the rest.",
    ),
    Misconception(
        exercise="masked-cross-entropy",
        name="squeezes away the axis of the words, too",
        edit=(
            "    log_p = scores[real].log_softmax(-1)                                   # (sum of lengths, C)\n"
            "    right = log_p.gather(1, tags[real].unsqueeze(1))                       # (sum of lengths, 1)\n"
            "    return -right.mean()",
            "    log_p = scores.log_softmax(-1)\n"
            "    right = log_p.gather(-1, tags.clamp(0, scores.size(-1) - 1).unsqueeze(-1)).squeeze()\n"
            "    return -(right * real).sum() / real.sum()",
        ),
        say="For sentences of one word the loss is too large: squeeze() takes away every axis of size 1, "
        "that of L too, and (B,) times (B, 1) is (B, B). Say which axis: squeeze(-1).",
    ),
]

TAGGER_PACK = "packed = pack_padded_sequence(e, lengths, batch_first=True, enforce_sorted=False)"
TAGGER_STATES = "states, _ = pad_packed_sequence(packed, batch_first=True, total_length=words.size(1))"
TAGGER_RUN = "packed, _ = self.lstm(packed)"
TAGGER_CORE = TAGGER_PACK + "\n        " + TAGGER_RUN + "\n        " + TAGGER_STATES
TAGGER_LSTM = "nn.LSTM(embedding, width, batch_first=True, bidirectional=True)"
TAGGER_OUT = "return self.output(states)"

TAGGER = [
    Misconception(
        exercise="tagger",
        name="sends the padding through the LSTM",
        edit=(TAGGER_CORE, "states, _ = self.lstm(e)"),
        say="The whole box goes through your LSTM, so the backward network comes to each word through the padding. "
        "The lengths have no say in it.",
    ),
    Misconception(
        exercise="tagger",
        name="multiplies the embedding by the mask instead of packing",
        edit=(
            TAGGER_CORE,
            "real = torch.arange(words.size(1)) < lengths.unsqueeze(1)\n"
            "        states, _ = self.lstm(e * real.unsqueeze(-1))",
        ),
        say="You made the padded vectors zero and then read them. A zero vector is still a step: "
        "biases and states act, and the backward network arrives with them.",
    ),
    Misconception(
        exercise="tagger",
        name="sorts the sentences and does not restore the order",
        edit=(
            TAGGER_PACK,
            "packed = pack_padded_sequence(e[lengths.argsort(descending=True)], lengths.sort(descending=True)[0],"
            " batch_first=True)",
        ),
        say="You sorted the sentences, and they come back sorted: each one gets the scores of another.",
    ),
    Misconception(
        exercise="tagger",
        name="applies the order a second time instead of its inverse",
        edit=(
            TAGGER_CORE,
            "order = lengths.argsort(descending=True)\n"
            "        packed = pack_padded_sequence(e[order], lengths[order], batch_first=True)\n"
            "        packed, _ = self.lstm(packed)\n"
            "        states, _ = pad_packed_sequence(packed, batch_first=True, total_length=words.size(1))\n"
            "        states = states[order]",
        ),
        say="You put the sentences back with the same order that sorted them. Home leads its inverse.",
    ),
    Misconception(
        exercise="tagger",
        name="expects the sentences to be sorted",
        edit=(", enforce_sorted=False", ""),
        say="Your tagger takes only batches that are sorted already, longest first. Batches come in any order.",
    ),
    Misconception(
        exercise="tagger",
        name="forgets total_length",
        edit=(", total_length=words.size(1)", ""),
        say="Where every sentence is shorter than the box, your scores are narrower than the tags, "
        "and the loss cannot compare them. One setting of pad_packed_sequence is missing.",
    ),
    Misconception(
        exercise="tagger",
        name="takes the longest length for every sentence",
        edit=("(e, lengths, batch", "(e, lengths.max().expand(len(words)), batch"),
        say="You give every sentence the length of the longest one. Then the padding of the short ones is read.",
    ),
    Misconception(
        exercise="tagger",
        name="takes one word too few",
        edit=("(e, lengths, batch", "(e, (lengths - 1).clamp(min=1), batch"),
        say="The last word of each sentence was cut off: its scores do not depend on it.",
    ),
    Misconception(
        exercise="tagger",
        name="leaves out padding_idx",
        edit=(", padding_idx=0", ""),
        say="Row 0 of your embedding is a vector like the others. It belongs to the padding and should be zero.",
    ),
    Misconception(
        exercise="tagger",
        name="gives padding_idx the wrong number",
        edit=("padding_idx=0", "padding_idx=1"),
        say="Row 1 of your embedding is zero, and row 0 is not. The number of the padding is 0 in this course.",
    ),
    Misconception(
        exercise="tagger",
        name="reads forward only",
        edit=(
            TAGGER_LSTM + "\n        self.output = nn.Linear(2 * width, n_tags)",
            "nn.LSTM(embedding, width, batch_first=True)\n        self.output = nn.Linear(width, n_tags)",
        ),
        say="Your LSTM reads from left to right only. In 'the old man the boat' it says 'noun' and cannot go back.",
    ),
    Misconception(
        exercise="tagger",
        name="adds the two directions instead of joining them",
        edit=(
            TAGGER_OUT,
            "half = states.size(-1) // 2\n"
            "        states = states[..., :half] + states[..., half:]\n"
            "        return self.output(torch.cat([states, states], -1))",
        ),
        say="You added the states of the two directions. They stand side by side, and the output layer takes both.",
    ),
    Misconception(
        exercise="tagger",
        name="exchanges the two directions",
        edit=(TAGGER_OUT, "return self.output(states.roll(states.size(-1) // 2, -1))"),
        say="Your output layer gets the backward state first. The forward one comes first, as nn.LSTM gives it.",
    ),
    Misconception(
        exercise="tagger",
        name="scores every word from the last states of the sentence",
        edit=(
            TAGGER_RUN + "\n        " + TAGGER_STATES,
            "_, (h_n, _) = self.lstm(packed)\n"
            "        states = torch.cat([h_n[0], h_n[1]], -1).unsqueeze(1).expand(-1, words.size(1), -1)",
        ),
        say="All words of a sentence get the same scores from you: they come from the last states. "
        "A tag belongs to a word, so take the states at the word.",
    ),
    Misconception(
        exercise="tagger",
        name="returns logarithms of probabilities",
        edit=(TAGGER_OUT, "return self.output(states).log_softmax(-1)"),
        say="What you return has been through a log-softmax. The scores leave the network as they are; "
        "the loss takes its own.",
    ),
    Misconception(
        exercise="tagger",
        name="returns probabilities",
        edit=(TAGGER_OUT, "return self.output(states).softmax(-1)"),
        say="What you return are probabilities. The loss takes a softmax itself, and the second one flattens "
        "what the first has made.",
    ),
    Misconception(
        exercise="tagger",
        name="takes the softmax over the places",
        edit=(TAGGER_OUT, "return self.output(states).softmax(1)"),
        say="You took a softmax, and over the words of the sentence. No softmax belongs here.",
    ),
    Misconception(
        exercise="tagger",
        name="lets the LSTM walk along the batch",
        edit=(TAGGER_CORE, "states = self.lstm(e.transpose(0, 1))[0].transpose(0, 1)"),
        say="Your LSTM takes the axis of the batch for time: words of different sentences are read as one sentence.",
    ),
    Misconception(
        exercise="tagger",
        name="applies dropout to the embedded words",
        edit=("e = self.embedding(words)", "e = F.dropout(self.embedding(words), 0.5)"),
        say="The same sentence gets other scores each time: there is dropout in your forward. None is asked for.",
    ),
    Misconception(
        exercise="tagger",
        name="puts a tanh in front of the output layer",
        edit=(TAGGER_OUT, "return self.output(states.tanh())"),
        say="Your states go through a tanh once more before the output layer. The LSTM has taken its own already.",
    ),
    Misconception(
        exercise="tagger",
        name="uses two layers of LSTM",
        edit=("bidirectional=True)", "bidirectional=True, num_layers=2)"),
        say="Your LSTM has two layers. One layer in both directions is asked for.",
    ),
    Misconception(
        exercise="tagger",
        name="applies dropout to the states",
        edit=(TAGGER_OUT, "return self.output(F.dropout(states, 0.5))"),
        say="The same sentence gets other scores each time: there is dropout in your forward. None is asked for.",
    ),
    Misconception(
        exercise="tagger",
        name="returns probabilities once it is trained",
        edit=(
            TAGGER_OUT,
            "scores = self.output(states)\n        return scores if self.training else scores.softmax(-1)",
        ),
        say="After m.eval() you return probabilities. Forward gives scores in both modes; who wants probabilities "
        "takes the softmax outside.",
    ),
    Misconception(
        exercise="tagger",
        name="packs only while it learns",
        edit=(
            TAGGER_PACK,
            "if not self.training:\n            return self.output(self.lstm(e)[0])\n        " + TAGGER_PACK,
        ),
        say="After m.eval() the padding goes through your LSTM. The lengths count in both modes.",
    ),
    Misconception(
        exercise="tagger",
        name="does not pack a single sentence",
        edit=(
            TAGGER_PACK,
            "if len(words) == 1:\n            return self.output(self.lstm(e)[0])\n        " + TAGGER_PACK,
        ),
        say="You do not pack a batch of one sentence. Its box may be wider than the sentence, "
        "and then the backward network comes through the padding.",
    ),
    Misconception(
        exercise="tagger",
        name="writes zeros into the caller's words",
        edit=(
            "e = self.embedding(words) ",
            "words[torch.arange(words.size(1)) >= lengths.unsqueeze(1)] = 0\n        e = self.embedding(words) ",
        ),
        say="Your forward writes into the caller's words. There is no need to: what is not packed is not read.",
    ),
    Misconception(
        exercise="tagger",
        name="freezes the LSTM",
        edit=(TAGGER_LSTM, TAGGER_LSTM + ".requires_grad_(False)"),
        say="Your LSTM is frozen: its weights stay at the random numbers of the start. All three submodules learn.",
    ),
    Misconception(
        exercise="tagger",
        name="detaches the weights of the output layer",
        edit=(TAGGER_OUT, "return F.linear(states, self.output.weight.detach(), self.output.bias.detach())"),
        say="The numbers are right, but no gradient reaches the output layer, so it never learns. Call it as it is.",
    ),
]

IN_TAGGER = [*PACK, *UNPACK, *MASKED, *TAGGER]


MISCONCEPTIONS = [*IN_WORDS_AND_STATES, *IN_GATES, *IN_TAGGER]
