"""Sections about data, claims, evidence and analysis: everything but who answers."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from ragmend.records import TASKS, FigureFormat, SpanPolicy, Split, TaskType
from ragmend.sections.section import Section


class DataConfig(Section):
    """Which answers and sources are read."""

    kind: Literal["ragtruth", "demo"] = "ragtruth"
    """`ragtruth`: a folder in RAGTruth's official schema; `demo`: the built-in set."""
    path: str | None = None
    """The folder; required for `ragtruth`, refused for `demo`."""
    split: Split = "test"
    """The split whose answers are detected, repaired and judged."""
    tasks: Annotated[tuple[TaskType, ...], Field(min_length=1)] = TASKS
    """The tasks that take part."""
    implicit_true: SpanPolicy = "count"
    """`ignore`: a gold span marked implicit_true is no gold span (official: count)."""
    due_to_null: SpanPolicy = "count"
    """`ignore`: a gold span marked due_to_null is no gold span (official: count)."""
    limit: Annotated[int, Field(ge=1)] | None = None
    """At most so many answers of the split, spread over the tasks, for trying out."""
    development: Literal["keep", "leave_out"] = "keep"
    """`leave_out`: without the 30 data-to-text test sources on which the embedded verifier was
    developed, so that no figure is of answers that it has seen."""

    @model_validator(mode="after")
    def _has_a_path_where_needed(self) -> Self:
        if self.kind == "ragtruth" and not self.path:
            raise ValueError("`path` is required for kind 'ragtruth': the folder with the data")
        if len(set(self.tasks)) < len(self.tasks):
            raise ValueError(f"`tasks` must differ, found {list(self.tasks)}")
        if self.kind == "demo" and self.path is not None:
            raise ValueError("`path` is not allowed for kind 'demo': the data is built in")
        return self


class DetectorConfig(Section):
    """Where verdicts on whole answers come from."""

    kind: Literal["predictions", "lexical", "trained"]
    """`predictions`: anybody's recorded verdicts from a file; `lexical`: the embedded one;
    `trained`: those of `training`, of which `population.run` names the one that is followed."""
    predictions: str | None = None
    """JSONL or CSV file, plain or .gz, one row a response."""
    system: str | None = None
    """The column, or the key of a mapping column, that holds this detector's output."""
    unknown_records: Literal["error", "ignore"] = "error"
    """What to do with predictions for responses that the data does not hold."""
    missing_records: Literal["error", "exclude"] = "error"
    """What to do with responses without a prediction: stop, or leave them out (counted)."""

    @model_validator(mode="after")
    def _has_predictions_where_needed(self) -> Self:
        if self.kind == "predictions" and not self.predictions:
            raise ValueError("`predictions` is required for kind 'predictions'")
        if self.kind != "predictions" and (self.predictions or self.system):
            raise ValueError(f"`predictions` and `system` are not allowed for kind {self.kind!r}")
        return self


class PopulationConfig(Section):
    """Which answers are repaired: those that one named run flagged."""

    run: str | None = None
    """The detector run that defines the population; None: the only one there is."""
    limit: Annotated[int, Field(ge=1)] | None = None
    """At most so many flagged answers, first by record id (for trying out)."""


class ClaimsConfig(Section):
    """How answers become claims."""

    verify: Literal["all", "statements"] = "all"
    """`statements`: headings, lead-ins and questions are kept without being verified."""


class EvidenceConfig(Section):
    """How evidence is found."""

    top_k: Annotated[int, Field(ge=1, le=50)] = 3
    """Fragments a claim, at most; no two of them share a sentence or say one field twice. The
    embedded verifier looks at three and was fitted with three."""
    window: Annotated[int, Field(ge=1, le=3)] = 1
    """Sentences a fragment: 2 or 3 offers neighbouring sentences of one passage, review or text
    together as well, where a claim draws on more than one. Fields stand for themselves."""


class AnalysisConfig(Section):
    """How intervals are computed, and what the figures come as."""

    figure_formats: tuple[FigureFormat, ...] = ("pdf", "png")
    """Formats of the figures besides SVG, which the report shows."""
    n_resamples: Annotated[int, Field(ge=100, le=1_000_000)] = 10_000
    """Bootstrap resamples of records."""
    seed: Annotated[int, Field(ge=0)] = 42
    """Seed of the bootstrap."""
    confidence: Annotated[float, Field(gt=0.5, le=0.9999)] = 0.95
    """Confidence level of every interval."""
