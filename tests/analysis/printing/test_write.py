"""Rounding, CSV at full precision and Markdown that prints what it is given."""

import csv
import io
import math
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.analysis import (
    round_half_up,
    table_csv,
    table_files,
    table_latex,
    table_markdown,
)
from ragmend.analysis.printing.table import Column, Table, print_p_value, print_rows
from ragmend.errors import StatisticsError


def one_row(columns: tuple[Column, ...], **cells: object) -> Table:
    frame = pd.DataFrame([cells], dtype=object)
    return Table("demo", "A | table", frame, columns, ("first note",))


@pytest.mark.parametrize(
    ("value", "digits", "printed"),
    [
        (3.925, 2, "3.93"),
        (Fraction(3925, 1000), 2, "3.93"),
        (Fraction(30 * 100, 916), 2, "3.28"),
        (-0.125, 2, "-0.13"),
        (-0.004, 2, "0.00"),
        (0.5, 0, "1"),
        (916, 0, "916"),
        (916, 1, "916.0"),
        (99.999, 2, "100.00"),
        (1e-7, 3, "0.000"),
    ],
)
def test_halves_are_rounded_up(value, digits, printed):
    assert round_half_up(value, digits) == printed


@given(st.decimals(-1000, 1000, places=6), st.integers(0, 4))
def test_rounding_agrees_with_decimals_own(value, digits):
    # Decimal.quantize(…, rounding=ROUND_HALF_UP)
    expected = value.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)
    assert Decimal(round_half_up(Fraction(value), digits)) == expected
    assert Decimal(round_half_up(float(value), digits)) == expected


@pytest.mark.parametrize("value", [math.nan, math.inf, True, np.bool_(True), "5", None])
def test_what_is_no_finite_number_is_never_printed(value):
    with pytest.raises(StatisticsError, match="value: expected a finite number"):
        round_half_up(value, 1)


@pytest.mark.parametrize("digits", [-1, 0.5, True, 10**6, None])
def test_digits_are_a_count(digits):
    with pytest.raises(StatisticsError, match="digits: expected a whole number"):
        round_half_up(0.5, digits)


def test_numpys_numbers_print_as_pythons():
    assert round_half_up(np.float64(3.925), 2) == "3.93"
    assert round_half_up(np.int64(-7), np.uint8(1)) == "-7.0"


@pytest.mark.parametrize(
    ("p", "printed"),
    [
        (0.0, "< 1e-300"),
        (7.03e-62, "7.0e-62"),
        (0.001, "0.001"),
        (0.12992, "0.130"),
        (1.0, "1.000"),
    ],
)
def test_p_values_print_as_the_paper_prints_them(p, printed):
    assert print_p_value(p) == printed


def test_the_csv_keeps_full_precision_and_leaves_the_undefined_blank():
    table = one_row((), third=Fraction(1, 3), p=7.029259915981574e-62, n=916, none=None, text="a,b")
    content = table_csv(table).decode()
    assert content.endswith("\n")
    assert "\r" not in content
    (row,) = csv.DictReader(io.StringIO(content))
    assert row == {
        "third": "0.3333333333333333", "p": "7.029259915981574e-62", "n": "916", "none": "",
        "text": "a,b",
    }  # fmt: skip


@pytest.mark.parametrize("cell", [math.nan, math.inf])
def test_the_csv_refuses_what_is_not_finite(cell):
    with pytest.raises(StatisticsError, match="finite"):
        table_csv(one_row((), cell=cell))


def test_undefined_cells_and_intervals_print_as_a_dash():
    columns = (Column("rate", "rate", "decimal", 1), Column("ci", "interval", "interval", 1))
    assert print_rows(one_row(columns, rate=None, ci_low=None, ci_high=None)) == [["—", "—"]]
    assert print_rows(one_row(columns, rate=0.25, ci_low=-1.25, ci_high=2)) == [
        ["0.3", "[-1.3, 2.0]"]
    ]


def test_text_where_a_number_belongs_is_refused():
    with pytest.raises(StatisticsError, match="'many'"):
        print_rows(one_row((Column("n", "n", "count"),), n="many"))


def test_markdown_has_title_header_rows_and_notes():
    columns = (Column("name", "name", "text"), Column("n", "n", "count"))
    assert table_markdown(one_row(columns, name="x", n=2)) == (
        "**A \\| table**\n\n| name | n |\n| --- | ---: |\n| x | 2 |\n\n- first note\n"
    )


def test_a_name_cannot_break_out_of_its_markdown_cell():
    columns = (Column("name", "name", "text"),)
    table = one_row(columns, name="a|b\n<script>*x*_y_`z`")
    assert "| a\\|b &lt;script>\\*x\\*\\_y\\_\\`z\\` |" in table_markdown(table)


def test_latex_has_caption_header_rows_and_notes():
    columns = (Column("name", "name", "text"), Column("n", "n", "count"))
    assert table_latex(one_row(columns, name="x", n=2)).splitlines() == [
        r"\begin{table}",
        r"\caption{A | table}",
        r"\label{tab:demo}",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"{}name & n \\",
        r"\midrule",
        r"{}x & 2 \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\par\footnotesize first note",
        r"\end{table}",
    ]


def test_a_name_is_never_read_as_a_latex_command():
    columns = (Column("name", "name", "text"),)
    table = one_row(columns, name=r"50 % of a_b & {c} \x — ~^#$ 1 → 0")
    assert (
        r"{}50 \% of a\_b \& \{c\} \textbackslash{}x --- "
        r"\textasciitilde{}\textasciicircum{}\#\$ 1 $\rightarrow$ 0 \\"
    ) in table_latex(table)


@pytest.mark.parametrize("form", ["csv", "md", "tex"])
def test_every_table_becomes_a_file_of_each_form(golden_analysis, form):
    files = table_files(golden_analysis.tables)
    assert {name for name in files if name.endswith(f".{form}")} == {
        f"tables/{name}.{form}" for name in golden_analysis.tables
    }
    assert len(files) == 3 * len(golden_analysis.tables)
