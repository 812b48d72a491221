"""Where a run's data comes from: the configured folder or the built-in set."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import JsonValue

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
from ragmend.io import read_records
from ragmend.paths import RunPaths
from ragmend.records import TASKS, Response, Source

T = TypeVar("T")

# "model/seed-42" nests; no part may lead out of the folder.
_RUN_ID = re.compile(r"[A-Za-z0-9_][\w.@+ -]{0,99}(?:/[A-Za-z0-9_][\w.@+ -]{0,99}){0,3}")


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


def read_population(paths: RunPaths) -> Population:
    """Read the frozen population of a run."""
    return Population(
        responses=tuple(read_records(paths.population, Response)),
        sources={source.source_id: source for source in read_records(paths.sources, Source)},
    )
