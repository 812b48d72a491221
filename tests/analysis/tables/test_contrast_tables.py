"""The tables of paired contrasts, and when they are left out."""

from fractions import Fraction

import pandas as pd
import pytest

from ragmend.analysis import Frames, Provenance, Settings, exact_mcnemar, tango_interval
from ragmend.analysis.inputs.labels import KEY
from ragmend.analysis.printing.table import print_rows
from ragmend.analysis.printing.write import table_csv, table_markdown
from ragmend.analysis.study import Study
from ragmend.analysis.tables.conditions_for_tables import (
    first_reason,
    without_conditions,
    without_contrasts,
    without_empty,
    without_gold,
    without_sources,
    without_tasks,
)
from ragmend.analysis.tables.contrast_tables import (
    FALLS,
    NEITHER,
    ONLY_BY_SOURCE,
    STAYS,
    TOO_FEW,
    contrast_clusters_table,
    contrasts_table,
    task_contrasts_table,
)
from ragmend.analysis.tables.recipes import TABLES, reason_to_leave_out
from ragmend.errors import StatisticsError

FAST = Settings(n_resamples=200)


def study(labels: pd.DataFrame, **settings) -> Study:
    return Study(Frames(labels=labels), FAST.model_copy(update=settings), Provenance())


def table_of(before: list[int], after: list[int], **facts: list) -> pd.DataFrame:
    """One judge's labels of two conditions, with facts of each record."""
    return pd.DataFrame(
        [
            {
                "record_id": f"r{i:04}", "judge": "j", "condition": condition, "label": label,
                **{fact: values[i] for fact, values in facts.items()},
            }
            for condition, labels in [("original", before), ("after", after)]
            for i, label in enumerate(labels)
        ]
    )  # fmt: skip


@pytest.fixture(scope="module")
def golden(golden_frames) -> Study:
    frames = Frames(labels=golden_frames.labels, records=golden_frames.records)
    return Study(frames, Settings(), Provenance(judges=("qwen", "llama", "gemma")))


def test_contrasts_have_exactly_these_columns(golden):
    assert list(contrasts_table(golden).frame.columns) == [
        "judge", "contrast", "family", "n", "rate_a", "rate_b", "b", "c", "diff_pp", "ci_low",
        "ci_high", "ci_exact_low", "ci_exact_high", "ci_cluster_low", "ci_cluster_high",
        "ci_tango_low", "ci_tango_high", "p_exact", "log10_p", "p_holm", "p_holm_all", "deff",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("judge", "interval", "p_holm"),
    [
        ("qwen", "[-31.55, -25.22]", "7.0e-62"),
        ("llama", "[-23.80, -17.90]", "2.0e-41"),
        ("gemma", "[-2.51, -0.55]", "0.013"),
    ],
)
def test_published_intervals_print_alike_seeded_and_exact(golden, judge, interval, p_holm):
    table = contrasts_table(golden)
    headings = [column.heading for column in table.columns]
    rows = [dict(zip(headings, row, strict=True)) for row in print_rows(table)]
    (row,) = (r for r in rows if (r["judge"], r["contrast"]) == (judge, "original-generative"))
    assert (row["interval"], row["exact bootstrap"]) == (interval, interval)
    assert row["p, Holm"] == p_holm


def test_an_exploratory_contrast_is_named_and_not_adjusted(golden):
    table = contrasts_table(golden)
    assert any("contrasts (removal-generative) are outside" in note for note in table.notes)
    adjusted = table.frame.set_index("contrast").loc["removal-generative", ["p_holm", "p_holm_all"]]
    assert adjusted.isna().all(axis=None)


def test_without_sources_the_table_says_why_intervals_by_source_are_undefined():
    table = contrasts_table(study(table_of([1, 1, 0], [0, 1, 0])))
    assert table.frame["ci_cluster_low"].tolist() == [None]
    assert any(note.startswith("by source: undefined, for sources are") for note in table.notes)
    one_source = table_of([1, 1, 0], [0, 1, 0], source_id=["s"] * 3)
    assert any(
        "all records share one source" in n for n in contrasts_table(study(one_source)).notes
    )


def test_a_p_value_too_small_for_a_float_prints_below_the_least_and_keeps_its_logarithm():
    n = 1_500
    table = contrasts_table(study(table_of([1] * n, [0] * n)))
    assert "| &lt; 1e-300 | &lt; 1e-300 |" in table_markdown(table)
    assert table.frame["log10_p"].tolist() == [exact_mcnemar(n, 0).log10_p]
    assert b",0.0,-451." in table_csv(table)


def test_without_any_change_nothing_breaks():
    labels = table_of([1, 0, 1, 0], [1, 0, 1, 0], source_id=list("aabb"))
    row = contrasts_table(study(labels)).frame.iloc[0]
    assert (row["p_exact"], row["diff_pp"], row["deff"]) == (1.0, 0, None)
    assert (row["ci_exact_low"], row["ci_exact_high"]) == (0.0, 0.0)
    cells = contrast_clusters_table(study(labels)).frame.iloc[0]
    assert (cells["icc"], cells["p_wald"]) == (None, None)
    assert cells["verdict"] == TOO_FEW
    twenty = table_of([1, 0] * 20, [1, 0] * 20, source_id=[f"s{i // 2}" for i in range(40)])
    table = contrast_clusters_table(study(twenty))
    assert table.frame["verdict"].tolist() == [NEITHER]
    assert any(note.startswith("—: no record changed") for note in table.notes)


def sourced(patterns: list[list[tuple[int, int]]], **settings) -> Study:
    """A study of one source a pattern, which gives each record's two labels."""
    pairs = [pair for pattern in patterns for pair in pattern]
    sources = [f"s{i:02}" for i, pattern in enumerate(patterns) for _ in pattern]
    before, after = [a for a, _ in pairs], [b for _, b in pairs]
    return study(table_of(before, after, source_id=sources), **settings)


def test_what_only_the_sources_show_is_called_so():
    """Of four records two improve and one worsens, in each of 12 sources: (24, 12), p = .065."""
    found = sourced([[(1, 0), (1, 0), (0, 1), (0, 0)]] * 12)
    table = contrast_clusters_table(found)
    row = table.frame.iloc[0]
    assert row["verdict"] == ONLY_BY_SOURCE
    assert found.contrasts[0].p_exact == pytest.approx(0.0652, abs=1e-4)
    assert (row["ci_cluster_low"], row["ci_cluster_high"]) == (-25, -25)
    assert (row["deff"], row["p_cluster"]) == (0, None)
    assert any(
        note.startswith("p, sources —: the mean difference is the same") for note in table.notes
    )
    assert not any("no record changed" in note for note in table.notes)


def test_of_fewer_than_ten_sources_nothing_is_said():
    strong = [[(1, 0)] * 9 + [(0, 0)]] * 9
    found = sourced(strong)
    assert contrast_clusters_table(found).frame["verdict"].tolist() == [TOO_FEW]
    notes = contrasts_table(found).notes
    assert any(note.startswith("‡ too few sources to say") for note in notes)
    assert any("as few as 9 sources" in note for note in notes)
    assert contrast_clusters_table(sourced(strong * 2)).frame["verdict"].tolist() == [STAYS]


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_a_verdict_goes_by_the_five_percent_level_whatever_the_intervals(confidence):
    """Six changes to none have the exact p .031, in 12 sources of two records."""
    found = sourced([[(1, 0), (0, 0)]] * 6 + [[(0, 0)] * 2] * 6, confidence=confidence)
    assert found.contrasts[0].is_significant
    verdict = contrast_clusters_table(found).frame["verdict"].item()
    assert verdict in (STAYS, FALLS)
    assert verdict != ONLY_BY_SOURCE


def test_a_primary_contrast_goes_by_its_adjusted_p():
    labels = table_of([1] * 6 + [0] * 30, [0] * 36, source_id=[f"s{i % 12}" for i in range(36)])
    untouched = labels.query("condition == 'original'").assign(condition="other")
    labels = pd.concat([labels, untouched])
    row = study(labels).contrasts[0]
    # 2 / 2⁶, twice for the two contrasts of the family
    assert row.contrast == "original-after"
    assert (row.p_exact, row.p_holm) == (pytest.approx(0.03125), pytest.approx(0.0625))
    assert row.p_decisive == row.p_holm
    assert not row.is_significant
    verdicts = contrast_clusters_table(study(labels)).frame.set_index("contrast")["verdict"]
    assert verdicts["original-after"] in (NEITHER, ONLY_BY_SOURCE)


def test_a_contrast_that_falls_under_clustering_is_marked():
    """Seven records improve, all of one source among ten: one source, not seven records."""
    before, after = [1] * 7 + [0] * 27, [0] * 34
    sources = ["s0"] * 7 + [f"s{1 + i // 3}" for i in range(27)]
    labels = table_of(before, after, source_id=sources)
    cells = contrast_clusters_table(study(labels)).frame.iloc[0]
    assert cells["verdict"] == FALLS
    assert cells["ci_high"] < 0 <= cells["ci_cluster_high"]
    assert cells["deff"] > cells["deff_critical"]
    assert cells["p_wald"] < 0.05 < cells["p_cluster"]
    notes = contrasts_table(study(labels)).notes
    assert any(note.startswith("‡") and "j original-after" in note for note in notes)


def test_clusters_of_the_golden_files_are_their_349_sources(golden):
    frame = contrast_clusters_table(golden).frame.set_index(["judge", "contrast"])
    row = frame.loc[("gemma", "original-generative")]
    assert (row["n"], row["sources"]) == (916, 349)
    assert float(row["mean_cluster_size"]) == pytest.approx(916 / 349)
    assert row["deff_critical"] == pytest.approx(2.34, abs=0.005)
    assert row["verdict"] == "stays significant"


def test_contrasts_within_a_task_are_those_of_its_records(golden):
    frame = task_contrasts_table(golden).frame
    row = frame.set_index(["judge", "task", "contrast"]).loc[
        ("qwen", "QA", "extractive-generative")
    ]
    assert (row["n"], row["diff_pp"]) == (134, 0)
    assert row["rate_a"] == row["rate_b"] == Fraction(71, 134)
    assert (row["b"], row["c"]) == (7, 7)
    tango = tango_interval(7, 7, 134)
    assert (row["ci_tango_low"], row["ci_tango_high"]) == (100 * tango.low, 100 * tango.high)
    whole = contrasts_table(golden).frame.set_index(["judge", "contrast"])
    sums = frame.groupby(["judge", "contrast"])[["n", "b", "c"]].sum()
    assert sums.sort_index().equals(whole[["n", "b", "c"]].sort_index())


def test_tables_of_contrasts_are_left_out_with_the_reason():
    labels = table_of([1, 0], [0, 0]).replace("original", "before")
    reasons = {
        name: reason_to_leave_out(study(labels), TABLES[name])
        for name in ("contrasts", "contrast_clusters", "task_contrasts")
    }
    assert set(reasons.values()) == {
        "no reference condition is named (reference, family): nothing is compared"
    }


def test_what_a_table_needs_beside_columns_is_named():
    bare = study(table_of([1, 0], [0, 0]))
    assert without_contrasts(bare) is without_conditions(bare) is None
    assert without_sources(bare) == "needs the source of each record"
    assert without_tasks(bare) == "needs the task of each record"
    assert without_gold(bare) == "needs gold labels"
    assert without_empty(bare) == "needs to know which answers are empty"
    assert first_reason(without_contrasts, without_tasks)(bare) == "needs the task of each record"
    facts = {"source_id": ["a", "b"], "task": ["QA"] * 2, "gold": [1, 0], "empty": [0, 0]}
    full = study(table_of([1, 0], [0, 0], **facts))
    for check in (without_sources, without_tasks, without_gold, without_empty):
        assert check(full) is None
    assert without_sources(study(table_of([1, 0], [0, 0], source_id=["a", "a"]))) == (
        "needs records of at least two sources"
    )


def test_one_condition_alone_is_too_few():
    one = study(table_of([1, 0], [0, 0]).query("condition == 'original'"))
    assert without_conditions(one) == "needs labels in at least two conditions"


def test_tables_of_what_is_unknown_are_refused():
    bare = study(table_of([1, 0], [0, 0]))
    with pytest.raises(StatisticsError, match="sources"):
        contrast_clusters_table(bare)
    with pytest.raises(StatisticsError, match="need the task"):
        task_contrasts_table(bare)


def test_the_order_of_the_rows_changes_no_table(golden, golden_frames):
    shuffled = golden_frames.labels.sample(frac=1, random_state=4)
    frames = Frames(labels=shuffled, records=golden_frames.records[::-1])
    again = Study(frames, Settings(), golden.provenance)
    assert list(shuffled[KEY[0]]) != list(golden_frames.labels[KEY[0]])
    for table in (contrasts_table, contrast_clusters_table, task_contrasts_table):
        assert table_csv(table(again)) == table_csv(table(golden))
