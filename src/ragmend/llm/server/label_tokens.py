"""Which tokens the labels are for one server, and their log-probabilities in its answers.

vLLM returns the log-probabilities of any token ids that are asked for. Other servers return
their most probable tokens only; a label that is not among them is known to be no more probable
than the last of them. Decoded strings collide ("Yes" may be several tokens), so tokens are
named by their ids wherever the server does that.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Self

from ragmend.errors import AnswerFaultError
from ragmend.llm.protocol import LabelScores
from ragmend.llm.server.answers import Answer, finite_logprob

Style = Literal["token-ids", "top-20"]
N_TOP = 20
"""The most that servers give as most probable tokens."""
_TOKEN_ID = re.compile(r"token_id:(\d+)")


class LabelTokens(NamedTuple):
    """How a server is asked for the labels' log-probabilities, the same way each time.

    Attributes:
        style: By their ids, or among the most probable tokens.
        names: By form, what the server calls its token.
        n_entries: How many log-probabilities an answer holds, at least.
    """

    style: Style
    names: Mapping[str, str]
    n_entries: int

    @property
    def ids(self) -> list[int]:
        """The tokens' ids, of those that are named by them."""
        found = (_TOKEN_ID.fullmatch(name) for name in self.names.values())
        return [int(name[1]) for name in found if name]

    @property
    def are_named_by_id(self) -> bool:
        """Whether the server is to name tokens by their ids."""
        return len(self.ids) == len(self.names)

    def settle(self, answer: Answer) -> Self:
        """Return the same, after a look at the server's first answer to it.

        Raises:
            AnswerFaultError: The server does not do it: `empty`, or what `read` raises.
        """
        if self.style == "token-ids":
            self.read(answer)
            return self
        names = [name for name, _ in answer.logprobs]
        if not names:
            raise AnswerFaultError("an answer without log-probabilities", status="empty")
        if self.are_named_by_id and not all(_TOKEN_ID.fullmatch(name) for name in names):
            raise AnswerFaultError("tokens are not named by their ids", status="empty")
        return self._replace(n_entries=min(len(names), N_TOP))

    def read(self, answer: Answer) -> LabelScores:
        """Read the labels' log-probabilities in an answer.

        Of the most probable tokens, those below the last that was asked for count as not told:
        some servers add the sampled token, wherever it stands. Of two tokens with one name, the
        name is the more probable one's.

        Raises:
            AnswerFaultError: `empty` where it holds fewer than were asked for, `non_finite` where
                one is no number.
        """
        told = {name for name, _ in answer.logprobs}
        missing = [form for form, name in self.names.items() if name not in told]
        n_entries = len(answer.logprobs)
        if n_entries < self.n_entries or (missing and self.style == "token-ids"):
            raise AnswerFaultError(
                f"fewer log-probabilities than asked for: {n_entries}, without {missing}",
                status="empty",
            )
        probable = [(finite_logprob(value), name) for name, value in answer.logprobs]
        probable.sort()  # of one name, the highest comes last and stays
        logprobs = {name: value for value, name in probable}
        bound = None if self.style == "token-ids" else probable[-self.n_entries][0]
        known = {
            form: logprobs[name]
            for form, name in self.names.items()
            if name in logprobs and (bound is None or logprobs[name] >= bound)
        }
        return LabelScores(
            logprobs=known,
            bound=bound,
            absent=tuple(form for form in self.names if form not in known),
            n_prompt_tokens=answer.n_prompt_tokens,
        )


def by_ids(tokens_by_form: Mapping[str, Sequence[int]]) -> LabelTokens:
    """Ask for the forms that are one token; of forms with one token in common, for the first."""
    names: dict[str, str] = {}
    for form, tokens in tokens_by_form.items():
        if len(tokens) == 1 and (name := f"token_id:{tokens[0]}") not in names.values():
            names[form] = name
    return LabelTokens("token-ids", names, len(names))


def among_the_top(names: Mapping[str, str]) -> LabelTokens:
    """Look for the forms among the most probable tokens, under these names."""
    return LabelTokens("top-20", dict(names), 1)
