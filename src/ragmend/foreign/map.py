"""The map file: which foreign file, column and value becomes which of ours.

One section a table of ours, `[labels]`, or several, `[[labels]]`, whose rows are put together.
Strict as a configuration: an unknown key is an error that names the nearest valid one. A map
holds names and values only, no code and no patterns beyond how a name starts or ends.
"""

import difflib
import hashlib
import json
from collections.abc import Iterable
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

from pydantic import Field, ValidationError, model_validator

from ragmend.errors import ConfigError, DataError
from ragmend.foreign.readers import Format
from ragmend.foreign.targets import TABLE_NAMES, TARGETS, Column, TableName, Target
from ragmend.io import explain, path_text
from ragmend.records import Finite, Name
from ragmend.sections.section import Section
from ragmend.toml_files import parse_toml, read_path_or_shipped, refuse_deep, shipped_names

Scalar = bool | int | Finite | str
Place = Name | Annotated[tuple[Name, ...], Field(min_length=1)]
Names = Annotated[tuple[Name, ...], Field(min_length=1)]


class AnyElement(Section):
    """1 where some element of a list fits, 0 where none does.

    Without `field` every element fits. An element with an empty list in `field` says nothing:
    where no other fits, the answer is unknown, and the cell blank.
    """

    path: Place
    """Where the list stands."""
    field: Name | None = None
    """The key, of each element, of a text or a list of texts."""
    starts_with: Name | None = None
    """How one of these texts must start."""

    @model_validator(mode="after")
    def _has_both_or_neither(self) -> Self:
        if (self.field is None) != (self.starts_with is None):
            raise ValueError("`field` and `starts_with` go together")
        return self


class Origin(Section):
    """Where the value of one column comes from: exactly one of the first five."""

    path: Place | None = None
    """A column, or keys joined by dots into nested JSON; a list of keys where one has a dot."""
    value: Scalar | None = None
    """The same in every row."""
    join: Annotated[tuple[Place, ...], Field(min_length=2)] | None = None
    """Several places, joined by `by`: an id made of parts."""
    digest: Place | None = None
    """A text, of which the first 16 hex digits of its SHA-256: an id where there is only text."""
    any: AnyElement | None = None
    """Whether a list has an element that fits."""
    by: Annotated[str, Field(min_length=1)] = "-"
    """What stands between the parts of `join`; no part may hold it."""
    at_least: Finite | None = None
    """With `path`: 1 where the number is at least this, else 0."""
    below: Finite | None = None
    """With `path`: 1 where the number is below this, else 0."""
    times: Finite | None = None
    """With `path`: the number is multiplied by this, in decimal (a share to percent: 100)."""

    @model_validator(mode="after")
    def _has_one_origin(self) -> Self:
        kinds = ("path", "value", "join", "digest", "any")
        given = [kind for kind in kinds if getattr(self, kind) is not None]
        if len(given) != 1:
            raise ValueError(f"exactly one of {', '.join(kinds)} must be there, found {given}")
        changes = [k for k in ("at_least", "below", "times") if getattr(self, k) is not None]
        if len(changes) > 1 or (changes and self.path is None):
            raise ValueError(f"one change at most, and of `path` only, found {changes}")
        if "by" in self.model_fields_set and self.join is None:
            raise ValueError("`by` goes with `join` only")
        return self


Origins = dict[Name, Origin]
"""By our column; a text or a list of keys stands for `{ path = … }`."""


class Melt(Section):
    """Turns a wide table long: one of our rows a listed column."""

    column: Name
    """Our column that takes the listed columns' names, e.g. judge."""
    into: Name
    """Our column that takes their values, e.g. label."""
    inside: Place | None = None
    """The object whose keys are listed; absent: the row itself."""
    of: Names | None = None
    """The columns (keys) by name, never split at dots."""
    starts_with: Names | None = None
    """The columns whose names start with one of these."""
    not_ends_with: Names | None = None
    """With `starts_with`: but do not end with one of these."""
    named: Annotated[Origins, Field(min_length=1)] | None = None
    """Our name, and where the value comes from, as in `columns`."""

    @model_validator(mode="after")
    def _lists_columns(self) -> Self:
        if not (self.of or self.starts_with or self.named):
            raise ValueError("one of `of`, `starts_with` and `named` must list the columns")
        if self.not_ends_with and not self.starts_with:
            raise ValueError("`not_ends_with` goes with `starts_with` only")
        listed = [*(self.of or ()), *(self.named or {})]
        if len(set(listed)) < len(listed):
            raise ValueError(f"a column is melted twice, found {sorted(listed)}")
        if self.inside and not (self.of or self.starts_with):
            raise ValueError("`inside` goes with `of` and `starts_with` only")
        return self


class TableSource(Section):
    """One foreign file, and how its rows become rows of one of our tables."""

    file: Name
    """Its path, relative to the map; `${NAME}` comes from the environment."""
    format: Format | None = None
    """What the file is; absent: told by its name."""
    columns: Origins = Field(default_factory=dict)
    """Our column, and where its value comes from."""
    values: dict[Name, dict[str, Scalar]] = Field(default_factory=dict)
    """By our column: their value (as text) and ours. A value that is not listed is an error."""
    missing: dict[Name, tuple[str, ...]] = Field(default_factory=dict)
    """By our column: their values (as text; "null", "") for which the cell is left blank."""
    where: dict[Name, Scalar | tuple[Scalar, ...]] = Field(default_factory=dict)
    """Their place, and the value or values that a row must have to be taken."""
    melt: Melt | None = None
    """Turns one row into several."""

    @property
    def given(self) -> set[str]:
        """The columns of ours that this source fills."""
        return {*self.columns, *([self.melt.column, self.melt.into] if self.melt else [])}


Sources = tuple[TableSource, ...]
"""`[labels]` stands for one `[[labels]]`."""


class ImportMap(Section):
    """One map: the tables of ours that it makes."""

    labels: Sources | None = None
    """One row a record, judge and condition."""
    arms: Sources | None = None
    """One row a record and arm."""
    claims: Sources | None = None
    """One row a claim."""
    records: Sources | None = None
    """One row a record of the population."""
    selection: Sources | None = None
    """One row a response of the split."""
    runs: Sources | None = None
    """One row a detector run."""

    def tables(self) -> dict[TableName, tuple[TableSource, ...]]:
        """Return the tables that the map makes, in a fixed order."""
        found: dict[TableName, tuple[TableSource, ...] | None] = {
            name: getattr(self, name) for name in TABLE_NAMES
        }
        return {name: sources for name, sources in found.items() if sources is not None}


class LoadedMap(NamedTuple):
    """A map, and where it was found."""

    map: ImportMap
    name: str
    """The file's name, or the shipped name."""
    sha256: str
    folder: Path
    """What paths in it are relative to; for a shipped map, where the command runs."""


def load_map(where: str) -> LoadedMap:
    """Load a map from a path or the name of a shipped one.

    Raises:
        MissingInputError: Neither a file nor a shipped name.
        ConfigError: Not TOML, an unknown key or column, a value out of range.
    """
    path_text(Path(where))
    content = read_path_or_shipped(where, _shipped_folder(), what="map")
    raw = parse_toml(content, where)
    refuse_deep(raw, where)
    checked = validate_map(raw, where)
    is_file = Path(where).is_file()
    return LoadedMap(
        checked,
        name=Path(where).name,
        sha256=hashlib.sha256(content).hexdigest(),
        folder=Path(where).parent if is_file else Path(),
    )


def validate_map(raw: dict[str, Any], origin: str) -> ImportMap:
    """Validate a parsed map.

    Raises:
        ConfigError: An unknown key or column (the nearest valid one is named), a bad value, a
            column that nothing fills.
    """
    try:
        # JSON mode: strict Python mode would refuse a list where a tuple is meant.
        checked = ImportMap.model_validate_json(json.dumps(_written_out(raw), default=str))
    except ValidationError as error:
        raise ConfigError(f"{origin}: {_explain_map(error)}") from error
    if not checked.tables():
        raise ConfigError(f"{origin}: no table; expected one of {', '.join(TABLE_NAMES)}")
    for name, sources in checked.tables().items():
        if not sources:
            raise ConfigError(f"{origin}: {name}: no section")
        for source in sources:
            _check_source(source, TARGETS[name], f"{origin}: {name}")
        if any(source.given != sources[0].given for source in sources):
            raise ConfigError(f"{origin}: {name}: all its sections must fill the same columns")
    return checked


def shipped_maps() -> list[str]:
    """Return the names that `load_map` accepts beside paths."""
    return shipped_names(_shipped_folder())


def _shipped_folder() -> Traversable:
    return resources.files("ragmend.configs").joinpath("maps")


def _written_out(raw: dict[str, Any]) -> dict[str, Any]:
    """Write out what a map may write shorter: one section as a list, a place as an origin."""
    return {name: [_long_source(source) for source in _as_list(raw[name])] for name in raw}


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _long_source(source: object) -> object:
    if not isinstance(source, dict):
        return source
    long = dict(source)
    for key, write_out in (("columns", _long_origins), ("melt", _long_melt)):
        if key in long:
            long[key] = write_out(long[key])
    return long


def _long_melt(melt: object) -> object:
    if not isinstance(melt, dict) or "named" not in melt:
        return melt
    return {**melt, "named": _long_origins(melt["named"])}


def _long_origins(origins: object) -> object:
    if not isinstance(origins, dict):
        return origins
    return {
        name: {"path": origin} if isinstance(origin, str | list) else origin
        for name, origin in origins.items()
    }


def _explain_map(error: ValidationError) -> str:
    for finding in error.errors(include_url=False):
        if finding["type"] == "extra_forbidden":
            *parents, key = [part for part in finding["loc"] if isinstance(part, str)]
            place = ".".join([*parents, key])
            return f"unknown key {place!r}{_nearest(key, _keys_under(parents))}"
    return explain(error, "map")


def _keys_under(parents: list[str]) -> Iterable[str]:
    """Return the keys that are valid at a place in the map."""
    if not parents:
        return TABLE_NAMES
    if parents[-1] == "any":
        return AnyElement.model_fields
    if parents[-1] == "melt":
        return Melt.model_fields
    return TableSource.model_fields if len(parents) == 1 else Origin.model_fields


def _nearest(name: str, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(names)}"


def _check_source(source: TableSource, target: Target, origin: str) -> None:
    melted = [] if source.melt is None else [source.melt.column, source.melt.into]
    filled = [*source.columns, *melted]
    for name in filled:
        if name not in target.names:
            key = "columns" if name in source.columns else "melt"
            raise ConfigError(f"{origin}.{key}: no column {name!r}{_nearest(name, target.names)}")
        if filled.count(name) > 1:
            raise ConfigError(f"{origin}.melt: column {name!r} is filled twice")
    for key, names in (("values", source.values), ("missing", source.missing)):
        for name in names:
            if name not in filled:
                raise ConfigError(f"{origin}.{key}: {name!r} is no column that this section fills")
    _refuse_unfilled(source, target, origin)
    _check_values(source, target, origin)


def _refuse_unfilled(source: TableSource, target: Target, origin: str) -> None:
    needed = [column for column in target.columns if column.is_required]
    unfilled = [column for column in needed if column.name not in source.given]
    if unfilled:
        names = ", ".join(column.name for column in unfilled)
        way = (
            '; { value = "" } leaves a column blank'
            if any(column.blank == "allowed" for column in unfilled)
            else ""
        )
        raise ConfigError(f"{origin}.columns: nothing fills {names}{way}")


def _check_values(source: TableSource, target: Target, origin: str) -> None:
    """Refuse a constant or a translation that its column cannot hold."""
    for name, given in source.values.items():
        for theirs, ours in given.items():
            _check_value(target.column(name), ours, f"{origin}.values.{name}.{theirs!r}")
    for name, column_origin in source.columns.items():
        value = column_origin.value
        if value is not None and name not in source.values:
            _check_value(target.column(name), value, f"{origin}.columns.{name}")
    for name, words in source.missing.items():
        if target.column(name).blank == "never":
            raise ConfigError(f"{origin}.missing: {name} cannot be blank")
        if both := sorted(set(words) & set(source.values.get(name, {}))):
            raise ConfigError(f"{origin}.missing: {name} {both[0]!r} is also in `values`")


def _check_value(column: Column, value: Scalar, where: str) -> None:
    if value == "" and column.blank == "allowed":
        return
    try:
        column.parse(value)
    except DataError as error:
        raise ConfigError(f"{where}: {error}") from error
