"""What a role asks of a language model, and what it gets: two kinds of question, one Protocol.

An answer here is what the model said, not yet what it means: roles read it, and a role that
cannot read it raises `AnswerFaultError`.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple, Protocol

from pydantic import Field, JsonValue

from ragmend.records import Count, Finite, Name, Record

Logprob = Annotated[float, Field(le=0.0, allow_inf_nan=False)]
NEGATIVE_INFINITY = -9999.0
"""How servers write a log-probability of minus infinity, for JSON has no word for it."""


class Prompt(NamedTuple):
    """One question in the two turns of a chat; what is data in it is already made harmless."""

    system: str
    user: str


class Sampling(NamedTuple):
    """How an answer is generated.

    Attributes:
        max_tokens: The most tokens; an answer that needs more is cut and says so.
        temperature: 0 is greedy.
        schema: A JSON schema that the answer is constrained to; None: free text. A server may
            ignore it, so whoever reads the answer checks it.
    """

    max_tokens: int
    temperature: float = 0.0
    schema: Mapping[str, JsonValue] | None = None


class LabelScores(Record):
    """The log-probabilities of label forms as the next token, in nats.

    Attributes:
        logprobs: By form ("Yes", " yes", …), of those that are one token for this model.
        bound: None where every form was asked for by its id. Where a server gave only its most
            probable tokens: what no form that is absent from `logprobs` exceeds.
        absent: Forms that the server did not tell; empty where `bound` is None.
        n_prompt_tokens: Length of the prompt as the server counted it.
    """

    logprobs: dict[Name, Logprob]
    bound: Finite | None = None
    absent: tuple[Name, ...] = ()
    n_prompt_tokens: Count


class Generation(Record):
    """A generated text, and whether the model ended it or the limit did."""

    text: str
    finish: Literal["stop", "length"]
    n_prompt_tokens: Count
    n_tokens: Count


class LLM(Protocol):
    """A language model that is ready to answer."""

    @property
    def model(self) -> str:
        """The name that stands in verdicts and tables."""

    @property
    def context_length(self) -> int:
        """The most tokens of a prompt and its answer together."""

    async def score_labels(self, prompt: Prompt) -> LabelScores:
        """Return the log-probability of every label form as the answer's first token.

        Raises:
            AnswerFaultError: No usable answer to this prompt came.
            ServerError: The model cannot answer anything any more.
        """

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Generation:
        """Return the model's answer to a prompt.

        Raises:
            AnswerFaultError, ServerError: As `score_labels`.
        """

    async def count_tokens(self, prompt: Prompt) -> int:
        """Return how many tokens a prompt has for this model, its chat template included.

        Raises:
            AnswerFaultError, ServerError: As `score_labels`.
        """
