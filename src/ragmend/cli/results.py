"""From a run's records on disk to its analysis and the facts at the head of its report."""

from collections.abc import Iterator, Sequence

from ragmend.analysis.analyze import Analysis, analyze
from ragmend.analysis.figures.style import figure_files
from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.inputs.from_records import build_frames
from ragmend.analysis.inputs.runs import read_runs
from ragmend.analysis.inputs.trained_runs import run_frame
from ragmend.analysis.printing.notes import warnings_for
from ragmend.analysis.printing.write import table_files
from ragmend.analysis.report import Summary
from ragmend.analysis.settings import Settings
from ragmend.analysis.tables.seed_tables import unscored_note
from ragmend.cli.context import Context
from ragmend.cli.data import detector_run_id
from ragmend.cli.protocol import read_lock
from ragmend.cli.provenance import provenance_of
from ragmend.cli.recorded import Recorded, everything, excluded_records, population_ids, read_run
from ragmend.config import Config
from ragmend.errors import FaultError
from ragmend.io import sha256_of_file
from ragmend.records import CONDITIONS, CandidateKind
from ragmend.repair.arms import ACTION_OF, ARM_POLICIES


def analyze_run(context: Context) -> Analysis:
    """Analyse the records of a run.

    Raises:
        FaultError: Every record has a fault, so that nothing is left to analyse.
        AccountingError, StatisticsError: The records do not fit together.
    """
    recorded = everything(context)
    if not population_ids(context, recorded):
        raise FaultError("no record is left to analyse: each has an accepted fault")
    threshold = context.config.verifier.threshold
    return analyze(
        build_frames(read_run(context, recorded), threshold=threshold),
        settings=settings_of(context.config),
        provenance=provenance_of(context, recorded),
    )


def settings_of(config: Config) -> Settings:
    """Return how a run is analysed."""
    return Settings(
        n_resamples=config.analysis.n_resamples,
        seed=config.analysis.seed,
        confidence=config.analysis.confidence,
        figure_formats=config.analysis.figure_formats,
        conditions=CONDITIONS,
    )


def analysis_files(analysis: Analysis) -> dict[str, bytes]:
    """Return every table and figure as files, by name relative to the folder they go to."""
    return table_files(analysis.tables) | figure_files(analysis.figures)


def summarize(context: Context, recorded: Recorded | None = None) -> Summary:
    """Collect what the protocol fixed, and what a reader must know first.

    Args:
        context: The run.
        recorded: What of it is complete; all that results need when None.
    """
    config = context.config
    recorded = everything(context) if recorded is None else recorded
    threshold = f"claims with P(support) < {config.verifier.threshold:g} are repaired"
    return Summary(
        title=config.name,
        facts=(
            *_population_facts(context, recorded),
            ("threshold", threshold),
            *((f"arm: {arm}", _policy(kinds)) for arm, kinds in ARM_POLICIES.items()),
            ("judges", ", ".join(judge.name for judge in config.judges.panel)),
            ("primary judge", config.judges.primary),
        ),
        warnings=(
            *warnings_for(provenance_of(context, recorded)),
            *_run_warnings(context, recorded),
        ),
    )


def _population_facts(context: Context, recorded: Recorded) -> tuple[tuple[str, str], ...]:
    run = detector_run_id(context.config)
    if "select" not in recorded.stages:
        return (("population", f"what {run} flags; not selected yet"),)
    n_records = len(population_ids(context, recorded))
    return (
        ("population", f"{n_records} answers flagged by {run}"),
        ("population hash", sha256_of_file(context.paths.population)),
    )


def _run_warnings(context: Context, recorded: Recorded) -> Iterator[str]:
    if "select" in recorded.stages:
        for amendment in read_lock(context).amendments:
            yield f"the protocol was amended {amendment.when}: {amendment.entry}"
    if context.config.population.limit is not None:
        yield f"limited to the first {context.config.population.limit} flagged answers"
    n_excluded = len(excluded_records(context, recorded))
    if n_excluded:
        yield f"{n_excluded} records were left out for accepted faults"
    runs = recorded.runs
    note = unscored_note(read_runs(Frames(runs=run_frame(runs))).unscored) if runs else None
    if note is not None:
        yield f"detector runs {note}"


def _policy(kinds: Sequence[CandidateKind]) -> str:
    return ", else ".join(["keep if supported", *(ACTION_OF[kind] for kind in kinds), "drop"])
