"""The golden analysis (synthetic files with the paper's margins) and a tiny run of records."""

import csv
from pathlib import Path

import pandas as pd
import pytest

from ragmend.analysis.analyze import Analysis, analyze
from ragmend.analysis.inputs.accounting import RunRecords
from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.settings import Provenance, Settings
from ragmend.records import (
    Action,
    Candidate,
    Claim,
    DetectorScore,
    Gate,
    GoldSpan,
    Judgement,
    RepairedAnswer,
    Response,
    Rewrite,
    Selected,
    Span,
    Verdict,
)

GOLDEN = Path(__file__).parents[1] / "golden" / "analysis"
TEXT = "Bats fly. Pigs fly."
UNSUPPORTED = Span(start=10, end=14, text="Pigs")
ACTIONS = {
    ("c0", "removal"): ("keep", "Bats fly."),
    ("c0", "extractive"): ("keep", "Bats fly."),
    ("c0", "generative"): ("keep", "Bats fly."),
    ("c1", "removal"): ("drop", ""),
    ("c1", "extractive"): ("substitute", "Pigs run."),
    ("c1", "generative"): ("rewrite", "Pigs walk."),
}


@pytest.fixture(scope="session")
def golden_frames() -> Frames:
    frames = {
        name: pd.read_csv(GOLDEN / f"{file}.csv")
        for name, file in [
            ("labels", "reconstructed_labels"),
            ("arms", "reconstructed_arms"),
            ("claims", "reconstructed_verifier"),
            ("records", "reconstructed_records"),
            ("selection", "reconstructed_selection"),
            ("runs", "published_seed_f1"),
            ("published", "published_teqhallu"),
        ]
    }
    return Frames(**frames)


@pytest.fixture(scope="session")
def golden_analysis(golden_frames: Frames) -> Analysis:
    settings = Settings(figure_formats=())  # PDF and PNG take seconds
    provenance = Provenance(judges=("qwen", "llama", "gemma"))
    return analyze(golden_frames, settings=settings, provenance=provenance)


@pytest.fixture(scope="session")
def acceptance() -> dict[str, str]:
    """The string our code must print for each published number, by id."""
    with (GOLDEN / "acceptance.csv").open(newline="", encoding="utf-8") as file:
        return {
            row["id"]: row["published"] if row["status"] == "ok" else row["recomputed"]
            for row in csv.DictReader(file)
        }


@pytest.fixture
def run() -> RunRecords:
    """Three responses, two flagged; each has a supported and an unsupported claim."""
    flagged = ["r1", "r2"]
    judges = ("strict", "mild")
    return RunRecords(
        selected=[_selected("r1"), _selected("r2"), _selected("r3", flagged=False)],
        responses=[_response("r1", gold=True), _response("r2", gold=False)],
        tasks={"s1": "QA"},
        population=flagged,
        claims=[claim for record_id in flagged for claim in _claims(record_id)],
        verdicts=[
            Verdict(record_id=record_id, claim_id=claim_id, p_support=p, model="lexical")
            for record_id in flagged
            for claim_id, p in [("c0", 0.5), ("c1", 0.25)]
        ],
        candidates=[candidate for record_id in flagged for candidate in _candidates(record_id)],
        actions=[
            Action(record_id=record_id, claim_id=claim_id, arm=arm, kind=kind, text=text)
            for record_id in flagged
            for (claim_id, arm), (kind, text) in ACTIONS.items()
        ],
        answers=[answer for record_id in flagged for answer in _answers(record_id)],
        judgements=[
            Judgement(
                record_id=record_id,
                condition=condition,
                judge=judge,
                label=int(condition == "original"),
                spans=(UNSUPPORTED,) if condition == "original" else (),
            )
            for record_id in flagged
            for judge in judges
            for condition in ("original", "removal", "extractive", "generative")
        ],
        judges=judges,
        detector_scores=[_detector_score("QA"), _detector_score("pooled")],
    )


@pytest.fixture
def model_run(run) -> RunRecords:
    """The same run as language models answer it: one string of strict's stands nowhere."""
    forms = {0.5: {"Yes": 0.3, "No": 0.3}, 0.25: {"Yes": 0.2, "No": 0.6, " Yes": 0.1}}
    lost = run.judgements[0].model_copy(update={"spans": (), "unlocated": ("Cows",)})
    return run._replace(
        verdicts=[
            verdict.model_copy(
                update={
                    "form_probs": forms[verdict.p_support],
                    "candidate_mass": forms[verdict.p_support]["Yes"]
                    + forms[verdict.p_support]["No"],
                    "left_out_fragments": int(verdict.record_id == "r2"),
                }
            )
            for verdict in run.verdicts
        ],
        rewrites=[
            Rewrite(record_id=record_id, claim_id="c1", text="Pigs walk.", model="m")
            for record_id in run.population
        ],
        judgements=[lost, *run.judgements[1:]],
    )


@pytest.fixture
def emptied():
    """What becomes of a run when one answer loses all its text, as a function of the three."""

    def empty(run: RunRecords, record_id: str, condition: str) -> RunRecords:
        is_it = lambda row: (row.record_id, row.condition) == (record_id, condition)  # noqa: E731
        nothing, unjudged = {"text": "", "repaired_chars": 0}, {"status": "empty_answer"}
        return run._replace(
            answers=[a.model_copy(update=nothing) if is_it(a) else a for a in run.answers],
            judgements=[j.model_copy(update=unjudged) if is_it(j) else j for j in run.judgements],
        )

    return empty


def _detector_score(group: str) -> DetectorScore:
    return DetectorScore(
        run_id="d",
        level="response",
        protocol="all",
        group=group,
        n_responses=3,
        tp=1,
        fp=1,
        fn=0,
        tn=1,
    )


def _selected(record_id: str, *, flagged: bool = True) -> Selected:
    return Selected(
        record_id=record_id,
        source_id="s1",
        task_type="QA",
        gold=record_id == "r1",
        verdict="hallucinated" if flagged else "unparsed",
        flagged=flagged,
    )


def _response(record_id: str, *, gold: bool) -> Response:
    span = GoldSpan(start=10, end=14, text="Pigs", label_type="Evident Conflict")
    return Response(
        record_id=record_id,
        source_id="s1",
        generator="gpt",
        text=TEXT,
        gold_spans=(span,) if gold else (),
        split="test",
    )


def _claims(record_id: str) -> list[Claim]:
    return [
        Claim(record_id=record_id, claim_id="c0", text=TEXT[:9], start=0, end=9, kind="statement"),
        Claim(
            record_id=record_id, claim_id="c1", text=TEXT[10:], start=10, end=19, kind="statement"
        ),
    ]


def _candidates(record_id: str) -> list[Candidate]:
    return [
        Candidate(
            record_id=record_id, claim_id="c1", kind=kind, text=text, evidence_ids=("f1",),
            gate=Gate(passed=True), p_support=0.9, accepted=True,
        )
        for kind, text in [("extract", "Pigs run."), ("rewrite", "Pigs walk.")]
    ]  # fmt: skip


def _answers(record_id: str) -> list[RepairedAnswer]:
    texts = {
        "original": TEXT,
        "removal": "Bats fly.",
        "extractive": "Bats fly. Pigs run.",
        "generative": "Bats fly. Pigs walk.",
    }
    return [
        RepairedAnswer(
            record_id=record_id, condition=condition, text=text, n_claims=2,
            n_kept=2 if condition == "original" else 1,
            original_chars=len(TEXT), repaired_chars=len(text),
        )
        for condition, text in texts.items()
    ]  # fmt: skip
