"""The cluster file: what a cluster is called, what its jobs may have, where the software lies.

It says nothing about the experiment: the same one runs on any cluster, and gives the same results.
"""

import difflib
import json
import os
import re
from collections.abc import Mapping
from importlib import resources
from typing import Annotated, Any, Literal, Self, TypeAlias, cast

from pydantic import AfterValidator, Field, ValidationError, model_validator

from ragmend.errors import ConfigError
from ragmend.io import explain
from ragmend.sections.models import VariableName, is_secret
from ragmend.sections.section import Section
from ragmend.slurm.times import parse_time
from ragmend.toml_files import (
    expand_variables,
    map_strings,
    parse_toml,
    read_path_or_shipped,
    refuse_deep,
    variables_in,
)

EnvironmentName = Literal["base", "train", "serve"]
ResourceName = Literal["default", "train", "predict", "cpu", "analyze", "embedded", "served"]
# What the submitter itself says of every job.
OURS = frozenset(
    "account array begin chdir comment constraint cpus-per-task dependency error export gpus "
    "gpus-per-node gpus-per-task gres hold job-name kill-on-invalid-dep mem nodes ntasks open-mode "
    "output parsable partition qos requeue no-requeue reservation signal test-only time wait wrap"
    "".split()
)


def _is_time(text: str) -> str:
    parse_time(text)
    return text


Word: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.,:+@&|()*=/-]{0,99}$")]
"""A word that stands in a job's header as it is."""
Time: TypeAlias = Annotated[str, AfterValidator(_is_time)]
Line: TypeAlias = Annotated[str, Field(pattern=r"^[^\r\n]+$")]
Count: TypeAlias = Annotated[int, Field(ge=1)]


class Resources(Section):
    """What a task of a job gets; what is left out is taken from the more general section."""

    partition: Word | None = None
    """None: the cluster's default."""
    account: Word | None = None
    """Who pays; None: the user's default."""
    qos: Word | None = None
    """Quality of service."""
    reservation: Word | None = None
    """A reservation."""
    constraint: Word | None = None
    """Features that a node must have, as "gpu80gb"."""
    time: Time | None = None
    """The time limit of one life of a task, as SLURM writes it: "1-12:00:00"."""
    cpus: Count | None = None
    """CPUs a task."""
    memory_gb: Count | None = None
    """Memory a task in GB; None: the cluster's default."""
    gpus: Annotated[int, Field(ge=0)] | None = None
    """GPUs a task, all on one node."""
    gpu_type: Word | None = None
    """Their type as SLURM calls it: "a100"; None: any."""
    gpu_memory_gb: Count | None = None
    """Memory of one such GPU, with which models are compared before anything is submitted."""
    max_running: Count | None = None
    """Tasks of one array that run at once, at most; None: no limit of our own."""
    extra: tuple[Line, ...] = ()
    """Other options for sbatch, as "--exclusive"; one that ragmend sets itself is refused."""

    @model_validator(mode="after")
    def _has_options_of_its_own(self) -> Self:
        for option in self.extra:
            found = re.fullmatch(r"--([a-z][a-z-]*)(?:=\S+)?", option)
            if found is None:
                raise ValueError(f"extra: {option!r} is no option, expected --name or --name=VALUE")
            # sbatch takes the beginning of an option for the option.
            if any(name.startswith(found.group(1)) for name in OURS):
                raise ValueError(f"extra: --{found.group(1)} is set by ragmend itself")
        return self

    def over(self, other: "Resources") -> "Resources":
        """Return these, with what they leave out taken from others."""
        own = {name: getattr(self, name) for name in self.model_fields_set}
        return other.model_copy(update={k: v for k, v in own.items() if v is not None})


class EnvironmentConfig(Section):
    """Where an environment lies, and what makes it usable."""

    python: Annotated[str, Field(pattern=r"^/[^\r\n]+$")]
    """Its interpreter, absolute: jobs have no path of yours."""
    modules: tuple[Word, ...] = ()
    """Environment modules to load, in order."""
    setup: tuple[Line, ...] = ()
    """Shell lines before anything else, as "source /etc/profile.d/lmod.sh"."""


class ShardsConfig(Section):
    """Into how many shards the answers of a stage are parted; each is one task of an array."""

    verify: Annotated[int, Field(ge=1, le=3000)] = 1
    """Shards of pass 1."""
    propose: Annotated[int, Field(ge=1, le=3000)] = 1
    """Shards of rewriting, and of pass 2."""
    judge: Annotated[int, Field(ge=1, le=1000)] = 1
    """Shards a judge."""


class ClusterConfig(Section):
    """One cluster, as one group of people uses it."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """For people."""
    environments: dict[EnvironmentName, EnvironmentConfig]
    """`base`: ragmend alone; `train`: with the extra [train]; `serve`: with [serve]. A stage runs
    in that which it needs; where there are no models, `base` is enough."""
    resources: dict[ResourceName, Resources]
    """By kind of job, each on top of `default`: `train`, `predict`, `cpu` (selecting, splitting,
    matching, folding, assembling), `analyze` (and the report), `embedded` (shards of roles without
    a model), `served` (shards of roles with one)."""
    roles: dict[Annotated[str, Field(min_length=1)], Resources] = Field(default_factory=dict)
    """By role, on top of `served`: `verifier`, `rewriter`, or a judge's name."""
    shards: ShardsConfig = ShardsConfig()
    tasks_at_most: Annotated[int, Field(ge=1)] | None = None
    """Tasks of one array, at most: more shards than this are packed, several into a task."""
    signal_lead_s: Annotated[int, Field(ge=10, le=3600)] = 120
    """How long before its time limit a task is asked to save; SLURM may be 60 s early."""
    lives: Annotated[int, Field(ge=1, le=1000)] = 20
    """How often a task may start, the first time included."""
    kill_on_invalid_dep: bool = True
    """Whether a job whose dependency can never be satisfied is ended by SLURM; else it stays, and
    `ragmend status` names it."""
    export: Literal["ALL", "NONE"] | tuple[VariableName, ...] = "ALL"
    """What jobs get of the environment in which they are submitted: all, nothing, or these, as
    ["HF_TOKEN"]. The scripts need nothing of it."""
    offline: bool = True
    """Whether compute nodes have no internet: models must be in the hub's cache beforehand
    (`ragmend prefetch`)."""
    variables: dict[VariableName, Line] = Field(default_factory=dict)
    """Variables of every job, as HF_HOME. They stand in scripts, so none may be a secret."""

    @model_validator(mode="after")
    def _has_what_jobs_need(self) -> Self:
        if "base" not in self.environments:
            raise ValueError("environments.base is required: its `python` runs most stages")
        if "cpu" not in self.resources and "default" not in self.resources:
            raise ValueError("resources.cpu or resources.default is required")
        for name in filter(is_secret, self.variables):
            raise ValueError(f"variables.{name} would be written to disk: let `export` pass it on")
        return self

    def resources_of(self, kind: ResourceName, role: str | None = None) -> Resources:
        """Return what a job gets, all sections that concern it put together.

        Raises:
            ConfigError: It would have no time limit or no CPUs.
        """
        found = Resources()
        for section in self._sections(kind, role).values():
            found = section.over(found)
        for needed in ("time", "cpus"):
            if getattr(found, needed) is None:
                raise ConfigError(f"{self.name}: resources.{kind}.{needed} is not set")
        return found

    def key_of(self, field: str, kind: ResourceName, role: str | None = None) -> str:
        """Return the key that says a resource of a job, as "roles.qwen.gpus"; else the default."""
        sections = self._sections(kind, role)
        setting = [k for k, section in sections.items() if getattr(section, field) is not None]
        return f"{setting[-1] if setting else 'resources.default'}.{field}"

    def _sections(self, kind: ResourceName, role: str | None) -> dict[str, Resources]:
        """Return the sections that concern a job by their keys, the most general first."""
        empty = Resources()
        names: list[ResourceName] = ["default", *_GENERAL[kind], kind]
        found = {f"resources.{name}": self.resources.get(name, empty) for name in names}
        if role is not None and kind == "served":
            found[f"roles.{role}"] = self.roles.get(role, empty)
        return found

    def environment_of(self, name: EnvironmentName) -> EnvironmentConfig:
        """Return an environment.

        Raises:
            ConfigError: The cluster file has none of this name.
        """
        if name not in self.environments:
            raise ConfigError(
                f"{self.name}: environments.{name} is not there: the experiment has stages that "
                f"need it (`pip install 'ragmend[{name}]'` in an environment of its own)"
            )
        return self.environments[name]


# Kinds that take from another than `default` first.
_GENERAL: dict[ResourceName, tuple[ResourceName, ...]] = {
    "default": (),
    "cpu": (),
    "train": (),
    "predict": ("train",),
    "analyze": ("cpu",),
    "embedded": ("cpu",),
    "served": (),
}


def load_cluster(where: str, environ: Mapping[str, str] | None = None) -> ClusterConfig:
    """Load a cluster file from a path or the name of a shipped one.

    Args:
        where: Path of a TOML file, or the name of a file under `slurm/clusters/`.
        environ: Variables for `${NAME}`; the process's own when None.

    Raises:
        MissingInputError: Neither a file nor a shipped name.
        ConfigError: Not TOML, an unknown key, a value out of range, an unset variable.
    """
    folder = resources.files("ragmend.slurm").joinpath("clusters")
    content = read_path_or_shipped(where, folder, what="cluster")
    raw = parse_toml(content, where)
    refuse_deep(raw, where)
    return validate_cluster(_expand(raw, os.environ if environ is None else environ, where), where)


def validate_cluster(raw: Mapping[str, Any], origin: str) -> ClusterConfig:
    """Validate a parsed cluster file.

    Raises:
        ConfigError: An unknown key (the nearest valid one is named) or a bad value.
    """
    try:
        return ClusterConfig.model_validate_json(json.dumps(raw, default=str))
    except ValidationError as error:
        raise ConfigError(f"{origin}: {_explain(error)}") from error


def _expand(raw: dict[str, Any], environ: Mapping[str, str], origin: str) -> dict[str, Any]:
    def look_up(key: str, text: str) -> str:
        # A shell line may hold variables of the job's own: they are the shell's business.
        if key.endswith(".setup"):
            return text
        for secret in filter(is_secret, variables_in(text)):
            raise ConfigError(
                f"{origin}: {key} would write {secret} to disk: let `export` pass it on to jobs"
            )
        return expand_variables(
            text, environ, whose=f"{origin}: {key}", otherwise="write the value there"
        )

    return cast("dict[str, Any]", map_strings(raw, look_up))


def _explain(error: ValidationError) -> str:
    for finding in error.errors(include_url=False):
        place = [str(part) for part in finding["loc"] if not str(part).isdecimal()]
        if finding["type"] == "extra_forbidden":
            return _unknown(place)
        if finding["type"] == "literal_error" and place and place[-1] == "[key]":
            return _unknown(place[:-1])
    return explain(error, "cluster file")


def _unknown(place: list[str]) -> str:
    dotted, known = ".".join(place), _known_keys()
    near = difflib.get_close_matches(dotted, known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else f"; known keys: {', '.join(known)}"
    return f"unknown key {dotted!r}{hint}"


def _known_keys() -> list[str]:
    keys = list(ClusterConfig.model_fields)
    keys += [f"shards.{key}" for key in ShardsConfig.model_fields]
    keys += [f"environments.{name}" for name in ("base", "train", "serve")]
    keys += [f"environments.base.{key}" for key in EnvironmentConfig.model_fields]
    for kind in _GENERAL:
        keys.append(f"resources.{kind}")
        keys += [f"resources.{kind}.{key}" for key in Resources.model_fields]
    keys += [f"roles.verifier.{key}" for key in Resources.model_fields]
    return sorted(keys)
