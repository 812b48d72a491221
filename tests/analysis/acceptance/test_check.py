"""The check on small tables made by hand."""

from fractions import Fraction

import pandas as pd
import pytest

from ragmend.analysis.acceptance.cells import COUNT, P_VALUE, PERCENT, TWO, Printing
from ragmend.analysis.acceptance.check import (
    check_lines,
    check_published,
    check_summary,
    read_published,
)
from ragmend.analysis.acceptance.readings import print_number
from ragmend.analysis.printing.table import Table
from ragmend.errors import StatisticsError


def table(name, rows):
    return Table(name, name, pd.DataFrame(rows, dtype=object), (), ())


def number(number_id, published):
    return {"id": number_id, "location": "here", "published": published}


def contrasts(qwen=(), gemma=(), pairs=("original-removal",)):
    """A table of contrasts; each judge's are differences in answers of 1,000."""
    rows = [
        {"judge": judge, "contrast": pair, "n": 1000, "b": b, "c": 0, "diff_pp": Fraction(-b, 10)}
        for judge, bs in (("qwen", qwen), ("gemma", gemma))
        for pair, b in zip(pairs, bs, strict=False)
    ]
    return {"contrasts": table("contrasts", rows)}


ARMS = tuple(f"original-{arm}" for arm in ("removal", "extractive", "generative"))


def check(tables, number_id, published):
    (found,) = check_published(tables, [number(number_id, published)])
    return found


def test_a_difference_is_compared_without_its_sign_and_an_end_of_an_interval_with_it():
    tables = contrasts(qwen=[392])
    frame = tables["contrasts"].frame
    frame["ci_low"] = pd.Series([-42.5], dtype=object)
    assert check(tables, "contrast.qwen.ori-rem.diff", "39.20").state == "ok"
    assert check(tables, "contrast.qwen.ori-rem.diff", "-39.20").state == "differs"
    assert check(tables, "contrast.qwen.ori-rem.lo", "-42.50").state == "ok"
    assert check(tables, "contrast.qwen.ori-rem.lo", "42.50").state == "differs"
    assert frame["diff_pp"].tolist() == [Fraction(-392, 10)]


def test_a_number_that_differs_says_where_ours_stands():
    found = check(contrasts(qwen=[392]), "contrast.qwen.ori-rem.diff", "39.19")
    assert found == (
        "contrast.qwen.ori-rem.diff", "here", "39.19", "39.20", "differs",
        "contrasts, judge=qwen, contrast=original-removal, diff_pp",
    )  # fmt: skip


def test_an_undefined_value_differs_from_any_published_number():
    tables = {"judge_reliability": table("judge_reliability", [{"judge": "qwen", "kappa": None}])}
    found = check(tables, "rel.qwen.kappa_gold", "0.317")
    assert (found.ours, found.state) == ("—", "differs")


@pytest.mark.parametrize(
    ("number_id", "reason"),
    [
        ("contrast.llama.ori-rem.diff", "contrasts has no row judge=llama, contrast=original-rem"),
        ("contrast.qwen.ori-rem.holm", "contrasts has no column p_holm"),
        ("rel.factor", "contrasts has no ratio of Qwen's to Gemma's reductions"),
        ("sel.n", "needs the selection table, made from selection"),
        ("t6.elig.QA", "needs the table6_tasks table, made from labels or arms or"),
        ("rel.kappa.min", "needs the agreement table, made from labels"),
    ],
)
def test_a_number_without_input_says_what_is_lacking(number_id, reason):
    found = check(contrasts(qwen=[392]), number_id, "1")
    assert (found.ours, found.state) == (None, "no input")
    assert found.reason.startswith(reason)


def test_an_unknown_id_is_never_passed():
    found = check(contrasts(qwen=[392]), "contrast.qwen.ori-rem.median", "39.20")
    assert (found.ours, found.state) == (None, "unknown")


def test_3_27_is_excused_only_where_rounding_the_rates_first_gives_it():
    # 567 and 597 of 916: 3.2751 points, but 65.17 − 61.90 = 3.27.
    row = {"judge": "qwen", "contrast": "extractive-generative", "n": 916, "b": 0}
    row |= {"rate_a": Fraction(567, 916), "rate_b": Fraction(597, 916)}
    row |= {"c": 30, "diff_pp": Fraction(3000, 916)}
    tables = {"contrasts": table("contrasts", [row])}
    assert check(tables, "contrast.qwen.ext-gen.diff", "3.27").state == "explained"
    assert check(tables, "contrast.qwen.ext-gen.diff", "3.28").state == "ok"
    assert check(tables, "contrast.qwen.ext-gen.diff", "3.26").state == "differs"
    other = row | {"rate_b": Fraction(617, 916), "c": 50, "diff_pp": Fraction(5000, 916)}
    tables = {"contrasts": table("contrasts", [other])}
    assert check(tables, "contrast.qwen.ext-gen.diff", "3.27").state == "differs"


@pytest.mark.parametrize(
    ("qwen", "gemma", "ours", "state"),
    [
        ([90, 112, 186], [10, 10, 10], "9.0 / 11.2 / 18.6", "explained"),
        ([90, 91, 92], [10, 10, 10], "9.0 / 9.1 / 9.2", "explained"),
        ([50, 60, 70], [10, 10, 10], "5.0 / 6.0 / 7.0", "differs"),
    ],
)
def test_the_factor_of_nine_is_excused_only_where_an_arm_has_it(qwen, gemma, ours, state):
    tables = contrasts(qwen, gemma, ARMS)
    found = check(tables, "rel.factor", "approximately nine")
    assert (found.ours, found.state) == (ours, state)
    assert check(tables, "rel.factor", "approximately ten").state == "differs"


def test_a_factor_over_no_reduction_is_no_number():
    found = check(contrasts([90, 112, 186], [10, 0, 10], ARMS), "rel.factor", "approximately nine")
    assert found.state == "no input"


def test_the_range_of_kappa_is_of_the_three_judges_alone():
    conditions = ("original", "removal", "extractive", "generative")
    pairs = (("qwen", "llama"), ("qwen", "gemma"), ("llama", "gemma"))
    rows = [
        {"rater_a": a, "rater_b": b, "condition": condition, "kappa": 0.1 * (i + 1) + 0.01 * k}
        for i, (a, b) in enumerate(pairs)
        for k, condition in enumerate(conditions)
    ]
    with_gold = [{"rater_a": "gold", "rater_b": "qwen", "condition": "original", "kappa": 0.001}]
    tables = {"agreement": table("agreement", rows + with_gold)}
    assert check(tables, "rel.kappa.min", "0.100").state == "ok"
    assert check(tables, "rel.kappa.max", "0.330").state == "ok"
    tables = {"agreement": table("agreement", rows[:-1])}
    assert check(tables, "rel.kappa.max", "0.330").state == "no input"


def test_two_rows_for_one_number_are_refused():
    rows = [{"quantity": "n", "value": 1}, {"quantity": "n", "value": 2}]
    with pytest.raises(StatisticsError, match="selection, quantity=n, value: 2 rows fit"):
        check({"selection": table("selection", rows)}, "sel.n", "1")


@pytest.mark.parametrize("column", ["id", "location", "published"])
@pytest.mark.parametrize("value", ["", "  ", None])
def test_a_row_without_one_of_the_three_columns_is_refused(column, value):
    rows = [number("sel.n", "1"), number("sel.tp", "1") | {column: value}]
    with pytest.raises(StatisticsError, match=f"published numbers: row 2: no {column}"):
        check_published({}, rows)
    del rows[1][column]
    with pytest.raises(StatisticsError, match=f"published numbers: row 2: no {column}"):
        check_published({}, rows)


def test_an_id_given_twice_is_refused_with_its_row():
    rows = [number("sel.n", "1"), number("sel.tp", "1"), number("sel.n", "1")]
    with pytest.raises(StatisticsError, match=r"row 3: sel\.n occurs more than once"):
        check_published({}, rows)


@pytest.mark.parametrize(
    ("value", "printing", "printed"),
    [
        (Fraction(157, 40), TWO, "3.93"),  # 3.925: half-up, where a float's format gives 3.92
        (3.925, TWO, "3.93"),
        (-0.5458515283842794, TWO, "-0.55"),
        (Fraction(45, 176), PERCENT, "25.6"),
        (7.029259915981574e-62, P_VALUE, "7.0e-62"),
        (0.12991792302255253, P_VALUE, "0.130"),
        (2700, COUNT, "2700"),
        (Fraction(-3, 2), Printing("decimal", 1, is_magnitude=True), "1.5"),
        (None, TWO, "—"),
    ],
)
def test_a_cell_is_printed_as_our_tables_print_it(value, printing, printed):
    assert print_number(value, printing) == printed


def test_a_text_cell_is_no_number():
    with pytest.raises(StatisticsError, match="expected a number to print, got '12'"):
        print_number("12", COUNT)


def test_the_lines_are_aligned_and_end_with_the_summary():
    tables = {"selection": table("selection", [{"quantity": "n", "value": 2700}])}
    rows = [number("sel.n", "2700"), number("sel.tp", "740"), number("x", "1")]
    lines = check_lines(check_published(tables, rows))
    assert lines == [
        "id      location  published  ours  state",
        "sel.n   here      2700       2700  ok",
        "sel.tp  here      740              no input: selection has no row quantity=TP",
        "x       here      1                unknown: no table is known to hold this number",
        "1 ok, 0 explained, 0 differ, 1 without input, 1 unknown",
    ]


def test_of_no_numbers_none_differs():
    assert check_summary([]) == "0 ok, 0 explained, 0 differ"


def test_an_empty_list_checks_nothing_and_is_refused():
    with pytest.raises(StatisticsError, match=r"mine\.csv: no rows"):
        read_published([], name="mine.csv")


def test_a_number_is_read_as_it_was_printed_or_not_at_all():
    row = number("sel.n", 2700)
    assert read_published([row])[0].published == "2700"
    for published, found in ((78.5, "78.5"), (True, "True"), ([1], r"\[1\]"), (b"1", "b'1'")):
        with pytest.raises(StatisticsError, match=f"row 1: published: .*found {found}"):
            read_published([row | {"published": published}])
    with pytest.raises(StatisticsError, match="row 1: no location"):
        read_published([row | {"location": float("nan")}])
