"""From a run's records on disk to its analysis and the facts at the head of its report."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from ragmend.analysis.analyze import Analysis, analyze
from ragmend.analysis.figures.style import figure_files
from ragmend.analysis.inputs.accounting import RunRecords
from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.inputs.from_records import build_frames
from ragmend.analysis.inputs.runs import read_runs
from ragmend.analysis.inputs.trained_runs import run_frame
from ragmend.analysis.printing.notes import warnings_for
from ragmend.analysis.printing.write import table_files
from ragmend.analysis.report import Summary
from ragmend.analysis.settings import FaultCount, InputFile, Provenance, Settings
from ragmend.analysis.statistics.label_forms import near_threshold
from ragmend.analysis.tables.seed_tables import unscored_note
from ragmend.cli.context import Context
from ragmend.cli.data import detector_run_id, read_population
from ragmend.cli.detector_runs import files_of_frames, read_detector_runs, remarks_on_runs
from ragmend.cli.faults import faulty_records
from ragmend.cli.protocol import read_lock
from ragmend.cli.roles.identities import fitted_sources, verifier_entry
from ragmend.config import Config
from ragmend.errors import FaultError, RunStateError
from ragmend.io import read_records, sha256_of_file
from ragmend.manifest import read_manifest
from ragmend.paths import faults_path, manifest_path
from ragmend.records import (
    CONDITIONS,
    Action,
    Candidate,
    CandidateKind,
    Claim,
    DetectorScore,
    Fault,
    Judgement,
    RepairedAnswer,
    Rewrite,
    Selected,
    Verdict,
)
from ragmend.repair.arms import ACTION_OF, ARM_POLICIES

K = TypeVar("K", Claim, Verdict, Rewrite, Candidate, Action, RepairedAnswer, Judgement)


def analyze_run(context: Context) -> Analysis:
    """Analyse the records of a run.

    Raises:
        FaultError: Every record has a fault, so that nothing is left to analyse.
        AccountingError, StatisticsError: The records do not fit together.
    """
    config = context.config
    if not _population_ids(context):
        raise FaultError("no record is left to analyse: each has an accepted fault")
    frames = build_frames(_read_run(context), threshold=config.verifier.threshold)
    settings = Settings(
        n_resamples=config.analysis.n_resamples,
        seed=config.analysis.seed,
        confidence=config.analysis.confidence,
        figure_formats=config.analysis.figure_formats,
        conditions=CONDITIONS,
    )
    return analyze(frames, settings=settings, provenance=_provenance(context))


def analysis_files(analysis: Analysis) -> dict[str, bytes]:
    """Return every table and figure as files, by name relative to the folder they go to."""
    return table_files(analysis.tables) | figure_files(analysis.figures)


def summarize(context: Context) -> Summary:
    """Collect what the protocol fixed, and what a reader must know first."""
    config = context.config
    n_records = len(_population_ids(context))
    threshold = f"claims with P(support) < {config.verifier.threshold:g} are repaired"
    return Summary(
        title=config.name,
        facts=(
            ("population", f"{n_records} answers flagged by {detector_run_id(config)}"),
            ("population hash", sha256_of_file(context.paths.population)),
            ("threshold", threshold),
            *((f"arm: {arm}", _policy(kinds)) for arm, kinds in ARM_POLICIES.items()),
            ("judges", ", ".join(judge.name for judge in config.judges.panel)),
            ("primary judge", config.judges.primary),
        ),
        warnings=(*warnings_for(_provenance(context)), *_run_warnings(context)),
    )


def _run_warnings(context: Context) -> Iterator[str]:
    for amendment in read_lock(context).amendments:
        yield f"the protocol was amended {amendment.when}: {amendment.entry}"
    if context.config.population.limit is not None:
        yield f"limited to the first {context.config.population.limit} flagged answers"
    n_excluded = len(_excluded(context))
    if n_excluded:
        yield f"{n_excluded} records were left out for accepted faults"
    runs = read_detector_runs(context.config, context.paths)
    note = unscored_note(read_runs(Frames(runs=run_frame(runs))).unscored) if runs else None
    if note is not None:
        yield f"detector runs {note}"


def _policy(kinds: Sequence[CandidateKind]) -> str:
    return ", else ".join(["keep if supported", *(ACTION_OF[kind] for kind in kinds), "drop"])


def _read_run(context: Context) -> RunRecords:
    """Read all records; a record with an accepted fault is left out of everything."""
    paths = context.paths
    population = read_population(paths)
    ids = _population_ids(context)
    kept = frozenset(ids)
    selected = list(read_records(paths.selection, Selected))
    runs = read_detector_runs(context.config, paths)
    scores = [score for run in runs for score in run.scores]
    return RunRecords(
        selected=selected,
        responses=population.responses,
        tasks={row.source_id: row.task_type for row in selected},
        population=ids,
        claims=_kept(paths.claims, Claim, kept),
        verdicts=_kept(paths.verdicts, Verdict, kept),
        candidates=_kept(paths.candidates, Candidate, kept),
        actions=_kept(paths.actions, Action, kept),
        answers=_kept(paths.answers, RepairedAnswer, kept),
        judgements=_kept(paths.judgements, Judgement, kept),
        judges=tuple(judge.name for judge in context.config.judges.panel),
        detector_scores=scores
        if runs
        else list(read_records(paths.detector_scores, DetectorScore)),
        detector_runs=runs,
        rewrites=_kept(paths.rewrites, Rewrite, kept),
    )


def _kept(path: Path, model: type[K], kept: frozenset[str]) -> list[K]:
    return [record for record in read_records(path, model) if record.record_id in kept]


def _population_ids(context: Context) -> list[str]:
    excluded = _excluded(context)
    responses = read_population(context.paths).responses
    return [r.record_id for r in responses if r.record_id not in excluded]


def _excluded(context: Context) -> frozenset[str]:
    return faulty_records(*_answer_folders(context))


def _answer_folders(context: Context) -> tuple[Path, ...]:
    paths = context.paths
    return paths.verdicts.parent, paths.candidates.parent, paths.judgements.parent


def _provenance(context: Context) -> Provenance:
    config, panel = context.config, context.config.judges.panel
    heuristic = tuple(judge.name for judge in panel if judge.backend == "lexical")
    return Provenance(
        embedded_verifier=config.verifier.backend == "lexical",
        embedded_judges=len(heuristic) == len(panel),
        heuristic_judges=heuristic if len(heuristic) < len(panel) else (),
        verifier_name=_verifier_name(config),
        verifier_family_judges=tuple(_judges_of_verifiers_family(config)),
        unstable_within=config.verifier.unstable_within,
        remarks=tuple(_remarks(context)),
        threshold=config.verifier.threshold,
        judges=tuple(judge.name for judge in panel),
        primary_judge=config.judges.primary,
        faults=tuple(_fault_counts(context)),
        inputs=_input_files(context),
        command="ragmend analyze RUN",
    )


def _input_files(context: Context) -> dict[str, tuple[InputFile, ...]]:
    """Name the record files behind each frame, relative to the run folder, with their hashes."""
    paths = context.paths
    facts = (paths.population, paths.selection)
    files: dict[str, Sequence[Path]] = {
        "labels": (paths.judgements, *facts),
        "arms": (paths.answers, paths.actions, paths.verdicts, *facts),
        "claims": (paths.claims, paths.verdicts, paths.candidates, paths.actions, *facts),
        "records": facts,
        "selection": (paths.selection,),
        "candidates": (paths.candidates,),
        "verdicts": (paths.verdicts, *facts),
        "rewrites": (paths.rewrites,),
        "detectors": (paths.detector_scores,),
        "answers": (paths.answers,),
        "actions": (paths.actions,),
    }
    of_runs = files_of_frames(context.config, paths)
    files |= {frame: group for frame, group in of_runs.items() if group}
    hashes = {path: sha256_of_file(path) for path in sorted({p for g in files.values() for p in g})}
    return {
        frame: tuple(InputFile(path=paths.relative(p), sha256=hashes[p]) for p in group)
        for frame, group in files.items()
    }


def _verifier_name(config: Config) -> str:
    """Name a language model and how it is read, or the embedded verifier's own parameters."""
    model = config.verifier.model
    if model is not None:
        words = (model.id, model.quantization, config.verifier.scoring)
        return ", ".join(word for word in words if word is not None)
    entry = verifier_entry(config)
    given = config.verifier.parameters
    if given is None:
        return str(entry["model"])
    return f"{entry['model']}, parameters {Path(given).name} ({entry['parameters_sha256']!s:.12})"


def _judges_of_verifiers_family(config: Config) -> Iterator[str]:
    if config.verifier.model is not None:
        for judge in config.judges.panel:
            if judge.model is not None and judge.model.family == config.verifier.model.family:
                yield judge.name


def _remarks(context: Context) -> Iterator[str]:
    """Yield what a reader of any table must know of detectors, answers, verdicts, judgements."""
    runs = read_detector_runs(context.config, context.paths)
    yield from remarks_on_runs(runs, split=context.config.data.split)
    manifest = read_manifest(manifest_path(context.paths.population))
    left_out = 0 if manifest is None else manifest.counts.get("left_out_development", 0)
    if left_out:
        yield (
            f"{left_out} answers to the sources on which the embedded verifier was developed are "
            "left out of everything"
        )
    seen = fitted_sources(context.config)
    responses = read_population(context.paths).responses
    n_seen = sum(response.source_id in seen for response in responses)
    if n_seen:
        yield (
            f"{n_seen} of these {len(responses)} flagged answers are to sources that the verifier "
            "was fitted on: their figures say nothing of new answers"
        )
    if any(role.model is not None for role in context.config.roles().values()):
        yield from _remarks_on_models(context)


def _remarks_on_models(context: Context) -> Iterator[str]:
    """Yield how many verdicts are unstable, and for how many answers a source was shortened."""
    config, paths, kept = context.config, context.paths, frozenset(_population_ids(context))
    shortened = []
    if config.verifier.model is not None:
        verdicts = _kept(paths.verdicts, Verdict, kept)
        yield from _remark_on_stability(verdicts, config)
        shortened.append(_count_shortened(verdicts, "answers", "verifier"))
    if config.rewriter.model is not None:
        rewrites = _kept(paths.rewrites, Rewrite, kept)
        shortened.append(_count_shortened(rewrites, "answers", "rewriter"))
    judgements = _kept(paths.judgements, Judgement, kept)
    for judge in config.judges.panel:
        own = [judgement for judgement in judgements if judgement.judge == judge.name]
        shortened.append(_count_shortened(own, "judgements", f"judge {judge.name}"))
    if found := [count for count in shortened if count is not None]:
        yield f"the source was shortened to fit the context: for {', '.join(found)}"


def _remark_on_stability(verdicts: Sequence[Verdict], config: Config) -> Iterator[str]:
    threshold, within = config.verifier.threshold, config.verifier.unstable_within
    limits = [verdict.p_interval or (verdict.p_support,) * 2 for verdict in verdicts]
    is_near = near_threshold(
        [low for low, _ in limits],
        [high for _, high in limits],
        threshold=threshold,
        within=within,
    )
    if is_near.any():
        yield (
            f"{is_near.sum():,} of {len(verdicts):,} verdicts lie within {within:g} of the "
            f"threshold of {threshold:g}: they may come out otherwise when run again"
        )


def _count_shortened(
    found: Iterable[Verdict | Rewrite | Judgement], what: Literal["answers", "judgements"], who: str
) -> str | None:
    """Return as in "3 of 40 answers (verifier)"; None where nothing was left out."""
    records = list(found)
    cut = [record for record in records if record.left_out_fragments]
    if not cut:
        return None
    if what == "judgements":
        return f"{len(cut):,} of {len(records):,} judgements ({who})"
    n_cut, n = (len({record.record_id for record in each}) for each in (cut, records))
    return f"{n_cut:,} of {n:,} answers ({who})"


def _fault_counts(context: Context) -> Iterator[FaultCount]:
    for folder in _answer_folders(context):
        manifest = read_manifest(folder / "manifest.json")
        if manifest is None or manifest.n_units is None:
            raise RunStateError(
                f"{folder}: its manifest does not say how many answers were asked for"
            )
        if manifest.n_faults == 0:
            continue
        faults = list(read_records(faults_path(folder), Fault))
        for status, count in sorted(Counter(fault.status for fault in faults).items()):
            yield FaultCount(
                stage=manifest.stage, status=status, count=count, answers=manifest.n_units
            )
