"""The benchmark's own reckoning; what it measures is no test's business."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FIGURES = """
from bench.figures import Figure, as_json, as_text, not_measured
figures = [
    Figure("speed", 2500.0, "claims/s", "at least", 2000),
    Figure("growth", 1.625, "x", "at most", 1.5),
    Figure("time", 9.36, "s"),
    not_measured("gain", "no GPU", limit=2),
]
"""


def python(*arguments):
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_figures_stand_in_columns_with_limit_and_verdict():
    assert python("-c", f"{FIGURES}print(as_text(figures))").splitlines() == [
        "what          measured  must reach",
        "speed   2,500 claims/s  at least 2,000  ok",
        "growth          1.62 x  at most 1.5     short",
        "time            9.36 s",
        "gain      not measured  at least 2      no GPU",
    ]


def test_figures_are_told_as_json_too():
    found = json.loads(python("-c", f"{FIGURES}print(as_json(figures))"))
    assert [figure["verdict"] for figure in found] == [
        "ok",
        "short",
        "",
        "not measured",
    ]
    assert (found[3]["measured"], found[3]["reason"]) == (None, "no GPU")
    assert found[0] == {
        "what": "speed", "measured": 2500.0, "unit": "claims/s", "bound": "at least",
        "limit": 2000, "reason": "", "verdict": "ok",
    }  # fmt: skip


PARTS = """
import json
from collections import Counter
from bench.corpus import repeated_demo
corpus = repeated_demo(20)
parts = [corpus.every(step) for step in (4, 2, 1)]
print(json.dumps([sorted(Counter(r.text for r in part.responses).items()) for part in parts]))
assert all(r.source_id in corpus.sources for r in corpus.responses)
assert len({r.record_id for r in corpus.responses}) == len(corpus.responses)
"""


def test_parts_of_the_built_in_answers_hold_the_same_texts_equally_often():
    quarter, half, whole = (dict(part) for part in json.loads(python("-c", PARTS)))
    assert set(quarter) == set(half) == set(whole)
    assert [set(part.values()) for part in (quarter, half, whole)] == [{5}, {10}, {20}]


def test_a_peak_of_memory_is_measured_in_a_process_of_its_own():
    assert int(python("-m", "bench.memory", "read", "1")) > 0


COVERAGE = """
import json
from bench.coverage import KINDS, simulate
print(json.dumps({kind: simulate(kind, 134, 40) for kind in KINDS}))
"""


def test_every_kind_of_interval_is_simulated_and_tangos_holds_where_the_bootstrap_does_not():
    found = json.loads(python("-c", COVERAGE))
    assert all(0.7 < share <= 1 for share in found.values())
    assert found["percentile bootstrap"] < 0.93 < 0.95 < found["Tango"]


@pytest.mark.slow
def test_one_part_can_be_measured_alone_and_a_part_that_is_none_is_refused():
    assert "run again to first run" in python("-m", "bench", "--only", "resume")
    command = [sys.executable, "-m", "bench", "--only", "everything"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "'prefix-cache'" in done.stderr


def test_the_load_of_a_label_table_is_measured_in_a_process_of_its_own():
    cpu_s, peak = map(float, python("-m", "bench.statistics", "30", "2", "4").split())
    assert cpu_s > 0
    assert peak > 10**7


def test_the_benchmark_is_not_shipped():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert "bench" not in build["targets"]["wheel"]["only-include"]
