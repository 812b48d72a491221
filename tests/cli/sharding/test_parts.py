"""The parts of a stage: every source in one shard, even shares, numbers and their plan."""

import json
import threading
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.cli.data import by_source, own_records, read_population
from ragmend.cli.sharding.parts import (
    MOST_PARTS,
    Part,
    fix_plan,
    part_before,
    parts_of_stage,
    read_plan,
    roles_of_stage,
    share_sources,
)
from ragmend.config import load_config
from ragmend.errors import ConfigError, DataError, RunStateError
from ragmend.paths import RunPaths, shard_plan_path
from ragmend.records import Claim

SIZES = st.lists(st.integers(1, 30), max_size=40).map(
    lambda sizes: {f"source-{number}": n for number, n in enumerate(sizes)}
)


@given(SIZES, st.integers(1, 60))
def test_each_source_is_in_one_shard_and_shards_follow_the_order_of_the_sources(sizes, n):
    shards = share_sources(sizes, n)
    assert list(shards) == list(sizes)
    assert all(0 <= shard < n for shard in shards.values())
    assert all(one <= other for one, other in pairwise(shards.values()))


@given(SIZES, st.integers(1, 60))
def test_a_shard_differs_from_its_even_share_by_one_source_at_most(sizes, n):
    answers = Counter()
    for source, shard in share_sources(sizes, n).items():
        answers[shard] += sizes[source]
    largest = max(sizes.values(), default=0)
    for shard in range(n):
        assert abs(answers[shard] - sum(sizes.values()) / n) <= largest


@pytest.mark.parametrize("n", [1, 2, 3, 7, 40])
def test_the_shares_of_a_population_are_the_population(matched, n):
    paths = RunPaths(matched.root)
    whole = read_population(paths)
    parts = parts_of_stage(matched.open().context.config, "verify", n)
    shares = [read_population(paths, part) for part in parts]
    put_together = [
        r for share in shares for r in by_source(share.responses, lambda r: r.source_id)
    ]
    assert put_together == list(by_source(whole.responses, lambda r: r.source_id))
    assert {key: s for share in shares for key, s in share.sources.items()} == whole.sources
    assert sum(len(share.sources) for share in shares) == len(whole.sources)
    assert n < 40 or not all(share.responses for share in shares)


def test_roles_answer_in_their_order_and_numbers_go_through_all_of_them():
    config = load_config("demo")
    assert roles_of_stage(config, "verify") == ("verifier",)
    assert roles_of_stage(config, "propose") == ("rewriter", "verifier")
    assert roles_of_stage(config, "judge") == tuple(j.name for j in config.judges.panel)
    parts = parts_of_stage(config, "propose", 4)
    assert [part.number for part in parts] == list(range(8))
    assert parts[6] == Part("propose", "verifier", 2, 4, 6)
    assert part_before(parts[6]) == parts[2]
    assert part_before(parts[2]) is None
    assert part_before(parts_of_stage(config, "verify", 4)[2]) is None


def test_there_are_as_many_parts_as_numbers_have_digits_for():
    config = load_config("demo")
    assert len(parts_of_stage(config, "judge", MOST_PARTS // 3)) == MOST_PARTS
    with pytest.raises(ConfigError, match="expected 1 to 3333"):
        parts_of_stage(config, "judge", MOST_PARTS // 3 + 1)
    with pytest.raises(ConfigError, match="expected 1 to 9999"):
        parts_of_stage(config, "verify", 0)


def test_the_first_fixes_the_number_of_shards(tmp_path):
    assert read_plan(tmp_path) is None
    fix_plan(tmp_path, 4)
    fix_plan(tmp_path, 4)
    assert read_plan(tmp_path) == 4
    with pytest.raises(RunStateError, match="answered in 4 shards, not in 5: use --of 4"):
        fix_plan(tmp_path, 5)
    assert [path.name for path in (tmp_path / "shards").iterdir()] == ["plan.json"]


def test_of_many_first_ones_one_fixes_the_number(tmp_path):
    refused, barrier = [], threading.Barrier(8)

    def fix(n):
        barrier.wait()
        try:
            fix_plan(tmp_path, n)
        except RunStateError:
            refused.append(n)

    threads = [threading.Thread(target=fix, args=(n,)) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {read_plan(tmp_path), *refused} == set(range(1, 9))
    assert [path.name for path in (tmp_path / "shards").iterdir()] == ["plan.json"]


@pytest.mark.parametrize("content", [b"", b'{"n_sha', b'{"n_shards": 0}', b"[]"])
def test_a_damaged_plan_is_named(tmp_path, content):
    fix_plan(tmp_path, 4)
    shard_plan_path(tmp_path).write_bytes(content)
    with pytest.raises(DataError, match=r"plan.json.*--redo the stage"):
        read_plan(tmp_path)


def test_a_plan_that_a_kill_left_half_written_is_none(tmp_path):
    (tmp_path / "shards").mkdir()
    (tmp_path / "shards/plan.json.123-abcd.partial").write_bytes(b'{"n_sh')
    assert read_plan(tmp_path) is None
    fix_plan(tmp_path, 3)
    assert read_plan(tmp_path) == 3


def test_a_share_is_the_same_however_its_lines_are_written(matched, tmp_path):
    """Lines that do not begin as ours do, or whose ids have escapes, are parsed."""
    written = RunPaths(tmp_path)
    for name in ("population", "sources", "claims"):
        was, path = getattr(RunPaths(matched.root), name), getattr(written, name)
        path.parent.mkdir(exist_ok=True)
        rows = [json.loads(line) for line in was.read_text("utf-8").splitlines()]
        for number, row in enumerate(rows):
            for key in {"record_id", "source_id"} & row.keys():
                row[key] += '"é\\'
            rows[number] = dict(reversed(row.items())) if number % 2 else row
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    context = matched.open().context
    for part in parts_of_stage(context.config, "verify", 3):
        own, ours = (read_population(paths, part) for paths in (written, context.paths))
        assert [r.text for r in own.responses] == [r.text for r in ours.responses]
        assert [s.text for s in own.sources.values()] == [s.text for s in ours.sources.values()]
        claims = [
            [claim.text for claim in own_records(context._replace(part=part), share, path, Claim)]
            for share, path in ((own, written.claims), (ours, context.paths.claims))
        ]
        assert claims[0] == claims[1] != []
