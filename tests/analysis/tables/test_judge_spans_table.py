"""Labels of located strings alone, by hand counts and outside programs."""

from fractions import Fraction

import pandas as pd
import pytest
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from ragmend.analysis import Frames, Provenance, Settings, build_frames
from ragmend.analysis.analyze import analyze
from ragmend.analysis.study import Study
from ragmend.analysis.tables.judge_spans_table import judge_spans_table
from ragmend.analysis.tables.judge_tables import judged_table
from ragmend.analysis.tables.recipes import TABLES, reason_to_leave_out
from ragmend.errors import StatisticsError

FAST = Settings(n_resamples=50)
# named before, located before, named after, located after
RECORDS = [
    (2, 2, 0, 0), (1, 0, 0, 0), (3, 1, 1, 0), (1, 0, 0, 0), (0, 0, 1, 1),
    (1, 1, 1, 1), (2, 0, 0, 0), (0, 0, 0, 0), (1, 1, 0, 0), (4, 3, 2, 0),
]  # fmt: skip


def labels_of(records=RECORDS, judge="j", **columns) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"record_id": f"r{i}", "judge": judge, "condition": condition, "label": int(named > 0),
             "n_spans": named, "n_located": located,
             **{name: values[i] for name, values in columns.items()}}
            for i, (a, b, c, d) in enumerate(records)
            for condition, named, located in [("original", a, b), ("removal", c, d)]
        ]
    )  # fmt: skip


def make(labels: pd.DataFrame):
    return judge_spans_table(Study(Frames(labels=labels), FAST, Provenance()))


def test_counts_rates_and_differences_are_as_by_hand():
    original, removal = make(labels_of()).frame.to_dict("records")
    assert (original["spans"], original["located"], original["unlocated"]) == (15, 8, 7)
    assert (original["flagged"], original["flagged_located"]) == (8, 5)
    assert (original["rate_pct"], original["rate_located_pct"]) == (80, 50)
    assert (original["diff_pp"], original["p_located"]) == (None, None)
    assert (removal["flagged"], removal["flagged_located"]) == (4, 2)
    assert (removal["diff_pp"], removal["diff_located_pp"]) == (-40, -30)


def test_intervals_and_tests_are_those_of_outside_programs():
    original, removal = make(labels_of()).frame.to_dict("records")
    for name, count in (("rate", 8), ("rate_located", 5)):
        ends = [original[f"{name}_low"], original[f"{name}_high"]]
        expected = [100 * end for end in proportion_confint(count, 10, method="wilson")]
        assert ends == pytest.approx(expected)
    # All strings: 5 fall (r0, r1, r3, r6, r8), 1 rises (r4). Located: 4 (r0, r2, r8, r9), 1 (r4).
    assert removal["p_exact"] == pytest.approx(binomtest(1, 6).pvalue)
    assert removal["p_located"] == pytest.approx(binomtest(1, 5).pvalue)


def test_the_rates_with_all_strings_are_those_of_the_main_table():
    study = Study(Frames(labels=labels_of()), FAST, Provenance())
    found, main = judge_spans_table(study).frame, judged_table(study).frame
    for here, there in (("flagged", "hallucinated"), ("rate_low", "rate_low"), ("n", "n")):
        assert found[here].tolist() == main[there].tolist()


def test_of_strings_that_are_all_located_nothing_changes():
    rows = make(labels_of([(a, a, c, c) for a, _, c, _ in RECORDS])).frame.to_dict("records")
    for row in rows:
        assert row["rate_located_pct"] == row["rate_pct"]
        assert row["diff_located_pp"] == row["diff_pp"]
        assert row["unlocated"] == 0


def test_sources_that_are_alike_inside_widen_the_interval():
    sources = ["a", "a", "a", "a", "b", "b", "b", "c", "c", "c"]
    table = make(labels_of(source_id=sources))
    row = table.frame.to_dict("records")[0]
    # Located in 2 of 4, 1 of 3 and 2 of 3 answers: a mean of whole sources lies between.
    assert 100 / 3 <= row["rate_located_cluster_low"] <= 50
    assert 50 <= row["rate_located_cluster_high"] <= 200 / 3
    assert any("as few as 3 sources" in note for note in table.notes)
    assert make(labels_of()).frame["rate_cluster_low"].tolist() == [None, None]


def test_a_judge_that_gives_labels_only_is_left_out_and_named():
    silent = labels_of(judge="k").assign(n_spans=None, n_located=None)
    table = make(pd.concat([labels_of(), silent], ignore_index=True))
    assert set(table.frame["judge"]) == {"j"}
    assert "judges that give labels only, left out here: k" in table.notes


def test_empty_answers_are_not_among_the_judged():
    empties = labels_of(empty=[0] * 7 + [1] + [0] * 2)
    assert make(empties).frame["judged"].tolist() == [9, 9]
    table = make(labels_of())
    assert table.frame["judged"].tolist() == [None, None]
    assert "empty answers: not marked in this input" in table.notes


def test_it_is_left_out_where_nobody_named_a_string():
    def reason(labels):
        return reason_to_leave_out(
            Study(Frames(labels=labels), FAST, Provenance()), TABLES["judge_spans"]
        )

    labels = labels_of()
    assert reason(labels) is None
    assert reason(labels.drop(columns="n_located")) == "needs labels.n_located"
    assert reason(labels.assign(label=0, n_spans=0, n_located=0)) == "no judge named a string"
    assert reason(labels.assign(n_spans=None, n_located=None)) == "no judge named a string"
    with pytest.raises(StatisticsError, match="do not say how many strings were named"):
        make(labels.drop(columns="n_spans"))


def test_a_run_of_records_counts_what_stands_nowhere(model_run):
    frames = build_frames(model_run, threshold=0.5)
    row = judge_spans_table(Study(frames, FAST, Provenance())).frame.to_dict("records")[4]
    assert (row["judge"], row["condition"], row["judged"]) == ("strict", "original", 2)
    assert (row["spans"], row["unlocated"]) == (2, 1)
    assert (row["flagged"], row["flagged_located"]) == (2, 1)


def sentences(labels) -> str:
    found = analyze(Frames(labels=labels), settings=FAST.model_copy(update={"figure_formats": ()}))
    return " ".join(sentence for section in found.sections for sentence in section.sentences)


def test_the_report_says_what_would_change_and_where_most():
    text = sentences(labels_of())
    assert "Of 20 strings that judges named as unsupported, 10 stand nowhere in the answer" in text
    assert "without them 5 labels of 1 would be 0" in text
    assert "the rate of j on original, which changes most, −30.0 points" in text
    assert "is significant, before any correction" not in text
    located = sentences(labels_of([(a, a, c, c) for a, _, c, _ in RECORDS]))
    assert "nowhere in the answer" not in located
    harmless = sentences(labels_of([(2, 1, 0, 0), (0, 0, 1, 1), (1, 1, 1, 1)]))
    assert "1 stands nowhere in the answer; without them no label would change" in harmless


def test_the_report_names_a_difference_that_hangs_on_strings_not_located():
    text = sentences(labels_of([(1, 0, 0, 0)] * 6 + [(1, 1, 0, 0)] * 3 + [(0, 0, 0, 0)] * 3))
    # 9 falls of 12: p = 2/512; located alone 3 falls: p = 2/8.
    assert "would change for j on removal." in text
    assert Fraction(2, 512) < Fraction(1, 20) < Fraction(2, 8)
