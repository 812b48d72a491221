"""The whole experiment with one real server behind verifier, rewriter and judge."""

import json
import os
import re
import subprocess
import sys

import pytest

from ragmend.cli.serving.warden import session_members

pytestmark = pytest.mark.vllm


def run(config_file, out, *words):
    return subprocess.run(
        [
            *(sys.executable, "-m", "ragmend", "run", str(config_file), "--out", str(out)),
            *("--serve", "--limit", "6", "--accept-faults", "the model is random"),
            *words,
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )


def rows_of(path):
    if not path.exists():  # no fault, no file of faults
        return []
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def test_a_run_starts_one_server_for_all_roles_and_resumes_without_any(config_file, tmp_path):
    out = tmp_path / "run"
    done = run(config_file, out)
    assert done.returncode == 0, done.stderr
    (server,) = map(int, re.findall(r"starting, pid (\d+)", done.stderr))
    assert session_members(server) == []
    assert [path.name for path in (out / "servers").iterdir()] == ["verifier.log"]
    verdicts = rows_of(out / "05-verdicts/verdicts.jsonl")
    assert verdicts
    assert all(0.0 <= verdict["p_support"] <= 1.0 for verdict in verdicts)
    assert len({verdict["p_support"] for verdict in verdicts}) > 1
    assert all(0.0 < verdict["candidate_mass"] < 1.0 for verdict in verdicts)
    records = {row["record_id"] for row in rows_of(out / "02-population/population.jsonl")}
    assert len(records) == 6
    proposed = {row["record_id"] for row in rows_of(out / "06-candidates/rewrites.jsonl")}
    assert proposed, "every rewrite is a fault"
    left_out = {row["record_id"] for row in rows_of(out / "06-candidates/faults.jsonl")}
    judged = rows_of(out / "08-judgements/judgements.jsonl")
    assert judged, "every judgement is a fault"
    asked = judged + rows_of(out / "08-judgements/faults.jsonl")
    conditions = ("original", "removal", "extractive", "generative")
    assert {(row["record_id"], row["condition"]) for row in asked} == {
        (record, condition) for record in records - left_out for condition in conditions
    }
    assert (out / "report.html").exists()
    again = run(config_file, out)
    assert again.returncode == 0, again.stderr
    assert "starting" not in again.stderr
