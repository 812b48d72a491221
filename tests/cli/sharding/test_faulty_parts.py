"""Faulty answers do not end a part; the fold settles them exactly as a run in one piece does."""

import json

import pytest
from fault_server import Plan

from ragmend.cli.sharding import runner
from ragmend.errors import FaultError, RunStateError
from ragmend.io import read_records
from ragmend.paths import faults_path
from ragmend.records import Fault

pytestmark = pytest.mark.slow  # runs of their own, from the beginning

FAULTS = Plan(
    seed=5,
    final_rate=0.06,
    final_scored=("nan", "fewer"),
    final_generated=("cut", "garbage"),
)
WHY = "they stay faulty"


@pytest.fixture
def whole(served, tmp_path):
    """The same run, for one piece."""
    return served.copy(tmp_path / "whole")


def stop_by_faults(run, stage, **how):
    with pytest.raises(FaultError) as stopped:
        run.run(only=stage, **how)
    return str(stopped.value).replace(str(run.root), "RUN")


@pytest.mark.parametrize("n", [1, 3])
def test_a_fold_settles_faults_as_a_run_in_one_piece_does(served, whole, server, decided, n):
    server.inject(FAULTS)
    n_faults = {}
    for stage in ("verify", "propose", "judge"):
        served.parts(stage, n)
        assert "faulty" in served.kinds(stage)
        before = server.n_requests.total()
        said = stop_by_faults(served, stage, fold=True)
        assert server.n_requests.total() == before  # nobody was asked
        assert stop_by_faults(whole, stage) == said
        faults = [faults_path(run.folder(stage)) for run in (served, whole)]
        assert faults[0].read_bytes() == faults[1].read_bytes()
        n_faults[stage] = len(list(read_records(faults[0], Fault)))
        served.run(only=stage, fold=True, accept_faults=WHY)
        whole.run(only=stage, accept_faults=WHY)
        decided(served, stage, whole=whole.root)
        if stage == "propose":
            served.run(only="assemble")
            whole.run(only="assemble")
    assert all(n_faults.values())


def test_faulty_answers_fail_no_command_and_are_listed_in_the_marker(served, server, command):
    server.inject(FAULTS)
    done = command(*served.words("verify", "verifier", 0, 1))
    assert done.returncode == 0, done.stderr
    marker = json.loads(served.marker("verify", 0).read_text())
    assert marker["n_faults"] == len(marker["faults"]) > 0
    assert {fault["fault"]["stage"] for fault in marker["faults"]} == {"verify"}
    assert f"{marker['n_faults']} of them faulty, listed in {served.marker('verify', 0)}" in (
        done.stderr
    )


def test_only_what_was_faulty_is_tried_again(served, server, capsys, decided):
    server.inject(FAULTS)
    served.parts("verify", 2)
    was = json.loads(served.marker("verify", 1).read_text())
    assert was["n_faults"] > 0
    server.faults_off()
    before = server.n_requests["/chat/completions"]
    served.part("verify", "verifier", 1, 2)
    assert "verifier, shard 1 of 2: trying again what was faulty" in capsys.readouterr().err
    now = json.loads(served.marker("verify", 1).read_text())
    assert now["n_faults"] == 0
    used = [marker["service"]["verifier"]["n_requests"] for marker in (was, now)]
    asked = server.n_requests["/chat/completions"] - before
    assert 0 < used[1] - used[0] <= asked < used[0]
    served.part("verify", "verifier", 0, 2)
    served.run(only="verify", fold=True)
    decided(served, "verify")


def test_edits_rest_on_the_rewrites_that_they_were_made_from(served, server, decided):
    served.parts("verify", 2)
    served.run(only="verify", fold=True)
    server.inject(FAULTS)
    served.parts("propose", 2)
    assert served.kinds("propose")[0] == "faulty"
    server.faults_off()
    served.part("propose", "rewriter", 0, 2)
    state = served.states("propose")[2]
    assert state.kind == "stale"
    assert state.reasons == ("rewriter, shard 0 of 2: came to something else since",)
    with pytest.raises(RunStateError, match="verifier: shard 0 is stale: rewriter, shard 0"):
        served.run(only="propose", fold=True)
    for role in ("rewriter", "verifier"):
        served.part("propose", role, (0, 1), 2)
    served.run(only="propose", fold=True)
    decided(served, "propose")


def test_what_a_marker_calls_faulty_stays_so_until_the_part_is_done_again(
    served, server, monkeypatch
):
    """Else what later parts have begun with would change under them, half-way through a retry."""
    server.inject(FAULTS)
    served.parts("verify", 1)
    was = stop_by_faults(served, "verify", fold=True)
    server.faults_off()

    def be_killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "write_done", be_killed)
    with pytest.raises(KeyboardInterrupt):
        served.part("verify", "verifier", 0, 1)
    monkeypatch.undo()
    assert stop_by_faults(served, "verify", fold=True) == was


def test_a_run_in_one_piece_asks_again_for_what_parts_could_not_have(served, server, decided):
    server.inject(FAULTS)
    served.parts("verify", 3)
    server.faults_off()
    served.run(only="verify")
    decided(served, "verify")
