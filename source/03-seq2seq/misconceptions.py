"""The mistakes people make in assignment 03, each as an edit of the reference and a word to who made it."""

from course.misconceptions import Misconception

# encoder-decoder.ipynb

SEQ_TARGET_IN = "target_in = F.pad(words, (1, 0), value=BOS)              # (B, T + 1)"
SEQ_TARGET_OUT = "target_out = target_out.scatter(1, n_words, EOS)         # (B, T + 1)"
SEQ_C = "return states[torch.arange(len(source)), lengths - 1]"
SEQ_ENCODED = "states, _ = self.encoder(self.source_embedding(source))"
SEQ_DECODED = "states, _ = self.decoder(self.target_embedding(target_in), c.unsqueeze(0))"
SEQ_LOG_P = "log_p = logits.log_softmax(-1)"
SEQ_TOTAL = "total = taken.masked_fill(~real, 0).sum()"
SEQ_MEAN_LOSS = 'return -total / (real.sum() if per == "token" else len(target_out))'
SEQ_SOURCE = "source = torch.where(place <= last, last - place, place)"
SEQ_GATHERED = "return words.gather(1, source)"
SEQ_DIVIDED = "mean = [gradient / batch_size for gradient in gradients]"
SEQ_NORM = "s = math.sqrt(sum(float((part**2).sum()) for part in mean))"
SEQ_SCALE = "scale = limit / s if s > limit else 1.0"
SEQ_CLIPPED = "return [part * scale for part in mean], s"
SEQ_CUT = "batches = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]"
SEQ_SHUFFLE = "random.Random(seed).shuffle(batches)"

SEQ_SHIFTED = [
    Misconception(
        exercise="shifted",
        name="writes EOS into the last column, behind the padding",
        edit=(SEQ_TARGET_OUT, "target_out[:, -1] = EOS"),
        say="In your shorter sentences the end comes after the padding. The writer would learn to say nothing for a "
        "while and then to stop. The end stands directly behind the last word of each row.",
    ),
    Misconception(
        exercise="shifted",
        name="cuts only the last column from BOS, words and EOS, so that shorter rows read EOS",
        edit=(
            SEQ_TARGET_IN,
            "target_in = F.pad(F.pad(words, (0, 1)).scatter(1, n_words, EOS), (1, 0), value=BOS)[:, :-1]",
        ),
        say="In rows with padding your decoder reads EOS. To leave away the last column removes the end of the longest "
        "sentence only. Nothing is ever read after the end.",
    ),
    Misconception(
        exercise="shifted",
        name="does not shift: the decoder reads what it must say",
        edit=("return target_in, target_out", "return target_out, target_out"),
        say="Your decoder reads at each place the word that it must say there. Its loss will be wonderful, and it will "
        "write nonsense.",
    ),
    Misconception(
        exercise="shifted",
        name="returns the two in the wrong order",
        edit=("return target_in, target_out", "return target_out, target_in"),
        say="Both of your tensors are right and they have changed places. What is read comes first.",
    ),
    Misconception(
        exercise="shifted",
        name="exchanges BOS and EOS",
        edit=("value=BOS", "value=EOS"),
        say="Your decoder begins by reading 2. That is EOS here: begin and end have numbers of their own.",
    ),
    Misconception(
        exercise="shifted",
        name="ends with BOS",
        edit=("n_words, EOS", "n_words, BOS"),
        say="Behind the last word your decoder must say 1, the begin. It is the end, 2, that it must learn to say.",
    ),
    Misconception(
        exercise="shifted",
        name="overwrites the last word with EOS",
        edit=("target_out.scatter(1, n_words, EOS)", "target_out.scatter(1, (n_words - 1).clamp(min=0), EOS)"),
        say="The last word of each of your sentences is gone: EOS took its place. With n words, counted from place 0, "
        "which is the first free place?",
    ),
    Misconception(
        exercise="shifted",
        name="fills the whole padding with EOS",
        edit=(SEQ_TARGET_OUT, "target_out = target_out.masked_fill(target_out == 0, EOS)"),
        say="Your padding has become EOS, and so it will count in the loss: a short sentence ends many times. "
        "One end for each sentence, then 0.",
    ),
    Misconception(
        exercise="shifted",
        name="forgets EOS",
        edit=(SEQ_TARGET_OUT, "pass"),
        say="Nobody ever tells your decoder to stop: there is no EOS in what it must say.",
    ),
    Misconception(
        exercise="shifted",
        name="makes no room for one more place, so that the longest sentence loses its last word",
        edit=("return target_in, target_out", "return target_in[:, :-1], target_out[:, :-1]"),
        say="Your rows are as long as before. With begin or end they need one place more, otherwise the longest "
        "sentence loses a word, or its end.",
    ),
    Misconception(
        exercise="shifted",
        name="puts BOS in front of what must be said too",
        edit=(
            "return target_in, target_out",
            "return F.pad(target_in, (0, 1)), F.pad(target_out, (1, 0), value=BOS)",
        ),
        say="In your targets the decoder must say BOS. It is given to the decoder, and nobody ever says it.",
    ),
    Misconception(
        exercise="shifted",
        name="counts a row without words as one word",
        edit=(".sum(1, keepdim=True)", ".sum(1, keepdim=True).clamp(min=1)"),
        say="A sentence without a word is possible: the decoder reads BOS and says EOS at once. Your end comes a place "
        "too late there.",
    ),
    Misconception(
        exercise="shifted",
        name="cuts both to the longest sentence",
        edit=(
            "return target_in, target_out",
            "longest = int(n_words.max())\n    return target_in[:, : longest + 1], target_out[:, : longest + 1]",
        ),
        say="Where every row has padding, your tensors are narrower than T + 1. The width follows from that of words, "
        "not from the longest sentence.",
    ),
]

SEQ_MODEL = [
    Misconception(
        exercise="encoder-decoder",
        name="takes the state at the end of the box, which is h_n of the padded sentences",
        edit=(SEQ_C, "return states[:, -1]"),
        say="Your c of a short sentence is the state after its padding: it depends on the longest sentence of the "
        "batch. The lengths are there to find the last word.",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="is one place off: takes the state before the last word",
        edit=("lengths - 1]", "(lengths - 2).clamp(min=0)]"),
        say="Your c has not read the last word. Places are counted from 0: where does the third word stand?",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="takes the state one place after the last word",
        edit=("lengths - 1]", "lengths.clamp(max=source.size(1) - 1)]"),
        say="Your c has read one place of padding. Places are counted from 0: where does the third word stand?",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="takes the mean of the states",
        edit=(
            SEQ_C,
            "real = (torch.arange(source.size(1)) < lengths[:, None]).unsqueeze(-1)\n"
            "        return (states * real).sum(1) / lengths[:, None]",
        ),
        say="Your c is the mean of the states of each sentence. That is a possible summary, but not the one asked for: "
        "c is the last state.",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="returns c with the axis of the layers",
        edit=(SEQ_C, "return states[torch.arange(len(source)), lengths - 1].unsqueeze(0)"),
        say="encode returns (B, D). The axis for layers in front is what nn.GRU wants for its first state, so it "
        "belongs into forward.",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="sorts the sentences by length and does not restore their order",
        edit=(
            SEQ_C,
            "order = lengths.argsort(descending=True)\n        return states[order, lengths[order] - 1]",
        ),
        say="Your sentences come back in another order: the first c belongs to the longest sentence. What was sorted "
        "must be put back.",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="starts the decoder from zeros, so that the source has no influence",
        edit=(SEQ_DECODED, "states, _ = self.decoder(self.target_embedding(target_in))"),
        say="Your logits do not depend on the source. The decoder starts from zeros, and would learn to write likely "
        "sentences about nothing. c is its first state.",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="reads the target through the source's embedding",
        edit=("self.target_embedding(target_in)", "self.source_embedding(target_in)"),
        say="The words of the target went through source_embedding. Source and target are two languages with a table "
        "for each.",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="uses one GRU for both",
        edit=("self.decoder = nn.GRU(embedding, width, batch_first=True)", "self.decoder = self.encoder"),
        say="Your encoder and your decoder are one network: to train the one changes the other. Reading and writing "
        "have weights of their own.",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="forgets batch_first in the encoder",
        edit=("self.encoder = nn.GRU(embedding, width, batch_first=True)", "self.encoder = nn.GRU(embedding, width)"),
        say="Your encoder reads the batch as if it were time: the second sentence goes on where the first one ended. "
        "By default nn.GRU wants the length in front.",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="puts a softmax on the scores",
        edit=("return self.output(states)", "return self.output(states).softmax(-1)"),
        say="Your scores are between 0 and 1 and sum to 1: that is after the softmax. The loss takes a softmax itself, "
        "and two of them make all words nearly equal.",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="puts a log-softmax on the scores",
        edit=("return self.output(states)", "return self.output(states).log_softmax(-1)"),
        say="You return logarithms of probabilities. The loss would not even notice, but logits were asked for: the "
        "scores as the linear layer gives them.",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="lets the decoder see the whole target: it reads it backwards",
        edit=("self.target_embedding(target_in)", "self.target_embedding(target_in.flip(1))"),
        say="Your decoder reads the target from its end. So the first word that it says already depends on all that "
        "come after it.",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="reads its own words instead of the teacher's",
        edit=(
            SEQ_DECODED,
            "state, word, steps = c.unsqueeze(0), target_in[:, :1], []\n"
            "        for _ in range(target_in.size(1)):\n"
            "            step, state = self.decoder(self.target_embedding(word), state)\n"
            "            steps.append(step)\n"
            "            word = self.output(step).argmax(-1)\n"
            "        states = torch.cat(steps, 1)",
        ),
        say="From the second place on, your decoder reads what it said itself. That is writing. While it learns, it "
        "reads the right words, target_in.",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="starts every step of the decoder from c",
        edit=(
            SEQ_DECODED,
            "states = torch.cat([self.decoder(self.target_embedding(target_in[:, t : t + 1]), c.unsqueeze(0))[0]\n"
            "                            for t in range(target_in.size(1))], 1)",
        ),
        say="Each of your steps begins anew from c and forgets what was written before. c is the first state only; "
        "then the state goes from step to step.",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="forgets padding_idx",
        edit=(
            "self.source_embedding = nn.Embedding(n_words, embedding, padding_idx=PADDING)",
            "self.source_embedding = nn.Embedding(n_words, embedding)",
        ),
        say="The padding has a vector like a word in your source_embedding. Both tables need padding_idx=0, which "
        "keeps row 0 at zero.",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="returns probabilities in eval mode",
        edit=(
            "return self.output(states)",
            "scores = self.output(states)\n        return scores if self.training else scores.softmax(-1)",
        ),
        say="After eval() your forward returns probabilities. It returns logits in both modes; who wants probabilities "
        "takes the softmax outside.",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="reads its own words in eval mode",
        edit=(
            "return self.output(states)",
            "if not self.training:\n"
            "            state, word, steps = c.unsqueeze(0), target_in[:, :1], []\n"
            "            for _ in range(target_in.size(1)):\n"
            "                step, state = self.decoder(self.target_embedding(word), state)\n"
            "                steps.append(step)\n"
            "                word = self.output(step).argmax(-1)\n"
            "            states = torch.cat(steps, 1)\n"
            "        return self.output(states)",
        ),
        say="After eval() your decoder reads what it said itself. forward reads target_in in both modes: to write is "
        "the work of another function.",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="writes zeros behind the sentences, into the caller's source",
        edit=(
            "states, _ = self.encoder(self.source_embedding(source)) ",
            "source[torch.arange(source.size(1)) >= lengths[:, None]] = PADDING\n"
            "        states, _ = self.encoder(self.source_embedding(source)) ",
        ),
        say="Your encode writes into the source that came in. Others may still need it: work on a copy, or leave it as "
        "it is.",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="removes EOS from the caller's target",
        edit=(
            "c = self.encode(source, lengths) ",
            "target_in[target_in == EOS] = PADDING\n        c = self.encode(source, lengths) ",
        ),
        say="Your forward writes into target_in, which belongs to the caller. Leave it as it is.",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="squeezes c",
        edit=(SEQ_C, SEQ_C + ".squeeze()"),
        say="The c of one sentence alone loses its batch axis: "
        "squeeze() without a number removes every axis of size 1.",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="cuts off the padding that all targets share",
        edit=(
            "states, _ = self.decoder(self.target_embedding(target_in), c.unsqueeze(0))",
            "target_in = target_in[:, : int((target_in != PADDING).any(0).sum())]\n        "
            "states, _ = self.decoder(self.target_embedding(target_in), c.unsqueeze(0))",
        ),
        say="Where every target ends in padding, your logits have fewer places than target_in, and the loss cannot be "
        "computed.",
    ),
    Misconception(
        exercise="encoder-decoder",
        name="detaches the state between two steps of the decoder",
        edit=(
            "        states, _ = self.decoder(self.target_embedding(target_in), c.unsqueeze(0))   # (B, T, D)\n",
            "        s, states = c.unsqueeze(0), []\n"
            "        for e in self.target_embedding(target_in).split(1, 1):\n"
            "            out, s = self.decoder(e, s)\n"
            "            s = s.detach()\n"
            "            states.append(out)\n"
            "        states = torch.cat(states, 1)\n",
        ),
        say="The numbers are right, and no word learns from a later one: you detach the state after every "
        "step, so the gradient ends there.",
    ),
]

SEQ_LOSS = [
    Misconception(
        exercise="sequence-loss",
        name="forgets the minus sign",
        edit=("return -total", "return total"),
        say="Your loss is negative. Gradient descent would make it more so, by giving the right words smaller and "
        "smaller probability.",
    ),
    Misconception(
        exercise="sequence-loss",
        name="counts the padding in sum and number",
        edit=("real = target_out != PADDING", "real = target_out >= PADDING"),
        say="You count the padding like words. Soon the network is good at saying padding, and the loss looks small.",
    ),
    Misconception(
        exercise="sequence-loss",
        name="divides by all places of the box",
        edit=("real.sum() if", "target_out.numel() if"),
        say="The padding is out of your sum, but not out of the number that you divide by: the loss shrinks as padding "
        "grows.",
    ),
    Misconception(
        exercise="sequence-loss",
        name="leaves the padding in the sum",
        edit=(SEQ_TOTAL, "total = taken.sum()"),
        say="You divide by the real tokens, but the padding is still in the sum. A mask belongs twice in a mean.",
    ),
    Misconception(
        exercise="sequence-loss",
        name="takes the mean of each sentence first and then the mean of these",
        edit=(
            SEQ_MEAN_LOSS,
            "taken = taken.masked_fill(~real, 0).sum(1)\n"
            '    return -(taken / real.sum(1).clamp(min=1) if per == "token" else taken).mean()',
        ),
        say="You took a mean of means. A word of a short sentence then counts more than a word of a long one. Per "
        "token means one sum, divided once.",
    ),
    Misconception(
        exercise="sequence-loss",
        name="divides by the tokens also where the mean per sentence is asked for",
        edit=('(real.sum() if per == "token" else len(target_out))', "real.sum()"),
        say="`per` changes nothing in your function. Per sentence, the sum is divided by the number of sentences.",
    ),
    Misconception(
        exercise="sequence-loss",
        name="takes EOS for padding",
        edit=("target_out != PADDING", "target_out > EOS"),
        say="Your loss leaves out EOS, so nothing teaches the writer to stop. Only 0 is padding.",
    ),
    Misconception(
        exercise="sequence-loss",
        name="takes the logits for log-probabilities",
        edit=(SEQ_LOG_P, "log_p = logits"),
        say="There is no softmax in your loss. It can be made as small as one likes: just make all scores larger.",
    ),
    Misconception(
        exercise="sequence-loss",
        name="takes the softmax over the places",
        edit=("log_softmax(-1)", "log_softmax(1)"),
        say="In your softmax the places of a sentence compete with one another. It is the words of the vocabulary that "
        "compete, at each place.",
    ),
    Misconception(
        exercise="sequence-loss",
        name="takes the softmax twice",
        edit=(SEQ_LOG_P, "log_p = logits.softmax(-1).log_softmax(-1)"),
        say="You took the softmax twice, perhaps once by hand and once inside a loss of torch. Probabilities lie close "
        "together, and after a second softmax all words are nearly equal.",
    ),
    Misconception(
        exercise="sequence-loss",
        name="takes the logarithm of the softmax in two steps",
        edit=(SEQ_LOG_P, "log_p = logits.softmax(-1).log()"),
        say="Right for small scores, inf for large ones: a probability can round to 0, and its logarithm is -inf. "
        "torch has both in one function.",
    ),
    Misconception(
        exercise="sequence-loss",
        name="takes exp without subtracting the maximum",
        edit=(SEQ_LOG_P, "log_p = logits - logits.exp().sum(-1, keepdim=True).log()"),
        say="Right for small scores, inf or nan for large ones: exp(89) is more than a float32 can hold.",
    ),
    Misconception(
        exercise="sequence-loss",
        name="takes probabilities and no logarithm",
        edit=(SEQ_LOG_P, "log_p = logits.softmax(-1)"),
        say="You averaged probabilities. Where is the logarithm?",
    ),
    Misconception(
        exercise="sequence-loss",
        name="makes (B, V, T) with a view and so mixes places and words",
        edit=(
            SEQ_MEAN_LOSS,
            "B, T, V = logits.shape\n"
            '    total = F.cross_entropy(logits.reshape(B, V, T), target_out, ignore_index=0, reduction="sum")\n'
            '    return total / (real.sum() if per == "token" else len(target_out))',
        ),
        say="A view or reshape exchanges no axes, it reads the same numbers in the same order. Scores of different "
        "places and words are mixed in your loss, without an error.",
    ),
    Misconception(
        exercise="sequence-loss",
        name="returns a plain number that no gradient can pass",
        edit=(
            SEQ_MEAN_LOSS,
            'return torch.tensor(-total.item() / (int(real.sum()) if per == "token" else len(target_out)))',
        ),
        say="Your number is right, but no gradient can pass: item() or float() makes a plain number of a tensor, and "
        "the network would never learn. Stay with tensors to the end.",
    ),
    Misconception(
        exercise="sequence-loss",
        name="returns the sum",
        edit=(SEQ_MEAN_LOSS, "return -total"),
        say="Your loss is the sum. With twice as many sentences it is twice as large, and so are the gradients.",
    ),
    Misconception(
        exercise="sequence-loss",
        name="takes the logarithm of base 2",
        edit=(SEQ_TOTAL, "total = taken.masked_fill(~real, 0).sum() / math.log(2)"),
        say="Your loss is in bits. The docstring asks for the natural logarithm.",
    ),
    Misconception(
        exercise="sequence-loss",
        name="divides by the number of places, not of sentences, per sentence",
        edit=("else len(target_out)", "else target_out.size(1)"),
        say="Per sentence you divide by T, the length of the box. How many sentences are in the batch?",
    ),
    Misconception(
        exercise="sequence-loss",
        name="flattens with view, which fails for a part of a box",
        edit=(
            SEQ_MEAN_LOSS,
            "flat, right = logits.view(-1, logits.size(-1)), target_out.view(-1)\n"
            '    total = F.cross_entropy(flat, right, ignore_index=PADDING, reduction="sum")\n'
            '    return total / (real.sum() if per == "token" else len(target_out))',
        ),
        say="view fails where the numbers do not lie side by side, as in logits[:, 1:]. reshape and flatten copy them "
        "where they must.",
    ),
    Misconception(
        exercise="sequence-loss",
        name="takes one maximum for the whole box",
        edit=(
            "log_p = logits.log_softmax(-1)",
            "log_p = logits - logits.max() - (logits - logits.max()).exp().sum(-1, keepdim=True).log()",
        ),
        say="You subtract the largest score of the whole box. Where one place has much larger scores than another, exp "
        "gives 0 at the other, and the loss is infinite. Each place has a maximum of its own.",
    ),
    Misconception(
        exercise="sequence-loss",
        name="divides by the sentences that have a token",
        edit=("len(target_out)", "(target_out != PADDING).any(1).sum()"),
        say='"sentence" divides by B, the number of rows, also where a row is nothing but padding.',
    ),
    Misconception(
        exercise="sequence-loss",
        name="squeezes away the axis of the words, too",
        edit=(".squeeze(-1)", ".squeeze()"),
        say="For sentences of one word the loss is B times too large: squeeze() takes away the axis of T "
        "as well, and (B,) meets (B, 1). Say which axis: squeeze(-1).",
    ),
]

SEQ_REVERSED = [
    Misconception(
        exercise="reversed-source",
        name="reverses the whole box, padding first",
        edit=(SEQ_GATHERED, "return words.flip(1)"),
        say="In your rows the padding comes first, and the sentence after it. Reverse the words of each row, up to its "
        "own length.",
    ),
    Misconception(
        exercise="reversed-source",
        name="reverses the order of the sentences",
        edit=(SEQ_GATHERED, "return words.flip(0)"),
        say="You reversed the batch: the sentences changed places, and their words did not.",
    ),
    Misconception(
        exercise="reversed-source",
        name="returns the words as they came",
        edit=(SEQ_GATHERED, "return words.clone()"),
        say="Your words are in the order in which they came.",
    ),
    Misconception(
        exercise="reversed-source",
        name="uses the length of the first sentence for all",
        edit=("last = lengths.unsqueeze(1) - 1", "last = lengths[:1].expand(len(words)).unsqueeze(1) - 1"),
        say="You reverse all rows up to the length of the first one. Each row has its own.",
    ),
    Misconception(
        exercise="reversed-source",
        name="uses the length of the shortest sentence for all",
        edit=("last = lengths.unsqueeze(1) - 1", "last = lengths.min().expand(len(words)).unsqueeze(1) - 1"),
        say="Only the beginning of your longer sentences is reversed. Each row has a length of its own.",
    ),
    Misconception(
        exercise="reversed-source",
        name="is one place off and takes a place of padding along",
        edit=("lengths.unsqueeze(1) - 1", "lengths.unsqueeze(1).clamp(max=words.size(1) - 1)"),
        say="One place of padding has come to the front of your shorter sentences. Places are counted from 0: where "
        "does the last of n words stand?",
    ),
    Misconception(
        exercise="reversed-source",
        name="leaves the last word in its place",
        edit=("lengths.unsqueeze(1) - 1", "(lengths.unsqueeze(1) - 2).clamp(min=0)"),
        say="The last word of your sentences does not move. Places are counted from 0: where does the last of n words "
        "stand?",
    ),
    Misconception(
        exercise="reversed-source",
        name="sorts the numbers in falling order",
        edit=(SEQ_GATHERED, "return words.sort(1, descending=True).values"),
        say="You sorted the numbers from large to small. On the example this looks right, since its words are numbered "
        "in order. Try a sentence with a word twice.",
    ),
    Misconception(
        exercise="reversed-source",
        name="writes into the caller's tensor",
        edit=(SEQ_GATHERED, "return words.copy_(words.gather(1, source))"),
        say="Your result is right, and the words that came in are reversed as well. The targets are often made of the "
        "same tensor: leave it as it was.",
    ),
]

SEQ_CLIP = [
    Misconception(
        exercise="clip-gradients",
        name="divides the norm by the batch size and not the gradient, as in the notes",
        edit=(SEQ_CLIPPED, "return [gradient * scale for gradient in gradients], s"),
        say="Your s is that of the mean gradient, but what you scale and return is the gradient of the sum. The result "
        "is as many times too large as the batch has sentences.",
    ),
    Misconception(
        exercise="clip-gradients",
        name="clips first and divides by the batch size afterwards",
        edit=(
            SEQ_DIVIDED + "\n    " + SEQ_NORM + "\n    " + SEQ_SCALE,
            "mean = gradients\n    " + SEQ_NORM + "\n    scale = (limit / s if s > limit else 1.0) / batch_size",
        ),
        say="You compare the gradient of the sum with the limit, and divide by the batch size at the end. So a larger "
        "batch gets smaller steps. First divide, then measure.",
    ),
    Misconception(
        exercise="clip-gradients",
        name="does not divide by the batch size",
        edit=(SEQ_DIVIDED, "mean = list(gradients)"),
        say="Your function never uses the batch size. The limit is meant for the mean over the sentences.",
    ),
    Misconception(
        exercise="clip-gradients",
        name="clips each tensor by its own norm",
        edit=(
            SEQ_CLIPPED,
            "return [part * min(1.0, limit / max(float(part.norm()), 1e-30)) for part in mean], s",
        ),
        say="You clip each tensor by its own norm. Large ones shrink, small ones do not, and the direction of the step "
        "changes. One norm for all together.",
    ),
    Misconception(
        exercise="clip-gradients",
        name="cuts each entry",
        edit=(SEQ_CLIPPED, "return [part.clamp(-limit, limit) for part in mean], s"),
        say="You cut each entry to the limit. The direction of the gradient changes, and its norm can still be far "
        "above the limit.",
    ),
    Misconception(
        exercise="clip-gradients",
        name="forgets the root",
        edit=(SEQ_NORM, "s = sum(float((part**2).sum()) for part in mean)"),
        say="Your s is the square of the norm. The root is missing, and gradients are clipped far too hard.",
    ),
    Misconception(
        exercise="clip-gradients",
        name="sums absolute values",
        edit=(SEQ_NORM, "s = sum(float(part.abs().sum()) for part in mean)"),
        say="Your s is a sum of absolute values. The norm here is the length of the vector: squares, sum, root.",
    ),
    Misconception(
        exercise="clip-gradients",
        name="adds the norms of the tensors",
        edit=(SEQ_NORM, "s = sum(float(part.norm()) for part in mean)"),
        say="You added the norms of the tensors. The norm of all together is the root of the sum of their squares: "
        "3 and 4 make 5, not 7.",
    ),
    Misconception(
        exercise="clip-gradients",
        name="takes the largest norm of a tensor",
        edit=(SEQ_NORM, "s = max(float(part.norm()) for part in mean)"),
        say="Your s is the norm of the largest tensor. Many tensors of medium size together can still be far above the "
        "limit.",
    ),
    Misconception(
        exercise="clip-gradients",
        name="scales gradients below the limit up to it",
        edit=(SEQ_SCALE, "scale = limit / s if s > 0 else 1.0"),
        say="You make small gradients larger, so that every step has the same length. Near the goal a small gradient "
        "is right: below the limit, leave it alone.",
    ),
    Misconception(
        exercise="clip-gradients",
        name="divides by zero where the gradient is zero",
        edit=(SEQ_SCALE, "scale = float(torch.tensor(limit) / torch.tensor(s)) if s > limit or s == 0 else 1.0"),
        say="Gradients of zero become nan. Where nothing is above the limit there is nothing to divide.",
    ),
    Misconception(
        exercise="clip-gradients",
        name="multiplies by s / limit",
        edit=("limit / s if", "s / limit if"),
        say="Your factor is upside down: what was too large became larger still.",
    ),
    Misconception(
        exercise="clip-gradients",
        name="scales to norm 1",
        edit=("limit / s if", "1 / s if"),
        say="Above the limit, your gradients get norm 1. They should get the norm of the limit.",
    ),
    Misconception(
        exercise="clip-gradients",
        name="compares the norm with the batch size",
        edit=("if s > limit else", "if s > batch_size else"),
        say="Scale where s is above the limit. You ask whether it is above the batch size, which is done with once the "
        "gradients are divided by it.",
    ),
    Misconception(
        exercise="clip-gradients",
        name="ignores the argument limit",
        edit=(SEQ_SCALE, "scale = 5.0 / s if s > 5.0 else 1.0"),
        say="You always clip at 5. The limit is an argument.",
    ),
    Misconception(
        exercise="clip-gradients",
        name="returns the norm after the scaling",
        edit=(SEQ_CLIPPED, "return [part * scale for part in mean], s * scale"),
        say="Your s is never above the limit: it was taken after the scaling. It should tell how large the gradients "
        "were.",
    ),
    Misconception(
        exercise="clip-gradients",
        name="changes the gradients that came in",
        edit=("[gradient / batch_size for", "[gradient.div_(batch_size) for"),
        say="The tensors that came in are divided as well. Return new ones.",
    ),
    Misconception(
        exercise="clip-gradients",
        name="flattens the gradients with view",
        edit=(
            "math.sqrt(sum(float((part**2).sum()) for part in mean))",
            "float(torch.cat([part.view(-1) for part in mean]).norm())",
        ),
        say="`view` refuses a gradient that was transposed, for its numbers lie in memory in another order. "
        "`reshape` and `flatten` take any.",
    ),
]

SEQ_BATCHES = [
    Misconception(
        exercise="like-length-batches",
        name="does not sort",
        edit=("lengths.argsort().tolist()", "list(range(len(lengths)))"),
        say="Your batches hold the sentences as they came, long and short together. Sort first.",
    ),
    Misconception(
        exercise="like-length-batches",
        name="shuffles the sentences before cutting",
        edit=(SEQ_CUT, "random.Random(seed).shuffle(order)\n    " + SEQ_CUT),
        say="You sort, and then you shuffle the sentences, so the order is gone before you cut. Shuffle the batches.",
    ),
    Misconception(
        exercise="like-length-batches",
        name="does not shuffle the batches",
        edit=(SEQ_SHUFFLE, "pass"),
        say="Your batches are in the order of length: in each epoch the network sees all short sentences first and all "
        "long ones last.",
    ),
    Misconception(
        exercise="like-length-batches",
        name="returns lengths instead of indices",
        edit=("lengths.argsort().tolist()", "lengths.sort().values.tolist()"),
        say="Your batches list lengths. One cannot find a sentence by its length; list its index.",
    ),
    Misconception(
        exercise="like-length-batches",
        name="drops the last, smaller batch",
        edit=("range(0, len(order), batch_size)", "range(0, len(order) - batch_size + 1, batch_size)"),
        say="Sentences are missing: the batch that is not full was left out. After sorting these are always the same, "
        "and often the longest.",
    ),
    Misconception(
        exercise="like-length-batches",
        name="takes every n-th sentence, so that each batch has all lengths",
        edit=(
            SEQ_CUT,
            "n = math.ceil(len(order) / batch_size)\n    batches = [order[start::n] for start in range(n)]",
        ),
        say="Each of your batches takes a sentence from every part of the sorted list: the shortest and the longest "
        "sit together. Neighbours belong together.",
    ),
    Misconception(
        exercise="like-length-batches",
        name="makes one batch for each length",
        edit=(SEQ_CUT, "batches = [[i for i in order if lengths[i] == n] for n in sorted(set(lengths.tolist()))]"),
        say="You made a batch for each length, whatever its size. Each batch has batch_size sentences, only one may "
        "have fewer.",
    ),
    Misconception(
        exercise="like-length-batches",
        name="cuts overlapping pieces",
        edit=("start + batch_size]", "start + batch_size + 1]"),
        say="The last sentence of each of your batches is also the first of the next one.",
    ),
    Misconception(
        exercise="like-length-batches",
        name="does not use the seed",
        edit=("random.Random(seed)", "random.Random(0)"),
        say="All seeds give the same order in your function. In training, each epoch would be like the first.",
    ),
    Misconception(
        exercise="like-length-batches",
        name="shuffles without a seed of its own",
        edit=(SEQ_SHUFFLE, "random.shuffle(batches)"),
        say="The same seed gives two different orders: you shuffle with the random numbers of the whole program. Make "
        "a generator from the seed.",
    ),
    Misconception(
        exercise="like-length-batches",
        name="uses the batch size as the number of batches",
        edit=(SEQ_CUT, "size = math.ceil(len(order) / batch_size)\n    " + SEQ_CUT.replace("batch_size", "size")),
        say="You made batch_size batches. It says how many sentences one batch has.",
    ),
    Misconception(
        exercise="like-length-batches",
        name="shuffles inside the batches only",
        edit=(SEQ_SHUFFLE, "for batch in batches:\n        random.Random(seed).shuffle(batch)"),
        say="You shuffled the sentences inside each batch, which changes nothing for the network. It is the batches "
        "that need another order.",
    ),
    Misconception(
        exercise="like-length-batches",
        name="takes seed 0 for no seed",
        edit=(SEQ_SHUFFLE, "(random.Random(seed) if seed else random.Random()).shuffle(batches)"),
        say="With seed 0 your order is new in each call. 0 is a seed like all others; `if seed` takes it for nothing.",
    ),
    Misconception(
        exercise="like-length-batches",
        name="turns the sorted batches round a circle",
        edit=(
            SEQ_SHUFFLE,
            "first = random.Random(seed).randrange(len(batches))\n    batches = batches[first:] + batches[:first]",
        ),
        say="Your batches begin somewhere else and are still sorted by length: "
        "nearly every one is followed by the next longer one. Shuffle the whole list.",
    ),
    Misconception(
        exercise="like-length-batches",
        name="cuts into equal parts",
        edit=(
            "batches = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]",
            "batches = [part.tolist() for part in torch.tensor(order).chunk(math.ceil(len(order) / batch_size))]",
        ),
        say="`chunk` makes parts of nearly the same size: nine sentences in batches of four become three times three. "
        "All batches but one have batch_size sentences.",
    ),
]

IN_ENCODER_DECODER = [*SEQ_SHIFTED, *SEQ_MODEL, *SEQ_LOSS, *SEQ_REVERSED, *SEQ_CLIP, *SEQ_BATCHES]


# searching.ipynb

SEARCH_PLACES = "for place in range(1, len(sequence)):"
SEARCH_ASKED = "log_p = step(sequence[:place])"
SEARCH_ADDED = "total = total + float(log_p[sequence[place]])"
SEARCH_TOTAL = "return total"
SEARCH_BEST = "best = int(step(sequence).argmax())"
SEARCH_LIMIT = "for _ in range(max_length):"
SEARCH_STOP = "if best == eos:"
SEARCH_GREEDY = "return sequence"
SEARCH_GROWN = "        sequence = (*sequence, best)\n        if best == eos:\n            break"
SEARCH_WRITTEN = "written = len(sequence) - 1"
SEARCH_PENALTY = "return log_p / ((5 + written) / (5 + 1)) ** alpha"
SEARCH_START = "still_open, ended = [((bos,), 0.0)], []"
SEARCH_POSSIBLE = "                if more > -math.inf:\n"
SEARCH_CANDIDATE = "candidates.append(((*sequence, number), log_p + more))"
SEARCH_KEPT = "kept = sorted(candidates, key=lambda pair: pair[1], reverse=True)[:width]"
SEARCH_ENDED = "ended += [pair for pair in kept if pair[0][-1] == eos]"
SEARCH_OPEN = "still_open = [pair for pair in kept if pair[0][-1] != eos]"
SEARCH_SCORED = "scored = [(sequence, penalised(log_p, sequence, alpha)) for sequence, log_p in ended + still_open]\n"
SEARCH_RESULT = "return sorted(scored, key=lambda pair: pair[1], reverse=True)[:width]"

SEARCH_PROBABILITY = [
    Misconception(
        exercise="sequence-log-probability",
        name="returns the probability",
        edit=(SEARCH_TOTAL, "return math.exp(total)"),
        say="You return a number between 0 and 1, so a probability. Its logarithm was asked for.",
    ),
    Misconception(
        exercise="sequence-log-probability",
        name="multiplies probabilities and takes the logarithm at the end",
        edit=(
            SEARCH_ADDED,
            "total = math.exp(total) * float(log_p[sequence[place]].exp())\n"
            "        total = math.log(total) if total > 0 else -math.inf",
        ),
        say="Short sequences are right. With hundreds of words your product becomes 0 and its logarithm -inf: "
        "take logarithms before you put the words together.",
    ),
    Misconception(
        exercise="sequence-log-probability",
        name="adds probabilities",
        edit=(SEARCH_ADDED, "total = total + float(log_p[sequence[place]].exp())"),
        say="Your result grows above 0 with each word: probabilities were added. A product turns into a sum "
        "only for logarithms.",
    ),
    Misconception(
        exercise="sequence-log-probability",
        name="multiplies log-probabilities",
        edit=(SEARCH_ADDED, "total = (total if place > 1 else 1.0) * float(log_p[sequence[place]])"),
        say="Your sign changes with the number of words: logarithms were multiplied. They are added.",
    ),
    Misconception(
        exercise="sequence-log-probability",
        name="changes the sign, as for a loss",
        edit=(SEARCH_TOTAL, "return -total"),
        say="Your result is positive. That is a loss; a log-probability is at most 0.",
    ),
    Misconception(
        exercise="sequence-log-probability",
        name="takes the mean over the words",
        edit=(SEARCH_TOTAL, "return total / max(len(sequence) - 1, 1)"),
        say="You divided by the number of words. The logarithm of a product is the sum itself.",
    ),
    Misconception(
        exercise="sequence-log-probability",
        name="leaves out EOS",
        edit=(SEARCH_PLACES, "for place in range(1, len(sequence) - (sequence[-1] == 2)):"),
        say="A sequence that ends costs the same as one that stays open: EOS is left out of your sum. "
        "To stop has a probability too.",
    ),
    Misconception(
        exercise="sequence-log-probability",
        name="leaves out the last number, whatever it is",
        edit=(SEARCH_PLACES, "for place in range(1, len(sequence) - 1):"),
        say="The last number of the sequence never counts in your sum, be it EOS or a word.",
    ),
    Misconception(
        exercise="sequence-log-probability",
        name="leaves out the first word",
        edit=(SEARCH_PLACES, "for place in range(2, len(sequence)):"),
        say="The word right after BOS is missing in your sum. BOS is free, the word that follows is not.",
    ),
    Misconception(
        exercise="sequence-log-probability",
        name="asks the model only about the last word",
        edit=(SEARCH_ASKED, "log_p = step(sequence[place - 1 : place])"),
        say="You hand the model one word where it wants the whole beginning. What follows depends on all words before.",
    ),
    Misconception(
        exercise="sequence-log-probability",
        name="hands over the beginning without BOS",
        edit=(SEARCH_ASKED, "log_p = step(sequence[1:place])"),
        say="The model gets beginnings without BOS from you, and knows none of them. A sequence starts with BOS.",
    ),
    Misconception(
        exercise="sequence-log-probability",
        name="asks how the sequence goes on after the word that is scored",
        edit=(SEARCH_ASKED, "log_p = step(sequence[: place + (place + 1 < len(sequence))])"),
        say="The beginning that you hand to the model already holds the word whose probability you want.",
    ),
    Misconception(
        exercise="sequence-log-probability",
        name="returns the last word's log-probability",
        edit=(SEARCH_ADDED, "total = float(log_p[sequence[place]])"),
        say="Your total is overwritten at each step, so only the last word counts.",
    ),
    Misconception(
        exercise="sequence-log-probability",
        name="takes the best word's log-probability instead of the given word's",
        edit=(SEARCH_ADDED, "total = total + float(log_p.max())"),
        say="You add the best log-probability of each row. The sequence says which word was taken.",
    ),
    Misconception(
        exercise="sequence-log-probability",
        name="applies log_softmax once more after dividing by a temperature",
        edit=(SEARCH_ADDED, "total = total + float((2 * log_p).log_softmax(-1)[sequence[place]])"),
        say="You changed the log-probabilities of the model before you summed them. Take them as they come.",
    ),
    Misconception(
        exercise="sequence-log-probability",
        name="uses base 2",
        edit=(SEARCH_TOTAL, "return total / math.log(2)"),
        say="Your result is too large in size by a factor of 1.44: that is the logarithm of base 2.",
    ),
]

SEARCH_WALK = [
    Misconception(
        exercise="greedy",
        name="takes the least probable word",
        edit=("argmax()", "argmin()"),
        say="You take the smallest log-probability. Closest to 0 is best.",
    ),
    Misconception(
        exercise="greedy",
        name="takes the largest log-probability in size",
        edit=(SEARCH_BEST, "best = int(step(sequence).abs().nan_to_num(posinf=0.0).argmax())"),
        say="You compare the sizes of the log-probabilities. The largest in size is the least probable.",
    ),
    Misconception(
        exercise="greedy",
        name="does not stop at EOS",
        edit=(SEARCH_STOP, "if best == eos and len(sequence) > max_length:"),
        say="Your sequence goes on after EOS. Stop as soon as EOS is written.",
    ),
    Misconception(
        exercise="greedy",
        name="does not write EOS",
        edit=(SEARCH_GROWN, "        if best == eos:\n            break\n        sequence = (*sequence, best)"),
        say="EOS is missing in what you return: your sequence looks as if it were still open.",
    ),
    Misconception(
        exercise="greedy",
        name="stops only at number 2",
        edit=(SEARCH_STOP, "if best == 2:"),
        say="With another vocabulary your search misses the end. The number of EOS is handed over.",
    ),
    Misconception(
        exercise="greedy",
        name="begins with number 1",
        edit=("sequence = (bos,)", "sequence = (1,)"),
        say="With another vocabulary your search begins wrongly. The number of BOS is handed over.",
    ),
    Misconception(
        exercise="greedy",
        name="stops at padding",
        edit=(SEARCH_STOP, "if best in (eos, 0):"),
        say="Your search stops at number 0. Only EOS ends a sequence; 0 is a number like the others for a search.",
    ),
    Misconception(
        exercise="greedy",
        name="counts BOS in max_length",
        edit=(SEARCH_LIMIT, "for _ in range(max_length - 1):"),
        say="Your sequences are cut one word too early: BOS does not count in max_length.",
    ),
    Misconception(
        exercise="greedy",
        name="writes one word more than max_length",
        edit=(SEARCH_LIMIT, "for _ in range(max_length + 1):"),
        say="A model that never stops gets one word too many from you.",
    ),
    Misconception(
        exercise="greedy",
        name="puts EOS behind a sequence that was cut off",
        edit=(SEARCH_GREEDY, "return sequence if sequence[-1] == eos else (*sequence, eos)"),
        say="You close sequences that the model left open. What was cut off at max_length stays as it is.",
    ),
    Misconception(
        exercise="greedy",
        name="replaces the last word of a cut sequence with EOS",
        edit=(SEARCH_GREEDY, "return sequence if len(sequence) <= max_length else (*sequence[:-1], eos)"),
        say="At max_length you write EOS over the last word. What was cut off stays as it is.",
    ),
    Misconception(
        exercise="greedy",
        name="hands only the last word to the model",
        edit=("int(step(sequence)", "int(step(sequence[-1:])"),
        say="The model gets one word from you and not the whole sequence. What follows depends on all words before.",
    ),
    Misconception(
        exercise="greedy",
        name="always asks about BOS",
        edit=("int(step(sequence)", "int(step(sequence[:1])"),
        say="You write the same word over and over: the model is never told what has been written since BOS.",
    ),
    Misconception(
        exercise="greedy",
        name="returns the words without BOS",
        edit=(SEARCH_GREEDY, "return sequence[1:]"),
        say="What you return lacks BOS. A sequence starts with it, everywhere in this notebook.",
    ),
    Misconception(
        exercise="greedy",
        name="forbids EOS as the first word",
        edit=(
            SEARCH_BEST,
            "log_p = step(sequence).clone()\n        log_p[eos] -= 1e9 if len(sequence) == 1 else 0.0\n"
            "        best = int(log_p.argmax())",
        ),
        say="Your search never stops at the first word. If the model prefers EOS there, then the sentence is empty.",
    ),
]

SEARCH_LENGTH = [
    Misconception(
        exercise="length-penalty",
        name="counts BOS",
        edit=(SEARCH_WRITTEN, "written = len(sequence)"),
        say="Your |Y| is one too large: BOS was given and not written.",
    ),
    Misconception(
        exercise="length-penalty",
        name="does not count EOS",
        edit=(SEARCH_WRITTEN, "written = len(sequence) - 2"),
        say="Your |Y| is one too small: EOS was written like every other word.",
    ),
    Misconception(
        exercise="length-penalty",
        name="multiplies by the penalty",
        edit=(SEARCH_PENALTY, "return log_p * ((5 + written) / (5 + 1)) ** alpha"),
        say="With you the long sentences sink further. What does it do to a negative number?",
    ),
    Misconception(
        exercise="length-penalty",
        name="takes the mean over the words",
        edit=("((5 + written) / (5 + 1)) ** alpha", "written**alpha"),
        say="You divide by the length itself to the power of alpha. The formula of this exercise has a 5 above "
        "and a 6 below.",
    ),
    Misconception(
        exercise="length-penalty",
        name="forgets the denominator 6",
        edit=("((5 + written) / (5 + 1)) ** alpha", "(5 + written) ** alpha"),
        say="One written word must keep its log-probability, and yours does not: something below the line is missing.",
    ),
    Misconception(
        exercise="length-penalty",
        name="divides by 5 below the line",
        edit=("(5 + written) / (5 + 1)", "(5 + written) / 5"),
        say="One written word must keep its log-probability: look at the number below the line again.",
    ),
    Misconception(
        exercise="length-penalty",
        name="raises only the numerator to alpha",
        edit=("((5 + written) / (5 + 1)) ** alpha", "((5 + written) ** alpha / 6)"),
        say="With alpha 0 your score is not the log-probability. The exponent belongs to the whole fraction.",
    ),
    Misconception(
        exercise="length-penalty",
        name="multiplies the penalty by alpha",
        edit=("((5 + written) / (5 + 1)) ** alpha", "(alpha * (5 + written) / (5 + 1) if alpha else 1.0)"),
        say="You multiply by alpha. It is an exponent.",
    ),
    Misconception(
        exercise="length-penalty",
        name="adds alpha times the length",
        edit=(SEARCH_PENALTY, "return log_p + alpha * written"),
        say="You give a reward for each word. That exists as well, but the formula here divides.",
    ),
    Misconception(
        exercise="length-penalty",
        name="subtracts the penalty",
        edit=(SEARCH_PENALTY, "return log_p - (((5 + written) / (5 + 1)) ** alpha if alpha else 0.0)"),
        say="You subtract the penalty. It divides.",
    ),
    Misconception(
        exercise="length-penalty",
        name="misses the brackets around 5 + |Y|",
        edit=("((5 + written) / (5 + 1))", "(5 + written / (5 + 1))"),
        say="Only |Y| is divided by 6 in your code. 5 + |Y| stands above the line as a whole.",
    ),
    Misconception(
        exercise="length-penalty",
        name="ignores alpha",
        edit=("(5 + written) / (5 + 1)) ** alpha", "(5 + written) / (5 + 1))"),
        say="Your score is the same for every alpha. It is the exponent of the penalty.",
    ),
    Misconception(
        exercise="length-penalty",
        name="returns the log-probability as it is",
        edit=(SEARCH_PENALTY, "return log_p"),
        say="Your score never depends on the length.",
    ),
    Misconception(
        exercise="length-penalty",
        name="leaves out numbers that are padding",
        edit=(SEARCH_WRITTEN, "written = sum(number != 0 for number in sequence[1:]) - (sequence[-1] != 2)"),
        say="Your |Y| depends on which numbers were written. All that was written counts.",
    ),
]

SEARCH_BEAM = [
    Misconception(
        exercise="beam-search",
        name="loses the sequences that have ended",
        edit=(SEARCH_ENDED, "ended = [pair for pair in kept if pair[0][-1] == eos]"),
        say="At each step you overwrite the list of those that have ended. What ended earlier is lost, "
        "even if it was the best.",
    ),
    Misconception(
        exercise="beam-search",
        name="extends sequences that have ended",
        edit=(SEARCH_OPEN, "still_open = kept"),
        say="What has ended is still among your open sequences and is extended. What ends with EOS leaves the beam.",
    ),
    Misconception(
        exercise="beam-search",
        name="is greedy in disguise: extends each sequence by its best word only",
        edit=(
            "for number, more in enumerate(step(sequence).tolist()):",
            "for more, number in [tuple(part.item() for part in step(sequence).max(-1))]:",
        ),
        say="You extend each open sequence by one word only. So from BOS there is never a second path: "
        "this is greedy search in disguise.",
    ),
    Misconception(
        exercise="beam-search",
        name="keeps the best of each sequence and never lets them compete",
        edit=(
            SEARCH_KEPT,
            "kept = [\n            pair\n            for start, _ in still_open\n"
            "            for pair in sorted(\n"
            "                (p for p in candidates if p[0][:-1] == start), key=lambda p: p[1], reverse=True\n"
            "            )[:width]\n        ]",
        ),
        say="You keep `width` candidates for every open sequence, so your beam grows and grows. "
        "All candidates of a step compete for `width` places.",
    ),
    Misconception(
        exercise="beam-search",
        name="keeps one child of each sequence after the first step",
        edit=(
            SEARCH_KEPT,
            "ranked = sorted(candidates, key=lambda pair: pair[1], reverse=True)\n"
            "        kept = [p for p in ranked if p == next(q for q in ranked if q[0][:-1] == p[0][:-1])]\n"
            "        kept = (ranked if len(still_open) == 1 else kept)[:width]",
        ),
        say="You keep at most one continuation of each open sequence. Two good ones may have the same beginning: "
        "one ranking for all candidates.",
    ),
    Misconception(
        exercise="beam-search",
        name="keeps everything",
        edit=(SEARCH_KEPT, "kept = candidates"),
        say="Your search finds too much: nothing is thrown away on the way, and that is the exhaustive search. "
        "At each step `width` candidates are kept.",
    ),
    Misconception(
        exercise="beam-search",
        name="keeps the least probable candidates",
        edit=(SEARCH_KEPT, "kept = sorted(candidates, key=lambda pair: pair[1])[:width]"),
        say="You keep the worst candidates of each step. The largest log-probability is the best.",
    ),
    Misconception(
        exercise="beam-search",
        name="forgets the log-probability of the beginning",
        edit=("log_p + more", "more"),
        say="Your candidates are ranked by their last word alone. The log-probabilities of all words are added.",
    ),
    Misconception(
        exercise="beam-search",
        name="adds probabilities",
        edit=("log_p + more", "log_p + math.exp(more)"),
        say="Your scores are above 0: probabilities were added. It is the logarithms that are added.",
    ),
    Misconception(
        exercise="beam-search",
        name="subtracts, as if it were a cost",
        edit=("log_p + more", "log_p - more"),
        say="Your scores are positive and grow with each word. Log-probabilities are added, and the largest is best.",
    ),
    Misconception(
        exercise="beam-search",
        name="returns probabilities as scores",
        edit=(
            SEARCH_RESULT,
            "return [(s, math.exp(v)) for s, v in sorted(scored, key=lambda pair: pair[1], reverse=True)[:width]]",
        ),
        say="Your sequences are right, the scores are probabilities. Logarithms are asked for.",
    ),
    Misconception(
        exercise="beam-search",
        name="stops at the first sequence that ends",
        edit=(SEARCH_OPEN, SEARCH_OPEN + "\n        if ended:\n            break"),
        say="Your search stops when the first sequence ends. One that ends later may still be better.",
    ),
    Misconception(
        exercise="beam-search",
        name="stops when `width` sequences have ended",
        edit=(SEARCH_OPEN, SEARCH_OPEN + "\n        if len(ended) >= width:\n            break"),
        say="Your search stops when `width` sequences have ended, and returns unfinished ones or misses better ones. "
        "It goes on until nothing is open.",
    ),
    Misconception(
        exercise="beam-search",
        name="gives away the place of an ended sequence for good",
        edit=("[:width]\n        ended", "[: width - len(ended)]\n        ended"),
        say="Your beam becomes narrower with each sequence that ends. At the next step there are `width` places again.",
    ),
    Misconception(
        exercise="beam-search",
        name="does not let ended sequences take a place",
        edit=(
            SEARCH_KEPT + "\n",
            "kept = sorted(candidates, key=lambda pair: pair[1], reverse=True)\n"
            "        best = [pair for pair in kept if pair[0][-1] != eos][:width]\n"
            "        kept = [pair for pair in kept[:width] if pair[0][-1] == eos] + best\n",
        ),
        say="With you a sequence that ends makes room for another one in the same step. "
        "Ended and open ones share the `width` places of a step.",
    ),
    Misconception(
        exercise="beam-search",
        name="drops what is still open at max_length",
        edit=("in ended + still_open]", "in ended]"),
        say="What is still open after max_length words is missing in your result. It takes part as it is.",
    ),
    Misconception(
        exercise="beam-search",
        name="returns everything that was found",
        edit=(SEARCH_RESULT, "return sorted(scored, key=lambda pair: pair[1], reverse=True)"),
        say="You return more sequences than the beam is wide. The best `width` are asked for.",
    ),
    Misconception(
        exercise="beam-search",
        name="keeps impossible words",
        edit=(SEARCH_POSSIBLE, "                if True:\n"),
        say="Sequences with an impossible word, score -inf, are among yours. Leave places empty.",
    ),
    Misconception(
        exercise="beam-search",
        name="ranks the result worst first",
        edit=(SEARCH_RESULT, "return sorted(scored, key=lambda pair: pair[1], reverse=True)[:width][::-1]"),
        say="The right sequences in the wrong order: the best comes first.",
    ),
    Misconception(
        exercise="beam-search",
        name="does not rank the result",
        edit=(SEARCH_RESULT, "return scored[:width]"),
        say="Your result comes in the order in which the sequences ended. It must be ranked by the score.",
    ),
    Misconception(
        exercise="beam-search",
        name="ignores alpha",
        edit=("penalised(log_p, sequence, alpha)", "log_p"),
        say="Your result does not change with alpha. The score is the log-probability divided by the penalty.",
    ),
    Misconception(
        exercise="beam-search",
        name="ranks by the penalised score and returns the log-probability",
        edit=(
            SEARCH_SCORED + "    return sorted(scored, key=lambda pair: pair[1], reverse=True)[:width]",
            "found = ended + still_open\n"
            "    return sorted(found, key=lambda p: penalised(p[1], p[0], alpha), reverse=True)[:width]",
        ),
        say="Your order is right, but the score that you return is the plain log-probability.",
    ),
    Misconception(
        exercise="beam-search",
        name="ranks by log-probability and returns the penalised score",
        edit=(
            SEARCH_SCORED + "    return sorted(scored, key=lambda pair: pair[1], reverse=True)[:width]",
            "found = sorted(ended + still_open, key=lambda p: p[1], reverse=True)[:width]\n"
            "    return [(s, penalised(v, s, alpha)) for s, v in found]",
        ),
        say="Your scores are right, but the order is still that of the log-probabilities: penalise first, then rank.",
    ),
    Misconception(
        exercise="beam-search",
        name="cuts to the best `width` by log-probability before it ranks by score",
        edit=(
            SEARCH_SCORED,
            "found = sorted(ended + still_open, key=lambda pair: pair[1], reverse=True)[:width]\n"
            "    scored = [(sequence, penalised(log_p, sequence, alpha)) for sequence, log_p in found]\n",
        ),
        say="You throw sequences away by their log-probability and only then compute the scores. With alpha, one of "
        "those may have had the best score: penalise first, then cut.",
    ),
    Misconception(
        exercise="beam-search",
        name="stops early by log-probabilities, which is safe only for alpha = 0",
        edit=(
            SEARCH_OPEN,
            SEARCH_OPEN + "\n        values = sorted((pair[1] for pair in ended), reverse=True)\n"
            "        if len(ended) >= width and all(pair[1] < values[width - 1] for pair in still_open):\n"
            "            break",
        ),
        say="You stop as soon as `width` ended sequences are more probable than all open ones. With alpha above 0 "
        "an open one can still get a better score, for its divisor grows.",
    ),
    Misconception(
        exercise="beam-search",
        name="counts BOS in the length penalty",
        edit=("penalised(log_p, sequence, alpha)", "log_p / ((5 + len(sequence)) / 6) ** alpha"),
        say="Your length penalty counts BOS. |Y| is what was written.",
    ),
    Misconception(
        exercise="beam-search",
        name="multiplies by the length penalty",
        edit=("penalised(log_p, sequence, alpha)", "log_p * ((4 + len(sequence)) / 6) ** alpha"),
        say="With alpha above 0 the long sequences sink in your result. The penalty divides.",
    ),
    Misconception(
        exercise="beam-search",
        name="counts BOS in max_length",
        edit=("for _ in range(max_length):", "for _ in range(max_length - 1):"),
        say="Your sequences are cut one word too early: max_length counts the words after BOS.",
    ),
    Misconception(
        exercise="beam-search",
        name="takes one step too many",
        edit=("for _ in range(max_length):", "for _ in range(max_length + 1):"),
        say="You go on after max_length words. EOS counts in max_length, so there is no extra step for it.",
    ),
    Misconception(
        exercise="beam-search",
        name="returns sequences without BOS",
        edit=(
            SEARCH_RESULT,
            "return sorted([(s[1:], v) for s, v in scored], key=lambda p: p[1], reverse=True)[:width]",
        ),
        say="BOS is missing in what you return. A sequence starts with it, everywhere in this notebook.",
    ),
    Misconception(
        exercise="beam-search",
        name="begins with `width` copies of BOS",
        edit=(SEARCH_START, "still_open, ended = [((bos,), 0.0)] * width, []"),
        say="The same sequence stands in your beam several times: you began with `width` copies of BOS, "
        "and each copy takes a place.",
    ),
    Misconception(
        exercise="beam-search",
        name="takes 2 for EOS",
        edit=(
            SEARCH_ENDED + "\n        " + SEARCH_OPEN,
            "ended += [pair for pair in kept if pair[0][-1] == 2]\n"
            "        still_open = [pair for pair in kept if pair[0][-1] != 2]",
        ),
        say="With another vocabulary your search misses the end. The number of EOS is handed over.",
    ),
    Misconception(
        exercise="beam-search",
        name="hands only the last word to the model",
        edit=("enumerate(step(sequence)", "enumerate(step(sequence[-1:])"),
        say="The model gets one word from you and not the whole sequence. What follows depends on all words before.",
    ),
    Misconception(
        exercise="beam-search",
        name="drops what is still open once `width` sequences have ended",
        edit=("in ended + still_open]", "in (ended if len(ended) >= width else ended + still_open)]"),
        say="Where enough sequences have ended, you throw away what is still open, though it may be better. After "
        "max_length words, ended and open ones are compared by score.",
    ),
    Misconception(
        exercise="beam-search",
        name="ranks with the length penalty on the way, EOS not counted",
        edit=(
            "kept = sorted(candidates, key=lambda pair: pair[1], reverse=True)[:width]",
            "words = lambda sequence: sequence[:-1] if sequence[-1] == eos else sequence\n        "
            "kept = sorted(candidates, key=lambda pair: penalised(pair[1], words(pair[0]), alpha))[: -width - 1 : -1]",
        ),
        say="Your beam keeps its candidates by the penalised score. The penalty ranks the result and plays no role on "
        "the way.",
    ),
    Misconception(
        exercise="beam-search",
        name="multiplies probabilities and takes the logarithm at the end",
        edit=(
            "candidates.append(((*sequence, number), log_p + more))",
            "candidates.append(((*sequence, number), math.log(math.exp(log_p) * math.exp(more))))",
        ),
        say="Your search multiplies probabilities. The product of many becomes 0, and 0 has no logarithm. Add the "
        "logarithms.",
    ),
]

IN_SEARCHING = [*SEARCH_PROBABILITY, *SEARCH_WALK, *SEARCH_LENGTH, *SEARCH_BEAM]


# attention-decoder.ipynb

ATTDEC_ASKED = "asked = s @ W_a.T "
ATTDEC_FOUND = "found = h @ U_a.T "
ATTDEC_ADD = "torch.tanh(asked.unsqueeze(1) + found) @ v_a"
ATTDEC_TURNED = "turned = s @ W_a "
ATTDEC_DOT = "(h @ turned.unsqueeze(-1)).squeeze(-1)"
ATTDEC_FILL = 'score = score.masked_fill(mask != 0, float("-inf"))'
ATTDEC_SOFTMAX = "alpha = score.softmax(1)"
ATTDEC_MIX = "c = (alpha.unsqueeze(-1) * h).sum(1)"
ATTDEC_Z = 'z = torch.sigmoid(y @ p["W_z"].T + s @ p["U_z"].T + c @ p["C_z"].T + p["b_z"])'
ATTDEC_R = 'r = torch.sigmoid(y @ p["W_r"].T + s @ p["U_r"].T + c @ p["C_r"].T + p["b_r"])'
ATTDEC_CANDIDATE = 'torch.tanh(y @ p["W"].T + (r * s) @ p["U"].T + c @ p["C"].T + p["b"])'
ATTDEC_NEW = "return (1 - z) * s + z * candidate"
ATTDEC_ORTHOGONAL = "nn.init.orthogonal_(value)"
ATTDEC_REST = 'elif name != "v_a" and not name.startswith("b"):'

IN_ATTENTION_DECODER = [
    Misconception(
        exercise="additive-score",
        name="leaves out the tanh",
        edit=(ATTDEC_ADD, "(asked.unsqueeze(1) + found) @ v_a"),
        say="Your score is a plain sum, without a bend. Then the state adds the same number to every word, "
        "and the softmax will not see it at all.",
    ),
    Misconception(
        exercise="additive-score",
        name="puts the tanh around the whole score",
        edit=(ATTDEC_ADD, "torch.tanh((asked.unsqueeze(1) + found) @ v_a)"),
        say="All your scores lie between -1 and 1: the tanh stands outside. It belongs to the A hidden numbers, "
        "before v_a weighs them.",
    ),
    Misconception(
        exercise="additive-score",
        name="takes the tanh of each part before the sum",
        edit=(ATTDEC_ADD, "(torch.tanh(asked).unsqueeze(1) + torch.tanh(found)) @ v_a"),
        say="You bent both parts and then added them. So the state again adds the same number to each word; "
        "it must shift the words before the bend.",
    ),
    Misconception(
        exercise="additive-score",
        name="multiplies the two sides instead of adding them",
        edit=(ATTDEC_ADD, "torch.tanh(asked.unsqueeze(1) * found) @ v_a"),
        say="There is a product of the state with the word in your score. This one is called additive for a reason.",
    ),
    Misconception(
        exercise="additive-score",
        name="ignores the state",
        edit=(ATTDEC_ADD, "torch.tanh(found) @ v_a"),
        say="Your scores stay the same whatever the decoder has written: the state has no way in.",
    ),
    Misconception(
        exercise="additive-score",
        name="ignores the encoder states",
        edit=(ATTDEC_ADD, "torch.tanh(asked.unsqueeze(1) + 0 * found) @ v_a"),
        say="All words of a sentence get one score from you, whatever they are: the encoder states have no way in.",
    ),
    Misconception(
        exercise="additive-score",
        name="leaves out v_a",
        edit=(ATTDEC_ADD, "torch.tanh(asked.unsqueeze(1) + found).sum(-1)"),
        say="You sum the hidden numbers with equal weights. Change v_a: your scores do not move.",
    ),
    Misconception(
        exercise="additive-score",
        name="takes the mean over the hidden numbers",
        edit=(ATTDEC_ADD, "(torch.tanh(asked.unsqueeze(1) + found) * v_a).mean(-1)"),
        say="Your scores are smaller than the formula's by a factor that grows with A: you took a mean where it "
        "has a sum.",
    ),
    Misconception(
        exercise="additive-score",
        name="returns the weights instead of the scores",
        edit=(ATTDEC_ADD, "(torch.tanh(asked.unsqueeze(1) + found) @ v_a).softmax(-1)"),
        say="Your scores of a sentence sum to 1, so a softmax has already been at work. It comes in `attend`.",
    ),
    Misconception(
        exercise="additive-score",
        name="uses W_a transposed",
        edit=(ATTDEC_ASKED, "asked = s @ W_a "),
        say="W_a stands the wrong way round. Where D and A differ it does not run, and where they are equal it runs "
        "and is wrong. Its rows belong to the A hidden numbers.",
    ),
    Misconception(
        exercise="additive-score",
        name="uses U_a transposed",
        edit=(ATTDEC_FOUND, "found = h @ U_a "),
        say="U_a stands the wrong way round. Where M and A differ it does not run, and where they are equal it runs "
        "and is wrong. Its rows belong to the A hidden numbers.",
    ),
    Misconception(
        exercise="additive-score",
        name="lets the states run along the words instead of the batch",
        edit=("asked.unsqueeze(1) + found", "asked.unsqueeze(0) + found"),
        say="In your sum the states lie along the words: state number j would meet word number j of every sentence. "
        "Each state belongs to one sentence and must meet all of its words.",
    ),
    Misconception(
        exercise="additive-score",
        name="scores every sentence with the first state",
        edit=("asked.unsqueeze(1) + found", "asked[:1].unsqueeze(1) + found"),
        say="Right for one sentence, wrong for the second: every sentence of your batch is scored with the state "
        "of the first.",
    ),
    Misconception(
        exercise="additive-score",
        name="uses a sigmoid instead of the tanh",
        edit=(ATTDEC_ADD, "torch.sigmoid(asked.unsqueeze(1) + found) @ v_a"),
        say="Your hidden numbers never become negative. The bend of the formula is a tanh, from -1 to 1.",
    ),
    Misconception(
        exercise="additive-score",
        name="divides by the root of the width",
        edit=(ATTDEC_ADD, "torch.tanh(asked.unsqueeze(1) + found) @ v_a / v_a.numel() ** 0.5"),
        say="Your scores are the formula's divided by the root of A. Nothing is scaled in this score.",
    ),
    Misconception(
        exercise="additive-score",
        name="detaches the encoder states",
        edit=(ATTDEC_FOUND, "found = h.detach() @ U_a.T "),
        say="The numbers are right, but no gradient reaches the encoder: it could never learn what to offer.",
    ),
    Misconception(
        exercise="additive-score",
        name="squeezes away the axis of the words where there is one",
        edit=("asked.unsqueeze(1) + found)", "asked.unsqueeze(1) + found.squeeze())"),
        say="Sentences of one word get (B, B) scores: squeeze() takes away the axis of S.",
    ),
    Misconception(
        exercise="additive-score",
        name="reshapes the states with view, which wants one order in memory",
        edit=("h @ U_a.T ", "(h.view(-1, h.size(-1)) @ U_a.T).view(h.size(0), h.size(1), -1) "),
        say="view fails where the states do not lie one behind another in memory, as a GRU may leave "
        "them. h @ U_a.T takes h as it is; else use reshape.",
    ),
    Misconception(
        exercise="bilinear-score",
        name="leaves out the matrix",
        edit=(ATTDEC_TURNED, "turned = s[:, : h.size(-1)] "),
        say="You compare state and word as they are. The matrix between them translates one into the other's terms.",
    ),
    Misconception(
        exercise="bilinear-score",
        name="uses W_a transposed",
        edit=(ATTDEC_TURNED, "turned = s @ W_a.T "),
        say="Your W_a is transposed. Here the state stands on its left, so its D rows belong to the state: "
        "this is not a linear layer's (out, in).",
    ),
    Misconception(
        exercise="bilinear-score",
        name="puts a tanh around the score",
        edit=(ATTDEC_DOT, "torch.tanh(h @ turned.unsqueeze(-1)).squeeze(-1)"),
        say="Your scores never leave the range from -1 to 1. Only the additive score has a bend.",
    ),
    Misconception(
        exercise="bilinear-score",
        name="bends the turned state",
        edit=(ATTDEC_TURNED, "turned = torch.tanh(s @ W_a) "),
        say="Twice the state should give twice the score. In yours something bends on the way.",
    ),
    Misconception(
        exercise="bilinear-score",
        name="divides by the root of the width",
        edit=(ATTDEC_DOT, "(h @ turned.unsqueeze(-1)).squeeze(-1) / h.size(-1) ** 0.5"),
        say="Your scores are divided by a root of the width. That comes in a later paper; here nothing is scaled.",
    ),
    Misconception(
        exercise="bilinear-score",
        name="squeezes every axis of length 1",
        edit=(ATTDEC_DOT, "(h @ turned.unsqueeze(-1)).squeeze()"),
        say="With one sentence, or one word, your scores lose an axis: squeeze() without a number removes every "
        "axis of length 1.",
    ),
    Misconception(
        exercise="bilinear-score",
        name="takes the mean over the width instead of the sum",
        edit=(ATTDEC_DOT, "(h * turned.unsqueeze(1)).mean(-1)"),
        say="Your scores are too small by the factor M. A dot product sums its products.",
    ),
    Misconception(
        exercise="bilinear-score",
        name="returns the weights instead of the scores",
        edit=(ATTDEC_DOT, "(h @ turned.unsqueeze(-1)).squeeze(-1).softmax(-1)"),
        say="Your scores sum to 1: a softmax has already been at work. It comes in `attend`.",
    ),
    Misconception(
        exercise="bilinear-score",
        name="scores every sentence with the first state",
        edit=(ATTDEC_DOT, "h @ turned[0]"),
        say="Right for one sentence, wrong for the second: all your sentences are scored with the state of the first.",
    ),
    Misconception(
        exercise="bilinear-score",
        name="detaches the state",
        edit=(ATTDEC_TURNED, "turned = s.detach() @ W_a "),
        say="The numbers are right, but no gradient reaches the decoder's state: it could never learn to ask.",
    ),
    Misconception(
        exercise="bilinear-score",
        name="puts a relu behind the matrix",
        edit=(ATTDEC_TURNED, "turned = torch.relu(s @ W_a) "),
        say="What is negative in s^T W_a is gone in your score. "
        "A state may dislike a word: its score is then negative.",
    ),
    Misconception(
        exercise="attend",
        name="hides the words and shows the padding",
        edit=("mask != 0", "mask == 0"),
        say="Your mask is turned round: you show what should be hidden. Nonzero means hide.",
    ),
    Misconception(
        exercise="attend",
        name="ignores the mask",
        edit=(ATTDEC_FILL, "score = score + 0"),
        say="Your weights are the same with and without a mask, so padding takes part.",
    ),
    Misconception(
        exercise="attend",
        name="adds the mask to the scores",
        edit=(ATTDEC_FILL, "score = score + mask"),
        say="You added the mask to the scores, so hidden places gain a little instead of vanishing.",
    ),
    Misconception(
        exercise="attend",
        name="multiplies the scores by zero where hidden",
        edit=(ATTDEC_FILL, "score = score * (mask == 0)"),
        say="Your hidden places have the score 0. That is a score like any other: exp(0) is 1.",
    ),
    Misconception(
        exercise="attend",
        name="hides with a number that is not small enough",
        edit=('float("-inf")', "-10.0"),
        say="Your hidden places keep a small weight, and a large one when all other scores are far below. "
        "Only minus infinity is small enough.",
    ),
    Misconception(
        exercise="attend",
        name="hides after the softmax, without dividing again",
        edit=(
            ATTDEC_FILL + "    # (B, S)\n    " + ATTDEC_SOFTMAX,
            "pass\n    alpha = score.softmax(1) * (1 if mask is None else mask == 0)",
        ),
        say="Your hidden weights are 0, but the others no longer sum to 1: you hid the padding too late.",
    ),
    Misconception(
        exercise="attend",
        name="hides the states but not the weights",
        edit=(ATTDEC_FILL, "h = h.masked_fill((mask != 0).unsqueeze(-1), 0)"),
        say="You set the hidden states to 0 and left them their weights: the context is too short, and the weights "
        "of hidden places are not 0.",
    ),
    Misconception(
        exercise="attend",
        name="hides only where the mask is exactly 1",
        edit=("mask != 0", "mask == 1"),
        say="Your function hides only where the mask is 1. Any nonzero value hides, also 0.5 or -2.",
    ),
    Misconception(
        exercise="attend",
        name="takes a score of 0 for a hidden place",
        edit=(
            ATTDEC_FILL,
            'score = score * (mask == 0)\n        score = score.masked_fill(score == 0, float("-inf"))',
        ),
        say="A visible place whose score happens to be 0 disappears. Hide by the mask, not by the score.",
    ),
    Misconception(
        exercise="attend",
        name="changes the caller's scores in place",
        edit=("score = score.masked_fill(", "score.masked_fill_("),
        say="Your weights are right, but afterwards the caller's scores or states hold other numbers: "
        "something works in place.",
    ),
    Misconception(
        exercise="attend",
        name="takes the softmax over the batch",
        edit=("score.softmax(1)", "score.softmax(0)"),
        say="Your weights sum to 1 over the batch, so the sentences compete with one another. The places of one "
        "sentence lie on the other axis.",
    ),
    Misconception(
        exercise="attend",
        name="takes exp without subtracting the maximum",
        edit=(ATTDEC_SOFTMAX, "alpha = score.exp() / score.exp().sum(1, keepdim=True)"),
        say="Right for small scores, nan for large ones. A number added to all scores of a row changes no weight; "
        "choose it so that nothing overflows.",
    ),
    Misconception(
        exercise="attend",
        name="subtracts the maximum of the whole batch",
        edit=(
            ATTDEC_SOFTMAX,
            "score = (score - score.max()).exp()\n    alpha = score / score.sum(1, keepdim=True)",
        ),
        say="One loud sentence makes the weights of a quiet one nan: all its exponentials become 0. "
        "Each row has a maximum of its own.",
    ),
    Misconception(
        exercise="attend",
        name="takes the mean of the states instead of the weighted sum",
        edit=(ATTDEC_MIX, "c = h.mean(1)"),
        say="Your weights are right, and your context does not use them: it is the plain mean.",
    ),
    Misconception(
        exercise="attend",
        name="divides the weighted sum by the number of places",
        edit=("* h).sum(1)", "* h).mean(1)"),
        say="Your context is too short by the factor S. The weights sum to 1 already; nothing is left to divide by.",
    ),
    Misconception(
        exercise="attend",
        name="squeezes every axis of length 1",
        edit=(ATTDEC_MIX, "c = (alpha.unsqueeze(1) @ h).squeeze()"),
        say="With one sentence in the batch your context loses the axis of the batch: squeeze() without a number "
        "removes every axis of length 1. Name the one that you mean.",
    ),
    Misconception(
        exercise="attend",
        name="returns weights and context in the wrong order",
        edit=("return c, alpha", "return alpha, c"),
        say="You return the weights first. The docstring asks for the context, then the weights.",
    ),
    Misconception(
        exercise="attend",
        name="divides the scores by the root of the width",
        edit=(ATTDEC_SOFTMAX, "alpha = (score / h.size(-1) ** 0.5).softmax(1)"),
        say="Your weights are more even than the formula's: the scores were scaled before the softmax.",
    ),
    Misconception(
        exercise="attend",
        name="detaches the weights",
        edit=("c = (alpha.unsqueeze", "c = (alpha.detach().unsqueeze"),
        say="The numbers are right, but no gradient of the context reaches the scores: where to look is never learned.",
    ),
    Misconception(
        exercise="attend",
        name="hides with -1e9",
        edit=('float("-inf")', "-1e9"),
        say="You hide with a number, and a score may be lower than that: then the hidden place has the largest weight. "
        "Only minus infinity is below all scores.",
    ),
    Misconception(
        exercise="attend",
        name="subtracts the maximum in place",
        edit=(ATTDEC_SOFTMAX, "score -= score.max(1, keepdim=True).values\n    alpha = score.softmax(1)"),
        say="`-=` writes into the tensor. Without a mask that is the caller's, and its scores are changed.",
    ),
    Misconception(
        exercise="attend",
        name="gives back weights without a gradient",
        edit=("return c, alpha", "return c, alpha.detach()"),
        say="The context learns and the weights do not: you give them back detached.",
    ),
    Misconception(
        exercise="attend",
        name="squeezes away the axis of the words where there is one",
        edit=("* h).sum(1)", "* h.squeeze()).sum(1)"),
        say="For sentences of one word the context is wrong: h.squeeze() takes away the axis of S, and "
        "each row meets all sentences.",
    ),
    Misconception(
        exercise="bahdanau-step",
        name="complements z as torch does",
        edit=(ATTDEC_NEW, "return (1 - z) * candidate + z * s"),
        say="Your z means what it means in torch. In the paper z = 1 takes the candidate and z = 0 keeps the state.",
    ),
    Misconception(
        exercise="bahdanau-step",
        name="applies the reset gate after the matrix",
        edit=('(r * s) @ p["U"].T', 'r * (s @ p["U"].T)'),
        say="Your reset gate comes after U, as in torch's GRU. In the paper it closes entries of the state before "
        "U mixes them.",
    ),
    Misconception(
        exercise="bahdanau-step",
        name="uses U transposed",
        edit=('(r * s) @ p["U"].T', '(r * s) @ p["U"]'),
        say="Your U acts the wrong way round, and as it is square no shape complains. The vectors are rows, so U acts "
        "on them as in a linear layer.",
    ),
    Misconception(
        exercise="bahdanau-step",
        name="leaves out the reset gate",
        edit=("(r * s)", "s"),
        say="Change b_r: your state does not move. The reset gate has no say in the candidate.",
    ),
    Misconception(
        exercise="bahdanau-step",
        name="turns the reset gate round",
        edit=("(r * s)", "((1 - r) * s)"),
        say="Your reset gate lets through what it should hold back: r = 0 must forget the state in the candidate.",
    ),
    Misconception(
        exercise="bahdanau-step",
        name="resets the whole candidate",
        edit=(ATTDEC_CANDIDATE, ATTDEC_CANDIDATE.replace("y @", "r * (y @").replace("(r * s)", "s") + ")"),
        say="Your reset gate closes the new word and the context as well. It acts on the old state only.",
    ),
    Misconception(
        exercise="bahdanau-step",
        name="exchanges z and r",
        edit=(
            ATTDEC_CANDIDATE + "       # (B, D)\n    " + ATTDEC_NEW,
            ATTDEC_CANDIDATE.replace("(r * s)", "(z * s)") + "\n    return (1 - r) * s + r * candidate",
        ),
        say="Update and reset have changed places: r mixes old and new in your step, and z closes the state.",
    ),
    Misconception(
        exercise="bahdanau-step",
        name="forgets the context in the candidate",
        edit=(' + c @ p["C"].T', ""),
        say="What the decoder has looked up does not reach your candidate. It was looked up for the gates only.",
    ),
    Misconception(
        exercise="bahdanau-step",
        name="forgets the context in the update gate",
        edit=(' + c @ p["C_z"].T', ""),
        say="Your update gate does not see the context: C_z has no say.",
    ),
    Misconception(
        exercise="bahdanau-step",
        name="forgets the context in the reset gate",
        edit=(' + c @ p["C_r"].T', ""),
        say="Your reset gate does not see the context: C_r has no say.",
    ),
    Misconception(
        exercise="bahdanau-step",
        name="uses the parameters of z for r",
        edit=(ATTDEC_R, ATTDEC_R.replace("_r", "_z")),
        say="Your two gates are always equal: r is computed with the parameters of z.",
    ),
    Misconception(
        exercise="bahdanau-step",
        name="leaves out the candidate's bias",
        edit=(' + p["b"]', ""),
        say="Your candidate does not move when b does. The paper's formulas leave the biases out; here they count.",
    ),
    Misconception(
        exercise="bahdanau-step",
        name="uses a sigmoid for the candidate",
        edit=("candidate = torch.tanh(", "candidate = torch.sigmoid("),
        say="Your candidate is never negative. Gates are sigmoids; the candidate is a tanh.",
    ),
    Misconception(
        exercise="bahdanau-step",
        name="uses a tanh for the update gate",
        edit=("z = torch.sigmoid(", "z = torch.tanh("),
        say="Your z can be negative, and then more than the whole state is kept. A gate lies between 0 and 1.",
    ),
    Misconception(
        exercise="bahdanau-step",
        name="draws the gate as if it were a probability",
        edit=("    " + ATTDEC_NEW, "    z = torch.bernoulli(z)\n    " + ATTDEC_NEW),
        say="Two calls with the same numbers give you two states: you draw z. A gate is a share, not a probability; "
        "old and new are mixed.",
    ),
    Misconception(
        exercise="bahdanau-step",
        name="returns the candidate",
        edit=(ATTDEC_NEW, "return candidate"),
        say="You return the candidate. With z = 0 the state should stay as it is, and yours does not.",
    ),
    Misconception(
        exercise="bahdanau-step",
        name="adds the candidate without taking anything away",
        edit=(ATTDEC_NEW, "return s + z * candidate"),
        say="Your state can grow without end: what z brings in must take the place of something old.",
    ),
    Misconception(
        exercise="bahdanau-step",
        name="uses the reset state in the update gate",
        edit=(
            ATTDEC_Z + "          # (B, D)\n    " + ATTDEC_R,
            ATTDEC_R + "\n    " + ATTDEC_Z.replace("s @", "(r * s) @"),
        ),
        say="Your update gate sees the state after the reset. Both gates see the state as it came; only the candidate "
        "sees it closed.",
    ),
    Misconception(
        exercise="bahdanau-step",
        name="leaves out the last word in the candidate",
        edit=('y @ p["W"].T + ', ""),
        say="The last written word does not reach your candidate: W has no say.",
    ),
    Misconception(
        exercise="bahdanau-step",
        name="keeps the new state in the caller's p",
        edit=(ATTDEC_NEW, 'p["s"] = (1 - z) * s + z * candidate\n    return p["s"]'),
        say="Your function writes into p, which belongs to the caller. Keep what you compute in names of your own.",
    ),
    Misconception(
        exercise="initialise",
        name="makes U_a orthogonal because of its name",
        edit=(
            'if name in ("U", "U_z", "U_r"):',
            'if name in ("U", "U_z", "U_r", "U_a"):',
        ),
        say="Your U_a is orthogonal. It has a U in its name, but it belongs to the score and is not recurrent.",
    ),
    Misconception(
        exercise="initialise",
        name="gives the gates' recurrent matrices a Gaussian",
        edit=('("U", "U_z", "U_r")', '("U",)'),
        say="Only your U is orthogonal. The gates have recurrent matrices too.",
    ),
    Misconception(
        exercise="initialise",
        name="takes the identity for a random orthogonal matrix",
        edit=(ATTDEC_ORTHOGONAL, "nn.init.eye_(value)"),
        say="The identity is orthogonal, but not random: every unit would only repeat itself.",
    ),
    Misconception(
        exercise="initialise",
        name="starts the recurrent matrices with a small Gaussian",
        edit=(ATTDEC_ORTHOGONAL, "value.normal_(0, 0.01)"),
        say="Your recurrent matrices shrink the state to almost nothing in a few steps. U^T U = I is asked for them.",
    ),
    Misconception(
        exercise="initialise",
        name="scales the orthogonal matrices down",
        edit=(ATTDEC_ORTHOGONAL, "nn.init.orthogonal_(value, gain=0.01)"),
        say="Your recurrent matrices have orthogonal columns, but these are not of length 1.",
    ),
    Misconception(
        exercise="initialise",
        name="uses one orthogonal matrix for all three",
        edit=(
            ATTDEC_ORTHOGONAL,
            "nn.init.orthogonal_(value)\n"
            '            value = next((values[n] for n in ("U", "U_z", "U_r") if n in values), value)',
        ),
        say="U, U_z and U_r hold the same numbers. Each gets a random matrix of its own.",
    ),
    Misconception(
        exercise="initialise",
        name="takes the variance of the score's matrices for the deviation",
        edit=("value.normal_(0, 0.001)", "value.normal_(0, 0.001**2)"),
        say="W_a and U_a are a thousand times too small. The second number in N(0, 0.001^2) is the variance, "
        "and normal_ wants the deviation.",
    ),
    Misconception(
        exercise="initialise",
        name="takes the variance of the other matrices for the deviation",
        edit=("value.normal_(0, 0.01)", "value.normal_(0, 0.01**2)"),
        say="Your plain matrices are a hundred times too small. The second number in N(0, 0.01^2) is the variance, "
        "and normal_ wants the deviation.",
    ),
    Misconception(
        exercise="initialise",
        name="gives the score's matrices the common deviation",
        edit=('elif name in ("W_a", "U_a"):', 'elif name == "none":'),
        say="W_a and U_a are ten times too large: the matrices of the score have a deviation of their own.",
    ),
    Misconception(
        exercise="initialise",
        name="draws v_a",
        edit=(ATTDEC_REST, 'elif not name.startswith("b"):'),
        say="Your v_a is random. It starts at 0, so that the untrained decoder looks everywhere evenly.",
    ),
    Misconception(
        exercise="initialise",
        name="draws the biases",
        edit=(ATTDEC_REST, 'elif name != "v_a":'),
        say="Your biases are random. They start at 0.",
    ),
    Misconception(
        exercise="initialise",
        name="draws from a uniform distribution",
        edit=("value.normal_(0, 0.01)", "value.uniform_(-0.01 * 3**0.5, 0.01 * 3**0.5)"),
        say="Your deviation is right, but no number lies far out: the values are uniform. A Gaussian has tails.",
    ),
    Misconception(
        exercise="initialise",
        name="sets the seed inside",
        edit=("values = {}", "values = {}\n    torch.manual_seed(0)"),
        say="Two calls give you the same numbers: a seed is set inside. That is the caller's business, "
        "and it changes the caller's random numbers too.",
    ),
    Misconception(
        exercise="initialise",
        name="drops the signs of the Gaussian numbers",
        edit=("value.normal_(0, 0.01)", "value.normal_(0, 0.01).abs_()"),
        say="All your numbers have one sign. A Gaussian with mean 0 has both.",
    ),
    Misconception(
        exercise="initialise",
        name="seeds torch anew inside",
        edit=("values = {}", "values = {}\n    torch.seed()"),
        say="Your function sets a seed of its own, so after the same torch.manual_seed it gives other numbers. The "
        "caller's seed decides.",
    ),
    Misconception(
        exercise="initialise",
        name="writes the values into the caller's shapes",
        edit=("values = {}", "values = shapes"),
        say="Your values stand in the dictionary that came in, and the shapes are gone. Return a new dictionary.",
    ),
    Misconception(
        exercise="initialise",
        name="takes every name with a b in it for a bias",
        edit=(ATTDEC_REST, 'elif name != "v_a" and "b" not in name:'),
        say="A matrix with a b somewhere in its name stays at 0. The names of biases begin with b.",
    ),
    Misconception(
        exercise="initialise",
        name="draws the matrices with known first letters only",
        edit=(ATTDEC_REST, 'elif name[0] in "WC":'),
        say="You decide by the first letter, so a matrix with another name stays at 0. "
        "All that is not named in the list is Gaussian.",
    ),
    Misconception(
        exercise="initialise",
        name="makes every matrix orthogonal whose name begins with U",
        edit=('name in ("U", "U_z", "U_r")', 'name.startswith("U") and name != "U_a"'),
        say="U_o is the matrix of the output, and no recurrent one: it is Gaussian with deviation 0.01. "
        "Orthogonal are U, U_z and U_r alone.",
    ),
]


MISCONCEPTIONS = [*IN_ENCODER_DECODER, *IN_SEARCHING, *IN_ATTENTION_DECODER]
