"""A stage that was answered in parts is folded into the very files of a run in one piece."""

import random
import shutil

import pytest

from ragmend.errors import ConfigError

pytestmark = pytest.mark.slow

ASKING = ("verify", "propose", "judge")


@pytest.mark.parametrize("n", [1, 3, 4, 40])
def test_a_run_in_parts_is_byte_identical_to_one_in_one_piece(
    in_parts, finished, files_of, decided, n
):
    order = random.Random(n)
    for stage in ASKING:
        in_parts.parts(stage, n, shuffle=order, at_once=10 if n == 40 else 1)
        in_parts.run(only=stage, fold=True)
        if stage == "propose":
            in_parts.run(only="assemble")
    decided(in_parts, *ASKING, whole=finished)
    if n == 4:  # tables take their time
        in_parts.run()
        assert files_of(in_parts.root) == files_of(finished)


@pytest.mark.slow
def test_parts_in_processes_side_by_side_are_byte_identical_too(in_parts, finished, decided):
    for stage in ASKING:
        for role in in_parts.roles(stage):
            words = [(*in_parts.words(stage, role, k, 4), "--shard", k - 1) for k in (3, 1)]
            for process in [in_parts.start(*each) for each in words]:
                stderr = process.communicate()[1]
                assert process.returncode == 0, stderr
        in_parts.run(only=stage, fold=True)
        if stage == "propose":
            in_parts.run(only="assemble")
    decided(in_parts, *ASKING, whole=finished)
    assert '"judged": true' in (in_parts.root / "protocol.lock.json").read_text()


def test_several_shards_may_be_given_to_one_command(in_parts, finished, decided, command):
    done = command(*in_parts.words("verify", "verifier", 2, 3), "--shard", 0, "--shard", 1)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "units" in line]
    assert [line.partition(":")[0] for line in lines] == [
        f"verify    verifier, shard {k} of 3" for k in (2, 0, 1)
    ]
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == 19
    folded = command("run", "demo", "--out", in_parts.root, "--only", "verify", "--fold")
    assert folded.returncode == 0, folded.stderr
    decided(in_parts, "verify", whole=finished)
    assert not (in_parts.root / "05-verdicts/shards").exists()


def test_a_part_that_is_complete_is_skipped(in_parts, capsys):
    in_parts.part("verify", "verifier", 1, 3)
    marker = in_parts.marker("verify", 1)
    before = marker.stat().st_mtime_ns
    capsys.readouterr()
    in_parts.part("verify", "verifier", 1, 3)
    assert "verifier, shard 1 of 3: complete, skipped" in capsys.readouterr().err
    assert marker.stat().st_mtime_ns == before


def test_a_part_of_a_complete_stage_and_its_fold_have_nothing_to_do(run, command):
    words = ("shard", "demo", "verify", "--role", "verifier", "--shard", 0, "--of", 3)
    done = command(*words, "--out", run)
    assert done.returncode == 0
    assert "complete; its shards need no answers" in done.stderr
    assert not (run / "05-verdicts/shards").exists()
    folded = command("run", "demo", "--out", run, "--only", "verify", "--fold")
    assert folded.returncode == 0
    assert "verify    complete, skipped" in folded.stderr


def test_a_run_in_one_piece_uses_what_any_shard_recorded(in_parts, finished, decided, capsys):
    in_parts.part("verify", "verifier", (0, 2), 3)
    journals = [in_parts.folder("verify") / f"shards/shard-000{k}.jsonl" for k in (0, 2)]
    n_recorded = sum(len(journal.read_text().splitlines()) for journal in journals)
    capsys.readouterr()
    in_parts.run(only="verify")
    assert f"resuming: {n_recorded} units are recorded" in capsys.readouterr().err
    decided(in_parts, "verify", whole=finished)


def test_parts_use_what_a_run_in_one_piece_had_recorded(matched, in_parts, tmp_path, decided):
    """Its journal is the first shard's: each part takes its own answers from there."""
    whole = in_parts
    other = matched.copy(tmp_path / "other")
    other.parts("verify", 1)
    journal = other.root / "05-verdicts/shards/shard-0000.jsonl"
    (whole.root / "05-verdicts/shards").mkdir(parents=True)
    shutil.copy(journal, whole.root / "05-verdicts/shards/shard-0000.jsonl")
    whole.parts("verify", 3)
    shards = whole.root / "05-verdicts/shards"
    assert [(shards / f"shard-000{k}.jsonl").stat().st_size for k in (1, 2)] == [0, 0]
    whole.run(only="verify", fold=True)
    other.run(only="verify", fold=True)
    decided(whole, "verify", whole=other.root)


@pytest.mark.parametrize(
    "words",
    [
        ("--fold",),
        ("--fold", "--only", "match"),
        ("--fold", "--only", "verify", "--redo", "verify"),
        ("--fold", "--only", "verify", "--serve"),
    ],
)
def test_a_fold_is_of_one_stage_that_has_shards(in_parts, command, words):
    done = command("run", "demo", "--out", in_parts.root, *words)
    assert done.returncode == 2
    assert "goes with --only STAGE (verify, propose, judge)" in done.stderr


def test_a_fold_through_the_library_is_of_one_stage(in_parts):
    with pytest.raises(ConfigError, match="--fold goes with --only"):
        in_parts.run(fold=True)
