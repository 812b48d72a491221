"""The configuration of one experiment: TOML in, one frozen strict model out.

Unknown keys are errors that name the nearest valid key. `${NAME}` inside a string value
comes from the environment; a secret is never anywhere else. `--set key=value` overrides a
value before `${NAME}` is looked up, so an overridden path needs no variable.
"""

import difflib
import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Self, cast

import tomli_w
from pydantic import Field, ValidationError, model_validator

from ragmend.errors import ConfigError, MissingInputError
from ragmend.io import explain, read_file
from ragmend.sections.data import (
    AnalysisConfig,
    ClaimsConfig,
    DataConfig,
    DetectorConfig,
    EvidenceConfig,
    PopulationConfig,
)
from ragmend.sections.models import ClientConfig, ModelConfig, ServeConfig
from ragmend.sections.roles import (
    JudgeConfig,
    JudgesConfig,
    RewriterConfig,
    RoleConfig,
    VerifierConfig,
)
from ragmend.sections.section import Section
from ragmend.sections.training import Recipe, TrainedModelConfig, TrainingConfig
from ragmend.toml_files import (
    expand_variables,
    map_strings,
    parse_toml,
    read_path_or_shipped,
    refuse_deep,
    shipped_names,
)

END = b"# end\n"  # of a run's configuration: what stands before any cut may be valid TOML too


class Config(Section):
    """One experiment."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """Names the run folder when --out is not given."""
    data: DataConfig
    detector: DetectorConfig
    judges: JudgesConfig
    training: TrainingConfig | None = None
    """The detectors of kind `trained`."""
    population: PopulationConfig = PopulationConfig()
    claims: ClaimsConfig = ClaimsConfig()
    evidence: EvidenceConfig = EvidenceConfig()
    verifier: VerifierConfig = VerifierConfig()
    rewriter: RewriterConfig = RewriterConfig()
    analysis: AnalysisConfig = AnalysisConfig()
    servers: dict[str, Annotated[str, Field(pattern=r"^https?://[^\s/?#@]+(/[^\s@]*)?$")]] = Field(
        default_factory=dict
    )
    """Where the servers of the roles are, by role: `verifier`, `rewriter` or a judge's name, as in
    "http://127.0.0.1:8000/v1". It changes no answer, so no protocol holds it. A key has no place in
    it: `api_key_env` names the variable that holds one."""
    client: ClientConfig = ClientConfig()
    serve: ServeConfig = ServeConfig()

    @model_validator(mode="after")
    def _verifies_whole_answers_where_needed(self) -> Self:
        if self.verifier.answer_features and self.claims.verify != "all":
            raise ValueError(
                "verifier.answer_features needs claims.verify = 'all': a claim's place is among "
                "all claims of its answer"
            )
        return self

    @model_validator(mode="after")
    def _follows_one_trained_run(self) -> Self:
        if self.detector.kind != "trained":
            return self
        if self.training is None:
            raise ValueError("detector.kind 'trained' needs the section `training`")
        if self.data.kind == "demo":
            raise ValueError("the built-in data have no train split: no detector can be trained")
        runs = self.training.run_ids()
        if self.population.run is None and len(runs) > 1:
            raise ValueError(
                f"population.run is required: which of {len(runs)} detectors flags the answers "
                f"that are repaired? As in {runs[-1]!r}"
            )
        if self.population.run not in (None, *runs):
            raise ValueError(
                f"population.run {self.population.run!r} is no training: {', '.join(runs)}"
            )
        return self

    @property
    def trainings(self) -> TrainingConfig:
        """The section `training`, where it is known to be there."""
        if self.training is None:
            raise ConfigError("this configuration has no section `training`")
        return self.training

    @model_validator(mode="after")
    def _has_servers_of_its_roles_only(self) -> Self:
        roles = self.roles()
        for name in self.servers:
            if name not in roles:
                raise ValueError(f"servers.{name}: no such role, there are: {', '.join(roles)}")
        return self

    def roles(self) -> dict[str, RoleConfig]:
        """Return all roles by name: `verifier`, `rewriter`, and each judge's own name."""
        judges = {judge.name: judge for judge in self.judges.panel}
        return {"verifier": self.verifier, "rewriter": self.rewriter, **judges}


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
    content = read_file(path)
    raw = parse_toml(content, str(path))
    refuse_deep(raw, str(path))
    config = validate_config(raw, str(path))
    if not content.endswith(END):
        raise ConfigError(
            f"{path}: its last line, {END.decode().strip()!r}, is missing: it was cut"
        )
    return config


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
    return tomli_w.dumps(config.model_dump(mode="json", exclude_none=True)).encode() + END


def shipped_configs() -> list[str]:
    """Return the names that `load_config` accepts beside paths."""
    return shipped_names(resources.files("ragmend.configs"))


def _apply_override(raw: dict[str, Any], override: str) -> None:
    key, separator, text = override.partition("=")
    if not separator or not key.strip():
        raise ConfigError(f"--set {override}: expected key=value, for example data.path=DIR")
    *sections, last = _key_parts(key.strip())
    table = raw
    for section in sections:
        table = table.setdefault(section, {})
        if not isinstance(table, dict):
            raise ConfigError(f"--set {override}: {section!r} is a value, not a section")
    if text.strip():
        table[last] = _read_value(text)
    else:
        table.pop(last, None)


def _key_parts(key: str) -> list[str]:
    """Return the parts of a dotted key; a part may be quoted as in TOML."""
    try:
        value: Any = tomllib.loads(f"{key} = 0")
    except ValueError:
        return key.split(".")
    parts = []
    while isinstance(value, dict) and len(value) == 1:
        ((part, value),) = value.items()
        parts.append(part)
    return parts if value == 0 else key.split(".")


def quote_key(name: str) -> str:
    """Return a name as a part of a dotted key; quoted, where it could be taken for several."""
    is_bare = re.fullmatch(r"[A-Za-z0-9_-]+", name) is not None
    return name if is_bare else json.dumps(name)


def _read_value(text: str) -> Any:  # noqa: ANN401 - any TOML value
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    # A line break in it could bring in other keys, which nobody would read.
    return parsed["value"] if len(parsed) == 1 else text


def _expand(raw: dict[str, Any], environ: Mapping[str, str], origin: str) -> dict[str, Any]:
    def look_up(key: str, text: str) -> str:
        return expand_variables(
            text, environ, whose=f"{origin}: {key}", otherwise=f"give --set {key}=VALUE"
        )

    return cast("dict[str, Any]", map_strings(raw, look_up))


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
    places = ("verifier.model", "rewriter.model", "judges.panel.model", "training.models.model")
    keys += [f"{place}.{key}" for place in places for key in ModelConfig.model_fields]
    keys += [f"training.{key}" for key in TrainingConfig.model_fields]
    keys += [f"training.models.{key}" for key in TrainedModelConfig.model_fields]
    keys += [f"training.recipe.{key}" for key in Recipe.model_fields]
    return sorted(keys)
