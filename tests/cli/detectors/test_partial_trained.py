"""The report of what exists where detectors are trained, and not all of them are done."""

import pandas as pd
import pytest

from ragmend.cli.experiment import reopen_experiment
from ragmend.cli.partial.report import report_what_exists
from ragmend.config import dump_config
from ragmend.io import write_bytes


@pytest.fixture
def report(folder, config):
    """Report what exists of the folder, as a function of nothing."""
    write_bytes(folder.paths.config, dump_config(config))
    return lambda: report_what_exists(reopen_experiment(folder.paths.root))


def lines_of(made):
    return [missing.line for missing in made.missing]


def test_detectors_alone_give_their_table(report, paths, tables_of):
    made = report()
    found = pd.read_csv(paths.partial / "tables/table1_detectors.csv")
    assert len(found) == len(tables_of()["table1_detectors"].frame)
    assert {"seed_comparison", "detector_failures", "detector_development", "detector_runs"} <= {
        path.stem for path in (paths.partial / "tables").iterdir()
    }
    assert [missing.name for missing in made.missing][:2] == ["detect", "select"]


def test_of_detectors_that_are_not_done_the_others_make_the_table(report, folder, paths):
    folder.remove("7b/seed-21")
    folder.remove("7b/seed-42", training=True)
    folder.remove("7b/seed-84", training=True)
    made = report()
    predict, train = (f"`ragmend detect {word} …` does it" for word in ("predict", "train"))
    assert lines_of(made)[-2:] == [
        f"detector 7b/seed-21: trained, not predicted. {predict}",
        f"detectors 7b/seed-42, 7b/seed-84: training begun, not complete. {train}",
    ]
    text = (paths.partial / "tables/table1_detectors.md").read_text()
    assert "7b seed 21 (trained, not predicted)" in text
    assert "of an incomplete run: detect, select" in text


def test_a_damaged_file_of_one_detector_leaves_the_others(report, folder, paths):
    paths.training("7b/seed-21").manifest.write_text("{")
    made = report()
    (line,) = (line for line in lines_of(made) if "7b/seed-21" in line)
    assert line.startswith("detector 7b/seed-21: cannot be read: ")
    assert (paths.partial / "tables/table1_detectors.csv").is_file()


def test_without_a_detector_there_is_no_table_and_it_is_said_why(report, folder, config, paths):
    for run in config.trainings.run_ids():
        folder.remove(run, training=True)
    made = report()
    assert made.n_tables == 0
    assert lines_of(made)[0] == (
        "detect: missing: nothing is recorded. `ragmend detect predict …` does it"
    )
    assert lines_of(made)[-1].count("/seed-") == 10
    assert (paths.partial / "report.html").is_file()
