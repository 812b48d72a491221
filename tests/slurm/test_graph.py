"""The job graph: what there is to do, in what order, and what is left of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragmend.config import load_config
from ragmend.errors import ConfigError
from ragmend.slurm.cluster import validate_cluster
from ragmend.slurm.graph import Done, build_graph
from ragmend.slurm.rendering import cut_into_pieces, dependency

ENVIRONMENTS = {name: {"python": f"/{name}/bin/python"} for name in ("base", "train", "serve")}
PLAIN = {"time": "01:00:00", "cpus": 2}
TRAININGS = [f"llama-2-{size}b/seed-{seed}" for size in (7, 13) for seed in (13, 21, 42, 84, 100)]


def cluster(**changes):
    raw = {
        "name": "here",
        "environments": ENVIRONMENTS,
        "resources": {"default": PLAIN},
        "shards": {"verify": 4, "propose": 3, "judge": 2},
    }
    return validate_cluster(raw | changes, "here.toml")


@pytest.fixture
def paper():
    return load_config("paper", environ={"RAGMEND_DATA": "/data"})


@pytest.fixture
def demo():
    return load_config("demo")


def pieces_of(config, *, done=None, max_array=1001, tasks_at_most=None, **changes):
    jobs = build_graph(config, cluster(**changes), done)
    return cut_into_pieces(jobs, max_array=max_array, tasks_at_most=tasks_at_most)


def waits(pieces):
    names = {piece.name: piece.name for piece in pieces}
    return {piece.name: dependency(piece, names) for piece in pieces}


def test_the_papers_graph_is_every_stage_with_what_it_waits_for(paper):
    pieces = pieces_of(paper)
    found = waits(pieces)
    everything = ":".join(piece.name for piece in pieces if piece.name != "report")
    assert found == {
        "train": None,
        "predict": "aftercorr:train",
        "select": "afterok:predict_7",
        "split": "afterok:select",
        "match": "afterok:split",
        "doctor-verifier": None,
        "verify": "afterok:match:doctor-verifier",
        "verify-fold": "afterok:verify",
        "doctor-rewriter": None,
        "rewrite": "afterok:verify-fold:doctor-rewriter",
        "verify-edits": "aftercorr:rewrite,afterok:doctor-verifier",
        "propose-fold": "afterok:verify-edits",
        "assemble": "afterok:propose-fold",
        "doctor-qwen": None,
        "judge-qwen": "afterok:assemble:doctor-qwen",
        "doctor-llama": None,
        "judge-llama": "afterok:assemble:doctor-llama",
        "doctor-gemma": None,
        "judge-gemma": "afterok:assemble:doctor-gemma",
        "judge-fold": "afterok:judge-qwen:judge-llama:judge-gemma",
        "analyze": "afterok:judge-fold,afterany:predict",
        "report": f"afterany:{everything}",
    }
    assert [list(piece.words) for piece in pieces if piece.name == "train"] == [TRAININGS]


def test_the_task_that_select_waits_for_is_that_of_the_population_run(paper):
    pieces = pieces_of(paper, max_array=4)
    found = waits(pieces)
    assert found["select"] == "afterok:predict.2_3"
    predict = next(piece for piece in pieces if piece.name == "predict.2")
    assert predict.words[3] == "llama-2-13b/seed-42" == paper.population.run


def test_embedded_roles_have_no_doctor_and_no_server(demo):
    pieces = {piece.name: piece for piece in pieces_of(demo)}
    assert not [name for name in pieces if name.startswith("doctor")]
    assert pieces["verify"].job.settings["serve"] == ""
    assert pieces["verify"].job.environment.python == "/base/bin/python"
    assert waits(list(pieces.values()))["select"] == "afterok:detect"


@pytest.mark.parametrize(("job", "environment"), [
    ("train", "train"), ("predict", "train"), ("select", "base"), ("verify", "serve"),
    ("doctor-llama", "serve"), ("judge-qwen", "serve"), ("judge-fold", "base"),
    ("report", "base"),
])  # fmt: skip
def test_every_stage_runs_in_the_environment_that_it_needs(paper, job, environment):
    found = {each.name: each for each in build_graph(paper, cluster())}
    assert found[job].environment.python == f"/{environment}/bin/python"


def test_a_missing_environment_is_named(paper):
    with pytest.raises(ConfigError, match=r"environments\.train is not there"):
        build_graph(paper, cluster(environments={"base": ENVIRONMENTS["base"]}))


def test_an_array_larger_than_the_cluster_takes_is_cut_and_everything_waits_for_all_of_it(demo):
    pieces = pieces_of(demo, max_array=10, shards={"verify": 37, "propose": 37, "judge": 1})
    sizes = {piece.name: len(piece.tasks) for piece in pieces if piece.job.name == "verify"}
    assert sizes == {"verify": 10, "verify.2": 10, "verify.3": 10, "verify.4": 7}
    found = waits(pieces)
    assert found["verify-fold"] == "afterok:verify:verify.2:verify.3:verify.4"
    assert found["verify-edits.4"] == "aftercorr:rewrite.4"


def test_more_shards_than_tasks_are_packed(demo):
    pieces = pieces_of(demo, tasks_at_most=3, shards={"verify": 8, "propose": 2, "judge": 1})
    verify = next(piece for piece in pieces if piece.name == "verify")
    assert verify.words == ("0,3,6", "1,4,7", "2,5")


def test_nothing_is_left_of_a_complete_experiment(paper):
    names = {job.name for job in build_graph(paper, cluster())}
    assert build_graph(paper, cluster(), Done(jobs=frozenset(names))) == []


def test_what_is_missing_waits_for_what_is_missing_only(paper):
    done = Done(
        frozenset({"select", "split", "match", "rewrite"}),
        {
            "train": frozenset(TRAININGS[1:]),
            "predict": frozenset(TRAININGS[2:]),
            "verify": frozenset({"0", "1", "3"}),
        },
    )
    pieces = pieces_of(paper, done=done)
    found = waits(pieces)
    words = {piece.name: piece.words for piece in pieces}
    assert words["train"] == (TRAININGS[0],)
    # One waits for its training, the other one was trained before.
    assert (words["predict"], found["predict"]) == ((TRAININGS[0],), "aftercorr:train")
    assert (words["predict.2"], found["predict.2"]) == ((TRAININGS[1],), None)
    assert (words["verify"], found["verify"]) == (("2",), "afterok:doctor-verifier")
    assert found["verify-edits"] == "afterok:doctor-verifier"
    assert found["analyze"] == "afterok:judge-fold,afterany:predict:predict.2"
    assert not {"select", "split", "match", "rewrite", "doctor-rewriter"} & {*found}


def test_the_verifier_has_one_doctor_also_where_only_edits_are_left(paper):
    done = Done(tasks={"verify": frozenset("0123")})
    names = [job.name for job in build_graph(paper, cluster(), done)]
    assert names.count("doctor-verifier") == 1
    assert names.index("doctor-verifier") < names.index("verify-edits")


def test_no_piece_is_called_like_another_job(paper):
    judges = [
        judge.model_copy(update={"name": name})
        for judge, name in zip(paper.judges.panel, ("fold", "a-2", "a"), strict=True)
    ]
    panel = paper.judges.model_copy(update={"panel": tuple(judges), "primary": "a"})
    pieces = pieces_of(paper.model_copy(update={"judges": panel}), max_array=1)
    names = [piece.name for piece in pieces]
    assert len(set(names)) == len(names)
    assert {"judge-a", "judge-a.2", "judge-a-2", "judge-a-2.2", "judge-fold"} <= {*names}


def test_a_role_whose_server_is_elsewhere_needs_no_gpu_and_no_doctor(paper):
    servers = {"qwen": "http://127.0.0.1:8000/v1"}
    found = {job.name: job for job in build_graph(
        paper.model_copy(update={"servers": servers}), cluster()
    )}  # fmt: skip
    assert "doctor-qwen" not in found
    assert found["judge-qwen"].settings["serve"] == ""
    assert found["judge-qwen"].kind == "embedded"


def test_a_doctor_asks_for_no_more_time_than_a_start_and_a_question(paper):
    found = {job.name: job for job in build_graph(
        paper, cluster(resources={"default": {"time": "04:00:00", "cpus": 2}})
    )}  # fmt: skip
    assert found["doctor-qwen"].resources.time == "00:45:00"
    assert found["judge-qwen"].resources.time == "04:00:00"


SHARDS = st.builds(
    lambda verify, propose, judge: {"verify": verify, "propose": propose, "judge": judge},
    *[st.integers(1, 60)] * 3,
)


@settings(max_examples=40)
@given(SHARDS, st.integers(1, 70), st.none() | st.integers(1, 20), st.data())
def test_pieces_hold_every_task_once_and_wait_for_what_was_submitted_before(
    shards, max_array, tasks_at_most, data
):
    paper = load_config("paper", environ={"RAGMEND_DATA": "/data"})
    whole = {job.name: job for job in build_graph(paper, cluster(shards=shards))}
    done = Done(
        frozenset(data.draw(st.sets(st.sampled_from(sorted(whole))))),
        {
            name: frozenset(data.draw(st.sets(st.sampled_from(job.tasks))))
            for name, job in whole.items()
            if job.is_array
        },
    )
    pieces = pieces_of(
        paper, done=done, shards=shards, max_array=max_array, tasks_at_most=tasks_at_most
    )
    seen, tasks = set(), {}
    for piece in pieces:
        assert all(wait.piece in seen for wait in piece.after), piece.name
        assert 1 <= len(piece.tasks) <= max_array
        assert piece.name not in seen
        seen.add(piece.name)
        own = tasks.setdefault(piece.job.name, [])
        own += [task for pack in piece.tasks for task in pack]
    for name, own in tasks.items():
        left = set(whole[name].tasks) - done.tasks.get(name, frozenset())
        assert sorted(own) == sorted(left if whole[name].is_array else [""])
        assert name not in done.jobs
