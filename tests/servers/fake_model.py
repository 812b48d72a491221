"""The model of the fault server: everything it says follows from the prompt, by hashes."""

import hashlib
import json
import math
import re
from collections import OrderedDict
from typing import NamedTuple

# What a label form has of its side's probability; the last are less probable than FILLERS.
FORM_WEIGHTS = {
    "{}": 0.7,
    " {}": 0.2,
    "{lower}": 0.07,
    " {lower}": 0.02,
    "{upper}": 0.008,
    " {upper}": 0.002,
}
N_FILLERS = 30
_PIECE = re.compile(r" ?\w+| ?[^\w\s]|\s")
_BEGIN, _END = "<|im_start|>", "<|im_end|>"
_SOURCE = re.compile(r"<(source|fragments)>\n(.*?)\n</\1>", re.DOTALL)


def unit(*parts: object) -> float:
    """Return a number in [0, 1) that follows from the parts."""
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


class Tokenizer:
    """A token is a word or a sign, with the space before it; its id follows from its letters."""

    def __init__(self):
        self._pieces = {}
        self._ids = {}

    def encode(self, text):
        return [self._id(piece) for piece in _PIECE.findall(text)]

    def decode(self, tokens):
        return "".join(self._pieces[token] for token in tokens)

    def render(self, messages):
        """Return the tokens of a chat, up to where the answer begins."""
        tokens = []
        for message in messages:
            tokens += [self._id(_BEGIN), *self.encode(f"{message['role']}\n{message['content']}")]
            tokens.append(self._id(_END))
        return [*tokens, self._id(_BEGIN), *self.encode("assistant\n")]

    def prompt_of(self, tokens):
        """Return the text of a chat's turns but the last, which the answer is."""
        turns = self.decode(tokens).split(_BEGIN)[1:-1]
        texts = [turn.removesuffix(_END).partition("\n")[2] for turn in turns]
        return "\n\n".join(texts) if turns else self.decode(tokens)

    def name(self, token):
        return self._pieces.get(token, f"<{token}>")

    def _id(self, piece):
        if (token := self._ids.get(piece)) is None:
            token = self._ids[piece] = int(unit("token", piece) * 2**40)
            assert self._pieces.setdefault(token, piece) == piece, "two pieces with one id"
        return token


class FakeModel(NamedTuple):
    """Log-probabilities and answers.

    Attributes:
        tokenizer: Shared by all that is asked of it.
        mass: P(any form of Yes or No) as the first token.
        support: From a prompt to P(support) under all forms.
        answer: From a prompt to the text it generates.
    """

    tokenizer: Tokenizer
    mass: float
    support: object
    answer: object

    def label_logprobs(self, prompt):
        """Return the log-probability of each form, in nats."""
        p_support = self.support(prompt)
        return {
            form.format(word, lower=word.lower(), upper=word.upper()): math.log(
                self.mass * side * weight
            )
            for word, side in (("Yes", p_support), ("No", 1 - p_support))
            for form, weight in FORM_WEIGHTS.items()
        }

    def logprob(self, prompt, token):
        """Return the log-probability of any token as the first one."""
        return self.first_tokens(prompt).get(token, -20.0 - unit("logprob", prompt, token))

    def first_tokens(self, prompt):
        """Return the log-probabilities of all probable tokens, by id, highest first."""
        labels = self.label_logprobs(prompt)
        found = {self.tokenizer.encode(form)[0]: value for form, value in labels.items()}
        filler = math.log((1 - self.mass) / N_FILLERS) if self.mass < 1 else -30.0
        for n in range(N_FILLERS):
            found[self.tokenizer.encode(f" filler{n}")[0]] = filler - n * 1e-4
        return dict(sorted(found.items(), key=lambda entry: -entry[1]))


def support_by_hash(prompt):
    """Return a P(support) between .05 and .95."""
    return 0.05 + 0.9 * unit("support", prompt)


def answer_by_hash(prompt):
    """Return what the prompt asks for: spans of the answer or none, a rewrite or null."""
    choice = unit("answer", prompt)
    if 'key "spans"' in prompt:
        words = _inside("answer", prompt).split(" ")
        first = int(choice * 1000) % max(1, len(words) - 3)
        spans = [" ".join(words[first : first + 3])] if choice < 0.5 else []
        return json.dumps({"spans": spans}, ensure_ascii=False)
    if 'key "rewrite"' in prompt:
        words = _inside("claim", prompt).rstrip(".").split(" ")
        kept = " ".join(words[: max(1, len(words) - 2)]) + "."
        return json.dumps({"rewrite": kept if choice < 0.6 else None}, ensure_ascii=False)
    return f"The answer is {choice:.6f}."


def source_of(prompt):
    """Return what requests have in common: the source, or all of a prompt without one."""
    found = _SOURCE.search(prompt)
    return found[2] if found else prompt


class PrefixCache:
    """How many prompt tokens a cache that holds the last few sources has seen before."""

    def __init__(self, n_sources):
        self.n_sources = n_sources
        self.queries = 0
        self.hits = 0
        self._held = OrderedDict()

    def look_up(self, prompt, n_tokens):
        source = source_of(prompt)
        self.queries += n_tokens
        if source in self._held:
            end = prompt.find(source) + len(source)
            self.hits += n_tokens * end // len(prompt)
        self._held[source] = None
        self._held.move_to_end(source)
        if len(self._held) > self.n_sources:
            self._held.popitem(last=False)


def _inside(tag, prompt):
    found = re.search(rf"<{tag}>\n(.*?)\n</{tag}>", prompt, re.DOTALL)
    return found[1] if found else prompt
