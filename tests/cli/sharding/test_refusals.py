"""What is missing, damaged, of something else or at work elsewhere is named and left alone."""

import json
import os
import subprocess
import sys
import time

import pytest
from fault_server import Plan

from ragmend.cli.sharding.parts import fix_plan
from ragmend.errors import AccountingError, ConfigError, MissingInputError, RunStateError
from ragmend.run_lock import FileLock, Holder


@pytest.fixture
def verified(in_parts):
    """A run whose stage verify is answered in three shards, and not folded."""
    in_parts.parts("verify", 3)
    return in_parts


@pytest.fixture
def unchanged(files_of):
    """Check that a call is refused and changes nothing in a run."""

    def check(run, error, match, call):
        before = files_of(run.root)
        with pytest.raises(error, match=match):
            call()
        assert files_of(run.root) == before

    return check


def fold(run):
    return lambda: run.run(only="verify", fold=True)


def lock(path, **holder):
    """Leave a lock as somebody's; by default this process's."""
    known = Holder(
        host="node17", pid=os.getpid(), process_start=None, slurm_job_id=None, started_at="x"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(known.model_copy(update=holder).model_dump_json() + "\n")
    return path


def shard_lock(run, number, stage="verify"):
    return run.folder(stage) / f"shards/shard-{number:04d}.jsonl.lock"


def test_a_fold_without_any_shard_is_refused(in_parts, unchanged):
    message = r"nothing of it was answered in shards.*--only verify` needs no shards"
    unchanged(in_parts, MissingInputError, message, fold(in_parts))


def test_a_fold_names_the_shards_without_a_marker(verified, unchanged):
    for number in (0, 2):
        verified.marker("verify", number).unlink()
    message = (
        r"verify cannot be folded: verifier: shards 0, 2 of 3 without a marker\. `ragmend submit "
        r"--resume .*`ragmend shard CONFIG verify --role verifier --shard 0 --of 3 --out "
    )
    unchanged(verified, MissingInputError, message, fold(verified))


def test_a_fold_that_misses_a_shard_does_not_mark_judging_as_begun(matched, in_parts, unchanged):
    for stage in ("verify", "propose", "assemble"):
        in_parts.run(only=stage)
    fix_plan(in_parts.folder("judge"), 2)
    unchanged(
        in_parts,
        MissingInputError,
        "overlap: shards 0, 1 of 2 without",
        lambda: in_parts.run(only="judge", fold=True),
    )


@pytest.mark.parametrize("content", [b"", b'{"schema_version": 1, "sta', b"{}", b"\xff"])
def test_a_damaged_marker_is_named_and_written_again(
    verified, unchanged, finished, decided, content
):
    verified.marker("verify", 1).write_bytes(content)
    assert verified.kinds("verify") == ["done", "damaged", "done"]
    message = "verifier: shard 1 is damaged: .*shard-0001.done.json"
    unchanged(verified, MissingInputError, message, fold(verified))
    verified.part("verify", "verifier", 1, 3)
    verified.run(only="verify", fold=True)
    decided(verified, "verify", whole=finished)


def change(run, number, **content):
    marker = run.marker("verify", number)
    marker.write_text(json.dumps(json.loads(marker.read_text()) | content))


def test_a_marker_that_miscounts_its_faults_is_damaged(verified):
    change(verified, 0, n_faults=1)
    assert "0 faults listed, 1 of" in verified.states("verify")[0].reasons[0]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"settings": {"claims.verify": "all"}}, r"other settings \(verifier\)"),
        ({"inputs": {"03-claims/claims.jsonl": "0"}}, r"other inputs \(02-population"),
        ({"of": 4}, "its marker is of shard 1 of 4 of verifier in stage verify"),
        ({"role": "rewriter"}, "its marker is of shard 1 of 3 of rewriter"),
    ],
)
def test_a_marker_of_something_else_is_refused_and_its_part_done_again(
    verified, unchanged, finished, decided, content, reason
):
    change(verified, 1, **content)
    assert verified.kinds("verify") == ["done", "stale", "done"]
    unchanged(verified, RunStateError, f"verifier: shard 1 is stale: .*{reason}", fold(verified))
    verified.part("verify", "verifier", 1, 3)
    verified.run(only="verify", fold=True)
    decided(verified, "verify", whole=finished)


def test_a_unit_that_no_shard_knows_of_is_no_question(verified, unchanged):
    journal = verified.folder("verify") / "shards/shard-0001.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[1:]))
    unchanged(verified, AccountingError, "neither recorded in .* nor among", fold(verified))


def test_two_shards_of_different_models_are_refused(verified, unchanged):
    for number, version in ((0, "0.32.0"), (2, "0.33.0")):
        change(verified, number, servers={"verifier": {"version": version}})
    message = (
        "verifier: shards 0 and 2 of stage verify were answered by different models: .*version "
        "was 0.32.0, is 0.33.0"
    )
    unchanged(verified, RunStateError, message, fold(verified))


def test_the_number_of_shards_is_fixed(verified, unchanged):
    message = "answered in 3 shards, not in 4: use --of 3"
    unchanged(verified, RunStateError, message, lambda: verified.part("verify", "verifier", 3, 4))


@pytest.mark.parametrize(
    ("role", "shard", "of", "message"),
    [
        ("rewriter", 0, 3, "no role 'rewriter' answers in it; there are: verifier"),
        ("verifier", 3, 3, "--shard 3: expected 0 to 2, of 3"),
        ("verifier", 0, 10_000, "expected 1 to 9999"),
    ],
)
def test_a_part_that_there_is_not_is_refused(in_parts, unchanged, role, shard, of, message):
    unchanged(in_parts, ConfigError, message, lambda: in_parts.part("verify", role, shard, of))


def test_a_part_needs_the_stages_before(in_parts, unchanged):
    unchanged(
        in_parts,
        RunStateError,
        "stage verify is not complete; propose needs it",
        lambda: in_parts.part("propose", "rewriter", 0, 3),
    )


def test_a_part_of_changed_settings_is_refused_by_the_protocol(verified, unchanged):
    unchanged(
        verified,
        RunStateError,
        "the protocol is locked and verify is no longer",
        lambda: verified.part("verify", "verifier", 0, 3, "claims.verify=statements"),
    )


def test_edits_need_the_marker_of_their_rewrites(in_parts):
    in_parts.run(only="verify")
    in_parts.part("propose", "rewriter", 0, 2)
    in_parts.part("propose", "verifier", 0, 2)
    with pytest.raises(MissingInputError) as refused:
        in_parts.part("propose", "verifier", 1, 2)
    assert (
        "propose, verifier, shard 1 of 2: it begins with rewriter, shard 1 of 2, which is absent; "
        "`ragmend shard CONFIG propose --role rewriter --shard 1 --of 2"
    ) in str(refused.value)
    assert in_parts.kinds("propose") == ["done", "absent", "done", "absent"]


def test_a_part_that_another_process_answers_is_refused(in_parts, unchanged):
    fix_plan(in_parts.folder("verify"), 3)
    with FileLock(shard_lock(in_parts, 1)):
        unchanged(
            in_parts,
            RunStateError,
            "is at work here; wait until",
            lambda: in_parts.part("verify", "verifier", 1, 3),
        )
        in_parts.part("verify", "verifier", (0, 2), 3)
    in_parts.part("verify", "verifier", 1, 3)
    assert in_parts.kinds("verify") == ["done"] * 3


def test_of_two_processes_at_one_part_each_ends_well_or_is_refused(in_parts, finished, decided):
    words = in_parts.words("verify", "verifier", 0, 1)
    started = [in_parts.start(*words) for _ in range(3)]
    ended = [(process.communicate()[1], process.returncode) for process in started]
    assert 0 in {code for _, code in ended}
    for stderr, code in ended:
        assert code == 0 or "is at work here" in stderr, stderr
    in_parts.run(only="verify", fold=True)
    decided(in_parts, "verify", whole=finished)


@pytest.mark.parametrize("how", ["fold", "whole", "redo"])
@pytest.mark.parametrize("holder", ["living", "elsewhere", "unnamed"])
def test_all_of_a_stage_waits_for_whoever_answers_a_part(verified, unchanged, how, holder):
    path = shard_lock(verified, 1)
    if holder == "living":
        lock(path, host=os.uname().nodename)
    elif holder == "elsewhere":
        lock(path)
    else:
        path.write_bytes(b'{"host":"n')
    calls = {
        "fold": fold(verified),
        "whole": lambda: verified.run(only="verify"),
        "redo": lambda: verified.open().run(redo="match"),
    }
    message = {"living": "is at work", "elsewhere": "cannot be seen", "unnamed": "does not say"}
    unchanged(verified, RunStateError, f"shard-0001.jsonl.lock: .*{message[holder]}", calls[how])


def test_a_lock_that_a_dead_process_left_keeps_nobody_from_the_whole(verified, finished, decided):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    lock(shard_lock(verified, 1), host=os.uname().nodename, pid=process.pid)
    verified.marker("verify", 1).unlink()
    with pytest.raises(RunStateError, match="which no longer runs"):
        verified.part("verify", "verifier", 1, 3)
    verified.run(only="verify")
    decided(verified, "verify", whole=finished)


def test_a_part_waits_for_whoever_runs_the_whole(in_parts, unchanged):
    fix_plan(in_parts.folder("verify"), 3)
    path = in_parts.root / "run.lock"
    with FileLock(path, unlock=in_parts.root), pytest.raises(RunStateError, match="is at work"):
        in_parts.part("verify", "verifier", 1, 3)
    lock(path)
    with pytest.raises(RunStateError, match="cannot be seen"):
        in_parts.part("verify", "verifier", 1, 3)
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    lock(path, host=os.uname().nodename, pid=process.pid)
    in_parts.part("verify", "verifier", 1, 3)


def test_a_fold_while_a_part_is_answered_is_refused(served, server):
    server.inject(Plan(latency_s=0.2))
    process = served.start(*served.words("verify", "verifier", 0, 1))
    path = shard_lock(served, 0)
    while not path.exists():
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.01)
    with pytest.raises(RunStateError, match="is at work here"):
        served.run(only="verify", fold=True)
    with pytest.raises(RunStateError, match="is at work here"):
        served.run(only="verify")
    process.terminate()
    process.communicate()
    assert process.returncode == 143
    with pytest.raises(MissingInputError, match="without a marker"):
        served.run(only="verify", fold=True)


def test_partial_files_of_parts_at_work_are_not_swept_away(in_parts):
    fix_plan(in_parts.folder("verify"), 3)
    shards = in_parts.folder("verify") / "shards"
    theirs, left = shards / "shard-0001.done.json.partial", in_parts.root / "x.json.partial"
    theirs.touch()
    left.touch()
    lock(shard_lock(in_parts, 1))
    in_parts.run(only="match")
    assert theirs.exists()
    assert not left.exists()
    shard_lock(in_parts, 1).unlink()
    in_parts.run(only="match")
    assert not theirs.exists()
