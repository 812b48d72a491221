"""The trained detectors of a run folder as tables: ten runs, of which two failed."""

from fractions import Fraction

import pytest

from ragmend.analysis.analyze import analyze
from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.inputs.runs import UNDEFINED_F1
from ragmend.analysis.inputs.tidy import tidy_frame
from ragmend.analysis.printing.write import table_csv
from ragmend.analysis.settings import Settings
from ragmend.cli.detector_runs import (
    read_detector_runs,
    remarks_on_runs,
)
from ragmend.cli.detector_tables import format_detector_tables, runs_csv
from ragmend.cli.tables_in import read_table
from ragmend.errors import RunStateError
from ragmend.io import read_records, write_records
from ragmend.paths import RunPaths, manifest_path
from ragmend.records import DetectorScore


def test_ten_runs_give_table_1_and_the_comparison_that_their_scores_give(published, tables_of):
    ours = tables_of()
    theirs = analyze(Frames(runs=published), settings=Settings(figure_formats=())).tables
    for name in ("table1_detectors", "seed_comparison"):
        assert table_csv(ours[name]) == table_csv(theirs[name])
    usable = ours["seed_comparison"].frame.iloc[0]
    assert (round(usable["t"], 4), round(usable["df"], 3)) == (1.2895, 3.144)
    assert (round(usable["p_welch"], 4), round(usable["p_permutation"], 4)) == (0.2839, 0.2)


def test_two_failed_runs_are_named_with_their_reasons_in_every_table(config, paths, failed):
    runs = read_detector_runs(config, paths)
    remarks = list(remarks_on_runs(runs, split="test"))
    assert remarks == [
        f"detector run 7b/seed-100 failed: {failed['7b/seed-100']}",
        f"detector run 13b/seed-13 failed: {failed['13b/seed-13']}",
    ]
    text = format_detector_tables(config, paths)
    for remark in remarks:
        assert text.count(f"* {remark}\n") == 1
    assert "1.3†" in text
    assert "41.4†" in text
    (note,) = (line for line in text.splitlines() if line.startswith("* †"))
    assert "by the verdict on its training: 7b seed 100 (1.3), 13b seed 13 (41.4)" in note
    assert "outcome was seen" not in text
    (row,) = (
        line for line in text.splitlines() if line.endswith(f"failed  {failed['7b/seed-100']}")
    )
    assert row.split()[:4] == ["7b", "100", "1.3", "no"]


def test_what_is_not_there_is_named_in_every_table_and_counted_in_none(
    config, paths, folder, tables_of
):
    folder.remove("7b/seed-13", training=True)
    paths.training("7b/seed-13").begun.unlink()
    folder.remove("7b/seed-21")
    folder.remove("7b/seed-42", training=True)
    paths.training("13b/seed-84").manifest.unlink()
    manifest_path(paths.detections("13b/seed-100")).unlink()
    folder.write_ledger("13b/seed-100", [None], events=["begun"])
    tables = tables_of()
    note = (
        "without a score, and counted nowhere: 7b seed 13 (not trained), 7b seed 21 (trained, not "
        "predicted), 7b seed 42 (training begun, not complete), 13b seed 84 (training begun, not "
        "complete), 13b seed 100 (prediction begun, not complete)"
    )
    for name in ("table1_detectors", "seed_comparison", "detector_failures"):
        assert note in tables[name].notes, name
    table = tables["table1_detectors"].frame
    assert table["n_runs"].tolist() == [2, 3]
    assert table["f1_seed_13"].tolist() == [None, Fraction("41.4")]
    failures = tables["detector_failures"].frame.set_index(["model", "seed"])
    assert failures.loc[("7b", "21"), ["f1", "usable", "health"]].tolist() == [
        None, "yes", "usable",
    ]  # fmt: skip
    assert failures.loc[("7b", "13"), ["f1", "usable", "health"]].tolist() == [None] * 3
    text = format_detector_tables(config, paths)
    assert f"* {note}" in text
    assert "* without development scores: 7b seed 13, 7b seed 42, 13b seed 84" in text


def test_an_undefined_f1_is_named_and_counted_nowhere(folder, tables_of):
    folder.predict("7b/seed-13", {"tp": 0, "fp": 0, "fn": 0, "tn": 9})
    table = tables_of()["table1_detectors"]
    assert table.frame["n_runs"].tolist() == [4, 5]
    assert any(f"7b seed 13 ({UNDEFINED_F1})" in note for note in table.notes)


def test_answers_without_gold_give_no_score_and_no_crash(config, paths, folder):
    for run in config.trainings.run_ids():
        write_records(paths.detector_run_scores(run), [])
        folder.seal_prediction(run)
    text = format_detector_tables(config, paths)
    assert "without  table1_detectors, seed_comparison: needs a run with a score; without a" in text
    assert "7b seed 13 (no answer has a gold label)" in text
    assert "without  detector_runs, detector_scores: needs detectors" in text


def test_an_f1_of_zero_is_a_score(folder, tables_of):
    folder.predict("7b/seed-100", {"tp": 0, "fp": 0, "fn": 9, "tn": 0})
    table = tables_of()["table1_detectors"]
    assert table.frame["n_runs"].tolist() == [5, 5]
    assert table.frame["printed_seed_100"].tolist()[0] == "0.0†"


def test_the_table_of_runs_is_read_back_to_the_same_tables(
    config, paths, tmp_path, folder, tables_of
):
    folder.predict("7b/seed-13", {"tp": 1, "fp": 1, "fn": 0, "tn": 1})
    folder.predict("7b/seed-21", {"tp": 0, "fp": 0, "fn": 0, "tn": 1})
    folder.remove("13b/seed-100")
    path = tmp_path / "runs.csv"
    path.write_bytes(runs_csv(config, paths))
    read = tidy_frame(read_table(path), "runs", name="runs.csv")
    ours = tables_of()
    again = analyze(Frames(runs=read), settings=Settings(figure_formats=())).tables
    assert list(again) == list(ours)
    for name in ("table1_detectors", "seed_comparison", "detector_failures"):
        assert table_csv(again[name]) == table_csv(ours[name])
        assert again[name].notes == ours[name].notes
    assert read["f1"].tolist()[:3] == ["66.6667", None, "66.0000"]


def test_the_command_reads_the_table_of_runs(config, paths, tmp_path, command, tables_of):
    path = tmp_path / "runs.csv"
    path.write_bytes(runs_csv(config, paths))
    done = command("analyze", "--runs", path, "--out", tmp_path / "out", "--svg-only")
    assert done.returncode == 0, done.stderr
    mine = (tmp_path / "out" / "tables" / "table1_detectors.csv").read_bytes()
    assert mine == table_csv(tables_of()["table1_detectors"])


def test_scores_and_development_of_ten_runs_stand_side_by_side(config, paths, folder):
    folder.write("13b/seed-84", f1="78.6", threshold=0.31)
    text = format_detector_tables(config, paths)
    development = text[text.index("Development scores by run and epoch") :].split("\n\n")[0]
    lines = development.splitlines()
    assert len(lines) == 2 + 10 * 3
    assert lines[1].split()[:3] == ["run", "epoch", "chosen"]
    assert [line.split()[2] for line in lines[2:5]] == ["no", "yes", "no"]
    (row,) = (line for line in lines if line.startswith("13b/seed-84") and " yes " in line)
    assert row.split()[-2:] == ["0.310", "usable"]
    side_by_side = text[text.index("side by side") :].split("\n\n")[0].splitlines()
    assert len(side_by_side) == 2 + 4 * 10
    assert "by task" not in text  # 200 rows: in the files only


def test_one_run_alone_has_its_scores_by_task(config, paths):
    training = config.trainings
    one = training.model_copy(update={"models": {"7b": training.models["7b"]}, "seeds": (13,)})
    population = config.population.model_copy(update={"run": None})
    alone = config.model_copy(update={"training": one, "population": population})
    text = format_detector_tables(alone, paths)
    assert "Scores of the detector run\n" in text
    assert "macro" in text
    assert "without  seed_comparison: needs two models" in text


def test_a_run_that_named_no_span_is_named_where_it_has_no_span_level(config, paths, folder):
    path = paths.detector_run_scores("7b/seed-100")
    write_records(path, [s for s in read_records(path, DetectorScore) if s.level == "response"])
    folder.seal_prediction("7b/seed-100")
    text = format_detector_tables(config, paths)
    assert "* without a span level, for they named no span: 7b/seed-100" in text


def test_nothing_trained_yet_is_told_as_that(config, tmp_path):
    with pytest.raises(
        RunStateError, match=r"no detector is trained: 7b/seed-13 \(not trained\), 7b/seed"
    ):
        format_detector_tables(config, RunPaths(tmp_path))
