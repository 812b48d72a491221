"""The protocol lock: each entry names the stage that must be done again when it changes."""

import json

import pytest

from ragmend.cli.protocol import DECIDES

CHANGES = [
    ("judges.primary", "numbers-names", "primary_judge", "analyze"),
    ("verifier.threshold", "0.9", "threshold", "propose"),
    ("evidence.top_k", "1", "evidence", "match"),
    ("verifier.verify_edit", "in_context", "verify_edit", "propose"),
    ("analysis.n_resamples", "100", "analysis", "analyze"),
]


@pytest.mark.parametrize(("name", "value", "entry", "stage"), CHANGES, ids=str)
def test_the_stage_that_a_run_names_is_the_one_that_the_lock_accepts(
    run, command, name, value, entry, stage
):
    override = ("--set", f"{name}={value}")
    words = ("run", "demo", "--out", run, *override)
    assert DECIDES[entry] == stage
    refused = command(*words)
    assert refused.returncode == 1
    assert f"--redo {stage}" in refused.stderr
    done = command(*words, "--redo", stage, "--only", stage)
    assert done.returncode == 0, done.stderr
    amendments = json.loads((run / "protocol.lock.json").read_text())["amendments"]
    assert [amendment["entry"] for amendment in amendments] == [entry]


def test_another_primary_judge_needs_nothing_judged_again(run, command):
    judged = (run / "08-judgements/manifest.json").read_bytes()
    override = ("--set", "judges.primary=numbers-names")
    done = command("run", "demo", "--out", run, *override, "--redo", "analyze")
    assert done.returncode == 0, done.stderr
    assert (run / "08-judgements/manifest.json").read_bytes() == judged
    assert "numbers-names" in (run / "report.md").read_text()
