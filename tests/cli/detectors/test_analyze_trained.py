"""The stage that makes tables, where a trained detector flagged the population."""

import pandas as pd
import pytest

from ragmend.analysis.analyze import analyze
from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.printing.write import table_csv
from ragmend.analysis.settings import Settings
from ragmend.cli.engine import inspect_stage, run_stages
from ragmend.cli.experiment import reopen_experiment
from ragmend.cli.protocol import write_lock
from ragmend.cli.results import summarize
from ragmend.cli.stages.analyze import ANALYZE
from ragmend.cli.stages.report import REPORT
from ragmend.config import dump_config
from ragmend.errors import RunStateError
from ragmend.io import write_bytes


@pytest.fixture
def folder(run, folder_in):
    """Ten trained detectors in the folder of a finished run."""
    return folder_in(run)


@pytest.fixture
def context(folder, config):
    """The run, its population as if a trained detector had flagged it; not analysed yet."""
    context = reopen_experiment(folder.paths.root).context._replace(config=config)
    write_bytes(folder.paths.config, dump_config(config))
    write_lock(context)
    folder.paths.analysis_manifest.unlink()
    folder.paths.report_manifest.unlink()
    return context


def analyze_only(context):
    run_stages(context, (ANALYZE, REPORT))


def test_a_run_folder_gives_the_tables_that_the_published_scores_give(context, published):
    analyze_only(context)
    tables = context.paths.tables
    theirs = analyze(Frames(runs=published), settings=Settings(figure_formats=())).tables
    assert (tables / "table1_detectors.csv").read_bytes() == table_csv(theirs["table1_detectors"])
    ours = pd.read_csv(tables / "seed_comparison.csv")
    assert ours["t"].round(4).tolist()[0] == 1.2895
    assert ours["item_se_pp"].notna().all()
    rank = pd.read_csv(tables / "selection.csv").set_index("quantity").loc["population_rank"]
    assert rank[["value", "of"]].tolist() == [1, 5]
    for name in ("detector_failures", "detector_development", "detector_runs", "detector_scores"):
        assert (tables / f"{name}.csv").is_file()
    assert len(pd.read_csv(tables / "detector_scores.csv")) == 10 * 20
    rows = pd.read_csv(tables / "provenance.csv")
    files = rows[rows["table"] == "table1_detectors"]["input"].iloc[0].split("; ")
    assert len(files) == 30
    assert "01-detections/7b/seed-100/scores.jsonl" in files
    assert "00-training/7b/seed-100/health.json" in files


def test_failed_runs_stand_under_every_table_and_before_the_report(context, folder, failed):
    folder.remove("7b/seed-21")
    folder.write_ledger("7b/seed-13", [None, "a bug"])
    analyze_only(context)
    texts = {path: path.read_text() for path in context.paths.tables.glob("*.md")}
    assert len(texts) > 30
    for words in (*failed.values(), "2 times; again because: a bug"):
        assert [path for path, text in texts.items() if words not in text] == []
    summary = summarize(context)
    (fact,) = (value for name, value in summary.facts if name == "population")
    assert fact.endswith("answers flagged by 13b/seed-42")
    assert any("7b seed 21 (trained, not predicted)" in warning for warning in summary.warnings)
    assert any(failed["7b/seed-100"] in warning for warning in summary.warnings)
    assert failed["7b/seed-100"] in context.paths.report.read_text()


def test_a_run_that_is_predicted_later_makes_the_analysis_stale(context, folder, counts):
    folder.remove("7b/seed-21")
    analyze_only(context)
    assert inspect_stage(ANALYZE, context).kind == "complete"
    folder.predict("7b/seed-21", counts("78.8"))
    state = inspect_stage(ANALYZE, context)
    assert state.kind == "stale"
    (reason,) = state.reasons
    assert reason == (
        "new inputs: 00-training/7b/seed-21/ledger.jsonl, "
        "01-detections/7b/seed-21/detections.jsonl, 01-detections/7b/seed-21/scores.jsonl"
    )
    with pytest.raises(RunStateError, match=r"analyze is stale: new inputs.*--redo analyze"):
        analyze_only(context)
