"""Scores of several detector runs side by side, and of one by task."""

import pandas as pd

from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.printing.table import print_rows
from ragmend.analysis.settings import Provenance, Settings
from ragmend.analysis.study import Study
from ragmend.analysis.tables.detector_tables import (
    detector_runs_table,
    detector_scores_table,
    without_several_runs,
)

COLUMNS = ["run_id", "protocol", "level", "group", "n_responses", "tp", "fp", "fn", "tn"]
PARTS = (("QA", 10, 3, 1, 1, 5), ("Summary", 10, 1, 0, 3, 6), ("pooled", 20, 4, 1, 4, 11))


def study(*runs, levels=("response", "span"), without=()):
    rows = [
        (run, protocol, level, *part)
        for run in runs
        for protocol in ("all", "good-only")
        for level in levels
        for part in PARTS
        if (run, level) not in without
    ]
    frames = Frames(detectors=pd.DataFrame(rows, columns=COLUMNS))
    return Study(frames, Settings(), Provenance())


def test_runs_stand_side_by_side_at_each_protocol_and_level():
    table = detector_runs_table(study("b", "a"))
    assert table.frame[["protocol", "level", "run_id"]].to_numpy().tolist() == [
        [protocol, level, run]
        for protocol in ("all", "good-only")
        for level in ("response", "span")
        for run in ("b", "a")
    ]
    assert [column.heading for column in table.columns][4:] == [
        "precision %", "recall %", "F1 %", "F1 QA %", "F1 Summary %", "F1 macro %",
    ]  # fmt: skip
    assert print_rows(table)[0][3:] == ["20", "80.0", "50.0", "61.5", "75.0", "40.0", "57.5"]


def test_by_task_several_runs_are_for_looking_up_and_one_is_shown():
    many = detector_scores_table(study("b", "a"))
    assert (many.is_lookup, len(many.frame)) == (True, 2 * 2 * 2 * 4)
    assert without_several_runs(study("b", "a")) is None
    one = detector_scores_table(study("b"))
    assert (one.is_lookup, one.title) == (False, "Scores of the detector run")
    assert without_several_runs(study("b")) == "needs several runs"


def test_a_run_without_spans_has_no_span_level_and_is_named():
    given = study("b", "a", without=[("a", "span")])
    assert len(detector_runs_table(given).frame) == 2 + 2 + 2
    note = "without a span level, for they named no span: a"
    for make in (detector_runs_table, detector_scores_table):
        assert note in make(given).notes
        assert not any("span level, for" in n for n in make(study("b", "a")).notes)


def test_a_task_that_one_run_lacks_is_undefined_for_it():
    scores = study("b", "a").frames.detectors
    lacking = scores[(scores["run_id"] != "a") | (scores["group"] != "Summary")]
    given = Study(Frames(detectors=lacking), Settings(), Provenance())
    rows = {row[2]: row for row in print_rows(detector_runs_table(given))}
    assert (rows["b"][-2], rows["a"][-2]) == ("40.0", "—")
