"""Every cell of every table, traced to its inputs."""

import csv
import io
from collections import Counter
from fractions import Fraction

import pandas as pd
import pytest

from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.inputs.from_records import build_frames
from ragmend.analysis.printing.table import Column, Table
from ragmend.analysis.printing.write import table_csv
from ragmend.analysis.settings import InputFile, Provenance, Settings
from ragmend.analysis.study import Study
from ragmend.analysis.tables.provenance_table import IN_MEMORY, cell_of, provenance_table
from ragmend.analysis.tables.recipes import TABLES, Recipe, reason_to_leave_out
from ragmend.errors import StatisticsError

FILES = {
    name: (InputFile(path=f"data/{name}.csv", sha256=f"{i:x}" * 64),)
    for i, name in enumerate(Frames._fields)
}
FEW = Settings(n_resamples=20)


def make_nothing(study):
    raise AssertionError


def small_table(rows, *columns):
    return Table("small", "Small", pd.DataFrame(rows, dtype=object), columns, ())


def trace(table, *, recipe=None, **given):
    provenance = Provenance(inputs=FILES, command="ragmend analyze --labels F")
    frames = Frames(**{name: pd.DataFrame({"x": [1]}) for name in given.pop("frames", ())})
    recipe = recipe or Recipe(make_nothing, needs=())
    return provenance_table({"small": table}, {"small": recipe}, Study(frames, FEW, provenance))


@pytest.fixture(scope="module")
def tables(golden_analysis):
    """All tables but the one under test, which traces the others."""
    return {name: table for name, table in golden_analysis.tables.items() if name in TABLES}


@pytest.fixture(scope="module")
def golden(golden_frames, tables):
    provenance = Provenance(inputs=FILES, command="ragmend analyze --labels labels.csv")
    return provenance_table(tables, TABLES, Study(golden_frames, Settings(), provenance))


def test_each_cell_of_each_csv_is_there_once_with_its_value(golden, tables):
    rows = golden.frame.to_dict("records")
    assert max(Counter((r["table"], r["row"], r["cell"]) for r in rows).values()) == 1
    traced = {name: [] for name in tables}
    for row in rows:
        traced[row["table"]].append((row["cell"], row["value"] or ""))
    for name, table in tables.items():
        columns, *cells = csv.reader(io.StringIO(table_csv(table).decode()))
        assert traced[name] == [
            (column, cell) for row in cells for column, cell in zip(columns, row, strict=True)
        ]


def test_the_hashes_are_those_of_the_inputs(golden):
    known = {file.path: file.sha256 for files in FILES.values() for file in files}
    for row in golden.frame.drop_duplicates("table").to_dict("records"):
        paths = row["input"].split("; ")
        assert row["sha256"].split("; ") == [known[path] for path in paths]
    assert set(golden.frame["command"]) == {"ragmend analyze --labels labels.csv"}


def test_a_published_number_can_be_followed_to_file_and_function(golden):
    cell = cell_of(golden, table="contrasts", row="judge=qwen, contrast=original-generative",
                   cell="diff_pp")  # fmt: skip
    assert cell.value.startswith("-28.38427947598253")
    assert cell.printed == "-28.38"
    assert cell.input == "data/labels.csv; data/records.csv"
    assert cell.sha256 == f"{FILES['labels'][0].sha256}; {FILES['records'][0].sha256}"
    assert cell.function == "ragmend.analysis.tables.contrast_tables:contrasts_table"


def test_an_end_of_an_interval_shows_the_interval_as_printed(golden):
    low = cell_of(golden, table="table3_arms", row="arm=removal", cell="retention_low")
    high = cell_of(golden, table="table3_arms", row="arm=removal", cell="retention_high")
    assert low.printed == high.printed == "[63.0, 65.7]"
    assert low.value != high.value


def test_a_cell_that_is_not_there_is_refused(golden):
    with pytest.raises(StatisticsError, match="no cell kappa in row 'arm=removal' of table table3"):
        cell_of(golden, table="table3_arms", row="arm=removal", cell="kappa")


class Studies:
    """Studies of some frames of an input, each made once so that tables share what they can."""

    def __init__(self, frames):
        self.frames = frames
        self.made = {}

    def of(self, names):
        given = {name: self.frames._asdict()[name] for name in sorted(names)}
        if tuple(given) not in self.made:
            self.made[tuple(given)] = Study(Frames(**given), FEW, Provenance())
        return self.made[tuple(given)]


@pytest.fixture(scope="module")
def golden_studies(golden_frames):
    return Studies(golden_frames)


def check_reads(studies, recipe):
    named = {need.partition(".")[0] for need in (*recipe.needs, *recipe.also_reads)}
    whole, part = studies.of(Frames._fields), studies.of(named)
    reason = reason_to_leave_out(whole, recipe)
    assert reason_to_leave_out(part, recipe) == reason
    if reason is None:
        made, again = recipe.make(whole), recipe.make(part)
        assert table_csv(made) == table_csv(again)
        assert made.notes == again.notes


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_files_reads_no_frame_that_its_recipe_does_not_name(name, golden_studies):
    """Made from the named frames alone it comes out the same, to the last note."""
    check_reads(golden_studies, TABLES[name])


@pytest.mark.parametrize("records", ["run", "model_run"])
def test_a_table_of_a_run_reads_no_frame_that_its_recipe_does_not_name(records, request):
    studies = Studies(build_frames(request.getfixturevalue(records), threshold=0.5))
    for recipe in TABLES.values():
        check_reads(studies, recipe)


def test_a_text_cell_in_the_middle_and_an_undefined_one_are_cells_like_others():
    table = small_table(
        [
            {"arm": "removal", "n": 3, "why": "a; b, \"c\"\nd", "rate_pct": Fraction(100, 3)},
            {"arm": "generative", "n": 0, "why": None, "rate_pct": None},
        ],
        Column("arm", "arm", "text"),
        Column("why", "why", "text"),
        Column("rate_pct", "rate %", "decimal", 1),
    )  # fmt: skip
    rows = trace(table).frame[["row", "cell", "value", "printed"]].to_dict("split")["data"]
    assert rows == [
        ["arm=removal", "arm", "removal", "removal"],
        ["arm=removal", "n", "3", None],
        ["arm=removal", "why", 'a; b, "c"\nd', 'a; b, "c"\nd'],
        ["arm=removal", "rate_pct", "33.333333333333336", "33.3"],
        ["arm=generative", "arm", "generative", "generative"],
        ["arm=generative", "n", "0", None],
        ["arm=generative", "why", None, "—"],
        ["arm=generative", "rate_pct", None, "—"],
    ]


def test_a_row_is_named_by_as_many_leading_columns_as_it_takes():
    rows = [
        {"judge": judge, "threshold": threshold, "n": 1}
        for judge in ("mild", "strict")
        for threshold in (0.1, 0.3)
    ]
    table = small_table(rows, Column("n", "n", "count"))
    assert list(dict.fromkeys(trace(table).frame["row"])) == [
        "judge=mild, threshold=0.1", "judge=mild, threshold=0.3",
        "judge=strict, threshold=0.1", "judge=strict, threshold=0.3",
    ]  # fmt: skip


def test_equal_rows_are_told_apart_by_number():
    table = small_table([{"judge": "mild", "n": 1}] * 2, Column("n", "n", "count"))
    assert set(trace(table).frame["row"]) == {"row=1, judge=mild", "row=2, judge=mild"}


def test_only_given_frames_that_the_recipe_names_are_inputs():
    table = small_table([{"judge": "mild"}], Column("judge", "judge", "text"))
    recipe = Recipe(make_nothing, needs=("claims.kind", "claims.text"), also_reads=("records",))
    row = trace(table, recipe=recipe, frames=("claims", "labels")).frame.iloc[0]
    assert row["input"] == "data/claims.csv"
    assert row["function"].endswith(":make_nothing")
    row = trace(table, recipe=recipe, frames=("claims", "records")).frame.iloc[0]
    assert row["input"] == "data/claims.csv; data/records.csv"


def test_frames_made_in_memory_have_no_file(golden_analysis):
    frame = golden_analysis.tables["provenance"].frame
    assert set(frame["input"]) == {IN_MEMORY}
    assert frame["sha256"].isna().all()


def test_a_frame_of_several_files_names_each_once():
    twice = (InputFile(path="a.csv", sha256="a" * 64), InputFile(path="b.csv", sha256="b" * 64))
    provenance = Provenance(inputs={"labels": twice, "records": twice[1:]})
    frames = Frames(labels=pd.DataFrame({"x": [1]}), records=pd.DataFrame({"x": [1]}))
    recipe = Recipe(make_nothing, needs=("labels", "records"))
    table = small_table([{"judge": "mild"}], Column("judge", "judge", "text"))
    row = provenance_table({"t": table}, {"t": recipe}, Study(frames, FEW, provenance)).frame.iloc[
        0
    ]
    assert row["input"] == "a.csv; b.csv"
    assert row["sha256"] == f"{'a' * 64}; {'b' * 64}"


def test_a_table_without_recipe_is_refused():
    table = small_table([{"judge": "mild"}], Column("judge", "judge", "text"))
    with pytest.raises(StatisticsError, match="table small has no recipe"):
        provenance_table({"small": table}, {}, Study(Frames(), FEW, Provenance()))


def test_the_table_is_for_looking_up_and_traces_every_table_made(golden, golden_analysis, tables):
    assert golden.is_lookup
    assert list(golden_analysis.tables) == [*tables, "provenance"]
    traced = golden_analysis.tables["provenance"].frame["table"]
    assert list(dict.fromkeys(traced)) == list(tables)
