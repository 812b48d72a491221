"""Every public statistic refuses what its arguments cannot be, and says which one was wrong."""

import inspect
from fractions import Fraction
from math import comb, inf, nan

import numpy as np
import pandas as pd
import pytest

import ragmend.analysis
from ragmend.analysis.statistics.judge_error import JudgeError
from ragmend.errors import StatisticsError

STREAM = np.random.default_rng(0)
N = 24
LABELS = [1, 0, 0, 1, 1, 0] * 4
OTHERS = [1, 1, 0, 0, 1, 0] * 4
GOLD = [1, 0, 0, 1, -1, 0] * 4
SHARES = list(STREAM.random(N))
SOURCES = [f"s{i // 2}" for i in range(N)]
RUNS_A, RUNS_B = [70.0, 71.5, 73.0], [72.0, 74.5, 73.5]
TABLE = pd.DataFrame(
    {"record_id": f"r{i}", "judge": judge, "condition": condition, "label": (i + k) % 2}
    for i in range(6)
    for judge in ("x", "y")
    for k, condition in enumerate(("original", "removal"))
)
BOOTSTRAP = {"n_resamples": 50, "seed": 1, "confidence": 0.9}
PAIR = {"labels_a_R": LABELS, "labels_b_R": OTHERS}
MATRIX = np.column_stack([SHARES, SHARES])
CHANGES = {"b": 5, "c": 3, "n": 30}
PLAN = {"rate": 0.3, "correlation": 0.2, "n_records": 100, "confidence": 0.9}
SCORES = {"scores_a_N": RUNS_A, "scores_b_N": RUNS_B}
JUDGED = {"judge_R": LABELS, "gold_R": GOLD}
POWER = {"diff": 3.0, "sd_a": 2.0, "sd_b": 2.0}
UNITS = {"positive_C": LABELS, "score_C": SHARES}

VALID = {
    "across_judges": {"contrasts": []},
    "agreement": PAIR | {"sources_R": SOURCES, "confidence": 0.9},
    "agreement_table": {"labels": TABLE},
    "area_under_curve": UNITS | {"cluster_C": SOURCES} | BOOTSTRAP,
    "best_f1_threshold": {"positive_C": LABELS, "p_support_C": SHARES},
    "bootstrap_mean_interval": {"values_R": SHARES} | BOOTSTRAP,
    "bootstrap_means": {"values_RS": MATRIX, "n_resamples": 50, "seed": 1},
    "budget_threshold": {"least_p_A": SHARES, "budget": Fraction(1, 10)},
    "calibrate": {"p_dev_C": SHARES, "gold_dev_C": LABELS, "p_C": SHARES, "method": "platt"},
    "calibration_error": {"p_C": SHARES, "gold_C": LABELS},
    "cluster_effects": {"values_RS": MATRIX, "sources_R": SOURCES},
    "cluster_mean_intervals": {"values_RS": MATRIX, "sources_R": SOURCES} | BOOTSTRAP,
    "cochran_q": {"labels_RC": np.column_stack([LABELS, OTHERS])},
    "cohen_kappa": PAIR | {"sources_R": SOURCES, "confidence": 0.9},
    "compare_paired": PAIR | {"sources_R": SOURCES},
    "correlation_limit": {"judge_R": LABELS, "gold_R": GOLD, "confidence": 0.9},
    "delong_interval": UNITS | {"confidence": 0.9},
    "detectable_difference": {"discordant": 10, "n": 30, "power": 0.8},
    "exact_bootstrap_distribution": CHANGES,
    "exact_bootstrap_interval": CHANGES | {"confidence": 0.9},
    "exact_mcnemar": {"b": 5, "c": 3},
    "f1_standard_error": {"tp": 5, "fp": 3, "fn": 4},
    "gold_correlation": JUDGED,
    "gwet_ac1": PAIR | {"sources_R": SOURCES, "confidence": 0.9},
    "half_width_expected": {"n_labels": 30} | PLAN,
    "holm": {"p_values": {"a": 0.1, "b": 0.2}},
    "intersection_union": {"p_values": {"a": 0.1}, "differences": {"a": 1.0}},
    "judge_corrected_rate": JUDGED | {"other_R": GOLD, "confidence": 0.9},
    "judge_error": JUDGED,
    "krippendorff_alpha": {"labels_RJ": np.column_stack([LABELS, OTHERS]), "sources_R": SOURCES}
    | BOOTSTRAP,
    "labels_needed": {"half_width_pp": 5.0} | PLAN,
    "near_threshold": {"low_C": SHARES, "high_C": SHARES, "threshold": 0.5, "within": 0.01},
    "newcombe_paired_interval": {"both": 5, "b": 3, "c": 4, "neither": 8, "confidence": 0.9},
    "paired_contrasts": {"labels": TABLE},
    "paired_equivalence": CHANGES | {"margin_pp": 5.0},
    "permutation_p": SCORES | {"seed": 1},
    "prediction_powered_rate": JUDGED | {"weight": 0.5, "confidence": 0.9},
    "records_needed": CHANGES | {"power": 0.8},
    "rogan_gladen": {
        "positives": 10,
        "n": 30,
        "sensitivity": (8, 10),
        "specificity": (7, 9),
        "confidence": 0.9,
    },
    "runs_needed": POWER | {"power": 0.8, "confidence": 0.9},
    "seed_correlation": {"scores_a_S": RUNS_A, "scores_b_S": RUNS_B},
    "superiority": SCORES,
    "support_of_forms": {"form_probs": {"Yes": 0.6, "No": 0.3}, "scoring": "two-token"},
    "tango_interval": CHANGES | {"confidence": 0.9},
    "text_retention": {"ratio_RS": MATRIX, "sources_R": SOURCES} | BOOTSTRAP,
    "true_rate": {
        "judged": Fraction(1, 3),
        "sensitivity": Fraction(9, 10),
        "specificity": Fraction(8, 10),
    },
    "welch_power": POWER | {"n_a": 5, "n_b": 5, "confidence": 0.9},
    "welch_test": SCORES | {"confidence": 0.9},
    "wilson_interval": {"count": 5, "n": 30, "confidence": 0.9},
    "youden_interval": {"error": JudgeError(10, 8, 9, 7), "confidence": 0.9},
}
NO_NUMBER = [nan, inf, -inf, True, np.bool_(True), "5", None, pd.NA, [1], 10**400, 1j]
NO_COUNT = [-1, 2.5, 5.0, 2**63, np.float64(5), np.array([5]), *NO_NUMBER]
NO_LEVEL = [0, 1, 2, -1, 1 - 1e-16, 1e-17, *NO_NUMBER]
NO_SHARE = [-1, 2, 1.5, -1e-9, *NO_NUMBER]
NO_PLACE = [[None], [nan], [pd.NA], [""], [1.5], [True], [("a", 1)], [b"s"]]  # of one source
BAD = {
    "budget": [1, *NO_SHARE],
    "confidence": NO_LEVEL,
    "contrasts": [None, 1, "x", [1], TABLE],
    "correlation": [-1.5, 1.5, *NO_NUMBER],
    "diff": NO_NUMBER,
    "differences": [{"a": nan}, {"a": None}, {"a": "1"}, {"b": 1.0}, None, [1.0]],
    "error": [
        None,
        (10, 8, 9, 7),
        JudgeError(8, 10, 9, 7),
        JudgeError(10, 8, 9, -1),
        JudgeError(10, 2.5, 9, 7),
    ],
    "form_probs": [
        None,
        1,
        [("Yes", 0.5)],
        {"Maybe": 0.5},
        {1: 0.5},
        *({"Yes": p} for p in (-0.1, 1.5, nan, inf, True, "0.5", None, pd.NA, [0.5], 1j)),
    ],
    "half_width_pp": [0, 1e-320, 51, -1, *NO_NUMBER],
    "judged": NO_SHARE,
    "labels": [
        pd.DataFrame(),
        TABLE.iloc[:0],
        TABLE.to_dict("list"),
        TABLE.to_dict("records"),
        None,
        pd.concat([TABLE, TABLE[["label"]]], axis=1),
        pd.concat([TABLE, TABLE[["judge"]]], axis=1),
        TABLE.assign(condition=TABLE["condition"].replace("removal", "")),
        TABLE.assign(condition=None),
        TABLE.assign(label=TABLE["label"] + 0j),
        TABLE.assign(label=[[1]] * len(TABLE)),
        TABLE.assign(label=0.5),
        TABLE.drop(columns="judge"),
    ],
    "margin_pp": [0, 100, -5, *NO_NUMBER],
    "method": ["", "beta", None, []],
    "n_records": [0, *(value for value in NO_COUNT if value is not None)],
    "n_resamples": [0, 10**18, *NO_COUNT],
    "p_values": [{"a": nan}, {"a": None}, {"a": 2}, {"a": -0.1}, {"a": "x"}, {"a": True}, None],
    "power": NO_LEVEL,
    "rate": NO_LEVEL,
    "scoring": ["", "three-token", None, [], 1, b"two-token"],
    "sd_a": [-1, *NO_NUMBER],
    "sd_b": [-1, *NO_NUMBER],
    "seed": [-1, 2.5, nan, inf, True, "5", None, pd.NA, [1], np.array([5])],
    "sensitivity": [(0, 0), (5, 3), (-1, 3), (1.0, 2.0), (1,), (1, 2, 3), (nan, 2), (True, True)],
    "threshold": NO_SHARE,
    "within": NO_SHARE,
    "weight": [-0.5, 1.5, *(value for value in NO_NUMBER if value is not None)],
}
BAD["specificity"] = BAD["sensitivity"]
COUNTS = ("b", "both", "c", "count", "discordant", "fn", "fp", "n", "n_a", "n_b", "n_labels")
COUNTS += ("neither", "positives", "tp")
BAD |= dict.fromkeys(COUNTS, NO_COUNT)


def bad_rows(row):
    """Yield what is no row of values, though it looks like this one."""
    rest = list(row[1:])
    yield from (np.array([row]).T, np.array([[row]]), np.zeros((5, 0)), 1, None, "text", iter(row))
    yield from ([missing, *rest] for missing in (nan, inf, None, pd.NA, "1", 1j, [1], 10**400))
    yield pd.Series([pd.NA, *rest], dtype="Float64")
    yield np.ma.array(row, mask=[1] + [0] * len(rest))
    yield np.array(row) + 0j
    yield [str(value) for value in row]
    yield pd.date_range("2020", periods=len(row))


def bad_matrices(matrix):
    """Yield what is no array of records, though it looks like this one."""
    yield from (
        matrix[:, 0],
        matrix[:, :0],
        matrix[:0],
        matrix[None],
        1,
        None,
        "text",
        [[1], [2, 3]],
    )
    yield from (matrix + 0j, matrix.astype(str), np.ma.array(matrix, mask=matrix > 0))
    for missing in (nan, inf, None, pd.NA):
        changed = matrix.astype(object)
        changed[0, 0] = missing
        yield changed


def bad_sources(sources):
    """Yield what is no source a record."""
    yield from ([*place, *sources[1:]] for place in NO_PLACE)
    yield from (sources[1:], [sources], np.array([sources]).T, 1, "text")
    yield [1, "1", *sources[2:]]
    yield np.full(len(sources), nan)
    yield np.ma.array(sources, mask=[1] + [0] * (len(sources) - 1))
    yield pd.Series([pd.NA, *sources[1:]], dtype="string")


def bad_values(function, argument):
    """Yield what an argument of a function cannot be."""
    if function == "true_rate":
        return NO_SHARE
    if argument in BAD:
        return BAD[argument]
    good = VALID[function][argument]
    if argument in ("sources_R", "cluster_C"):
        return bad_sources(good)
    optional = function == "judge_corrected_rate" and argument == "other_R"
    found = bad_matrices(good) if isinstance(good, np.ndarray) else bad_rows(good)
    return [value for value in found if value is not None] if optional else found


CASES = [
    pytest.param(function, argument, value, id=f"{function}-{argument}-{place}")
    for function, good in VALID.items()
    for argument in good
    for place, value in enumerate(bad_values(function, argument))
]


def call(function, **arguments):
    return getattr(ragmend.analysis, function)(**arguments)


def test_every_argument_of_every_public_statistic_is_tried():
    homes = ragmend.analysis._HOME
    assert set(VALID) == {name for name, home in homes.items() if home.startswith("statistics.")}
    for function, arguments in VALID.items():
        parameters = set(inspect.signature(getattr(ragmend.analysis, function)).parameters)
        assert set(arguments) == parameters - {"settings", "raters"}, function


@pytest.mark.parametrize("function", VALID)
def test_what_is_fit_is_taken(function):
    call(function, **VALID[function])


@pytest.mark.parametrize(("function", "argument", "value"), CASES)
def test_what_is_unfit_is_refused_by_name(function, argument, value):
    with pytest.raises(StatisticsError, match=rf"\b{argument}\b"):
        call(function, **(VALID[function] | {argument: value}))


def test_numpys_whole_numbers_do_not_overflow():
    # Each right value is that of Python's own whole numbers.
    cases = {
        "exact_mcnemar": (200, 100),
        "exact_bootstrap_interval": (20, 5, 200),
        "f1_standard_error": (200, 30, 60),
        "tango_interval": (20_000, 50_000, 100_000),
        "newcombe_paired_interval": (100, 50, 40, 60),
        "wilson_interval": (200, 250),
    }
    for function, counts in cases.items():
        expected = getattr(ragmend.analysis, function)(*counts)
        for kind in (np.uint8, np.int16, np.int32, np.int64, np.uint64):
            if max(counts) <= np.iinfo(kind).max:
                assert getattr(ragmend.analysis, function)(*map(kind, counts)) == expected


def test_the_overflowing_cases_have_their_values():
    # Two-sided binomial tail: 2 · Σ_{k ≤ 100} C(300, k) / 2^300.
    two_tails = Fraction(2 * sum(comb(300, k) for k in range(101)), 2**300)
    found = ragmend.analysis.exact_mcnemar(np.uint8(200), np.uint8(100))
    assert found.p == pytest.approx(float(two_tails))
    # √(4 · 200 · 90 · 290 / 490⁴)
    error = ragmend.analysis.f1_standard_error(np.uint8(200), np.uint8(30), np.uint8(60))
    assert error == pytest.approx((4 * 200 * 90 * 290) ** 0.5 / 490**2)
    low, high = ragmend.analysis.exact_bootstrap_interval(*map(np.uint8, (20, 5, 200)))
    assert low < (5 - 20) / 200 < high < 0


def test_every_number_type_that_is_a_level_is_one():
    for level in (np.float64(0.9), np.float32(0.9), Fraction(9, 10)):
        found = ragmend.analysis.wilson_interval(5, 30, confidence=level)
        assert found == pytest.approx(ragmend.analysis.wilson_interval(5, 30, confidence=0.9))


def test_a_float_budget_is_the_decimal_that_names_it():
    # 0.3 lies below three tenths as a binary number, and would allow two edits of ten.
    least = np.arange(10) / 10
    assert ragmend.analysis.budget_threshold(least, 0.3) == 0.3
