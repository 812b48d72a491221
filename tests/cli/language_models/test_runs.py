"""A whole run with language models in its roles: what it records, prints and refuses."""

import json
import socket

import pytest
from fault_server import FaultServer, Plan, Traits
from served_run import Served

from ragmend.cli import group
from ragmend.errors import RunStateError, ServerError
from ragmend.io import read_records
from ragmend.manifest import read_manifest
from ragmend.paths import RunPaths
from ragmend.records import Claim, Judgement, Rewrite, Verdict


@pytest.fixture(scope="module")
def finished(undisturbed):
    """The undisturbed run, with its tables and report."""
    undisturbed.open().run()
    return undisturbed


def test_it_records_what_the_models_said_of_themselves(finished):
    manifest = read_manifest(finished.root / "05-verdicts/manifest.json")
    assert manifest.servers["verifier"] == {
        "model": "some/Tiny",
        "served_as": "tiny",
        "version": "0.32.0",
        "max_model_len": 4096,
        "logprobs": "token-ids",
    }
    judged = read_manifest(finished.root / "08-judgements/manifest.json")
    assert set(judged.servers) == {"one", "two"}
    assert judged.models == {"judge:one": "some/Tiny", "judge:two": "other/Tiny", "judge:overlap": "lexical"}  # fmt: skip  # noqa: E501


def test_every_claim_has_a_verdict_with_its_mass_and_forms(finished):
    paths = RunPaths(finished.root)
    verdicts = list(read_records(paths.verdicts, Verdict))
    claims = list(read_records(paths.claims, Claim))
    assert [v.claim_id for v in verdicts] == [c.claim_id for c in claims]
    for verdict in verdicts:
        assert {"Yes", "No"} <= verdict.form_probs.keys()
        p = verdict.form_probs["Yes"] / (verdict.form_probs["Yes"] + verdict.form_probs["No"])
        assert verdict.p_support == pytest.approx(p)
        assert verdict.candidate_mass >= 0.5


def test_the_rewriter_is_invoked_on_every_eligible_claim(finished):
    paths = RunPaths(finished.root)
    eligible = [v.claim_id for v in read_records(paths.verdicts, Verdict) if v.p_support < 0.5]
    rewrites = list(read_records(paths.rewrites, Rewrite))
    assert [rewrite.claim_id for rewrite in rewrites] == eligible
    assert 0 < sum(rewrite.text is None for rewrite in rewrites) < len(rewrites)


def test_every_judge_judges_every_answer_in_every_condition(finished):
    judgements = list(read_records(RunPaths(finished.root).judgements, Judgement))
    assert len({(j.record_id, j.condition, j.judge) for j in judgements}) == len(judgements)
    assert len(judgements) == 3 * 4 * 19
    by_models = [j for j in judgements if j.judge != "overlap" and j.status == "ok"]
    for judgement in by_models:
        named = json.loads(judgement.raw)["spans"]
        assert len(named) == len(judgement.spans) + len(judgement.unlocated)
        assert judgement.label == bool(named)


def test_the_lock_has_prompts_and_the_models_down_to_what_changes_answers(finished):
    protocol = json.loads((finished.root / "protocol.lock.json").read_text())["protocol"]
    prompts = [protocol[f"prompt_of_{role}"] for role in ("verifier", "rewriter", "judges")]
    assert [(prompt["name"], prompt["version"]) for prompt in prompts] == [
        ("verify", 1), ("rewrite", 1), ("judge", 1),
    ]  # fmt: skip
    assert protocol["rewriter"]["output"] == "unconstrained"
    assert protocol["verifier"]["scoring"] == "two-token"
    assert protocol["rewriter"]["context"] == "fragments-and-source"
    assert protocol["judges"][0]["output"] == "unconstrained"
    assert "servers" not in json.dumps(protocol)
    assert "http" not in json.dumps(protocol)


def test_the_report_does_not_call_it_embedded(finished):
    text = (finished.root / "report.md").read_text("utf-8")
    assert "some/Tiny" in text
    assert "lexical (no language model)" not in text


def test_conditions_with_one_text_are_one_question(finished, calm, tmp_path):
    """What an arm did not change is not asked about again: the journal's key knows no condition."""
    run = Served(calm, tmp_path / "run", limit=6)
    run.run(last="assemble")
    before = calm.n_requests["/completions"]
    run.run()
    answers = [
        json.loads(line) for line in (run.root / "07-arms/answers.jsonl").read_text().splitlines()
    ]
    texts = {(answer["record_id"], answer["text"]) for answer in answers if answer["text"]}
    assert len(texts) < len(answers)
    asked = calm.n_requests["/completions"] - before
    assert len(texts) <= asked <= len(texts) + 5  # and what is asked at opening


def test_a_complete_run_needs_no_server(finished):
    finished.open(*(f"servers.{role}=" for role in ("verifier", "rewriter", "one", "two"))).run()


@pytest.fixture
def command(monkeypatch, capsys):
    """The command line in this process; returns its code and its only line of error."""

    def run(*words):
        monkeypatch.setattr("sys.argv", ["ragmend", *map(str, words)])
        capsys.readouterr()
        code = group.run_command_line()
        errors = [
            line for line in capsys.readouterr().err.splitlines() if line.startswith("ragmend: ")
        ]
        assert len(errors) == (1 if code else 0)
        return code, *errors

    return run


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


BAD = {
    "no server": (lambda: f"servers.verifier=http://127.0.0.1:{free_port()}/v1", "no server"),
    "a wrong URL": (lambda: "servers.verifier={url}/v2", "/v1/v2"),
    "no server named": (lambda: "servers.verifier=", "there is no server for it"),
    "a wrong model": (lambda: "verifier.model.served_name=other", "tiny"),
    "another context": (lambda: "verifier.model.max_model_len=9999", "4096"),
    "a key that is missing": (lambda: "verifier.model.api_key_env=NO_KEY", "NO_KEY"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_server_that_cannot_be_used_is_one_line_and_nothing_is_lost(served, command, what):
    change, telling = BAD[what]
    setting = change().format(url=served.server.url)
    code, line = command("run", served.config, "--out", served.root, "--set", setting)
    assert code == 1
    assert "verifier" in line
    assert telling in line
    assert not (served.root / "05-verdicts").exists() or not any(
        path.name == "verdicts.jsonl" for path in (served.root / "05-verdicts").iterdir()
    )
    # With another context it would be another protocol, which the lock holds fixed.
    served.open().run(only="verify", redo="verify" if what == "another context" else None)


def test_a_server_without_log_probabilities_is_refused_and_one_with_the_top_gives_intervals(
    served, command, tmp_path
):
    with FaultServer(traits=Traits(logprobs="none")) as none:
        setting = f"servers.verifier={none.url}"
        code, line = command("run", served.config, "--out", served.root, "--set", setting)
        assert (code, "log-prob" in line) == (1, True)
    with FaultServer(traits=Traits(logprobs="top-20")) as top:
        run = Served(top, tmp_path / "top")
        run.run(last="verify", accept_faults="undecided")
        verdicts = list(read_records(RunPaths(run.root).verdicts, Verdict))
        assert all(verdict.p_interval is not None for verdict in verdicts)
        manifest = read_manifest(run.root / "05-verdicts/manifest.json")
        assert manifest.servers["verifier"]["logprobs"] == "top-20"


def test_a_judge_that_never_stops_is_a_fault_of_each_answer(served, command, tmp_path):
    with FaultServer(answer=lambda prompt: '{"spans": [' + '"and so on", ' * 500) as endless:
        served.run(last="assemble")
        setting = f"servers.one={endless.url}"
        code, line = command("run", served.config, "--out", served.root, "--set", setting)
    assert code == 1
    assert "stage judge" in line
    faults = (served.root / "08-judgements/faults.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(fault)["status"] for fault in faults} == {"truncated"}
    served.run()


def test_an_answer_longer_than_the_context_is_refused_and_the_rest_goes_on(served, tmp_path):
    with FaultServer(traits=Traits(max_model_len=800)) as short:
        setting = f"servers.one={short.url}"
        served.run(last="assemble")
        served.open(setting, accept_faults="long answers").run(only="judge")
    folder = served.root / "08-judgements"
    faults = [json.loads(line) for line in (folder / "faults.jsonl").read_text().splitlines()]
    assert {(fault["status"], fault["judge"]) for fault in faults} == {("too_long", "one")}
    shortened = [json.loads(line) for line in (folder / "shortened.jsonl").read_text().splitlines()]
    assert shortened
    assert all(row["left_out_fragments"] > 0 for row in shortened)
    judged = list(read_records(RunPaths(served.root).judgements, Judgement))
    assert {judgement.judge for judgement in judged} == {"one", "two", "overlap"}


def test_a_resumed_stage_refuses_a_server_that_is_another_one(served):
    with FaultServer(Plan(die_after=25)) as first, pytest.raises(ServerError):
        served.run(f"servers.verifier={first.url}", last="verify")
    with (
        FaultServer(traits=Traits(max_model_len=500)) as other,
        pytest.raises(RunStateError, match="max_model_len was 4096, is 500"),
    ):
        served.run(f"servers.verifier={other.url}", last="verify")
    served.run(last="verify")


def test_edits_are_verified_by_the_server_that_verified_the_claims(served):
    served.run(last="verify")
    with (
        FaultServer(traits=Traits(version="0.33.0")) as other,
        pytest.raises(RunStateError, match=r"version was 0\.32\.0, is 0\.33\.0"),
    ):
        served.run(f"servers.verifier={other.url}", last="propose")


def test_a_judge_that_has_judged_needs_no_server_any_more(undisturbed, served):
    served.run(last="assemble")
    with FaultServer(Plan(die_after=1)) as dying, pytest.raises(ServerError, match="two"):
        served.open(f"servers.two={dying.url}").run(only="judge")
    served.open(f"servers.one=http://127.0.0.1:{free_port()}/v1").run(only="judge")
    assert served.decisions() == undisturbed.decisions()


def test_a_judge_with_a_language_model_may_be_added_later(calm, tmp_path):
    run = Served(calm, tmp_path / "run", limit=2)
    without = run.config.read_text()
    for name in ("one", "two"):
        start = without.index(f'[[judges.panel]]\nname = "{name}"')
        without = without[:start] + without[without.index("[[judges.panel]]", start + 1) :]
        without = without.replace(f'{name} = "{calm.url}"\n', "")
    whole = run.config.read_text()
    run.config.write_text(without.replace('primary = "one"', 'primary = "overlap"'))
    run.run()
    run.config.write_text(whole)
    run.open().run(only="judge", redo="judge")
    judged = read_records(RunPaths(run.root).judgements, Judgement)
    assert {judgement.judge for judgement in judged} == {"one", "two", "overlap"}


def test_pass_2_lists_its_shortened_sources_too(tmp_path):
    with FaultServer(traits=Traits(max_model_len=420)) as short:
        run = Served(short, tmp_path / "run", limit=8)
        run.run("rewriter.context=fragments", last="propose", accept_faults="short context")
    rows = (run.root / "06-candidates/shortened.jsonl").read_text("utf-8").splitlines()
    assert rows
    assert all(json.loads(row)["claim_id"] for row in rows)
