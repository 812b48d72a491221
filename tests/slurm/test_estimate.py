"""Estimates: hand arithmetic for a job of each kind, and what must hold of any."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.config import load_config
from ragmend.slurm.cluster import Resources, validate_cluster
from ragmend.slurm.estimate import (
    assumptions,
    default_sizes,
    estimate_job,
    estimate_task,
    format_hours,
)
from ragmend.slurm.graph import build_graph
from ragmend.slurm.rates import n_parameters, place_of
from ragmend.slurm.sizes import Sizes, scale_population

GPU = {"gpus": 1, "gpu_type": "a100", "gpu_memory_gb": 80}
CLUSTER = {
    "name": "small",
    "environments": {name: {"python": f"/opt/{name}/bin/python"} for name in
                     ("base", "train", "serve")},
    "resources": {
        "default": {"time": "04:00:00", "cpus": 8},
        "train": {"gpus": 1, "gpu_type": "a100", "gpu_memory_gb": 40},
        "served": GPU,
        "cpu": {"time": "01:00:00"},
    },
    "roles": {"llama": {"gpus": 2}},
    "shards": {"verify": 4, "propose": 2, "judge": 4},
}  # fmt: skip
# Round numbers, so that a person can follow.
SIZES = Sizes(
    train=10_942, test=2_000, population=1_000,
    answers_a_source=2, claims_an_answer=8, unsupported=0.25, edits_a_claim=2, conditions=4,
    train_source=700, train_answer=200, train_verdict=30,
    source=800, answer=200, claim=25, verdict=40, rewrite=32, fragments=75, instructions=200,
    detector_instructions=70,
)  # fmt: skip


@dataclass
class Graph:
    """The paper's jobs on a small cluster, some settings changed."""

    config: object
    jobs: dict

    @classmethod
    def of(cls, *settings, cluster=CLUSTER, name="paper"):
        data = ["data.path=unused"] if name != "demo" else []
        config = load_config(name, [*data, *settings])
        jobs = build_graph(config, validate_cluster(cluster, "small.toml"))
        return cls(config, {job.name: job for job in jobs})

    def estimate(self, name, sizes=SIZES):
        return estimate_job(self.jobs[name], self.config, sizes)

    def task(self, name, task="0", sizes=SIZES):
        return estimate_task(self.jobs[name], task, self.config, sizes)


def test_a_training_is_six_flop_a_parameter_and_token_and_three_looks_at_the_development_set():
    setup_s, work_s = Graph.of().task("train", "llama-2-13b/seed-42")
    assert setup_s == pytest.approx(120 + 26)  # 13e9 numbers of two bytes, at 1 GB/s
    tokens = 3 * (10_942 - 942) * (700 + 200 + 70 + 30)
    trained_s = 6 * 13e9 * tokens / (312e12 * 0.25)
    asked = 3 * 942 + 3 * 48
    read_s = 2 * 13e9 * asked * (700 + 200 + 70) / (312e12 * 0.4)
    # 6.7 GB of weights would take 7 ms a token: the kernels' 60 ms count.
    written_s = asked / 8 * (2 * 30) * 0.06
    assert trained_s == pytest.approx(30_000)
    assert work_s == pytest.approx(trained_s + read_s + written_s)


def test_a_training_that_keeps_its_activations_computes_them_once():
    kept = Graph.of("training.recipe.gradient_checkpointing=false").task(
        "train", "llama-2-7b/seed-42"
    )
    again = Graph.of().task("train", "llama-2-7b/seed-42")
    tokens = 3 * 10_000 * 1_000
    assert again.work_s - kept.work_s == pytest.approx(2 * 7e9 * tokens / (312e12 * 0.25))


def test_predicting_is_one_reading_and_writing_of_the_split():
    _, work_s = Graph.of().task("predict", "llama-2-7b/seed-42")
    read_s = 2 * 7e9 * 2_000 * 970 / (312e12 * 0.4)
    assert work_s == pytest.approx(read_s + 2_000 / 8 * 60 * 0.06)


def test_a_token_classifier_is_trained_as_a_whole_and_writes_nothing():
    graph = Graph.of(
        "training.models={tagger={kind='token-classification',model={id='tagger-1b'}}}",
        "training.seeds=[1]", "population.run=tagger/seed-1",
    )  # fmt: skip
    assert graph.task("predict", "tagger/seed-1").work_s == pytest.approx(
        2 * 1e9 * 2_000 * 970 / (312e12 * 0.4)
    )
    trained_s = 8 * 1e9 * 3 * 10_000 * 970 / (312e12 * 0.25)
    asked_s = 2 * 1e9 * (3 * 942 + 3 * 48) * 970 / (312e12 * 0.4)
    assert graph.task("train", "tagger/seed-1").work_s == pytest.approx(trained_s + asked_s)


def test_verifying_reads_each_claim_and_what_the_prefix_cache_does_not_hold_of_its_source():
    setup_s, work_s = Graph.of().task("verify")
    n_bytes = 32e9 * 4.16 / 8
    assert setup_s == pytest.approx(180 + n_bytes / 1e9)
    whole = 8_000 * (1_000 + 25)
    least = 500 * 1_000 + 8_000 * 25
    read_s = 2 * 32e9 * (whole - 0.8 * (whole - least)) / (312e12 * 0.4)
    written_s = 8_000 / 32 * n_bytes / (2.039e12 * 0.6)
    assert work_s == pytest.approx((read_s + written_s) / 4)  # of four shards


def test_a_rewriter_is_asked_about_unsupported_claims_and_the_verifier_about_their_edits():
    graph = Graph.of()
    whole = 2_000 * (1_000 + 100)
    least = 500 * 1_000 + 2_000 * 100
    read_s = 2 * 7e9 * (whole - 0.8 * (whole - least)) / (312e12 * 0.4)
    written_s = 2_000 * 32 / 32 * 14e9 / (2.039e12 * 0.6)
    assert graph.task("rewrite").work_s == pytest.approx((read_s + written_s) / 2)
    whole = 4_000 * 1_025
    read_s = 2 * 32e9 * (whole - 0.8 * (whole - 500 * 1_000 - 4_000 * 25)) / (312e12 * 0.4)
    written_s = 4_000 / 32 * 32e9 * 4.16 / 8 / (2.039e12 * 0.6)
    assert graph.task("verify-edits").work_s == pytest.approx((read_s + written_s) / 2)


def test_a_judge_on_two_gpus_has_most_of_both():
    found = Graph.of().estimate("judge-llama")
    whole = 4_000 * 1_200
    read_s = 2 * 70e9 * (whole - 0.8 * (whole - 500 * 1_000 - 4_000 * 200))
    read_s /= 2 * 0.85 * 312e12 * 0.4
    written_s = 4_000 * 40 / 32 * 140e9 / (2 * 0.85 * 2.039e12 * 0.6)
    hours = (180 + 140 + (read_s + written_s) / 4) / 3600
    assert found.n_tasks == 4
    assert found.hours_a_task == pytest.approx(hours)
    assert found.gpu_hours == pytest.approx(hours * 2 * 4)
    assert found.gpu_hours_at_most == 4 * 2 * 4  # four hours, two GPUs, four tasks


def test_a_doctor_starts_a_server_and_asks_a_little():
    assert Graph.of().task("doctor-rewriter", "") == pytest.approx((180 + 14, 60))


def test_a_job_without_gpus_costs_no_gpu_hours_and_its_time_is_known():
    found = Graph.of().estimate("assemble")
    assert (found.gpu_hours, found.gpu_hours_at_most) == (0, 0)
    assert found.hours_a_task == pytest.approx((1 + 0.0185 * 1_000) / 3600)
    assert all(Graph.of().estimate(name).hours_a_task for name in ("select", "analyze", "report"))


def test_every_job_of_experiments_without_models_has_its_time_and_no_gpu_hours():
    graph = Graph.of(name="demo")
    found = {name: graph.estimate(name) for name in graph.jobs}
    assert "verify" in found
    assert all(each.hours_a_task is not None for each in found.values())
    assert sum(each.gpu_hours for each in found.values()) == 0


def test_only_the_tasks_that_are_left_are_counted():
    graph = Graph.of()
    whole, job = graph.estimate("verify"), graph.jobs["verify"]
    left = estimate_job(job._replace(tasks=("1", "3")), graph.config, SIZES)
    assert left.n_tasks == 2
    assert left.gpu_hours == pytest.approx(whole.gpu_hours / 2)
    assert left.hours_a_task == pytest.approx(whole.hours_a_task)


@pytest.mark.parametrize("settings", [
    ["verifier.model.id=company/mystery"],
    ["verifier.model.id=mistralai/Mixtral-8x7B-Instruct-v0.1"],
    ["verifier.model.id=Qwen/Qwen3-30B-A3B"],
])  # fmt: skip
def test_a_model_whose_size_its_name_does_not_tell_has_no_estimate_but_a_limit(settings):
    found = Graph.of(*settings).estimate("verify")
    assert found == (4, None, None, 16)
    assert format_hours(found.gpu_hours) == "?"


def test_a_gpu_that_is_not_listed_has_no_estimate():
    served = {**GPU, "gpu_type": "rtx_2080_ti"}
    cluster = {**CLUSTER, "resources": {**CLUSTER["resources"], "served": served}}
    assert Graph.of(cluster=cluster).estimate("verify").gpu_hours is None


def test_a_model_without_a_gpu_has_no_time_but_costs_no_gpu_hours():
    cluster = {**CLUSTER, "resources": {**CLUSTER["resources"], "served": {"gpus": 0}}}
    assert Graph.of(cluster=cluster).estimate("verify") == (4, None, 0, 0)


@pytest.mark.parametrize(("model_id", "expected"), [
    ("meta-llama/Llama-2-13b-hf", 13e9),
    ("Qwen/Qwen2.5-32B-Instruct-AWQ", 32e9),
    ("google/gemma-2-27b-it", 27e9),
    ("models/smollm2-135m-instruct/", 135e6),
    ("HuggingFaceTB/SmolLM2-1.7B", 1.7e9),
    ("Qwen/Qwen2.5-7B-Instruct-1M", None),  # a size, and a length of context
    ("7b-people/tiny-random", None),
    ("some/llama-4bit", None),
])  # fmt: skip
def test_a_model_s_size_is_read_from_its_name_or_not_at_all(model_id, expected):
    assert n_parameters(model_id) == expected


def test_gpus_of_forty_gigabytes_have_less_bandwidth_and_several_share_a_model():
    small = place_of(Resources(gpus=1, gpu_type="a100", gpu_memory_gb=40))
    large = place_of(Resources(gpus=2, gpu_type="nvidia_a100_80gb", gpu_memory_gb=80))
    assert small == (312e12, 1.555e12)
    assert large == pytest.approx((2 * 0.85 * 312e12, 2 * 0.85 * 2.039e12))
    assert place_of(Resources(gpus=1)) == small  # no type said: the paper's
    assert place_of(Resources()) is None


@given(st.sampled_from([(3, 7), (7, 13), (13, 70)]))
def test_a_larger_model_never_takes_less(sizes):
    small, large = (
        Graph.of(f"verifier.model.id=some/model-{size}b").estimate("verify") for size in sizes
    )
    assert small.gpu_hours < large.gpu_hours


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_more_answers_never_take_less(one, other):
    graph = Graph.of()
    few, many = (scale_population(SIZES, n) for n in sorted((one, other)))
    for name in ("predict", "match", "verify", "rewrite", "verify-edits", "judge-gemma"):
        assert graph.estimate(name, few).hours_a_task <= graph.estimate(name, many).hours_a_task


def test_more_shards_are_shorter_and_cost_one_more_start_each():
    many = {**CLUSTER, "shards": {**CLUSTER["shards"], "verify": 8}}
    four, eight = Graph.of().estimate("verify"), Graph.of(cluster=many).estimate("verify")
    assert eight.hours_a_task < four.hours_a_task
    assert eight.gpu_hours - four.gpu_hours == pytest.approx(4 * (180 + 16.64) / 3600)


def test_sizes_follow_the_configuration_s_limits():
    sizes = {
        key: default_sizes(load_config("paper", ["data.path=unused", *settings]))
        for key, settings in {
            "all": [], "few": ["data.limit=27"], "one task": ["data.tasks=['QA']"],
            "limited": ["population.limit=5", "training.limit=100"],
        }.items()
    }  # fmt: skip
    assert (sizes["all"].train, sizes["all"].test, sizes["all"].population) == (15_090, 2_700, 943)
    assert (sizes["few"].test, sizes["few"].population) == (27, 9)
    assert sizes["one task"].test == 900
    assert (sizes["limited"].train, sizes["limited"].population) == (100, 5)
    assert default_sizes(load_config("demo")).test == 48


@pytest.mark.parametrize(("hours", "expected"), [
    (None, "?"), (0.0, "0"), (0.04, "<0.1"), (3.44, "3.4"), (12.4, "12"), (1234.5, "1,234"),
])  # fmt: skip
def test_hours_are_told_for_people(hours, expected):
    assert format_hours(hours) == expected


def test_what_an_estimate_rests_on_is_told_first_of_all_that_it_is_one():
    first, *rest = assumptions(SIZES)
    assert "an estimate from arithmetic, not a measurement" in first
    assert any("1,000 under repair" in line for line in rest)
