"""What each training of the configuration left in the run folder, as plain facts for tables."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import JsonValue

from ragmend.cli.data import detector_run_id
from ragmend.cli.training.plan import RunName, choose_runs, training_settings
from ragmend.config import Config
from ragmend.errors import DataError, RagmendError
from ragmend.io import read_record, read_records, sha256_of, sha256_of_file
from ragmend.manifest import Manifest, read_manifest
from ragmend.paths import RunPaths, manifest_path
from ragmend.records import Detection, DetectorScore
from ragmend.trained import DetectorRunFacts, EpochScore, HealthReport, LedgerEntry

RunFrame = Literal["runs", "detectors", "development"]
_DATA = "data:"
"""How manifests begin the name of a data file, which may lie anywhere."""
_DID = {"failed": "failed", "degraded": "is degraded"}


class _Predicted(NamedTuple):
    """What one run said of the split."""

    scores: tuple[DetectorScore, ...]
    n_responses: int
    n_empty: int
    n_unparsed: int
    n_faults: int
    data_sha256: str


class _Evaluations(NamedTuple):
    """How often a run was begun to be evaluated, and why each time but the first."""

    n: int
    repeated_because: tuple[str, ...]
    is_open: bool
    """Whether one was begun and has not ended."""


def read_detector_runs(config: Config, paths: RunPaths) -> list[DetectorRunFacts]:
    """Return the facts of every training of the configuration, models first.

    None is left out: of one that is not trained or not predicted, or was so otherwise than the
    configuration says now, that is what is known.

    Args:
        config: With detectors of kind `trained`; of another kind there are none.
        paths: The run folder; no data are read.

    Raises:
        DataError: A file of a training or of its verdicts cannot be read, or is another run's.
    """
    return [_read_run(config, paths, run) for run in _runs(config)]


def read_readable_runs(config: Config, paths: RunPaths) -> list[DetectorRunFacts]:
    """Return the facts of every training; one whose files cannot be read has only the reason.

    Args:
        config: As for `read_detector_runs`.
        paths: The run folder; no data are read.
    """
    found = []
    for run in _runs(config):
        try:
            found.append(_read_run(config, paths, run))
        except RagmendError as error:
            unread = DetectorRunFacts(
                run_id=run.run_id,
                model=run.model,
                seed=run.seed,
                is_population=run.run_id == detector_run_id(config),
                unscored=f"cannot be read: {error}",
            )
            found.append(unread)
    return found


def files_of_frames(config: Config, paths: RunPaths) -> dict[RunFrame, list[Path]]:
    """Return the files that are there behind each frame of the trained runs."""
    files: dict[RunFrame, list[Path]] = {"runs": [], "detectors": [], "development": []}
    for run in _runs(config):
        trained, detections = paths.training(run.run_id), paths.detections(run.run_id)
        if trained.manifest.is_file():
            files["runs"].append(trained.health)
            files["development"] += [trained.epochs, trained.health]
        if manifest_path(detections).is_file():
            files["runs"] += [detections, paths.detector_run_scores(run.run_id)]
            files["detectors"].append(paths.detector_run_scores(run.run_id))
    return files


def detector_run_files(config: Config, paths: RunPaths) -> list[Path]:
    """Return every file of a trained run that a table or remark is made from, and that is there.

    A run that is trained or predicted later adds files, so that an analysis without it is stale.
    """
    ledgers = [paths.training(run.run_id).ledger for run in _runs(config)]
    of_frames = [path for group in files_of_frames(config, paths).values() for path in group]
    return sorted({*of_frames, *(ledger for ledger in ledgers if ledger.is_file())})


def remarks_on_runs(runs: Sequence[DetectorRunFacts], *, split: str) -> Iterator[str]:
    """Yield what a reader of any table must know of the detector runs.

    Args:
        runs: All of them.
        split: The split that they were evaluated on.
    """
    for run in runs:
        if run.health in _DID:
            why = "; ".join(run.reasons) or "no reason is recorded"
            yield f"detector run {run.run_id} {_DID[run.health]}: {why}"
    for run in runs:
        if run.health == "usable" and not run.is_usable:
            yield (
                f"detector run {run.run_id} is not usable: {100 * run.unread_share:.0f} % of its "
                f"answers on the {split} split give no verdict"
            )
    if split != "test" and any(run.n_responses for run in runs):
        yield f"detector runs gave these verdicts on the {split} split, which may have trained them"
    for run in runs:
        if run.n_evaluations > 1:
            yield (
                f"detector run {run.run_id} was evaluated on the {split} split "
                f"{run.n_evaluations} times; again because: {'; '.join(run.repeated_because)}"
            )
    for run in runs:
        if run.n_faults:
            yield (
                f"detector run {run.run_id} has no verdict on {run.n_faults:,} responses, accepted "
                "as faults: they are in none of its scores"
            )
    predicted = [run for run in runs if run.n_responses]
    yield from _remark_on_groups(predicted, lambda run: run.data_sha256, "other data files")
    yield from _remark_on_groups(
        predicted, lambda run: f"{run.n_responses:,}", "other numbers of responses"
    )


def _remark_on_groups(
    runs: Sequence[DetectorRunFacts], key: Callable[[DetectorRunFacts], str | None], what: str
) -> Iterator[str]:
    """Say where runs were not asked about the same: then no two of their scores compare."""
    groups: dict[str | None, list[str]] = {}
    for run in runs:
        groups.setdefault(key(run), []).append(run.run_id)
    if len(groups) > 1:
        named = "; ".join(f"{value!s:.12}: {', '.join(ids)}" for value, ids in groups.items())
        yield f"detector runs gave verdicts on {what}, so that their scores do not compare: {named}"


def _runs(config: Config) -> list[RunName]:
    return choose_runs(config, None, None) if config.detector.kind == "trained" else []


def _read_run(config: Config, paths: RunPaths, run: RunName) -> DetectorRunFacts:
    trained = paths.training(run.run_id)
    untrained = _why_untrained(config, paths, run)
    evaluations = _read_ledger(trained.ledger, config.data.split)
    facts = DetectorRunFacts(
        run_id=run.run_id,
        model=run.model,
        seed=run.seed,
        is_population=run.run_id == detector_run_id(config),
        unscored=untrained,
        n_evaluations=evaluations.n,
        repeated_because=evaluations.repeated_because,
    )
    if untrained is not None:
        return facts
    report = read_record(trained.health, HealthReport)
    _refuse_other_run(trained.health, report.run_id, run)
    unpredicted = _why_unpredicted(config, paths, run, is_open=evaluations.is_open)
    known: dict[str, object] = {
        "health": report.verdict,
        "reasons": report.reasons,
        "epochs": tuple(read_records(trained.epochs, EpochScore)),
        "unscored": unpredicted,
    }
    if unpredicted is None:
        known |= _read_predicted(paths, run)._asdict()
    found = facts.model_copy(update=known)
    if unpredicted is None and found.pooled is None:
        return found.model_copy(update={"unscored": "no answer has a gold label"})
    return found


def _why_untrained(config: Config, paths: RunPaths, run: RunName) -> str | None:
    """Say why there is no training, or none of this configuration."""
    trained = paths.training(run.run_id)
    manifest = read_manifest(trained.manifest)
    if manifest is None:
        return "training begun, not complete" if trained.begun.is_file() else "not trained"
    settings = training_settings(config, run)
    changed = _changes(manifest, settings, paths, (trained.health, trained.epochs))
    return f"its training no longer stands: {changed}" if changed else None


def _why_unpredicted(config: Config, paths: RunPaths, run: RunName, *, is_open: bool) -> str | None:
    """Say why there are no verdicts, or none of this training and configuration."""
    from ragmend.cli.training.predicting import predict_stage

    detections = paths.detections(run.run_id)
    manifest = read_manifest(manifest_path(detections))
    if manifest is None:
        return "prediction begun, not complete" if is_open else "trained, not predicted"
    own = [paths.root / name for name in manifest.inputs if not name.startswith(_DATA)]
    files = (*own, detections, paths.detector_run_scores(run.run_id))
    changed = _changes(manifest, predict_stage(run).settings(config), paths, files)
    return f"its verdicts no longer stand: {changed}" if changed else None


def _changes(
    manifest: Manifest, settings: Mapping[str, JsonValue], paths: RunPaths, files: Sequence[Path]
) -> str:
    """Name the settings and files that are no longer what a manifest says; "" where none is."""
    names = {*manifest.settings, *settings}
    changed = sorted(n for n in names if manifest.settings.get(n) != settings.get(n))
    hashes = {**manifest.inputs, **manifest.outputs}
    for path in files:
        name = paths.relative(path)
        if not path.is_file() or sha256_of_file(path) != hashes.get(name):
            changed.append(name)
    return f"{', '.join(changed)} changed" if changed else ""


def _read_predicted(paths: RunPaths, run: RunName) -> _Predicted:
    detections, scored = paths.detections(run.run_id), paths.detector_run_scores(run.run_id)
    manifest = read_record(manifest_path(detections), Manifest)
    verdicts: Counter[str] = Counter()
    for detection in read_records(detections, Detection):
        _refuse_other_run(detections, detection.run_id, run)
        verdicts[detection.verdict] += 1
    scores = tuple(read_records(scored, DetectorScore))
    for score in scores:
        _refuse_other_run(scored, score.run_id, run)
    data = {name: digest for name, digest in manifest.inputs.items() if name.startswith(_DATA)}
    return _Predicted(
        scores,
        verdicts.total(),
        verdicts["empty"],
        verdicts["unparsed"],
        manifest.n_faults,
        sha256_of(data),
    )


def _refuse_other_run(path: Path, found: str, run: RunName) -> None:
    if found != run.run_id:
        raise DataError(f"{path}: is of run {found!r}, expected {run.run_id!r}; put its own back")


def _read_ledger(path: Path, split: str) -> _Evaluations:
    """Return the evaluations on a split; one that was interrupted counts from its beginning."""
    entries = list(read_records(path, LedgerEntry)) if path.is_file() else []
    reasons: dict[int, str] = {}
    for entry in entries:
        if entry.split == split and entry.event == "begun":
            reasons.setdefault(entry.number, entry.reason or "no reason is recorded")
    ended = {entry.number for entry in entries if entry.event == "ended"}
    because = tuple(reasons[number] for number in sorted(reasons)[1:])
    return _Evaluations(len(reasons), because, is_open=not set(reasons) <= ended)
