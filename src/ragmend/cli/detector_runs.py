"""What each training of the configuration left in the run folder, as plain facts for tables."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from ragmend.cli.data import detector_run_id
from ragmend.config import Config
from ragmend.errors import DataError
from ragmend.io import read_record, read_records
from ragmend.paths import RunPaths, TrainingPaths, manifest_path
from ragmend.records import Detection, DetectorScore
from ragmend.sections.training import run_id
from ragmend.trained import DetectorRunFacts, EpochScore, HealthReport, LedgerEntry

RunFrame = Literal["runs", "detectors", "development"]


class _Answers(NamedTuple):
    """What became of the answers of one run."""

    n_responses: int
    n_empty: int
    n_unparsed: int


class _Evaluations(NamedTuple):
    """How often a run was begun to be evaluated, and why each time but the first."""

    n: int
    repeated_because: tuple[str, ...]


def read_detector_runs(config: Config, paths: RunPaths) -> list[DetectorRunFacts]:
    """Return the facts of every training of the configuration, models first.

    None is left out: of one that is not trained or not predicted, that is what is known.

    Args:
        config: With detectors of kind `trained`; of another kind there are none.
        paths: The run folder.

    Raises:
        DataError: A file of a training or of its verdicts cannot be read, or is another run's.
        MissingInputError: One lacks although its manifest says that all is there.
    """
    return [_read_run(config, paths, name, seed) for name, seed in _trainings(config)]


def files_of_frames(config: Config, paths: RunPaths) -> dict[RunFrame, list[Path]]:
    """Return the files that are there behind each frame of the trained runs."""
    files: dict[RunFrame, list[Path]] = {"runs": [], "detectors": [], "development": []}
    for name, seed in _trainings(config):
        run = run_id(name, seed)
        trained = paths.training(run)
        if trained.manifest.is_file():
            files["runs"].append(trained.health)
            files["development"] += [trained.epochs, trained.health]
        if _is_predicted(paths, run):
            files["runs"] += [paths.detections(run), paths.detector_run_scores(run)]
            files["detectors"].append(paths.detector_run_scores(run))
    return files


def detector_run_files(config: Config, paths: RunPaths) -> list[Path]:
    """Return every file of a trained run that a table or remark is made from, and that is there.

    A run that is trained or predicted later adds files, so that an analysis without it is stale.
    """
    ledgers = [paths.training(run_id(*training)).ledger for training in _trainings(config)]
    of_frames = [path for group in files_of_frames(config, paths).values() for path in group]
    return sorted({*of_frames, *(ledger for ledger in ledgers if ledger.is_file())})


def remarks_on_runs(runs: Sequence[DetectorRunFacts], *, split: str) -> Iterator[str]:
    """Yield what a reader of any table must know of the detector runs.

    Args:
        runs: All of them.
        split: The split that they were evaluated on.
    """
    for run in runs:
        if run.health in ("failed", "degraded"):
            why = "; ".join(run.reasons) or "no reason is recorded"
            yield f"detector run {run.run_id} {_DID[run.health]}: {why}"
    for run in runs:
        if run.n_evaluations > 1:
            yield (
                f"detector run {run.run_id} was evaluated on the {split} split "
                f"{run.n_evaluations} times; again because: {'; '.join(run.repeated_because)}"
            )
    yield from _remark_on_other_answers(runs)


_DID = {"failed": "failed", "degraded": "is degraded"}


def _trainings(config: Config) -> Iterator[tuple[str, int]]:
    if config.detector.kind != "trained":
        return
    for name in config.trainings.models:
        for seed in config.trainings.seeds:
            yield name, seed


def _read_run(config: Config, paths: RunPaths, name: str, seed: int) -> DetectorRunFacts:
    run = run_id(name, seed)
    trained, is_predicted = paths.training(run), _is_predicted(paths, run)
    health = _read_health(trained, run)
    answers = _count_answers(paths, run) if is_predicted else _Answers(0, 0, 0)
    evaluations = _read_ledger(trained, config.data.split)
    return DetectorRunFacts(
        run_id=run,
        model=name,
        seed=seed,
        is_population=run == detector_run_id(config),
        training=_training_state(trained),
        health=None if health is None else health.verdict,
        reasons=() if health is None else health.reasons,
        epochs=() if health is None else tuple(read_records(trained.epochs, EpochScore)),
        is_predicted=is_predicted,
        scores=_read_scores(paths, run) if is_predicted else (),
        **answers._asdict(),
        n_evaluations=evaluations.n,
        repeated_because=evaluations.repeated_because,
    )


def _training_state(trained: TrainingPaths) -> Literal["absent", "begun", "complete"]:
    if trained.manifest.is_file():
        return "complete"
    return "begun" if trained.begun.is_file() else "absent"


def _is_predicted(paths: RunPaths, run: str) -> bool:
    return manifest_path(paths.detections(run)).is_file()


def _read_health(trained: TrainingPaths, run: str) -> HealthReport | None:
    """Return the verdict on a training; None while it is not complete."""
    if not trained.manifest.is_file():
        return None
    report = read_record(trained.health, HealthReport)
    _refuse_other_run(trained.health, report.run_id, run)
    return report


def _read_scores(paths: RunPaths, run: str) -> tuple[DetectorScore, ...]:
    path = paths.detector_run_scores(run)
    scores = tuple(read_records(path, DetectorScore))
    for score in scores:
        _refuse_other_run(path, score.run_id, run)
    return scores


def _count_answers(paths: RunPaths, run: str) -> _Answers:
    path = paths.detections(run)
    verdicts: Counter[str] = Counter()
    for detection in read_records(path, Detection):
        _refuse_other_run(path, detection.run_id, run)
        verdicts[detection.verdict] += 1
    return _Answers(verdicts.total(), verdicts["empty"], verdicts["unparsed"])


def _refuse_other_run(path: Path, found: str, run: str) -> None:
    if found != run:
        raise DataError(f"{path}: is of run {found!r}, expected {run!r}; put that run's file back")


def _read_ledger(trained: TrainingPaths, split: str) -> _Evaluations:
    """Return the evaluations on a split; one that was interrupted counts from its beginning."""
    if not trained.ledger.is_file():
        return _Evaluations(0, ())
    reasons: dict[int, str] = {}
    for entry in read_records(trained.ledger, LedgerEntry):
        if entry.split == split and entry.event == "begun":
            reasons.setdefault(entry.number, entry.reason or "no reason is recorded")
    return _Evaluations(len(reasons), tuple(reasons[number] for number in sorted(reasons)[1:]))


def _remark_on_other_answers(runs: Sequence[DetectorRunFacts]) -> Iterator[str]:
    """Say where runs were not scored on equally many answers: then no two F1s compare."""
    of_number: dict[int, list[str]] = {}
    for run in runs:
        if run.is_predicted:
            of_number.setdefault(run.n_responses, []).append(run.run_id)
    if len(of_number) > 1:
        groups = [f"{n:,} ({', '.join(names)})" for n, names in sorted(of_number.items())]
        yield (
            "the detector runs did not answer for equally many responses, so that their scores do "
            f"not compare: {'; '.join(groups)}"
        )
