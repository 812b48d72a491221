"""Where a run's numbers come from: its models, faults, files, and what to know of its answers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from ragmend.analysis.settings import FaultCount, InputFile, Provenance
from ragmend.analysis.statistics.label_forms import near_threshold
from ragmend.cli.context import Context
from ragmend.cli.data import read_population
from ragmend.cli.detector_runs import files_of_frames, remarks_on_runs
from ragmend.cli.recorded import Recorded, answer_folders, kept_records, population_ids
from ragmend.cli.roles.identities import fitted_sources, verifier_entry
from ragmend.config import Config
from ragmend.errors import RunStateError
from ragmend.io import read_records, sha256_of_file
from ragmend.manifest import read_manifest
from ragmend.paths import StageName, faults_path, manifest_path
from ragmend.records import Fault, Judgement, Rewrite, Verdict


def provenance_of(context: Context, recorded: Recorded) -> Provenance:
    """Say where the numbers of a run come from.

    Args:
        context: The run.
        recorded: What of it is complete; of nothing else anything is said.

    Raises:
        MissingInputError, DataError: A file of it cannot be read.
        RunStateError: A manifest does not say how many answers were asked for.
    """
    config, panel = context.config, context.config.judges.panel
    heuristic = tuple(judge.name for judge in panel if judge.backend == "lexical")
    return Provenance(
        embedded_verifier=config.verifier.backend == "lexical",
        embedded_judges=len(heuristic) == len(panel),
        heuristic_judges=heuristic if len(heuristic) < len(panel) else (),
        verifier_name=_verifier_name(config),
        verifier_family_judges=tuple(_judges_of_verifiers_family(config)),
        unstable_within=config.verifier.unstable_within,
        remarks=tuple(_remarks(context, recorded)),
        threshold=config.verifier.threshold,
        judges=tuple(judge.name for judge in panel),
        primary_judge=config.judges.primary,
        faults=tuple(_fault_counts(context, recorded)),
        inputs=_input_files(context, recorded),
        command="ragmend analyze RUN",
    )


def _input_files(context: Context, recorded: Recorded) -> dict[str, tuple[InputFile, ...]]:
    """Name the record files behind each frame, relative to the run folder, with their hashes."""
    paths = context.paths
    facts = (paths.population, paths.selection)
    made_by: dict[str, tuple[StageName, Sequence[Path]]] = {
        "labels": ("judge", (paths.judgements, *facts)),
        "arms": ("assemble", (paths.answers, paths.actions, paths.verdicts, *facts)),
        "claims": ("verify", (*_claim_files(context, recorded), *facts)),
        "records": ("select", facts),
        "selection": ("select", (paths.selection,)),
        "candidates": ("propose", (paths.candidates,)),
        "verdicts": ("verify", (paths.verdicts, *facts)),
        "rewrites": ("propose", (paths.rewrites,)),
        "detectors": ("select", (paths.detector_scores,)),
        "answers": ("assemble", (paths.answers,)),
        "actions": ("assemble", (paths.actions,)),
    }
    files = {frame: group for frame, (stage, group) in made_by.items() if stage in recorded.stages}
    of_runs = files_of_frames(context.config, paths) if recorded.runs else {}
    files |= {frame: there for frame, group in of_runs.items() if (there := _that_are(group))}
    hashes = {path: sha256_of_file(path) for path in sorted({p for g in files.values() for p in g})}
    return {
        frame: tuple(InputFile(path=paths.relative(p), sha256=hashes[p]) for p in group)
        for frame, group in files.items()
    }


def _claim_files(context: Context, recorded: Recorded) -> list[Path]:
    paths = context.paths
    later = {"propose": paths.candidates, "assemble": paths.actions}
    return [
        paths.claims,
        paths.verdicts,
        *(path for stage, path in later.items() if stage in recorded.stages),
    ]


def _that_are(group: Sequence[Path]) -> list[Path]:
    """Return those that are there: of a detector whose files are gone, no number is printed."""
    return [path for path in group if path.is_file()]


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


def _remarks(context: Context, recorded: Recorded) -> Iterator[str]:
    """Yield what a reader of any table must know of detectors, answers, verdicts, judgements."""
    yield from remarks_on_runs(recorded.runs, split=context.config.data.split)
    if "select" in recorded.stages:
        yield from _remarks_on_population(context)
        if any(role.model is not None for role in context.config.roles().values()):
            yield from _remarks_on_models(context, recorded)


def _remarks_on_population(context: Context) -> Iterator[str]:
    """Yield which answers are left out of everything, and which the verifier has seen."""
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


def _remarks_on_models(context: Context, recorded: Recorded) -> Iterator[str]:
    """Yield how many verdicts are unstable, and for how many answers a source was shortened."""
    config, paths, stages = context.config, context.paths, recorded.stages
    kept = frozenset(population_ids(context, recorded))
    shortened = []
    if config.verifier.model is not None and "verify" in stages:
        verdicts = kept_records(paths.verdicts, Verdict, kept)
        yield from _remark_on_stability(verdicts, config)
        shortened.append(_count_shortened(verdicts, "answers", "verifier"))
    if config.rewriter.model is not None and "propose" in stages:
        rewrites = kept_records(paths.rewrites, Rewrite, kept)
        shortened.append(_count_shortened(rewrites, "answers", "rewriter"))
    is_judged = "judge" in stages
    judgements = kept_records(paths.judgements, Judgement, kept) if is_judged else []
    for judge in config.judges.panel if is_judged else ():
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


def _fault_counts(context: Context, recorded: Recorded) -> Iterator[FaultCount]:
    for folder in answer_folders(context, recorded):
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
