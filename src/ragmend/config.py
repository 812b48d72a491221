"""The configuration of one experiment: TOML in, one frozen strict model out.

Unknown keys are errors that name the nearest valid key. `${NAME}` inside a string value
comes from the environment; a secret is never anywhere else. `--set key=value` overrides a
value before `${NAME}` is looked up, so an overridden path needs no variable.
"""

import difflib
import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ragmend.errors import ConfigError, MissingInputError
from ragmend.io import explain, read_file
from ragmend.records import TASKS, FigureFormat, Name, SpanPolicy, Split, TaskType
from ragmend.toml_files import (
    expand_variables,
    parse_toml,
    read_path_or_shipped,
    refuse_deep,
    shipped_names,
)

Backend = Literal["lexical"]


class Section(BaseModel):
    """Base of all sections: frozen, strict, unknown keys forbidden."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", use_attribute_docstrings=True
    )


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

    kind: Literal["predictions", "lexical"]
    """`predictions`: anybody's recorded verdicts from a file; `lexical`: the embedded one."""
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
        if self.kind == "lexical" and (self.predictions or self.system):
            raise ValueError("`predictions` and `system` are not allowed for kind 'lexical'")
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


class VerifierConfig(Section):
    """Who says how far a source supports a claim."""

    backend: Backend = "lexical"
    """`lexical`: the embedded learned model, without a language model."""
    threshold: Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)] = 0.5
    """A claim is kept when P(support) >= threshold."""
    verify_edit: Literal["claim", "in_context"] = "claim"
    """What pass 2 scores: the edited text alone, or between its neighbours as they stand in the
    original answer (unsupported ones included, which lowers the score)."""
    parameters: str | None = None
    """A parameter file of `ragmend fit-verifier`; None: the one that ships."""
    answer_features: bool = False
    """Whether the embedded verifier also looks at a claim's place in its answer and at the
    answer's length; what an application gets for one claim does not depend on them."""


class RewriterConfig(Section):
    """Who proposes rewrites for the generative arm."""

    backend: Backend = "lexical"
    """`lexical`: cuts a claim down to what the source supports, or proposes nothing."""


class JudgeConfig(Section):
    """One judge of the panel."""

    name: Name
    """The name in every table; for `lexical`, one of the embedded judges."""
    backend: Backend = "lexical"
    """`lexical`: an embedded heuristic."""


class JudgesConfig(Section):
    """Who judges the complete answers."""

    panel: Annotated[tuple[JudgeConfig, ...], Field(min_length=1)]
    """The judges, each with a name of its own."""
    primary: Name
    """The judge that drives the per-task tables and the trade-off figure."""

    @model_validator(mode="after")
    def _has_its_primary_once(self) -> Self:
        names = [judge.name for judge in self.panel]
        if len(set(names)) != len(names):
            raise ValueError(f"judge names must differ, found {names}")
        if self.primary not in names:
            raise ValueError(f"the primary judge {self.primary!r} is none of {names}")
        return self


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


class Config(Section):
    """One experiment."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """Names the run folder when --out is not given."""
    data: DataConfig
    detector: DetectorConfig
    judges: JudgesConfig
    population: PopulationConfig = PopulationConfig()
    claims: ClaimsConfig = ClaimsConfig()
    evidence: EvidenceConfig = EvidenceConfig()
    verifier: VerifierConfig = VerifierConfig()
    rewriter: RewriterConfig = RewriterConfig()
    analysis: AnalysisConfig = AnalysisConfig()

    @model_validator(mode="after")
    def _verifies_whole_answers_where_needed(self) -> Self:
        if self.verifier.answer_features and self.claims.verify != "all":
            raise ValueError(
                "verifier.answer_features needs claims.verify = 'all': a claim's place is among "
                "all claims of its answer"
            )
        return self


def load_config(
    where: str, overrides: Sequence[str] = (), environ: Mapping[str, str] | None = None
) -> Config:
    """Load an experiment from a path or the name of a shipped configuration.

    Args:
        where: Path of a TOML file, or the name of a file under `configs/` without ".toml".
        overrides: `section.key=value` strings; the value is read as TOML, else as a string. An
            empty one unsets the key.
        environ: Variables for `${NAME}`; the process's own when None.

    Raises:
        MissingInputError: Neither a file nor a shipped name.
        ConfigError: Not TOML, an unknown key, a value out of range, an unset variable.
    """
    content = read_path_or_shipped(where, resources.files("ragmend.configs"), what="configuration")
    raw = parse_toml(content, where)
    for override in overrides:
        _apply_override(raw, override)
    refuse_deep(raw, where)
    expanded = _expand(raw, os.environ if environ is None else environ, where)
    return validate_config(expanded, where)


def read_resolved_config(path: Path) -> Config:
    """Read the configuration that a run holds: nothing in it is looked up any more.

    Raises:
        MissingInputError: No such file.
        ConfigError: Not TOML, or not a configuration of this version.
    """
    if not path.is_file():
        raise MissingInputError(f"{path.parent}: no run folder (there is no {path.name} in it)")
    raw = parse_toml(read_file(path), str(path))
    refuse_deep(raw, str(path))
    return validate_config(raw, str(path))


def validate_config(raw: Mapping[str, Any], origin: str) -> Config:
    """Validate a parsed configuration.

    Raises:
        ConfigError: An unknown key (the nearest valid one is named) or a bad value.
    """
    try:
        # JSON mode: strict Python mode would refuse a list where a tuple is meant.
        return Config.model_validate_json(json.dumps(raw, default=str))
    except ValidationError as error:
        raise ConfigError(f"{origin}: {_explain_config(error)}") from error


def dump_config(config: Config) -> bytes:
    """Return the resolved configuration as TOML; unset optional keys are left out."""
    return tomli_w.dumps(config.model_dump(mode="json", exclude_none=True)).encode()


def shipped_configs() -> list[str]:
    """Return the names that `load_config` accepts beside paths."""
    return shipped_names(resources.files("ragmend.configs"))


def _apply_override(raw: dict[str, Any], override: str) -> None:
    key, separator, text = override.partition("=")
    if not separator or not key.strip():
        raise ConfigError(f"--set {override}: expected key=value, for example data.path=DIR")
    *sections, last = key.strip().split(".")
    table = raw
    for section in sections:
        table = table.setdefault(section, {})
        if not isinstance(table, dict):
            raise ConfigError(f"--set {override}: {section!r} is a value, not a section")
    if text.strip():
        table[last] = _read_value(text)
    else:
        table.pop(last, None)


def _read_value(text: str) -> Any:  # noqa: ANN401 - any TOML value
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    # A line break in it could bring in other keys, which nobody would read.
    return parsed["value"] if len(parsed) == 1 else text


def _expand(value: Any, environ: Mapping[str, str], origin: str, key: str = "") -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {
            name: _expand(item, environ, origin, f"{key}.{name}".lstrip("."))
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [_expand(item, environ, origin, key) for item in value]
    if not isinstance(value, str):
        return value
    return expand_variables(
        value, environ, whose=f"{origin}: {key}", otherwise=f"give --set {key}=VALUE"
    )


def _explain_config(error: ValidationError) -> str:
    for finding in error.errors(include_url=False):
        if finding["type"] == "extra_forbidden":
            return _explain_unknown_key([str(part) for part in finding["loc"]])
    return explain(error, "configuration")


def _explain_unknown_key(path: list[str]) -> str:
    known = _known_keys()
    dotted = ".".join(part for part in path if not part.isdecimal())
    near = difflib.get_close_matches(dotted, known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else f"; known keys: {', '.join(known)}"
    return f"unknown key {'.'.join(path)!r}{hint}"


def _known_keys() -> list[str]:
    keys = list(Config.model_fields)
    for name, field in Config.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, Section):
            keys += [f"{name}.{key}" for key in section.model_fields]
    keys += [f"judges.panel.{key}" for key in JudgeConfig.model_fields]
    return sorted(keys)
