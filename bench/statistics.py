"""How fast the statistics are: against scipy on the golden files, and on a large label table.

`python -m bench.statistics RECORDS JUDGES CONDITIONS` prints the CPU seconds and the peak memory
in bytes of `ragmend analyze` on synthetic labels of that size.
"""

import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bench.figures import Figure, cpu_seconds
from ragmend.analysis.figures.recipes import FIGURES
from ragmend.analysis.inputs.agreeing import refuse_contradictions
from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.printing.table import Table
from ragmend.analysis.prose.explain import explain
from ragmend.analysis.settings import Provenance, Settings
from ragmend.analysis.statistics.exact_bootstrap import exact_bootstrap_interval
from ragmend.analysis.statistics.intervals import (
    bootstrap_means,
    forget_draws,
    percentile_interval,
)
from ragmend.analysis.statistics.paired import pair_labels
from ragmend.analysis.study import Study
from ragmend.analysis.tables.provenance_table import provenance_table
from ragmend.analysis.tables.recipes import TABLES, reason_to_leave_out

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "analysis"
N_RESAMPLES = 10_000
N_LOOPED = 200  # resamples of scipy's loop over records: its time is linear in them
N_COMPARED = 3  # contrasts that scipy is timed on, of 18
LARGE = (18_000, 10, 5)
RECORDS_A_SOURCE = 6
MEGABYTE = 1e6


class Load(NamedTuple):
    """What a large label table costs: CPU seconds and bytes."""

    cpu_s: float
    peak: float


def statistics_figures() -> Iterator[Figure]:
    """Measure intervals against scipy, the golden analysis, and a large label table."""
    yield from _interval_figures()
    yield from _analysis_figures()
    records, judges, conditions = LARGE
    load = _load_in_child(records, judges, conditions)
    size = f"{records:,} records x {judges} judges x {conditions} conditions"
    yield Figure(f"ragmend analyze on {size}", load.cpu_s, "s CPU", "at most", 30)
    yield Figure(f"peak memory, {size}", load.peak / MEGABYTE, "MB", "at most", 2000)


def golden_study() -> Study:
    """Return the study of the synthetic golden files, nothing of it computed yet."""
    import pandas as pd

    names = {
        "labels": "reconstructed_labels", "arms": "reconstructed_arms",
        "claims": "reconstructed_verifier", "records": "reconstructed_records",
        "selection": "reconstructed_selection", "runs": "published_seed_f1",
        "published": "published_teqhallu",
    }  # fmt: skip
    frames = {name: pd.read_csv(GOLDEN / f"{file}.csv") for name, file in names.items()}
    return Study(Frames(**frames), Settings(), Provenance())


def large_labels(n_records: int, n_judges: int, n_conditions: int) -> "pd.DataFrame":
    """Return random labels with sources and tasks, in which repair lowers the rate."""
    import pandas as pd

    names = ("original", "removal", "extractive", "generative", "layered", "other")[:n_conditions]
    places = np.indices((n_records, n_judges, n_conditions)).reshape(3, -1)
    record_K, judge_K, condition_K = places
    chance_K = 0.9 - 0.05 * condition_K
    labels_K = np.random.default_rng(1).random(len(record_K)) < chance_K
    ids = np.array([f"r{i:06}" for i in range(n_records)])
    sources = np.array([f"s{i // RECORDS_A_SOURCE:06}" for i in range(n_records)])
    return pd.DataFrame(
        {
            "record_id": ids[record_K],
            "source_id": sources[record_K],
            "task": np.array(["QA", "Summary", "Data2txt"])[record_K % 3],
            "judge": np.array([f"judge-{j}" for j in range(n_judges)])[judge_K],
            "condition": np.array(names)[condition_K],
            "label": labels_K.astype(int),
        }
    )


def measure_load(n_records: int, n_judges: int, n_conditions: int) -> Load:
    """Measure `ragmend analyze` on a large CSV: reading, every table, figures and report."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.csv"
        large_labels(n_records, n_judges, n_conditions).to_csv(path, index=False)
        words = ["analyze", "--labels", str(path), "--out", str(Path(folder) / "out")]
        command = [sys.executable, "-m", "ragmend", *words]
        subprocess.run(command, capture_output=True, check=True)  # noqa: S603
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Load(usage.ru_utime + usage.ru_stime, 1024.0 * usage.ru_maxrss)


def _interval_figures() -> Iterator[Figure]:
    """Compare our intervals of all golden contrasts with scipy's, which is timed on a part."""
    study = golden_study()
    pairs = pair_labels(study.cube, study.design.contrasts)
    counts = [(row.b, row.c, row.n) for row in study.contrasts]
    exact = cpu_seconds(lambda: [exact_bootstrap_interval(*each) for each in counts], repeats=3)
    seeded = cpu_seconds(lambda: _percentile_intervals(pairs.b_RS - pairs.a_RS), repeats=3)
    part = N_COMPARED / len(counts)
    some = [(pairs.a_RS[:, i], pairs.b_RS[:, i]) for i in range(N_COMPARED)]
    looped = cpu_seconds(lambda: _scipy_intervals(some, N_LOOPED, vectorized=False))
    looped *= N_RESAMPLES / N_LOOPED / part
    vectorised = cpu_seconds(lambda: _scipy_intervals(some, N_RESAMPLES, vectorized=True)) / part
    scaled = f"{N_COMPARED} of {len(counts)} contrasts timed and scaled"
    yield Figure(f"exact intervals of {len(counts)} contrasts", exact, "s CPU")
    what = f"exact intervals against scipy's loop ({scaled}, {N_LOOPED} resamples of 10,000)"
    yield Figure(what, looped / exact, "x faster", "at least", 50)
    yield Figure(f"seeded intervals of {len(counts)} contrasts", seeded, "s CPU")
    what = f"seeded intervals against scipy vectorised ({scaled})"
    yield Figure(what, vectorised / seeded, "x faster", "at least", 5)


def _percentile_intervals(differences_RS: "NDArray[np.int64]") -> None:
    forget_draws()
    for means_B in bootstrap_means(differences_RS, n_resamples=N_RESAMPLES, seed=42).T:
        percentile_interval(means_B, confidence=0.95)


def _scipy_intervals(
    pairs: "list[tuple[NDArray[np.int64], NDArray[np.int64]]]",
    n_resamples: int,
    *,
    vectorized: bool,
) -> None:
    from scipy.stats import bootstrap

    def difference(
        a: "NDArray[np.int64]", b: "NDArray[np.int64]", axis: int = -1
    ) -> "NDArray[np.float64]":
        return np.asarray(b.mean(axis=axis) - a.mean(axis=axis))

    for pair in pairs:
        bootstrap(
            pair, difference, paired=True, vectorized=vectorized, n_resamples=n_resamples,
            method="percentile", batch=1000, rng=np.random.default_rng(42),
        )  # fmt: skip


def _analysis_figures() -> Iterator[Figure]:
    """Measure every table and figure of the golden files, libraries already loaded."""
    warm = golden_study()
    _draw_figures(warm, _make_tables(warm))
    study = golden_study()
    tables: dict[str, Table] = {}
    tables_s = cpu_seconds(lambda: tables.update(_make_tables(study)))
    figures_s = cpu_seconds(lambda: _draw_figures(study, tables))
    what = f"statistics and {len(tables)} tables of the golden files"
    yield Figure(what, tables_s, "s CPU", "at most", 3)
    yield Figure("figures of the golden files", figures_s, "s CPU")


def _make_tables(study: Study) -> dict[str, Table]:
    """Make all that `analyze` makes but the figures, resamples drawn anew."""
    forget_draws()
    refuse_contradictions(study.frames, study.provenance)
    tables = {
        name: recipe.make(study)
        for name, recipe in TABLES.items()
        if reason_to_leave_out(study, recipe) is None
    }
    tables["provenance"] = provenance_table(tables, TABLES, study)
    explain(study, tables)
    return tables


def _draw_figures(study: Study, tables: dict[str, Table]) -> None:
    for recipe in FIGURES.values():
        if all(need in tables for need in recipe.needs):
            recipe.draw(study, tables)


def _load_in_child(*size: int) -> Load:
    command = [sys.executable, "-m", "bench.statistics", *map(str, size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    return Load(*map(float, done.stdout.split()))


if __name__ == "__main__":
    print(*measure_load(*map(int, sys.argv[1:4])))  # noqa: T201 - its result
