"""`ragmend doctor`: each check says in a line of its own what is well, what is not, and why."""

import json
import math
import re
from contextlib import asynccontextmanager

import pytest

from ragmend.cli.doctor.smoke import SOURCE
from ragmend.cli.roles import models
from ragmend.cli.serving import keeper
from ragmend.datasets.ragtruth import demo_folder
from ragmend.errors import AnswerFaultError, ServerError
from ragmend.llm.protocol import LabelScores
from ragmend.llm.scripted import ScriptedLLM
from ragmend.repair.prompted.verifier import verify_prompt

CONFIG = """
name = "prompted"
[data]
kind = "demo"
[detector]
kind = "lexical"
[verifier]
backend = "openai"
model = { id = "lab/verifier-7B" }
[rewriter]
backend = "openai"
model = { id = "lab/rewriter-1B" }
[judges]
primary = "first"
panel = [{ name = "first", backend = "openai", model = { id = "lab/judge-70B" } }]
"""


class Unused:
    def describe(self):
        return ""

    def as_json(self):
        return {}


class Serving:
    """A scripted model that says of itself what a server would."""

    def __init__(self, llm):
        self.llm = llm
        self.facts = {"version": "0.32.0", "cards": ["left out"]}
        self.usage = Unused()

    def __getattr__(self, name):
        return getattr(self.llm, name)


def yes_or_no(prompt):
    claim = prompt.user.split("<claim>")[1]
    p_yes = 0.9 if "55 minutes" in claim else 0.1
    return {"Yes": math.log(0.8 * p_yes), "No": math.log(0.8 * (1 - p_yes))}


def no_answer(prompt):
    raise AssertionError("asked what it is not for")


@pytest.fixture
def prompted(tmp_path, monkeypatch):
    """A configuration of language models; what they answer may be changed by role."""
    roles = {
        "verifier": ScriptedLLM(yes_or_no, no_answer),
        "rewriter": ScriptedLLM(no_answer, lambda prompt: '{"rewrite": "It carries cars."}'),
        "first": ScriptedLLM(no_answer, lambda prompt: '{"spans": ["in Norway", "by Vikings"]}'),
    }

    @asynccontextmanager
    async def open_scripted(context, name, *, label_forms=()):
        llm = roles[name]
        if isinstance(llm, Exception):
            raise llm
        yield Serving(llm)

    monkeypatch.setattr(models, "open_serving", open_scripted)
    path = tmp_path / "prompted.toml"
    path.write_text(CONFIG)
    return path, roles


@pytest.fixture
def doctor(command, tmp_path):
    """The command, as a function of its words; its lines by name, and its exit code."""

    def examine(target, *words):
        out = () if target.is_dir() else ("--out", tmp_path / "none")
        done = command("doctor", target, *out, *words)
        found = re.findall(r"^(ok  |FAIL|----)  ([^:\n]+): (.*)$", done.stdout, re.MULTILINE)
        assert len(found) == len(done.stdout.splitlines())
        lines = {name: (kind.strip(), text) for kind, name, text in found}
        assert len(lines) == len(found)
        failed = [name for name, (kind, _) in lines.items() if kind == "FAIL"]
        assert done.returncode == (1 if failed else 0)
        assert done.stderr.endswith(f"checks failed: {', '.join(failed)}\n" if failed else "")
        return lines

    return examine


def failing(lines):
    return [name for name, (kind, _) in lines.items() if kind == "FAIL"]


def edit_json(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def repeat_first_line(path):
    first, *rest = path.read_text().splitlines(keepends=True)
    path.write_text("".join([first, *rest, first]))


def test_the_demonstration_passes_every_check(command, tmp_path):
    done = command("doctor", "demo", "--out", tmp_path / "none")
    assert done.returncode == 0
    assert "ok    data: 48 responses to 12 sources" in done.stdout
    assert re.search(r"^ok    verifier answers: P\(support\) 0\.\d+ of a supp", done.stdout, re.M)
    assert "FAIL" not in done.stdout
    assert not (tmp_path / "none").exists()


def test_a_finished_run_passes_every_check_and_stays_as_it_is(doctor, finished, files_of):
    before = files_of(finished)
    lines = doctor(finished)
    assert {kind for kind, _ in lines.values()} == {"ok"}
    assert lines["threshold"] == ("ok", "0.5, as locked")
    assert lines["repaired texts"][1].endswith("each as its saved actions give it")
    assert lines["stage judge"] == ("ok", "1 files as recorded")
    assert files_of(finished) == before


def test_models_answer_the_small_case(doctor, prompted):
    path, _ = prompted
    lines = doctor(path)
    assert failing(lines) == []
    assert lines["verifier opens"][1] == "openai: lab/verifier-7B, version 0.32.0"
    assert lines["verifier answers"][1] == (
        "P(support) 0.900 of a supported claim, 0.100 of an unsupported, at least 0.8 on Yes and No"
    )
    assert lines["rewriter answers"][1] == "rewrites to 'It carries cars.'"
    assert lines["judge first answers"][1] == "label 1, 1 spans located, 1 not"
    assert f"verifier verify version {verify_prompt().version} (" in lines["prompts"][1]


def test_a_verifier_that_answers_something_else_fails_alone(doctor, prompted):
    path, roles = prompted
    unlikely = {"Yes": math.log(0.2), "No": math.log(0.1)}
    roles["verifier"] = ScriptedLLM(lambda prompt: unlikely, no_answer)
    lines = doctor(path)
    assert failing(lines) == ["verifier answers"]
    assert lines["verifier answers"][1].startswith("low_mass: ")
    assert lines["judge first answers"][0] == "ok"


def test_a_verifier_that_cannot_tell_claims_apart_is_said_to_be_so(doctor, prompted):
    path, roles = prompted
    same = {"Yes": math.log(0.5), "No": math.log(0.5)}
    roles["verifier"] = ScriptedLLM(lambda prompt: same, no_answer)
    assert "DOES NOT TELL THEM APART" in doctor(path)["verifier answers"][1]


def test_a_verifier_known_between_limits_only_fails_where_the_threshold_lies_between(
    doctor, prompted
):
    class TopTokens(ScriptedLLM):
        async def score_labels(self, prompt):
            known = {"Yes": math.log(0.5)}
            return LabelScores(
                logprobs=known, bound=math.log(0.6), absent=("No",), n_prompt_tokens=1
            )

    path, roles = prompted
    roles["verifier"] = TopTokens(no_answer, no_answer)
    lines = doctor(path)
    assert failing(lines) == ["verifier answers"]
    assert lines["verifier answers"][1].startswith("undecided: ")


def test_answers_that_cannot_be_read_fail_with_what_came(doctor, prompted):
    path, roles = prompted
    roles["rewriter"] = ScriptedLLM(no_answer, lambda prompt: "I would rather not.")
    roles["first"] = ScriptedLLM(no_answer, lambda prompt: "x" * 100_000)
    lines = doctor(path)
    assert failing(lines) == ["rewriter answers", "judge first answers"]
    assert "it answered 'I would rather not.'" in lines["rewriter answers"][1]
    assert lines["judge first answers"][1].startswith("truncated: ")


def test_a_server_that_is_not_there_leaves_its_answer_unchecked(doctor, prompted):
    path, roles = prompted
    roles["rewriter"] = ServerError("no server\nanswers there")
    lines = doctor(path)
    assert failing(lines) == ["rewriter opens"]
    assert lines["rewriter opens"][1] == "no server answers there"
    assert lines["rewriter answers"] == ("----", "not checked: it did not open")


def test_a_server_that_dies_while_it_is_asked_fails_in_its_answer(doctor, prompted):
    def die(prompt):
        raise ServerError("gone")

    path, roles = prompted
    roles["first"] = ScriptedLLM(no_answer, die)
    assert failing(doctor(path)) == ["judge first answers"]


def test_a_prompt_that_the_model_refuses_fails_in_its_answer(doctor, prompted):
    def refuse(prompt):
        raise AnswerFaultError("not this one", status="refused")

    path, roles = prompted
    roles["verifier"] = ScriptedLLM(refuse, no_answer)
    assert doctor(path)["verifier answers"] == ("FAIL", "refused: not this one")


def test_a_role_without_a_server_is_told_how_to_name_one(doctor, tmp_path):
    path = tmp_path / "prompted.toml"
    path.write_text(CONFIG)
    lines = doctor(path)
    assert failing(lines) == ["verifier opens", "rewriter opens", "judge first opens"]
    assert "--set 'servers.verifier=http" in lines["verifier opens"][1]
    assert "--serve" in lines["verifier opens"][1]


def test_servers_are_started_here_where_that_is_wanted(doctor, prompted, monkeypatch):
    class Keeper:
        def __init__(self, serve, folder):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *error):
            kept.append("ended")

    path, roles = prompted
    kept = []

    @asynccontextmanager
    async def open_kept(context, name, *, label_forms=()):
        kept.append(type(context.keeper))
        yield Serving(roles[name])

    monkeypatch.setattr(keeper, "ServerKeeper", Keeper)
    monkeypatch.setattr(models, "open_serving", open_kept)
    assert failing(doctor(path, "--serve")) == []
    assert kept == [Keeper, Keeper, Keeper, "ended"]


def test_models_are_not_asked_where_that_is_not_wanted(doctor, tmp_path):
    path = tmp_path / "prompted.toml"
    path.write_text(CONFIG)
    lines = doctor(path, "--without-models")
    assert failing(lines) == []
    assert lines["verifier"] == ("----", "not checked: --without-models")


def test_an_embedded_judge_that_does_not_exist_fails(doctor, tmp_path):
    path = tmp_path / "judges.toml"
    panel = 'panel = [{ name = "first", backend = "lexical" }]\n'
    path.write_text(CONFIG.partition("[verifier]")[0] + f'[judges]\nprimary = "first"\n{panel}')
    lines = doctor(path)
    assert failing(lines) == ["judge first opens"]
    assert "there are: overlap" in lines["judge first opens"][1]


def test_a_configuration_that_cannot_be_read_is_all_that_is_said(doctor, tmp_path):
    path = tmp_path / "wrong.toml"
    path.write_text(CONFIG.replace("backend", "backends"))
    lines = doctor(path)
    assert failing(lines) == ["configuration"]
    assert lines["all else"] == ("----", "not checked: there is no configuration")


def test_data_with_a_key_twice_fails_and_leaves_the_rest_checked(doctor, tmp_path):
    for file in demo_folder().glob("*.jsonl"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    repeat_first_line(tmp_path / "source_info.jsonl")
    path = tmp_path / "own.toml"
    path.write_text(
        CONFIG.partition("[verifier]")[0].replace('"demo"', f'"ragtruth"\npath = "{tmp_path}"')
        + '[judges]\nprimary = "overlap"\npanel = [{ name = "overlap" }]\n'
    )
    lines = doctor(path)
    assert failing(lines) == ["data", "data keys"]
    assert "source_info.jsonl:13: source_id 'd-001' appears twice" in lines["data keys"][1]
    assert lines["detector"] == ("----", "not checked: the data cannot be read")
    assert lines["verifier answers"][0] == "ok"


def test_predictions_that_are_not_there_fail_as_the_detector(doctor, tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(CONFIG)
    kind = ("--set", "detector.kind=predictions", "--set", "detector.predictions=none.jsonl")
    assert failing(doctor(path, *kind, "--without-models")) == ["detector"]


def test_a_population_of_another_run_fails(doctor, tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(CONFIG)
    lines = doctor(path, "--set", "population.run=other", "--without-models")
    assert failing(lines) == ["population"]


def test_a_threshold_other_than_the_lock_fails(command, run):
    done = command("doctor", "demo", "--out", run, "--set", "verifier.threshold=0.4")
    assert done.returncode == 1
    assert (
        "FAIL  threshold: it is 0.4, locked is 0.5: `ragmend run … --redo propose`" in done.stdout
    )
    assert "ok    protocol" in done.stdout


def test_prompts_changed_since_the_lock_fail(doctor, run):
    def change(lock):
        was = {"name": "judge", "version": 0, "sha256": "ab"}
        lock["protocol"]["prompt_of_judges"] = was

    edit_json(run / "protocol.lock.json", change)
    lines = doctor(run)
    assert failing(lines) == ["prompts", "stage report"]
    assert "(judges): now none" in lines["prompts"][1]
    assert "locked judges judge version 0 (ab)" in lines["prompts"][1]


def test_a_protocol_entry_changed_since_the_lock_fails_by_name(doctor, run):
    edit_json(run / "protocol.lock.json", lambda lock: lock["protocol"].update(evidence={}))
    lines = doctor(run)
    assert failing(lines) == ["protocol", "stage report"]
    assert "evidence (match)" in lines["protocol"][1]


def test_a_lock_that_cannot_be_read_fails_once(doctor, run):
    (run / "protocol.lock.json").write_text("{")
    lines = doctor(run)
    assert failing(lines) == ["lock", "stage select", "stage report"]
    assert lines["threshold"] == ("----", "not checked: the lock cannot be read")


def test_a_lock_that_was_taken_away_fails(doctor, run):
    (run / "protocol.lock.json").unlink()
    assert failing(doctor(run)) == ["lock", "stage select", "stage report"]


@pytest.mark.parametrize(
    ("file", "stages"),
    [
        ("02-population/selection.jsonl", ["select"]),
        ("03-claims/claims.jsonl", ["split", "match", "verify", "propose", "assemble"]),
        ("04-evidence/evidence.jsonl", ["match", "verify", "propose"]),
        ("05-verdicts/verdicts.jsonl", ["verify", "propose", "assemble", "analyze"]),
        ("06-candidates/candidates.jsonl", ["propose", "assemble", "analyze"]),
        ("06-candidates/rewrites.jsonl", ["propose"]),
        ("07-arms/actions.jsonl", ["assemble", "analyze"]),
        ("08-judgements/judgements.jsonl", ["judge", "analyze"]),
    ],
)
def test_a_record_that_stands_twice_fails_by_its_keys_and_its_stages(doctor, run, file, stages):
    repeat_first_line(run / file)
    lines = doctor(run, "--without-models")
    name = f"keys of {file.split('/')[1].removesuffix('.jsonl')}"
    assert lines[name][0] == "FAIL"
    assert "appears twice" in lines[name][1]
    assert {f"stage {stage}" for stage in stages} <= set(failing(lines))
    assert [line for line in failing(lines) if line.startswith("keys of")] == [name]


def test_an_action_that_does_not_give_the_text_fails(doctor, run):
    path = run / "07-arms/actions.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    next(row for row in rows if row["kind"] == "keep")["text"] += " Indeed."
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = doctor(run)
    assert lines["repaired texts"][0] == "FAIL"
    assert "saved actions do not give the text" in lines["repaired texts"][1]
    assert lines["keys of actions"][0] == "ok"
    assert "07-arms/actions.jsonl is missing or was changed" in lines["stage assemble"][1]


def test_a_file_that_is_gone_fails(doctor, run):
    (run / "08-judgements/judgements.jsonl").unlink()
    lines = doctor(run)
    assert {"stage judge", "keys of judgements"} <= set(failing(lines))


def test_a_run_on_its_way_fails_in_nothing(doctor, run):
    for folder in ("07-arms", "08-judgements", "09-analysis"):
        for manifest in (run / folder).glob("*manifest.json"):
            manifest.unlink()
    lines = doctor(run)
    assert failing(lines) == []
    assert lines["stage assemble"] == ("----", "not checked: it is not complete")
    assert lines["repaired texts"][0] == "----"
    assert lines["keys of candidates"][0] == "ok"


def test_a_folder_that_is_no_run_fails(doctor, tmp_path):
    (tmp_path / "empty").mkdir()
    assert failing(doctor(tmp_path / "empty")) == ["configuration"]


def test_servers_of_a_run_can_be_named_where_they_are_now(doctor, run):
    lines = doctor(run, "--set", "servers.verifier=http://127.0.0.1:1/v1")
    assert failing(lines) == []


def test_the_small_case_fits_any_model():
    assert len(SOURCE.text) < 300
