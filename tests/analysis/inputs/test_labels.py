"""What a tidy label table must be, and how its faults are named."""

import numpy as np
import pandas as pd
import pytest

from ragmend.analysis.inputs.labels import label_cube
from ragmend.errors import StatisticsError

CONDITIONS = ("original", "removal")


@pytest.fixture
def labels() -> pd.DataFrame:
    rows = [
        (record_id, judge, condition, int(condition == "original"))
        for record_id in ("r2", "r10", "r1")
        for judge in ("mild", "strict")
        for condition in CONDITIONS
    ]
    return pd.DataFrame(rows, columns=["record_id", "judge", "condition", "label"])


def test_records_are_sorted_by_plain_text(labels):
    cube = label_cube(labels, conditions=CONDITIONS)
    assert cube.record_ids == ("r1", "r10", "r2")
    assert cube.labels_RJC.tolist() == [[[1, 0], [1, 0]]] * 3
    assert cube.empty_RJC is None


def test_judges_follow_the_given_order(labels):
    assert label_cube(labels, conditions=CONDITIONS).judges == ("mild", "strict")
    cube = label_cube(labels, conditions=CONDITIONS, judges=("strict", "mild"))
    assert cube.judges == ("strict", "mild")


@pytest.mark.parametrize(
    "spelling", [{0: False, 1: True}, {0: "false", 1: "true"}, {0: 0.0, 1: 1.0}]
)
def test_true_and_false_are_labels_too(labels, spelling):
    expected = label_cube(labels, conditions=CONDITIONS).labels_RJC
    labels["label"] = labels["label"].map(spelling)
    np.testing.assert_array_equal(label_cube(labels, conditions=CONDITIONS).labels_RJC, expected)


@pytest.mark.parametrize("label", [2, 0.5, None, "yes", -1])
def test_any_other_label_is_refused_with_its_row_and_key(labels, label):
    labels["label"] = labels["label"].astype(object)
    labels.loc[3, "label"] = label
    with pytest.raises(StatisticsError, match="row 4, record r2, judge strict, condition removal"):
        label_cube(labels, conditions=CONDITIONS)


def test_a_doubled_cell_is_refused_even_when_both_agree(labels):
    doubled = pd.concat([labels, labels.iloc[[2]]], ignore_index=True)
    with pytest.raises(StatisticsError, match=r"row 13, record r2, judge strict.*more than once"):
        label_cube(doubled, conditions=CONDITIONS)


def test_a_missing_cell_is_refused_by_name(labels):
    with pytest.raises(
        StatisticsError, match=r"record r10, judge mild, condition removal: no label .1 of 12"
    ):
        label_cube(labels.drop(index=5), conditions=CONDITIONS)


def test_an_unknown_condition_is_refused(labels):
    with pytest.raises(StatisticsError, match="condition removal: unknown condition"):
        label_cube(labels, conditions=("original",))


def test_an_unknown_judge_is_refused(labels):
    with pytest.raises(StatisticsError, match=r"judge strict.*unknown judge"):
        label_cube(labels, conditions=CONDITIONS, judges=("mild",))


def test_a_judge_who_never_judged_is_missed(labels):
    with pytest.raises(StatisticsError, match="record r1, judge third, condition original"):
        label_cube(labels, conditions=CONDITIONS, judges=("mild", "strict", "third"))


def test_a_missing_column_is_named(labels):
    with pytest.raises(StatisticsError, match=r"lacks the column\(s\) judge"):
        label_cube(labels.drop(columns="judge"), conditions=CONDITIONS)


def test_an_empty_table_is_refused(labels):
    with pytest.raises(StatisticsError, match="no rows"):
        label_cube(labels.iloc[:0], conditions=CONDITIONS)


def test_an_empty_answer_cannot_be_hallucinated(labels):
    labels["empty"] = 0
    labels.loc[4, "empty"] = 1
    with pytest.raises(
        StatisticsError, match=r"record r10, judge mild, condition original: an empty answer"
    ):
        label_cube(labels, conditions=CONDITIONS)


def test_numbers_as_ids_sort_as_text_too(labels):
    numbers = labels.assign(record_id=labels["record_id"].str[1:].astype(int))
    assert label_cube(numbers, conditions=CONDITIONS).record_ids == ("1", "10", "2")


@pytest.mark.parametrize("column", ["record_id", "judge", "condition"])
def test_a_row_without_its_whole_key_is_refused(labels, column):
    labels[column] = labels[column].where(labels.index != 1)
    with pytest.raises(StatisticsError, match=r"row 2.*part of the key is missing"):
        label_cube(labels, conditions=CONDITIONS)


@pytest.mark.parametrize("value", [[1], {"a": 1}, b"1", 0.5, "0.5"])
@pytest.mark.parametrize("column", ["label", "gold", "empty"])
def test_what_is_no_flag_is_refused_by_name(labels, column, value):
    labels[column] = labels["label"].astype(object)
    labels[column] = [value, *labels[column][1:]]
    with pytest.raises(StatisticsError, match=f"row 1, record r2, .*: {column}: expected 0 or 1"):
        label_cube(labels, conditions=CONDITIONS)


@pytest.mark.parametrize("column", ["record_id", "judge", "condition", "task", "source_id"])
def test_what_is_no_name_is_refused(labels, column):
    for value in (1.5, True, b"x", ["x"], {}):
        wrong = labels.assign(task="QA", source_id="s")
        wrong[column] = [value, *wrong[column][1:]]
        with pytest.raises(StatisticsError, match=f"row 1, .*: {column}: expected text or a whole"):
            label_cube(wrong, conditions=CONDITIONS)


def test_categories_are_labels_too(labels):
    expected = label_cube(labels, conditions=CONDITIONS).labels_RJC
    found = label_cube(labels.astype("category"), conditions=CONDITIONS).labels_RJC
    np.testing.assert_array_equal(found, expected)


def test_a_record_that_lacks_a_label_is_dropped_whole_when_asked(labels):
    cube = label_cube(labels.drop(index=5), conditions=CONDITIONS, incomplete="drop")
    assert cube.n_dropped == 1
    assert len(cube.record_ids) == 2
    assert cube.labels_RJC.shape[0] == 2


def test_a_blank_label_is_a_missing_one(labels):
    labels["label"] = labels["label"].astype(object)
    labels.loc[5, "label"] = ""
    with pytest.raises(StatisticsError, match=r"row 6, record .*no label; --incomplete drop"):
        label_cube(labels, conditions=CONDITIONS)
    assert label_cube(labels, conditions=CONDITIONS, incomplete="drop").n_dropped == 1


def test_when_every_record_lacks_a_label_nothing_can_be_compared(labels):
    with pytest.raises(StatisticsError, match="every record lacks a label"):
        label_cube(
            labels[labels["condition"] == "original"], conditions=CONDITIONS, incomplete="drop"
        )


def test_a_wrong_label_is_refused_even_when_incomplete_records_are_dropped(labels):
    labels["label"] = labels["label"].astype(object)
    labels.loc[5, "label"] = "unsure"
    with pytest.raises(StatisticsError, match="label: expected 0 or 1, found 'unsure'"):
        label_cube(labels, conditions=CONDITIONS, incomplete="drop")


@pytest.mark.parametrize("column", ["gold", "task", "source_id"])
def test_a_record_with_two_of_what_it_has_one_of_is_refused(labels, column):
    labels[column] = "0"
    assert label_cube(labels, conditions=CONDITIONS).n_dropped == 0
    labels.loc[1, column] = "1"
    with pytest.raises(StatisticsError, match=f"{column} is 1 here and 0 in the record's first"):
        label_cube(labels, conditions=CONDITIONS)


def test_a_task_that_only_some_rows_have_is_refused(labels):
    labels["task"] = ["QA", "", *["QA"] * (len(labels) - 2)]
    with pytest.raises(StatisticsError, match=r"row 2, .*task is missing here, though not every"):
        label_cube(labels, conditions=CONDITIONS)


def test_the_tables_own_name_stands_in_the_message(labels):
    with pytest.raises(StatisticsError, match=r"mine\.csv: record"):
        label_cube(labels.drop(index=5), conditions=CONDITIONS, name="mine.csv")
