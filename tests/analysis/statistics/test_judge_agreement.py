"""All raters of a label table: the same numbers as pair by pair, gold where it holds."""

import numpy as np
import pandas as pd
import pytest

from ragmend.analysis import Settings, agreement, agreement_table, krippendorff_alpha
from ragmend.analysis.inputs.labels import label_cube
from ragmend.analysis.statistics.judge_agreement import AgreementRow, agreement_rows
from ragmend.errors import StatisticsError

FAST = Settings(n_resamples=50)
COLUMNS = (
    "rater_a rater_b condition n kappa kappa_low kappa_high kappa_max ac1 ac1_low ac1_high pabak "
    "agree_pos agree_neg alpha alpha_low alpha_high"
).split()


@pytest.fixture(scope="module")
def labels() -> pd.DataFrame:
    """Three judges, two conditions, 30 records of 10 sources, gold of the first 20."""
    stream = np.random.default_rng(8)
    return pd.DataFrame(
        [
            {
                "record_id": f"r{i:02}",
                "judge": judge,
                "condition": condition,
                "label": int(stream.random() < 0.6),
                "gold": i % 3 % 2 if i < 20 else None,
                "source_id": f"s{i // 3}",
            }
            for i in range(30)
            for judge in ("a", "b", "c")
            for condition in ("original", "removal")
        ]
    )


def labels_of(labels, judge, condition):
    rows = labels[(labels["judge"] == judge) & (labels["condition"] == condition)]
    return rows.sort_values("record_id")


def one_row(frame, rater_a, rater_b, condition):
    (row,) = frame[
        (frame["rater_a"] == rater_a)
        & (frame["rater_b"] == rater_b)
        & (frame["condition"] == condition)
    ].itertuples()
    return row


def assert_same(row, found):
    for name, value in found._asdict().items():
        assert getattr(row, name) == (value if name == "reason" else pytest.approx(value)), name


def test_the_columns_are_those_of_the_csv_and_two_more():
    assert list(AgreementRow._fields) == [*COLUMNS, "kappa_of_max", "reason"]


def test_rows_go_by_condition_pairs_first_then_gold_then_all(labels):
    frame = agreement_table(labels, settings=FAST)
    pairs = ["ab", "ac", "bc"]
    gold = ["golda", "goldb", "goldc"]
    found = (frame["rater_a"] + frame["rater_b"]).tolist()
    assert found == [*pairs, *gold, "allall", *pairs, "allall"]
    assert frame["condition"].tolist() == ["original"] * 7 + ["removal"] * 4
    assert frame["n"].tolist() == [30, 30, 30, 20, 20, 20, 30, 30, 30, 30, 30]


@pytest.mark.parametrize("has_sources", [False, True])
def test_each_pair_is_what_it_is_alone(labels, has_sources):
    given = labels if has_sources else labels.drop(columns="source_id")
    frame = agreement_table(given, settings=FAST)
    for condition in ("original", "removal"):
        a, c = labels_of(labels, "a", condition), labels_of(labels, "c", condition)
        sources = a["source_id"].tolist() if has_sources else None
        found = agreement(a["label"], c["label"], sources_R=sources, raters=("a", "c"))
        row = one_row(frame, "a", "c", condition)
        assert_same(row, found)
        assert row.kappa_of_max == pytest.approx(found.kappa / found.kappa_max)


def test_gold_is_a_rater_on_the_records_that_have_it(labels):
    frame = agreement_table(labels, settings=FAST)
    known = labels_of(labels, "b", "original").iloc[:20]
    found = agreement(
        known["gold"], known["label"], sources_R=known["source_id"].tolist(), raters=("gold", "b")
    )
    assert_same(one_row(frame, "gold", "b", "original"), found)


def test_all_judges_have_the_alpha_of_their_condition(labels):
    frame = agreement_table(labels, settings=FAST)
    for condition in ("original", "removal"):
        columns = [labels_of(labels, judge, condition) for judge in "abc"]
        found = krippendorff_alpha(
            np.column_stack([rows["label"] for rows in columns]),
            sources_R=columns[0]["source_id"].tolist(),
            n_resamples=50,
        )
        row = one_row(frame, "all", "all", condition)
        assert (row.alpha, row.alpha_low, row.alpha_high) == pytest.approx(found[:3])


def test_the_order_of_the_table_changes_nothing(labels):
    mixed = labels.sample(frac=1, random_state=2)
    pd.testing.assert_frame_equal(
        agreement_table(mixed, settings=FAST), agreement_table(labels, settings=FAST)
    )


def test_one_judge_is_held_against_gold_alone(labels):
    frame = agreement_table(labels[labels["judge"] == "b"], settings=FAST)
    assert frame[["rater_a", "rater_b", "condition"]].to_numpy().tolist() == [
        ["gold", "b", "original"]
    ]


def test_gold_is_no_rater_without_a_reference_condition(labels):
    renamed = labels.assign(condition=labels["condition"].replace("original", "untouched"))
    assert "gold" not in set(agreement_table(renamed, settings=FAST)["rater_a"])
    told = FAST.model_copy(update={"reference": "untouched"})
    assert "gold" in set(agreement_table(renamed, settings=told)["rater_a"])


def test_fewer_than_two_raters_are_refused(labels):
    alone = labels[labels["judge"] == "b"].drop(columns="gold")
    with pytest.raises(StatisticsError, match="at least two raters"):
        agreement_table(alone, settings=FAST)


@pytest.mark.parametrize(
    ("name", "whose"), [("gold", "human annotation"), ("all", "all judges together")]
)
def test_a_judge_with_the_name_of_another_rater_is_refused(labels, name, whose):
    renamed = labels.assign(judge=labels["judge"].replace("b", name))
    with pytest.raises(StatisticsError, match=f"cannot be called '{name}'.*{whose}"):
        agreement_table(renamed, settings=FAST)


def test_a_table_without_conditions_is_refused(labels):
    with pytest.raises(StatisticsError, match=r"lacks the column\(s\) condition"):
        agreement_table(labels.drop(columns="condition"))


def test_a_record_without_a_label_can_be_left_out(labels):
    with pytest.raises(StatisticsError, match="r00"):
        agreement_table(labels.iloc[1:], settings=FAST)
    dropping = FAST.model_copy(update={"incomplete": "drop"})
    frame = agreement_table(labels.iloc[1:], settings=dropping)
    assert one_row(frame, "a", "b", "removal").n == 29


def test_constant_judges_are_named_in_their_row(labels):
    constant = labels.assign(label=labels["label"].where(labels["judge"] != "c", 1))
    cube = label_cube(constant, conditions=["original", "removal"])
    rows = {row[:3]: row for row in agreement_rows(cube, "original", FAST)}
    assert rows["a", "c", "removal"].reason == "c gave the same label to every record"
    assert rows["a", "c", "removal"].kappa_of_max is None
    assert rows["a", "c", "removal"].ac1 is not None
    assert rows["a", "b", "removal"].reason is None
