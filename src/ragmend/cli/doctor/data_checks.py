"""The data and the detector that a configuration names."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ragmend.cli.context import Context, format_counts
from ragmend.cli.data import data_files, detector_run_id, read_data
from ragmend.cli.doctor.findings import Finding, check, examine, unchecked
from ragmend.cli.stages.detect import detect_responses
from ragmend.cli.stages.select import SELECT
from ragmend.config import Config
from ragmend.datasets.ragtruth import Dataset
from ragmend.errors import DataError
from ragmend.io import parse_object, read_lines
from ragmend.records import Detection


def check_data(context: Context) -> Iterator[Finding]:
    """Check that data, keys, detector and population are what the configuration wants."""
    config = context.config
    examined = examine("data", lambda: read_data(config), lambda data: _describe(config, data))
    yield examined.finding
    yield check("data keys", lambda: _check_keys(config))
    if examined.value is None:
        yield unchecked("detector", "the data cannot be read")
    else:
        data = examined.value
        yield check("detector", lambda: _check_detector(config, data))
    yield check("population", lambda: _check_population(config))


def _describe(config: Config, data: Dataset) -> str:
    split = f"{config.data.split}; {', '.join(config.data.tasks)}"
    return f"{len(data.responses):,} responses to {len(data.sources):,} sources ({split})"


def _check_keys(config: Config) -> str:
    """Count the keys in the files as they are, those of other splits and tasks too."""
    files = data_files(config)
    n_responses = _count_keys(files.responses, "id")
    n_sources = _count_keys(files.sources, "source_id")
    return f"{n_responses:,} responses and {n_sources:,} sources, each key once"


def _count_keys(path: Path, key: str) -> int:
    seen: Counter[str] = Counter()
    for line in read_lines(path):
        found = parse_object(line).get(key)
        if not isinstance(found, str) or not found:
            raise DataError(f"{line.where}: no {key}")
        seen[found] += 1
        if seen[found] > 1:
            raise DataError(f"{line.where}: {key} {found!r} appears twice; keep one line of it")
    return len(seen)


def _check_detector(config: Config, data: Dataset) -> str:
    """Import predictions; of the embedded detector's, one says that it works."""
    if config.detector.kind == "trained":
        return _describe_trainings(config)
    if config.detector.kind == "predictions":
        imported = detect_responses(config, data)
        return f"{detector_run_id(config)}: {_count_verdicts(imported.detections)}"
    first = data.responses[0]
    source = {first.source_id: data.sources[first.source_id]}
    detected = detect_responses(config, data._replace(responses=(first,), sources=source))
    return f"embedded: response {first.record_id} is {detected.detections[0].verdict}"


def _describe_trainings(config: Config) -> str:
    """Say what would be trained on what; which of it is trained, `ragmend status RUN` shows."""
    from ragmend.cli.training.plan import read_training_data

    _, split = read_training_data(config)
    n_runs = len(config.trainings.run_ids())
    return (
        f"{n_runs} to train on {len(split.train):,} answers, {len(split.development):,} for "
        f"development; {detector_run_id(config)} flags the population"
    )


def _count_verdicts(detections: tuple[Detection, ...]) -> str:
    return format_counts(dict(sorted(Counter(each.verdict for each in detections).items())))


def _check_population(config: Config) -> str:
    settings = SELECT.settings(config)
    limit = settings["population.limit"]
    most = "all" if limit is None else f"the first {limit}"
    return f"{most} that run {settings['population.run']} flags"
