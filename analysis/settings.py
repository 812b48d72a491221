"""What an analysis is told: how to compute, and where its numbers come from."""

from typing import Annotated, Literal

from pydantic import Field

from ragmend.records import CONDITIONS, Count, Name, Probability, Record

Family = Literal["primary", "exploratory"]


class Contrast(Record):
    """A comparison of two conditions on the same records: B minus A."""

    a: Name
    b: Name
    family: Family

    @property
    def name(self) -> str:
        """The name in every table, as in `original-removal`."""
        return f"{self.a}-{self.b}"


PAPER_CONTRASTS = (
    Contrast(a="original", b="removal", family="primary"),
    Contrast(a="original", b="extractive", family="primary"),
    Contrast(a="original", b="generative", family="primary"),
    Contrast(a="removal", b="extractive", family="primary"),
    Contrast(a="extractive", b="generative", family="primary"),
    Contrast(a="removal", b="generative", family="exploratory"),
)
"""Five contrasts fixed before judging, and one outside the Holm family.

Source: arXiv 2608.29307, section 5.
"""


class Settings(Record):
    """How the numbers are computed; the defaults are the paper's."""

    n_resamples: Annotated[int, Field(ge=1)] = 10_000
    """Bootstrap resamples of records."""
    seed: Annotated[int, Field(ge=0)] = 42
    """Seed of the bootstrap; every statistic starts the stream anew."""
    confidence: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.95
    """Confidence level of every interval."""
    conditions: tuple[str, ...] = CONDITIONS
    """The conditions that every record must have been judged in, in table order."""
    contrasts: tuple[Contrast, ...] = PAPER_CONTRASTS
    """The comparisons; p-values are adjusted within the primary ones of each judge."""


class FaultCount(Record):
    """How many answers of one stage had one parse status other than ok."""

    stage: Name
    status: Name
    count: Count
    answers: Annotated[int, Field(ge=1)]


class Provenance(Record):
    """Where the numbers come from, for the notes under every table."""

    embedded_verifier: bool = False
    """Whether the verifier was the lexical one."""
    embedded_judges: bool = False
    """Whether the judges were heuristics."""
    verifier_name: str | None = None
    """The verifier's model, as recorded."""
    threshold: Probability = 0.5
    """Claims with P(support) strictly below it are eligible for repair."""
    judges: tuple[Name, ...] = ()
    """The judges in table order; empty: those found, by name."""
    primary_judge: str | None = None
    """The judge that drives per-task tables."""
    remarks: tuple[str, ...] = ()
    """What a reader of any table must know of the answers: some left out, some seen before."""
    faults: tuple[FaultCount, ...] | None = None
    """Faulty answers of each stage; None: the input does not say."""
