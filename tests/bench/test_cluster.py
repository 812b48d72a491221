"""The simulation's own reckoning: small graphs whose course a person can follow."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GRAPH = """
import json
from bench.job_simulation import Conditions, critical_path, simulate
from ragmend.slurm.cluster import EnvironmentConfig, Resources
from ragmend.slurm.estimate import TaskTime
from ragmend.slurm.graph import After, Job
from ragmend.slurm.rendering import cut_into_pieces

def job(name, n, *after, template="parts", gpus=1, time="100:00:00"):
    tasks = tuple(map(str, range(n))) if n else ("",)
    return Job(name, name, template, tasks, {}, EnvironmentConfig(python="/p"),
               Resources(time=time, cpus=1, gpus=gpus), tuple(After(*each) for each in after))

def run(jobs, hours, n_gpus=None, setup_h=0.0, max_array=1000, **conditions):
    pieces = cut_into_pieces(jobs, max_array=max_array, tasks_at_most=None)
    given = dict(spread=0.0, node_failures_an_hour=0.0, lead_s=0.0) | conditions
    times = lambda job, task: TaskTime(3600 * setup_h, 3600 * hours[job.name])
    runs = simulate(pieces, times, Conditions(n_gpus, **given))
    return {each.name: each._asdict() for each in runs}, list(critical_path(runs, pieces))
"""


def course(code):
    done = subprocess.run(
        [sys.executable, "-c", f"{GRAPH}found = {code}\nprint(json.dumps(found))"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def test_tasks_of_an_array_take_turns_where_gpus_are_fewer():
    runs, _ = course("run([job('a', 5)], {'a': 1}, n_gpus=2)")
    assert (runs["a"]["begin"], runs["a"]["end"], runs["a"]["gpu_hours"]) == (0, 3, 5)


def test_what_waits_for_all_begins_when_the_last_has_ended_and_for_its_like_when_that_has():
    jobs = "[job('a', 2), job('b', 2, ('aftercorr', 'a')), job('c', 0, ('afterok', 'b'), gpus=0)]"
    runs, path = course(f"run({jobs}, {{'a': 1, 'b': 2, 'c': 3}}, n_gpus=1)")
    # One GPU: a0, a1 (before b0, for it was submitted before), b0, b1.
    assert [runs[name]["end"] for name in "abc"] == [2, 6, 9]
    assert path == ["a", "b", "c"]
    runs, _ = course(f"run({jobs}, {{'a': 1, 'b': 2, 'c': 3}})")
    assert [runs[name]["end"] for name in "abc"] == [1, 3, 6]


def test_a_smaller_task_passes_one_that_does_not_fit_yet():
    jobs = "[job('a', 1, gpus=1), job('large', 1, gpus=2), job('small', 1, gpus=1)]"
    runs, _ = course(f"run({jobs}, {{'a': 2, 'large': 1, 'small': 1}}, n_gpus=2)")
    assert (runs["small"]["begin"], runs["large"]["begin"]) == (0, 2)


def test_a_shard_goes_on_in_its_next_life_and_starts_its_server_again():
    runs, _ = course(
        "run([job('a', 1, time='02:00:00')], {'a': 3}, setup_h=0.5, lead_s=0.0, lives=3)"
    )
    # 1.5 hours of work in each of two lives, half an hour of starting before each.
    assert (runs["a"]["n_lives"], runs["a"]["n_failed"], runs["a"]["gpu_hours"]) == (2, 0, 4)
    assert runs["a"]["end"] == pytest.approx(4 + 120 / 3600)


def test_a_stage_begins_anew_in_each_life_and_never_ends_what_is_longer_than_one():
    jobs = """[job('a', 0, template='stage', gpus=0, time='02:00:00'),
               job('b', 1, ('afterok', 'a')), job('c', 1, ('afterok', 'b')),
               job('report', 0, ('afterany', 'a'), ('afterany', 'c'), gpus=0)]"""
    runs, _ = course(f"run({jobs}, {{'a': 3, 'b': 1, 'c': 1, 'report': 1}}, lives=4)")
    assert (runs["a"]["n_lives"], runs["a"]["n_failed"]) == (4, 1)
    assert [runs[name]["n_failed"] for name in ("b", "c", "report")] == [1, 1, 0]
    assert runs["b"]["begin"] is None


def test_one_task_of_an_array_can_be_waited_for():
    runs, _ = course("run([job('a', 3), job('b', 0, ('afterok', 'a', '0'))], {'a': 1, 'b': 1}, 1)")
    assert runs["b"]["begin"] == 3  # a1 and a2 were submitted before it
    runs, _ = course("run([job('a', 3), job('b', 0, ('afterok', 'a', '1'))], {'a': 1, 'b': 1}, 2)")
    assert runs["b"]["begin"] == 1


def test_arrays_that_were_cut_run_all_their_tasks():
    jobs = "[job('a', 7), job('b', 7, ('aftercorr', 'a'))]"
    runs, _ = course(f"run({jobs}, {{'a': 1, 'b': 1}}, max_array=3)")
    assert [runs[name]["n_tasks"] for name in "ab"] == [7, 7]
    assert runs["b"]["end"] == 2


def test_failing_nodes_cost_lives_but_no_shards_and_chance_is_the_seed_s():
    code = "[run([job('a', 50)], {'a': 10}, node_failures_an_hour=0.1, spread=0.3, seed=s)[0]['a']"
    first, again, other = course(f"{code} for s in (1, 1, 2)]")
    assert first == again != other
    assert first["n_lives"] > 50
    assert first["n_failed"] == 0


SCENARIOS = """
import json
from bench.cluster import find_breaks, scenarios
from bench.stage_costs import Line, StageCosts
CPU = ("select", "split", "match", "verify-fold", "propose-fold", "assemble", "judge-fold",
       "analyze", "report")
cpu = {name: Line(1.0, 0.001) for name in CPU} | {"assemble": Line(0.0, 0.02)}
peak = {name: Line(1e8, 1e3) for name in CPU} | {"assemble": Line(1e8, 1e5)}
costs = StageCosts("none", cpu, peak, {"verify": 2500.0}, {"02-population": 2400.0})
paper, many, raised = scenarios(costs)
found = {"tasks": [sum(len(p.tasks) for p in s.pieces) for s in (paper, many)],
         "breaks": find_breaks(many),
         "hours": [sum(r.gpu_hours for r in s.without_limits().run(16)) for s in (paper, many)]}
print(json.dumps(found))
"""


def test_the_graph_of_a_million_answers_has_more_shards_and_breaks_first_where_least_is_left():
    done = subprocess.run(
        [sys.executable, "-c", SCENARIOS], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert found["tasks"][0] < found["tasks"][1]
    assert found["hours"][0] < found["hours"][1]
    breaks = dict(map(tuple, found["breaks"]))
    memory = next(n for what, n in breaks.items() if what.startswith("memory of assemble"))
    assert min(breaks.values()) == next(iter(breaks.values()))
    assert memory == pytest.approx((8 * 2**30 - 1e8) / 1e5)


ALL_STEPS = """
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from bench.stage_costs import measure_run
with TemporaryDirectory() as folder:
    found = measure_run(Path(folder), 20)
print(json.dumps([found.n_answers, {name: list(used) for name, used in found.used.items()},
                  found.journal_bytes, found.record_bytes]))
"""


@pytest.mark.slow
def test_every_stage_is_measured_in_processes_of_its_own():
    done = subprocess.run(
        [sys.executable, "-c", ALL_STEPS], cwd=ROOT, capture_output=True, text=True, check=True
    )
    n_answers, used, journals, records = json.loads(done.stdout)
    assert n_answers >= 20
    assert {"match", "assemble", "analyze", "verify-fold", "judge overlap reading"} <= used.keys()
    assert all(cpu_s > 0 and peak > 10**7 for cpu_s, peak in used.values())
    assert all(n > 0 for n in (*journals.values(), records["05-verdicts"]))
