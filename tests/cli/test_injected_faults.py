"""Faults of every kind at random units: never a decision, all listed, none of them sticks."""

import asyncio
import math
import os
import random
import shutil
import time

import pytest

from ragmend.cli.experiment import open_experiment
from ragmend.cli.roles import checked, parts
from ragmend.errors import AnswerFaultError, FaultError
from ragmend.io import read_records
from ragmend.journal import read_journal
from ragmend.judges import panel
from ragmend.llm.labels import Support
from ragmend.manifest import read_manifest
from ragmend.paths import RunPaths, shard_path
from ragmend.records import (
    ARMS,
    CONDITIONS,
    Action,
    Candidate,
    Claim,
    Fault,
    Judgement,
    RepairedAnswer,
    Source,
    Span,
    Verdict,
)

N_FAULTS = int(os.environ.get("RAGMEND_FAULTS", "200"))
SHARE = 0.3
RAISED = ("malformed", "truncated", "empty", "non_finite", "low_mass", "timeout")

VERDICT_KINDS = ("missing", "foreign", "twice", "no record", "no list", "no verdict")
BROKEN = {  # what may stand in a verdict that nobody checked
    "nan": {"p_support": math.nan},
    "nan label": {"label_probs": {"supported": 0.5, "unsupported": math.nan}},
    "infinite mass": {"candidate_mass": math.inf},
    "a word": {"p_support": "0.5"},
    "labels in a list": {"label_probs": [0.5, 0.5]},
}
WORST = {
    "nan": math.nan,
    "infinite": -math.inf,
    "too great": 1.5,
    "endless": 10**400,
    "nothing": None,
    "a word": "0.5",
    "a truth": True,
}


class Plan:
    """Which units get no usable answer: drawn anew for each seed, the same for each try."""

    def __init__(self):
        self.seed, self.is_on, self.n_injected, self.share = 0, False, 0, SHARE

    def draw(self, kinds, *unit):
        """Return what goes wrong with a unit: a status to raise, one of `kinds`, or None."""
        drawn = random.Random(f"{self.seed}|{unit}")
        if not self.is_on or drawn.random() >= self.share:
            return None
        self.n_injected += 1
        kind = drawn.choice((*RAISED, *kinds))
        if kind in RAISED:
            raise AnswerFaultError(f"injected: {kind}", status=kind)
        return kind


class FaultyVerifier:
    """A verifier with faults by plan; also such as a backend does not notice itself."""

    def __init__(self, verifier, plan):
        self.verifier, self.plan, self.name = verifier, plan, verifier.name

    async def verify(self, source, answer, claims, *rest):
        kinds = (*VERDICT_KINDS, *BROKEN) if claims else ()
        kind = self.plan.draw(kinds, "verify", [claim.claim_id for claim in claims], source)
        verdicts = await self.verifier.verify(source, answer, claims, *rest)
        if kind in BROKEN:
            return [verdicts[0].model_copy(update=BROKEN[kind]), *verdicts[1:]]
        if kind in ("no list", "no verdict"):
            return None if kind == "no list" else [None, *verdicts[1:]]
        if kind == "missing":
            return verdicts[:-1]
        if kind == "foreign":
            return [*verdicts[:-1], verdicts[-1].model_copy(update={"claim_id": "other"})]
        if kind == "twice":
            return [verdicts[0], *verdicts]
        if kind == "no record":
            Verdict.model_validate(verdicts[0].model_dump() | {"p_support": 1.5})
        return verdicts

    async def score_texts(self, source, answer, texts):
        kind = self.plan.draw(("no list", "missing", *WORST), "score", source, texts)
        scores = await self.verifier.score_texts(source, answer, texts)
        if kind == "missing":
            return scores[:-1]
        if kind == "no list":
            return None
        return [*scores[:-1], Support(WORST[kind])] if kind else scores


def faulty_judge(judge, name, plan):
    def find(reading, answer):
        kind = plan.draw(("foreign span", "no record"), "judge", name, answer, reading.fragments)
        if kind == "foreign span":
            return (Span(start=0, end=3, text="\0\0\0"),)
        if kind == "no record":
            return (Span(start=3, end=1, text=""),)
        return judge(reading, answer)

    return find


@pytest.fixture
def plan(monkeypatch):
    """Put faults by plan behind every role."""
    made = Plan()
    checked_verifier = checked.CheckedVerifier
    monkeypatch.setattr(
        parts,
        "CheckedVerifier",
        lambda verifier: checked_verifier(FaultyVerifier(verifier, made)),
    )
    for name, judge in panel.JUDGES.items():
        monkeypatch.setitem(panel.JUDGES, name, faulty_judge(judge, name, made))
    return made


@pytest.fixture(scope="module")
def matched(tmp_path_factory):
    """A run that is complete up to the first stage that asks for answers."""
    root = tmp_path_factory.mktemp("matched") / "run"
    for stage in ("detect", "select", "split", "match"):
        open_experiment("demo", root).run(only=stage)
    return root


STAGES = {  # the stages that ask for answers: the folder, and what holds their decisions
    "verify": ("05-verdicts", "verdicts.jsonl"),
    "propose": ("06-candidates", "candidates.jsonl"),
    "judge": ("08-judgements", "judgements.jsonl"),
}


def run_stage(root, stage, accept=None):
    open_experiment("demo", root, accept_faults=accept).run(only=stage)


def count_rewritten(root):
    """Count the answers that the rewriter was asked about: every one that was verified."""
    return read_manifest(root / "05-verdicts/manifest.json").n_units


def refuse_then_retry(root, stage, plan):
    """Run a stage with faults, check that they are faults only; then without them."""
    folder, decisions = STAGES[stage]
    plan.is_on, plan.n_injected = True, 0
    try:
        run_stage(root, stage)
    except FaultError as error:
        assert f"stage {stage}: {plan.n_injected} faulty answers" in str(error)  # noqa: PT017
    else:
        assert plan.n_injected == 0, "faults do not stop the stage"
        return 0
    finally:
        plan.is_on = False
    faults = list(read_records(root / folder / "faults.jsonl", Fault))
    assert len(faults) == plan.n_injected > 0
    assert {fault.stage for fault in faults} == {stage}
    assert not (root / folder / decisions).exists()
    assert not (root / folder / "manifest.json").exists()
    # Of `propose`, what the rewriter made of each answer is recorded apart from the candidates.
    n_recorded = len(read_journal(shard_path(root / folder)).entries)
    n_recorded -= stage == "propose" and count_rewritten(root)
    run_stage(root, stage)
    assert not (root / folder / "faults.jsonl").exists()
    assert n_recorded + len(faults) == read_manifest(root / folder / "manifest.json").n_units
    return len(faults)


def accept(root, stage, plan):
    """Run a stage with faults that are accepted; return them."""
    folder, _ = STAGES[stage]
    plan.is_on, plan.n_injected = True, 0
    run_stage(root, stage, accept="injected")
    plan.is_on = False
    manifest = read_manifest(root / folder / "manifest.json")
    reason = "injected" if plan.n_injected else None
    assert (manifest.n_faults, manifest.accepted_faults) == (plan.n_injected, reason)
    path = root / folder / "faults.jsonl"
    return list(read_records(path, Fault)) if plan.n_injected else []


def check_accounting(root, faults):
    """Check that every unit is either decided or a fault, and that counts agree."""
    paths = RunPaths(root)
    unverified = {fault.record_id for fault in faults["verify"]}
    excluded = unverified | {fault.record_id for fault in faults["propose"]}
    claims = list(read_records(paths.claims, Claim))
    verdicts = [verdict.claim_id for verdict in read_records(paths.verdicts, Verdict)]
    assert verdicts == [claim.claim_id for claim in claims if claim.record_id not in unverified]
    assert not excluded & {c.record_id for c in read_records(paths.candidates, Candidate)}
    kept = [claim for claim in claims if claim.record_id not in excluded]
    actions = [(a.claim_id, a.arm) for a in read_records(paths.actions, Action)]
    assert sorted(actions) == sorted((claim.claim_id, arm) for claim in kept for arm in ARMS)
    answers = [(a.record_id, a.condition) for a in read_records(paths.answers, RepairedAnswer)]
    records = {claim.record_id for claim in kept}
    assert sorted(answers) == sorted((record, c) for record in records for c in CONDITIONS)
    judged = [
        (j.record_id, j.condition, j.judge) for j in read_records(paths.judgements, Judgement)
    ]
    faulty = [(f.record_id, f.condition, f.judge) for f in faults["judge"]]
    cells = sorted((*answer, judge) for answer in answers for judge in panel.JUDGES)
    assert sorted(judged + faulty) == cells


def test_injected_faults_are_never_decisions_and_leave_no_trace(
    matched, finished, tmp_path, plan, note
):
    started, n_faults = time.monotonic(), 0
    while n_faults < N_FAULTS:
        plan.seed += 1
        retried, accepted = tmp_path / "retried", tmp_path / "accepted"
        faults = {}
        for root in (retried, accepted):
            shutil.rmtree(root, ignore_errors=True)
            shutil.copytree(matched, root)
        for stage in ("verify", "propose", "assemble", "judge"):
            if stage in STAGES:
                n_faults += refuse_then_retry(retried, stage, plan)
                faults[stage] = accept(accepted, stage, plan)
                n_faults += len(faults[stage])
            else:
                run_stage(retried, stage)
                run_stage(accepted, stage, accept="injected")
        for folder, decisions in (*STAGES.values(), ("07-arms", "answers.jsonl")):
            assert (retried / folder / decisions).read_bytes() == (
                finished / folder / decisions
            ).read_bytes()
        check_accounting(accepted, faults)
    note(f"{n_faults:,} injected faults in {time.monotonic() - started:.0f} s: none was a decision")


class Fixed:
    """A verifier that answers what it was given."""

    name = "fixed"

    def __init__(self, answer):
        self.answer = answer

    async def verify(self, source, answer, claims, evidence):
        return self.answer

    async def score_texts(self, source, answer, texts):
        return self.answer


def verify(answer):
    verifier = checked.CheckedVerifier(Fixed(answer))
    return asyncio.run(verifier.verify(SOURCE, "x", [CLAIM], []))


def score_texts(answer):
    verifier = checked.CheckedVerifier(Fixed(answer))
    return asyncio.run(verifier.score_texts(SOURCE, "x", ["x"]))


SOURCE = Source(source_id="s", task_type="QA", text="It is red.")
CLAIM = Claim(record_id="r", claim_id="r.0", start=0, end=1, text="x", kind="statement")
VERDICT = Verdict(record_id="r", claim_id="r.0", p_support=0.5, model="m")


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        *((BROKEN[kind], "non_finite") for kind in ("nan", "nan label", "infinite mass")),
        *((BROKEN[kind], "malformed") for kind in ("a word", "labels in a list")),
        ({"label_probs": {"supported": 1.5}}, "malformed"),
        ({"candidate_mass": -0.5}, "malformed"),
        ({"p_support": 10**400}, "malformed"),
        ({"model": None}, "malformed"),
    ],
)
def test_a_verdict_with_a_broken_number_is_a_fault_of_its_claim(changes, status):
    with pytest.raises(AnswerFaultError, match=r"claim r\.0: ") as caught:
        verify([VERDICT.model_copy(update=changes)])
    assert caught.value.status == status


@pytest.mark.parametrize("answer", [None, 3, "no", {}, [None], [{"p_support": 0.5}]])
def test_what_is_no_list_of_verdicts_is_a_fault(answer):
    with pytest.raises(AnswerFaultError, match=r"no (list of )?verdict") as caught:
        verify(answer)
    assert caught.value.status == "malformed"


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        *(([Support(WORST[kind])], "non_finite") for kind in ("nan", "infinite")),
        *(([Support(WORST[kind])], "malformed") for kind in ("too great", "endless", "nothing")),
        *(([Support(WORST[kind])], "malformed") for kind in ("a word", "a truth")),
        ([Support(0.5, math.nan)], "non_finite"),
        ([Support(0.5, 0.5, (0.1, math.inf))], "non_finite"),
        *(([score], "malformed") for score in (0.5, None, "0.5")),
        *((answer, "malformed") for answer in (None, "1", 0.5, [0.5, 0.5])),
        ([], "empty"),
    ],
)
def test_scores_that_are_no_probabilities_are_faults(answer, status):
    with pytest.raises(AnswerFaultError) as caught:
        score_texts(answer)
    assert caught.value.status == status


def test_usable_answers_pass_unchanged():
    assert verify([VERDICT]) == [VERDICT]
    for score in (Support(0), Support(0.25), Support(1, 0.9, (0.5, 1))):
        assert score_texts([score]) == [score]


def test_tables_of_a_run_with_accepted_faults_say_so(matched, tmp_path, plan):
    root = shutil.copytree(matched, tmp_path / "run")
    plan.share, plan.seed = 0.02, 1
    plan.is_on = True
    open_experiment("demo", root, accept_faults="injected").run()
    left_out = {
        f.record_id for path in root.rglob("faults.jsonl") for f in read_records(path, Fault)
    }
    assert left_out
    report = (root / "report.md").read_text("utf-8")
    assert f"{len(left_out)} records were left out for accepted faults" in report


def test_where_every_record_has_a_fault_there_is_nothing_to_analyse(matched, tmp_path, plan):
    root = shutil.copytree(matched, tmp_path / "run")
    for stage in ("verify", "propose", "assemble"):
        run_stage(root, stage)
    plan.share, plan.is_on = 1.0, True
    with pytest.raises(FaultError, match="no record is left to analyse"):
        open_experiment("demo", root, accept_faults="injected").run()
    assert not (root / "tables").exists()
