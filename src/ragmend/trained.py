"""What a trained detector leaves on disk: answers, log, epochs, health, ledger.

Like all records: frozen, strict, no extra keys. They lie in `00-training/<model>/seed-<n>/`.
"""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from ragmend.errors import FaultStatus
from ragmend.records import (
    Count,
    DetectorScore,
    Finite,
    Name,
    Probability,
    Record,
    ScoreLevel,
    ScoreProtocol,
    Split,
    TaskType,
)

Health = Literal["usable", "degraded", "failed"]
UNREAD_LIMIT = 0.05
"""A detector of whose answers a greater share gives no verdict is not usable. Ours: its recall is
bounded by them."""


class TokenScore(Record):
    """P(unsupported) of one token: a stretch of the answer, in code points, end exclusive."""

    start: Count
    end: Count
    p: Probability


class DetectorAnswer(Record):
    """What a trained detector answered about one response, before anybody reads it.

    A generative one wrote `text`, of `n_tokens` tokens with that which ended it; `ended` is False
    where the limit did. A token classifier gave `scores` in order, and always ends. `problem`
    says that there is no answer, and why: the response did not fit, a number was none, a server
    gave none. `text` is then what came instead, if anything.
    """

    record_id: Name
    text: str = ""
    n_tokens: Count = 0
    ended: bool = True
    scores: tuple[TokenScore, ...] = ()
    left_out_fragments: Count = 0
    problem: FaultStatus | None = None
    message: str | None = None


class TrainingStart(Record):
    """What a training is, written before its first step: it resumes only as the same."""

    settings: dict[str, JsonValue]
    inputs: dict[str, str]
    n_train: Count
    n_development: Count
    train_ids_sha256: Name
    development_ids_sha256: Name
    probe_ids_sha256: Name
    packages: dict[str, str]


class LogRow(Record):
    """One step of a training. A loss or norm that is no finite number is None, and a fault."""

    step: Annotated[int, Field(ge=1)]
    epoch: Finite
    loss: Finite | None
    grad_norm: Finite | None = None
    learning_rate: Finite | None = None


class EpochScore(Record):
    """How the weights after one epoch did on the development answers, all of them.

    Counts as in a detector score, pooled; at span level of characters. `threshold` is that of a
    token classifier, chosen here; None of a generative one. `n_unread` counts what gave no verdict
    (`empty` and `unparsed`), which counts as not flagged.
    """

    epoch: Annotated[int, Field(ge=1)]
    level: ScoreLevel
    n_responses: Count
    tp: Count
    fp: Count
    fn: Count
    tn: Count
    n_empty: Count = 0
    n_unparsed: Count = 0
    threshold: Probability | None = None
    chosen: bool = False


class LengthRow(Record):
    """Tokens of the prompts and targets of one task, before training begins.

    `n_shortened` prompts lost `n_left_out` sentences of their source in all; `n_refused` answers
    do not fit whatever is left out, and take no part.
    """

    task: TaskType
    n: Count
    prompt_median: Count
    prompt_p95: Count
    prompt_max: Count
    target_median: Count
    target_p95: Count
    target_max: Count
    n_shortened: Count
    n_left_out: Count
    n_refused: Count


class MemoryPart(Record):
    """One part of the memory that a training needs, in GiB, estimated before it begins."""

    part: Name
    gib: Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


class LayerNorm(Record):
    """Frobenius norms of one layer's adapter; None where a number in it is none.

    `delta` is that of what it adds to the layer's weights: (alpha / r) · B · A.
    """

    layer: Name
    a: Finite | None
    b: Finite | None
    delta: Finite | None


class TokenFacts(Record):
    """What decides whether a detector can learn to stop, and is asked as it was trained.

    Attributes:
        pad_token: The padding token.
        end_token: The token that ends every target.
        pad_is_end: Whether they are one.
        n_targets: Targets that were looked at.
        n_without_end: Those whose last token with a loss is not the end token.
        n_double_begin: Prompts with two tokens for the beginning.
        n_served_otherwise: Prompts whose tokens differ from those of the same prompt when asked.
    """

    pad_token: str
    end_token: str
    pad_is_end: bool
    n_targets: Count
    n_without_end: Count
    n_double_begin: Count
    n_served_otherwise: Count


class AnswerRates(Record):
    """Shares of a detector's answers to development responses, each in [0, 1].

    `hallucinated` is that among the answers that could be read.
    """

    n: Count
    empty: Probability
    malformed: Probability
    truncated: Probability
    no_end: Probability
    contradicting: Probability
    hallucinated: Probability


class HealthReport(Record):
    """The verdict on one training, in words.

    `n_reload_differs` counts probe answers that the reloaded weights give otherwise than the
    weights in memory had; None where there is no memory to compare with.
    """

    run_id: Name
    verdict: Health
    reasons: tuple[str, ...]
    answers: AnswerRates
    tokens: TokenFacts | None
    n_reload_differs: Count | None
    first_loss: Finite | None
    last_loss: Finite | None
    n_bad_losses: Count
    layers: tuple[LayerNorm, ...] = ()


class LedgerEntry(Record):
    """One evaluation of a training on a split that nothing was chosen on.

    `begun` is written before the first answer, `ended` when the last is scored: what was
    interrupted in between goes on. From the second on there is a reason.
    """

    event: Literal["begun", "ended"]
    number: Annotated[int, Field(ge=1)]
    split: Split
    settings_sha256: Name
    reason: str | None = None
    at: Name


class DetectorRunFacts(Record):
    """What one training of a configuration came to, as far as it has got.

    Attributes:
        run_id: As in "llama-2-13b/seed-42", of `model` and `seed`.
        model: The detector's name.
        seed: The training's seed.
        is_population: Whether its flags are the population.
        unscored: Why it has no score on the split; None: it has one.
        health: The verdict on the training; None while it is not complete.
        reasons: The verdict in words.
        epochs: Its scores on the development answers.
        scores: Its scores on the split; empty, and the counts 0, while it is not predicted.
        n_responses: Verdicts that it gave, with `n_empty` and `n_unparsed` among them.
        n_empty: Its answers without text.
        n_unparsed: Those that could not be read.
        n_faults: Responses that it has no verdict on, each accepted, and in no score.
        data_sha256: Of the data files that it was asked about.
        n_evaluations: How often evaluating it on the split was begun.
        repeated_because: The reasons for each time but the first.
    """

    run_id: Name
    model: Name
    seed: Count
    is_population: bool
    unscored: str | None = None
    health: Health | None = None
    reasons: tuple[str, ...] = ()
    epochs: tuple[EpochScore, ...] = ()
    scores: tuple[DetectorScore, ...] = ()
    n_responses: Count = 0
    n_empty: Count = 0
    n_unparsed: Count = 0
    n_faults: Count = 0
    data_sha256: str | None = None
    n_evaluations: Count = 0
    repeated_because: tuple[str, ...] = ()

    @property
    def unread_share(self) -> float:
        """Share of its answers on the split that gave no verdict; 0 while it is not predicted."""
        n_unread = self.n_empty + self.n_unparsed
        return n_unread / self.n_responses if self.n_responses else 0.0

    @property
    def is_usable(self) -> bool | None:
        """Whether its training is healthy and its answers can be read; None while nobody knows."""
        if self.health is None:
            return None
        return self.health == "usable" and self.unread_share <= UNREAD_LIMIT

    @property
    def pooled(self) -> DetectorScore | None:
        """The response-level counts over all answers; None without gold, or not predicted."""
        return self._pooled("all")

    @property
    def pooled_read(self) -> DetectorScore | None:
        """Those over the answers that could be read, which may be all or none of them."""
        has_unread = self.n_empty + self.n_unparsed > 0
        return self._pooled("read-only" if has_unread else "all")

    def _pooled(self, protocol: ScoreProtocol) -> DetectorScore | None:
        for score in self.scores:
            if (score.level, score.protocol, score.group) == ("response", protocol, "pooled"):
                return score
        return None
