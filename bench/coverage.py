"""How often each interval contains what it should: simulated data whose truth is known.

A new interval is one function here and one line of `KINDS`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bench.figures import Figure
from ragmend.analysis.statistics.agreement import cohen_kappa, gwet_ac1
from ragmend.analysis.statistics.clusters import cluster_mean_intervals
from ragmend.analysis.statistics.delong import delong_interval
from ragmend.analysis.statistics.exact_bootstrap import exact_bootstrap_interval
from ragmend.analysis.statistics.intervals import (
    Interval,
    bootstrap_means,
    percentile_interval,
    wilson_interval,
)
from ragmend.analysis.statistics.prediction_powered import prediction_powered_rate
from ragmend.analysis.statistics.score_intervals import newcombe_paired_interval, tango_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIZES = (134, 916)
TRIALS = 4_000  # the standard error of a coverage of .95 is then .003
TABLES_A_TRIAL = 25  # few tables differ, and each one's interval is computed once
N_RESAMPLES = 2_000
# Both, 1 to 0, 0 to 1, neither: as Gemma's labels on original and rewritten answers.
GEMMA = np.array([891, 18, 4, 3]) / 916
# Both, judge only, gold only, neither: as Qwen's labels on originals against gold.
JUDGED = np.array([726, 131, 14, 45]) / 916
AREA = 0.881  # of the paper's verifier
ICC = 0.3
RECORDS_A_SOURCE = 3

Cells = Sequence[tuple[int, int, int, int]]
Ends = Sequence[Interval | None]
Trial = Callable[[np.random.Generator, int, int], "NDArray[np.bool_]"]


def coverage_figures() -> Iterator[Figure]:
    """Simulate every kind of interval at both sizes."""
    for n in SIZES:
        for kind in KINDS:
            yield Figure(f"coverage of 95 %, n = {n}: {kind}", simulate(kind, n, TRIALS))


def simulate(kind: str, n: int, trials: int) -> float:
    """Return the share of trials whose interval contains the truth; undefined ones do not."""
    return float(KINDS[kind](np.random.default_rng(7), n, trials).mean())


def percentile(tables: Cells) -> Ends:
    """Bootstrap over records, all tables on the same resamples."""
    kinds = np.array([0, -1, 1, 0])
    return _percentile_intervals(np.column_stack([np.repeat(kinds, table) for table in tables]))


def exact(tables: Cells) -> Ends:
    """Bootstrap over records with infinitely many resamples."""
    return [exact_bootstrap_interval(b, c, both + b + c + rest) for both, b, c, rest in tables]


def tango(tables: Cells) -> Ends:
    """Tango's score interval."""
    return [tango_interval(b, c, both + b + c + rest) for both, b, c, rest in tables]


def newcombe(tables: Cells) -> Ends:
    """Newcombe's hybrid score interval."""
    return [newcombe_paired_interval(*table) for table in tables]


def of_tables(ends_of: Callable[[Cells], Ends]) -> Trial:
    """Return the trials of an interval that depends on the four counts of a paired table."""

    def trial(rng: np.random.Generator, n: int, trials: int) -> "NDArray[np.bool_]":
        counts_T4 = rng.multinomial(n, GEMMA, TABLES_A_TRIAL * trials)
        tables_U4, of_trial_T = np.unique(counts_T4, axis=0, return_inverse=True)
        tables = [(both, b, c, rest) for both, b, c, rest in tables_U4.tolist()]
        return _covers(ends_of(tables), _truth(GEMMA))[of_trial_T.ravel()]

    return trial


def clustered_over_records(rng: np.random.Generator, n: int, trials: int) -> "NDArray[np.bool_]":
    """Bootstrap over records where those of one source are alike."""
    values_RS, _ = _clustered_differences(rng, n, trials)
    return _covers(_percentile_intervals(values_RS), _truth(GEMMA))


def clustered_over_sources(rng: np.random.Generator, n: int, trials: int) -> "NDArray[np.bool_]":
    """Bootstrap over sources where records of one source are alike."""
    values_RS, sources_R = _clustered_differences(rng, n, trials)
    ends = cluster_mean_intervals(values_RS, sources_R, n_resamples=N_RESAMPLES)
    return _covers(ends or (), _truth(GEMMA))


def wilson(rng: np.random.Generator, n: int, trials: int) -> "NDArray[np.bool_]":
    """Wilson's interval of one rate near its end."""
    rate = float(GEMMA[0] + GEMMA[2])
    return _covers([wilson_interval(int(k), n) for k in rng.binomial(n, rate, trials)], rate)


def kappa(rng: np.random.Generator, n: int, trials: int) -> "NDArray[np.bool_]":
    """Cohen's kappa by Fleiss, Cohen and Everitt."""
    rate_a, rate_b = JUDGED[0] + JUDGED[1], JUDGED[0] + JUDGED[2]
    chance = rate_a * rate_b + (1 - rate_a) * (1 - rate_b)
    truth = (JUDGED[0] + JUDGED[3] - chance) / (1 - chance)
    found = [cohen_kappa(*_two_raters(rng, n)) for _ in range(trials)]
    return _covers([_ends(each.low, each.high) for each in found], truth)


def ac1(rng: np.random.Generator, n: int, trials: int) -> "NDArray[np.bool_]":
    """Gwet's AC1."""
    q = (2 * JUDGED[0] + JUDGED[1] + JUDGED[2]) / 2
    chance = 2 * q * (1 - q)
    truth = (JUDGED[0] + JUDGED[3] - chance) / (1 - chance)
    found = [gwet_ac1(*_two_raters(rng, n)) for _ in range(trials)]
    return _covers([_ends(each.low, each.high) for each in found], truth)


def delong(rng: np.random.Generator, n: int, trials: int) -> "NDArray[np.bool_]":
    """Area under the curve of two normal scores, half of the units positive."""
    from scipy.stats import norm

    positive_C = np.arange(n) < n // 2
    shift_C = np.sqrt(2) * norm.ppf(AREA) * positive_C
    found = [delong_interval(positive_C, rng.normal(size=n) + shift_C) for _ in range(trials)]
    return _covers([None if area is None else area.interval for area in found], AREA)


def powered(rng: np.random.Generator, n: int, trials: int) -> "NDArray[np.bool_]":
    """Prediction-powered rate: gold on n records, the judge's labels on seven times as many."""
    ends = []
    for _ in range(trials):
        judge_R, gold_R = _two_raters(rng, 7 * n)
        ends.append(prediction_powered_rate(judge_R, np.where(np.arange(7 * n) < n, gold_R, -1)))
    return _covers([each.interval for each in ends], float(JUDGED[0] + JUDGED[2]))


KINDS: dict[str, Trial] = {
    "percentile bootstrap": of_tables(percentile),
    "exact bootstrap": of_tables(exact),
    "Tango": of_tables(tango),
    "Newcombe": of_tables(newcombe),
    "percentile over records, records of a source alike": clustered_over_records,
    "percentile over sources, records of a source alike": clustered_over_sources,
    "Wilson": wilson,
    "kappa": kappa,
    "AC1": ac1,
    "DeLong": delong,
    "prediction-powered rate": powered,
}


def _clustered_differences(
    rng: np.random.Generator, n: int, trials: int
) -> "tuple[NDArray[np.int64], NDArray[np.int64]]":
    """Return differences whose sources have chances of their own, and the sources."""
    sources_R = np.arange(n) // RECORDS_A_SOURCE
    kinds_RS = np.empty((n, trials), dtype=np.int64)
    for trial in range(trials):
        chances_G4 = rng.dirichlet(GEMMA * (1 / ICC - 1), sources_R[-1] + 1)
        bounds_R4 = chances_G4.cumsum(axis=1)[sources_R]
        kinds_RS[:, trial] = (rng.random(n)[:, None] > bounds_R4[:, :3]).sum(axis=1)
    return np.array([0, -1, 1, 0])[kinds_RS], sources_R


def _percentile_intervals(values_RS: "NDArray[np.int64]") -> list[Interval]:
    means_BS = bootstrap_means(values_RS, n_resamples=N_RESAMPLES, seed=42)
    return [percentile_interval(means_B, confidence=0.95) for means_B in means_BS.T]


def _two_raters(rng: np.random.Generator, n: int) -> "tuple[NDArray[np.int64], NDArray[np.int64]]":
    cells_R = rng.choice(4, n, p=JUDGED)
    return (cells_R < 2).astype(np.int64), (cells_R % 2 == 0).astype(np.int64)


def _truth(cells: "NDArray[np.float64]") -> float:
    return float(cells[2] - cells[1])


def _ends(low: float | None, high: float | None) -> Interval | None:
    return None if low is None or high is None else Interval(low, high)


def _covers(ends: Ends, truth: float) -> "NDArray[np.bool_]":
    # Bootstrap ends are multiples of 1/n, and the truth may be one: rounding must not decide.
    return np.array(
        [each is not None and each.low - 1e-12 <= truth <= each.high + 1e-12 for each in ends]
    )
