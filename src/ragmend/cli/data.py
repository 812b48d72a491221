"""Where a run's data comes from: the configured folder or the built-in set."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import JsonValue

from ragmend.cli.context import Context
from ragmend.cli.sharding.parts import Part, share_sources
from ragmend.config import Config
from ragmend.datasets.ragtruth import (
    Dataset,
    DatasetFiles,
    demo_folder,
    development_sources,
    find_files,
    load_ragtruth,
)
from ragmend.errors import ConfigError
from ragmend.io import Line, parse_record, read_lines, read_records
from ragmend.paths import RunPaths
from ragmend.records import (
    TASKS,
    Claim,
    Evidence,
    Record,
    RepairedAnswer,
    Response,
    Source,
    Verdict,
)

T = TypeVar("T")
M = TypeVar("M", bound=Record)
OfAnswer = TypeVar("OfAnswer", Claim, Evidence, Verdict, RepairedAnswer)

# "model/seed-42" nests; no part may lead out of the folder.
_RUN_ID = re.compile(r"[A-Za-z0-9_][\w.@+ -]{0,99}(?:/[A-Za-z0-9_][\w.@+ -]{0,99}){0,3}")


class Named(NamedTuple):
    """Where a line of our own writing says an id, and the key that it has."""

    key: str
    pattern: re.Pattern[str]


# An id with an escape in it matches none of these: then the line is parsed.
_RECORD = Named("record_id", re.compile(r'\{"record_id":"([^"\\]*)"'))
_SOURCE = Named("source_id", re.compile(r'\{"source_id":"([^"\\]*)"'))
_SOURCE_OF_RESPONSE = Named(
    "source_id", re.compile(r'\{"record_id":"[^"\\]*","source_id":"([^"\\]*)"')
)


class Population(NamedTuple):
    """The answers under repair, in order of record id, and their sources."""

    responses: tuple[Response, ...]
    sources: dict[str, Source]

    def source_of(self, response: Response) -> Source:
        """Return the source that a response must be supported by."""
        return self.sources[response.source_id]


def detector_run_id(config: Config) -> str:
    """Return the name of the detector run that the configuration describes.

    Raises:
        ConfigError: The name would not stay inside the run folder.
    """
    detector = config.detector
    if detector.kind == "lexical":
        return "lexical"
    if detector.kind == "trained":
        return config.population.run or config.trainings.run_ids()[0]
    stem = Path(detector.predictions or "").name.removesuffix(".gz").rpartition(".")[0]
    name = detector.system or stem
    if not _RUN_ID.fullmatch(name):
        raise ConfigError(f"detector.system: {name!r} cannot name a folder of the run")
    return name


def data_files(config: Config) -> DatasetFiles:
    """Find the data files that the configuration names."""
    data = config.data
    folder = demo_folder() if data.kind == "demo" else Path(data.path or "")
    return find_files(folder, data.split)


def data_inputs(config: Config) -> dict[str, Path]:
    """Name the data files as manifests do: by file name, wherever the folder lies."""
    files = data_files(config)
    return {f"data:{path.name}": path for path in (files.responses, files.sources)}


def data_settings(config: Config) -> dict[str, JsonValue]:
    """Return what decides which responses and gold spans there are."""
    settings = config.data.model_dump(mode="json", exclude={"path"})
    if config.data.limit is None:
        del settings["limit"]
    return {f"data.{name}": value for name, value in settings.items()}


def read_data(config: Config) -> Dataset:
    """Load the responses of the configured split and tasks, with their sources."""
    data = config.data
    found = load_ragtruth(
        data_files(config),
        split=data.split,
        tasks=data.tasks,
        implicit_true=data.implicit_true,
        due_to_null=data.due_to_null,
        leave_out=development_sources() if data.development == "leave_out" else frozenset(),
    )
    return found if data.limit is None else _limit(found, data.limit)


def _limit(data: Dataset, limit: int) -> Dataset:
    """Keep so many responses, at equal distances among those of each task one after another."""
    by_task = sorted(data.responses, key=lambda r: TASKS.index(data.sources[r.source_id].task_type))
    n = min(limit, len(by_task))
    kept = {by_task[i * len(by_task) // n].record_id for i in range(n)}
    responses = tuple(r for r in data.responses if r.record_id in kept)
    used = {response.source_id for response in responses}
    sources = {key: source for key, source in data.sources.items() if key in used}
    note = f"{len(responses)} of {len(data.responses)} responses are kept (data.limit)"
    return data._replace(responses=responses, sources=sources, notes=(*data.notes, note))


def by_source(items: Iterable[T], source_id: Callable[[T], str]) -> Iterator[T]:
    """Yield items with those of one source together, in the order in which sources come first.

    A server's prefix cache holds a source while all that is asked about it is asked.
    """
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(source_id(item), []).append(item)
    return chain.from_iterable(groups.values())


def read_population(paths: RunPaths, part: Part | None = None) -> Population:
    """Read the frozen population of a run, or a part's share of it.

    The shares of all parts of a role are the population: sources lie together as `by_source`
    puts them, and each is in one of the shares with all of its answers.
    """
    if part is None:
        responses = tuple(read_records(paths.population, Response))
        sources = read_records(paths.sources, Source)
        return Population(responses, {source.source_id: source for source in sources})
    # Read twice, so that no part holds what is not its own.
    sizes = Counter(map(_source_of_line, read_lines(paths.population)))
    own = {key for key, shard in share_sources(sizes, part.of).items() if shard == part.shard}
    return Population(
        tuple(_read_own(paths.population, Response, _SOURCE_OF_RESPONSE, own)),
        {s.source_id: s for s in _read_own(paths.sources, Source, _SOURCE, own)},
    )


def own_records(
    context: Context, population: Population, path: Path, model: type[OfAnswer]
) -> Iterator[OfAnswer]:
    """Yield a file's records about a part's own answers; all of them where all is answered."""
    if context.part is None:
        return read_records(path, model)
    own = {response.record_id for response in population.responses}
    return _read_own(path, model, _RECORD, own)


def _read_own(path: Path, model: type[M], named: Named, own: AbstractSet[str]) -> Iterator[M]:
    """Yield the records with certain ids; lines that say at once that they have others are skipped.

    Most lines are other parts': reading all of each takes ten times as long.
    """
    for line in read_lines(path):
        found = named.pattern.match(line.text)
        if found is not None and found[1] not in own:
            continue
        record = parse_record(line, model)
        if getattr(record, named.key) in own:
            yield record


def _source_of_line(line: Line) -> str:
    found = _SOURCE_OF_RESPONSE.pattern.match(line.text)
    return parse_record(line, Response).source_id if found is None else found[1]
