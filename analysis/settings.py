"""What an analysis is told: how to compute, and where its numbers come from."""

from typing import Annotated, Literal

from pydantic import Field

from ragmend.records import Count, FigureFormat, Name, Probability, Record

Family = Literal["primary", "exploratory"]
Incomplete = Literal["refuse", "drop"]

SIGNIFICANCE_LEVEL = 0.05
"""Two-sided level at which any table or sentence calls a difference shown.

It is fixed: a wider or narrower interval (`Settings.confidence`) moves no verdict.
"""


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
    confidence: Annotated[float, Field(ge=1e-12, le=1 - 1e-12)] = 0.95
    """Confidence level of every interval."""
    conditions: tuple[Name, ...] = ()
    """The conditions that every record must have been judged in, in table order; empty: those
    found in the labels."""
    reference: Name | None = None
    """The condition of the untouched answers; None: `original` if it is there."""
    family: tuple[Name, ...] = ()
    """Names of the primary contrasts, `a-b` or `a:b`; empty: by the rule of `label_design`."""
    incomplete: Incomplete = "refuse"
    """What to do with records that lack a label: stop, or leave the whole record out."""
    margin_pp: Annotated[float, Field(gt=0.0, lt=100.0)] = 5.0
    """Two rates closer than this many percentage points are called equivalent."""
    figure_formats: tuple[FigureFormat, ...] = ("pdf", "png")
    """Formats of the figures besides SVG, which a report shows."""
    power: Annotated[float, Field(gt=0.05, le=1 - 1e-12)] = 0.8
    """Power at which a detectable difference is quoted; a test at 5 % has more in any case."""


class FaultCount(Record):
    """How many answers of one stage had one parse status other than ok."""

    stage: Name
    status: Name
    count: Count
    answers: Annotated[int, Field(ge=1)]


class InputFile(Record):
    """A file that numbers come from, as a reader can find it, and its hash."""

    path: Name
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Provenance(Record):
    """Where the numbers come from, for the notes under every table."""

    embedded_verifier: bool = False
    """Whether the verifier was the lexical one."""
    embedded_judges: bool = False
    """Whether all judges were heuristics."""
    heuristic_judges: tuple[Name, ...] = ()
    """The heuristics among the judges, where others were language models."""
    verifier_name: str | None = None
    """The verifier's model, as recorded."""
    threshold: Probability = 0.5
    """Claims with P(support) strictly below it are eligible for repair."""
    unstable_within: Annotated[float, Field(ge=0.0, le=0.5)] = 0.01
    """Decisions so near the threshold may come out otherwise on another run."""
    judges: tuple[Name, ...] = ()
    """The judges in table order; empty: those found, by name."""
    primary_judge: str | None = None
    """The judge that drives per-task tables; None: by the rule of `Study.primary_judge`."""
    verifier_family_judges: tuple[Name, ...] = ()
    """Judges of the verifier's model family, marked wherever they are named."""
    remarks: tuple[str, ...] = ()
    """What a reader of any table must know of the answers: some left out, some seen before."""
    faults: tuple[FaultCount, ...] | None = None
    """Faulty answers of each stage; None: the input does not say."""
    inputs: dict[str, tuple[InputFile, ...]] = Field(default_factory=dict)
    """The files behind each frame, by the frame's name; empty: frames made in memory."""
    command: str = "ragmend.analysis"
    """The command that makes the numbers again."""

    def name_of(self, frame: str) -> str:
        """Return the name of a frame's only file for messages, else the frame's own name."""
        files = self.inputs.get(frame, ())
        return files[0].path if len(files) == 1 else frame

    @property
    def has_model_verifier(self) -> bool:
        """Tell whether the verifier is known to be a language model."""
        return self.verifier_name is not None and not self.embedded_verifier

    def is_heuristic(self, judge: str) -> bool:
        """Tell whether a judge was a heuristic."""
        return self.embedded_judges or judge in self.heuristic_judges
