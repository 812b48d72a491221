"""The records that stages exchange: frozen, strict, no extra keys; JSONL on disk.

Offsets count Unicode code points (Python `str` indices), end exclusive. Probabilities lie
in [0, 1] and are finite. A record says what was decided or answered; a fault is never one.
"""

from collections.abc import Iterable
from typing import Annotated, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from ragmend.errors import FaultStatus

TaskType = Literal["QA", "Data2txt", "Summary"]
Split = Literal["train", "test"]
ClaimKind = Literal["statement", "heading", "lead_in", "question"]
DetectionVerdict = Literal["hallucinated", "clean", "unparsed", "empty"]
AnswerStatus = Literal["ok", "malformed", "truncated", "empty"]
CandidateKind = Literal["extract", "rewrite"]
SpanPolicy = Literal["count", "ignore"]
ScoreLevel = Literal["response", "span"]
ScoreProtocol = Literal["all", "good-only", "read-only"]
Arm = Literal["removal", "extractive", "generative"]
Condition = Literal["original", "removal", "extractive", "generative"]
ActionKind = Literal["keep", "substitute", "rewrite", "drop"]
JudgementStatus = Literal["ok", "empty_answer"]
FigureFormat = Literal["pdf", "png"]

TASKS: tuple[TaskType, ...] = ("QA", "Data2txt", "Summary")
ARMS: tuple[Arm, ...] = ("removal", "extractive", "generative")
CONDITIONS: tuple[Condition, ...] = ("original", *ARMS)

DANGLING = "orphaned_pronoun"  # a finding: a pronoun whose noun went with another sentence

Probability = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]
Name = Annotated[str, Field(min_length=1)]


class Record(BaseModel):
    """Base of all records: frozen, strict types, unknown keys forbidden."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Span(Record):
    """A stretch of some text: `text == whole[start:end]`."""

    start: Count
    end: Count
    text: str

    @model_validator(mode="after")
    def _has_matching_length(self) -> Self:
        if self.end - self.start != len(self.text) or self.end <= self.start:
            message = f"span {self.start}:{self.end} does not fit its text of {len(self.text)}"
            raise ValueError(message)
        return self


class GoldSpan(Span):
    """A human annotation of an unsupported stretch (RAGTruth's label)."""

    label_type: str
    implicit_true: bool = False
    due_to_null: bool = False


class Source(Record):
    """What an answer must be supported by: running text or structured fields.

    For QA, `text` holds the passages; the question is context, never evidence.
    """

    source_id: Name
    task_type: TaskType
    text: str | None = None
    fields: dict[str, JsonValue] | None = None
    question: str | None = None

    @model_validator(mode="after")
    def _has_one_body(self) -> Self:
        if (self.text is None) == (self.fields is None):
            raise ValueError("a source has either `text` or `fields`")
        return self


class Response(Record):
    """One answer of a generator; `gold_spans` is None where nobody annotated it."""

    record_id: Name
    source_id: Name
    generator: str
    text: str
    gold_spans: tuple[GoldSpan, ...] | None = None
    split: Split
    quality: str | None = None

    @property
    def is_gold_hallucinated(self) -> bool | None:
        """Whether at least one gold span exists; None without annotation."""
        return None if self.gold_spans is None else bool(self.gold_spans)


class Detection(Record):
    """A detector's verdict on one response; `empty` and `unparsed` count as not flagged.

    Of a trained detector, `status` says how its answer was read: `empty` and `unparsed` verdicts
    come of the others than `ok`. `contradicts`: its boolean, which is the verdict, and its spans
    say different things. `unlocated` are the spans that stand nowhere in the response, and
    `left_out_fragments` counts the sentences of the source that it did not see.
    """

    record_id: Name
    run_id: Name
    verdict: DetectionVerdict
    spans: tuple[Span, ...] = ()
    score: Finite | None = None
    type: str | None = None
    explanation: str | None = None
    initial: DetectionVerdict | None = None
    raw: str | None = None
    status: AnswerStatus | None = None
    contradicts: bool = False
    unlocated: tuple[str, ...] = ()
    left_out_fragments: Count = 0


class Selected(Record):
    """One response of the evaluated split: its gold label and whether the run flagged it."""

    record_id: Name
    source_id: Name
    task_type: TaskType
    gold: bool | None
    verdict: DetectionVerdict
    flagged: bool


class DetectorScore(Record):
    """Counts of one run at one level over one group of responses (characters for spans)."""

    run_id: Name
    level: ScoreLevel
    protocol: ScoreProtocol
    group: TaskType | Literal["pooled"]
    n_responses: Count
    tp: Count
    fp: Count
    fn: Count
    tn: Count


class Claim(Record):
    """A part of an answer that is kept, replaced or dropped as one: an exact span of it.

    `coordinator` is the leading word ("and", "but", …) by which a coordinated clause hangs
    on the one before; it is part of `text` and is stripped when that clause goes.
    """

    record_id: Name
    claim_id: Name
    text: Name
    start: Count
    end: Count
    kind: ClaimKind
    coordinator: str | None = None


class Evidence(Record):
    """One source fragment offered for one claim; rank counts from 1, score is a cosine."""

    record_id: Name
    claim_id: Name
    rank: Annotated[int, Field(ge=1)]
    fragment_id: Name
    text: Name
    score: Finite


class Verdict(Record):
    """Pass 1: how far the source supports a claim.

    `p_support` is what thresholds are compared with. `label_probs` are the model's own
    probabilities; the embedded verifier's differ, since its score is shifted, and whoever
    calibrates uses these. Of a language model, `candidate_mass` is P(Yes) + P(No), `form_probs`
    P of each form of these words, `p_interval` between what `p_support` lies where the server
    told its most probable tokens only, and `left_out_fragments` how many fragments of the source
    did not fit its context.
    """

    record_id: Name
    claim_id: Name
    p_support: Probability
    label_probs: dict[str, Probability] | None = None
    candidate_mass: Probability | None = None
    p_interval: tuple[Probability, Probability] | None = None
    form_probs: dict[str, Probability] | None = None
    left_out_fragments: Count = 0
    model: Name


class Gate(Record):
    """The do-no-harm gate's finding on a candidate; `reasons` is empty when it passed."""

    passed: bool
    reasons: tuple[str, ...] = ()


class Rewrite(Record):
    """What the rewriter made of one eligible claim: `text` is None when nothing is supported."""

    record_id: Name
    claim_id: Name
    text: Name | None
    model: Name
    left_out_fragments: Count = 0
    raw: str | None = None


class Candidate(Record):
    """A proposed replacement of one claim, with gate and pass-2 verdict.

    `p_support` is None when the gate already refused the text, so that it was not verified;
    `candidate_mass`, `p_interval` and `left_out_fragments` as in a verdict.
    """

    record_id: Name
    claim_id: Name
    kind: CandidateKind
    text: Name
    evidence_ids: tuple[str, ...]
    gate: Gate
    p_support: Probability | None = None
    candidate_mass: Probability | None = None
    p_interval: tuple[Probability, Probability] | None = None
    left_out_fragments: Count = 0
    accepted: bool


class Action(Record):
    """What one arm did with one claim; `text` is what stands in the repaired answer.

    `kind` is what the arm decided; `edits` names what assembly did to fit the text in:
    "strip_coordinator", "strip_connective" (a capital put where it is due), "capitalise" (a
    clause that begins a sentence now), "add_stop", "renumber" (the number of the item it
    begins), "drop_without_content" (a kept heading or lead-in with nothing left under it, of
    which no text stands), "keep_head" (of a dropped heading, lead-in or table header under which
    content stands, all of its text: without it that would fall under another).
    """

    record_id: Name
    claim_id: Name
    arm: Arm
    kind: ActionKind
    text: str
    edits: tuple[str, ...] = ()


class RepairedAnswer(Record):
    """An answer in one condition (`original` is one); character counts are code points.

    `findings` names what is not well formed in `text` and was so in the original answer
    neither; the original's own row has what was found in itself. `DANGLING` among them is no
    fault of form but of reference, and is counted apart.
    """

    record_id: Name
    condition: Condition
    text: str
    n_claims: Count
    n_kept: Count
    original_chars: Count
    repaired_chars: Count
    findings: tuple[str, ...] = ()


class Judgement(Record):
    """One judge's finding on one answer; label 1 = at least one unsupported span.

    `spans` are those found in the answer, `unlocated` the strings that a language model named and
    that stand nowhere in it: they count for the label too. `raw` is its answer as it came.
    """

    record_id: Name
    condition: Condition
    judge: Name
    label: Literal[0, 1]
    spans: tuple[Span, ...] = ()
    unlocated: tuple[str, ...] = ()
    left_out_fragments: Count = 0
    status: JudgementStatus = "ok"
    raw: str | None = None


class Shortened(Record):
    """A source of which fragments were left out, for it did not fit a model's context."""

    record_id: Name
    left_out_fragments: Annotated[int, Field(ge=1)]
    claim_id: str | None = None
    condition: str | None = None
    judge: str | None = None


class Fault(Record):
    """An answer that could not be had or read; written beside the decisions, never among them."""

    stage: Name
    record_id: Name
    status: FaultStatus
    message: str
    claim_id: str | None = None
    condition: str | None = None
    judge: str | None = None
    raw: str | None = None


R = TypeVar(
    "R", Response, Detection, Selected, Claim, Evidence, Verdict, Rewrite, Candidate, Action
)


def record_order(record_id: str) -> tuple[int, int, str, str]:
    """Return the sort key of record ids: numbers by value, then everything else by text.

    RAGTruth's six answers of a source have consecutive ids, so this order also keeps the
    answers of a source together, which serves a model server's prefix cache.
    """
    if record_id.isascii() and record_id.isdecimal():
        digits = record_id.lstrip("0")  # compared by length and text: no id is too long
        return (0, len(digits), digits, record_id)
    return (1, 0, record_id, "")


def by_record(records: Iterable[R]) -> dict[str, list[R]]:
    """Group records by `record_id`, keeping the given order within each group."""
    groups: dict[str, list[R]] = {}
    for record in records:
        groups.setdefault(record.record_id, []).append(record)
    return groups
