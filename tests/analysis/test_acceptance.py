"""The published numbers against our tables: all that data can give come out, as printed.

The golden inputs are synthetic: one of many data sets with the margins that the paper prints.
"""

import csv
from pathlib import Path

import pytest

from ragmend.analysis.acceptance.cells import addresses
from ragmend.analysis.acceptance.check import all_borne_out, check_published, check_summary
from ragmend.analysis.acceptance.readings import READINGS
from ragmend.analysis.tables.recipes import TABLES

GOLDEN = Path(__file__).parents[1] / "golden" / "analysis"
IMPOSSIBLE = {"contrast.qwen.ext-gen.diff", "rel.factor"}


@pytest.fixture(scope="module")
def published():
    with (GOLDEN / "acceptance.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def checked(golden_analysis, published):
    return check_published(golden_analysis.tables, published)


def test_240_of_242_numbers_come_out_as_printed_and_two_cannot(checked):
    assert check_summary(checked) == "240 ok, 2 explained, 0 differ"
    assert {number.id for number in checked if number.state == "explained"} == IMPOSSIBLE
    assert all_borne_out(checked)


def test_the_difference_of_rounded_rates_is_shown_as_the_reason_for_3_27(checked):
    number = next(number for number in checked if number.id == "contrast.qwen.ext-gen.diff")
    assert (number.published, number.ours) == ("3.27", "3.28")
    assert number.reason == (
        "30 of 916 answers are 3.2751 points; 3.27 is the difference of the rounded rates, "
        "65.17 − 61.90"
    )


def test_the_factor_of_nine_is_shown_for_each_arm(checked):
    number = next(number for number in checked if number.id == "rel.factor")
    assert number.ours == "9.2 / 11.2 / 18.6"
    assert number.reason.endswith(
        "removal 9.2, extractive 11.2, generative 18.6; approximately nine holds for removal only"
    )


def test_what_somebody_else_computed_is_not_read(golden_analysis, published, checked):
    bare = [{name: row[name] for name in ("published", "id", "location")} for row in published]
    wrong = [
        row | {"recomputed": "1", "raw": "nan", "status": "DIFF", "definition": "", "source": "x"}
        for row in published
    ]
    assert check_published(golden_analysis.tables, bare) == checked
    assert check_published(golden_analysis.tables, wrong) == checked


def test_another_number_in_any_place_differs(golden_analysis, published):
    other = [row | {"published": f"{row['published']}1"} for row in published]
    numbers = check_published(golden_analysis.tables, other)
    assert check_summary(numbers) == "0 ok, 0 explained, 242 differ"
    assert not all_borne_out(numbers)


def test_a_number_printed_with_fewer_digits_differs(golden_analysis, published):
    """Ours has the digits of the mapping, never those of the published string."""
    shorter = [
        row | {"published": row["published"][:-1]}
        for row in published
        if "." in row["published"] and "e" not in row["published"]
    ]
    numbers = check_published(golden_analysis.tables, shorter)
    assert {number.state for number in numbers} == {"differs"}


def test_without_any_table_every_number_says_which_table_it_needs(published):
    numbers = check_published({}, published)
    assert check_summary(numbers) == "0 ok, 0 explained, 0 differ, 242 without input"
    assert all(number.ours is None and number.reason.startswith("needs the ") for number in numbers)
    assert not all_borne_out(numbers)


def test_every_known_number_is_in_a_table_that_we_make():
    assert {address.table for address in addresses().values()} <= set(TABLES)
    assert not set(READINGS) & set(addresses())


@pytest.mark.parametrize(
    ("judge", "contrast", "b", "c"),
    [
        ("qwen", "original-generative", 276, 16),
        ("llama", "original-generative", 210, 19),
        ("gemma", "original-generative", 18, 4),
        ("llama", "extractive-generative", 25, 38),
    ],
)
def test_the_discordant_pairs_that_published_numbers_force_come_out(
    golden_analysis, judge, contrast, b, c
):
    rows = golden_analysis.tables["contrasts"].frame.set_index(["judge", "contrast"])
    assert tuple(rows.loc[(judge, contrast), ["b", "c"]]) == (b, c)


def test_acceptance_counts_are_the_published_ones(golden_analysis, acceptance):
    rows = golden_analysis.tables["acceptance"].frame.set_index(["candidate", "arm"])
    extract, rewrite = rows.loc[("extract", "extractive")], rows.loc[("rewrite", "generative")]
    fallback = rows.loc[("extract where no rewrite was accepted", "generative")]
    assert str(extract["eligible"]) == acceptance["ver.eligible"]
    assert str(extract["accepted"]) == acceptance["t3.extractive.sub"]
    assert str(rewrite["accepted"]) == acceptance["t3.generative.rewritten"]
    assert str(fallback["accepted"]) == acceptance["t3.generative.sub"]


@pytest.mark.parametrize("route", range(3))
def test_the_papers_own_counts_stand_beside_ours(golden_analysis, route):
    row = golden_analysis.tables["acceptance"].frame.iloc[route]
    assert row["paper_accepted"] == row["accepted"]
    assert row["paper_eligible"] in (None, row["eligible"])
    assert row["paper_proposed"] in (None, row["proposed"])
