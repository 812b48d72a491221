"""Scores on development answers: by run and epoch, and which epoch was chosen."""

import pandas as pd
import pytest

from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.inputs.trained_runs import development_frame
from ragmend.analysis.printing.table import print_rows
from ragmend.analysis.settings import Provenance, Settings
from ragmend.analysis.study import Study
from ragmend.analysis.tables.development_table import detector_development_table
from ragmend.errors import StatisticsError
from ragmend.trained import DetectorRunFacts, EpochScore


def epoch(number, level="response", **changes):
    counts = {"n_responses": 10, "tp": 3, "fp": 1, "fn": 1, "tn": 5, "n_empty": 1, "n_unparsed": 2}
    return EpochScore(epoch=number, level=level, **counts | {"chosen": number == 1} | changes)


def facts(*epochs, health="usable"):
    run = {"run_id": "m/seed-1", "model": "m", "seed": 1, "is_population": False}
    return DetectorRunFacts(**run, epochs=epochs, health=health, unscored="not predicted")


def table_of(*runs, **frames):
    given = Frames(development=development_frame(runs), **frames)
    return detector_development_table(Study(given, Settings(), Provenance()))


def printed(table):
    headings = [column.heading for column in table.columns]
    return [dict(zip(headings, row, strict=True)) for row in print_rows(table)]


def test_responses_and_characters_of_spans_stand_beside_each_other():
    spans = epoch(1, "span", tp=2, fp=2, fn=0)
    one, two = printed(table_of(facts(epoch(1), spans, epoch(2, fp=0, n_empty=0))))
    assert (one["run"], one["epoch"], one["chosen"], one["n"]) == ("m/seed-1", "1", "yes", "10")
    assert (one["precision %"], one["recall %"], one["F1 %"]) == ("75.0", "75.0", "75.0")
    assert (one["span precision %"], one["span recall %"], one["span F1 %"]) == (
        "50.0", "100.0", "66.7",
    )  # fmt: skip
    assert (one["empty answers %"], one["unparsed answers %"]) == ("10.0", "20.0")
    assert (two["chosen"], two["precision %"], two["span F1 %"]) == ("no", "100.0", "—")
    assert two["empty answers %"] == "0.0"


def test_a_threshold_is_shown_where_a_detector_has_one():
    assert "threshold" not in printed(table_of(facts(epoch(1))))[0]
    (row,) = printed(table_of(facts(epoch(1, threshold=0.25))))
    assert row["threshold"] == "0.250"


def test_an_undefined_rate_is_undefined():
    (row,) = printed(table_of(facts(epoch(1, n_responses=0, tp=0, fp=0, fn=0, n_empty=0))))
    assert [row[name] for name in ("precision %", "F1 %", "empty answers %")] == ["—"] * 3


@pytest.mark.parametrize(
    ("epochs", "message"),
    [
        ([epoch(2), epoch(3)], "run m/seed-1: expected one chosen epoch, found 0"),
        ([epoch(1), epoch(2, chosen=True)], "run m/seed-1: expected one chosen epoch, found 2"),
        ([epoch(1, "span")], "run m/seed-1, epoch 1: no scores at response level"),
        ([epoch(1), epoch(1)], "run_id m/seed-1, epoch 1, level response occurs more than once"),
    ],
)
def test_scores_that_do_not_fit_together_are_refused_by_run(epochs, message):
    with pytest.raises(StatisticsError, match=message):
        table_of(facts(*epochs))


def test_runs_without_development_scores_are_named():
    runs = pd.DataFrame(
        {"model": "m", "seed": ["1", "2", "3"], "f1": [1, None, 2], "usable": [1, None, 0],
         "unscored": [None, "not trained", None]}
    )  # fmt: skip
    notes = table_of(facts(epoch(1)), runs=runs).notes
    assert "without development scores: m seed 2, m seed 3" in notes


def test_where_nothing_is_trained_there_is_no_frame():
    assert development_frame([facts(health=None)]) is None
