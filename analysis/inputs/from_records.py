"""From the records of a run to the frames of its analysis."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragmend.analysis.inputs.accounting import RunRecords, check_accounting
from ragmend.analysis.inputs.frames import GOLD_COLUMNS, Frames
from ragmend.analysis.inputs.model_answers import check_model_answers
from ragmend.analysis.inputs.trained_runs import development_frame, run_frame
from ragmend.errors import AccountingError
from ragmend.records import (
    Action,
    Candidate,
    Claim,
    Judgement,
    RepairedAnswer,
    Response,
    Rewrite,
    Verdict,
)
from ragmend.scoring import overlaps_any

if TYPE_CHECKING:
    import pandas as pd


def build_frames(run: RunRecords, *, threshold: float) -> Frames:
    """Check a run's records against each other and lay them out as frames.

    Args:
        run: The records; of what it lacks there is no frame.
        threshold: Claims with P(support) strictly below it are eligible for repair.

    Raises:
        AccountingError: Something was lost, doubled or changed between the stages, or decided
            otherwise than the recorded answers say.
        StatisticsError: A (record, judge, condition) cell is missing or doubled.
    """
    check_accounting(run)
    check_model_answers(run, threshold=threshold)
    lacks = run.lacks
    responses = {response.record_id: response for response in run.responses}
    facts = {
        record_id: _record_facts(responses[record_id], run.tasks)
        for record_id in sorted(run.population)
    }
    return Frames(
        labels=None if "judgements" in lacks else _label_frame(run, facts),
        arms=None if "actions" in lacks else _arm_frame(run, facts, threshold),
        claims=None if "verdicts" in lacks else _claim_frame(run, facts, responses),
        records=None if "selected" in lacks else _frame(facts.values()),
        selection=None if "selected" in lacks else _selection_frame(run),
        candidates=None if "candidates" in lacks else _candidate_frame(run.candidates),
        verdicts=None if "verdicts" in lacks else _verdict_frame(run.verdicts, facts),
        rewrites=None if run.rewrites is None else _rewrite_frame(run.rewrites),
        runs=run_frame(run.detector_runs) if run.detector_runs else None,
        development=development_frame(run.detector_runs),
        detectors=_frame(score.model_dump() for score in run.detector_scores),
        answers=None if "answers" in lacks else _answer_frame(run.answers),
        actions=None if "actions" in lacks else _action_frame(run.actions),
    )


def _record_facts(response: Response, tasks: Mapping[str, str]) -> dict[str, Any]:
    return {
        "record_id": response.record_id,
        "source_id": response.source_id,
        "generator": response.generator,
        "task": tasks[response.source_id],
        "gold": _as_int(response.is_gold_hallucinated),
    }


def _label_frame(run: RunRecords, facts: Mapping[str, dict[str, Any]]) -> pd.DataFrame:
    found: dict[tuple[str, str, str], Judgement] = {
        (j.record_id, j.judge, j.condition): j for j in run.judgements
    }
    return _frame(
        {
            **_pick(facts[record_id], "record_id", "source_id", "task", "gold"),
            "judge": judge,
            "condition": condition,
            "label": int(found[record_id, judge, condition].label),
            "empty": int(found[record_id, judge, condition].status == "empty_answer"),
            **_span_columns(found[record_id, judge, condition]),
        }
        for record_id in facts
        for judge in run.judges
        for condition in run.conditions
    )


def _span_columns(judgement: Judgement) -> dict[str, int]:
    n_located = len(judgement.spans)
    return {"n_spans": n_located + len(judgement.unlocated), "n_located": n_located}


def _arm_frame(
    run: RunRecords, facts: Mapping[str, dict[str, Any]], threshold: float
) -> pd.DataFrame:
    kinds: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for action in run.actions:
        kinds[action.record_id, action.arm][action.kind] += 1
    eligible = Counter(v.record_id for v in run.verdicts if v.p_support < threshold)
    answers = {(answer.record_id, answer.condition): answer for answer in run.answers}
    rows = []
    for arm in run.arms:
        for record_id, fact in facts.items():
            answer, kind = answers[record_id, arm], kinds[record_id, arm]
            _check_arm(answer, kind, eligible[record_id])
            rows.append(
                {
                    **_pick(fact, "record_id", "task", "gold"),
                    "arm": arm,
                    "claims": answer.n_claims,
                    "eligible": eligible[record_id],
                    "claims_kept": answer.n_claims - kind["drop"],
                    "dropped": kind["drop"],
                    "substituted": kind["substitute"],
                    "rewritten": kind["rewrite"],
                    "original_chars": answer.original_chars,
                    "repaired_chars": answer.repaired_chars,
                }
            )
    return _frame(rows)


def _check_arm(answer: RepairedAnswer, kinds: Counter[str], n_eligible: int) -> None:
    """Check claims = kept + substituted + rewritten + dropped, kept being those not eligible."""
    found = (answer.n_kept, answer.n_claims - answer.n_kept)
    if found != (kinds["keep"], kinds.total() - kinds["keep"]) or found[1] != n_eligible:
        raise AccountingError(
            f"record {answer.record_id}, arm {answer.condition}: the answer counts "
            f"{answer.n_claims} claims and {answer.n_kept} kept, {n_eligible} claims are eligible, "
            f"but the actions are {dict(sorted(kinds.items()))}"
        )


def _claim_frame(
    run: RunRecords, facts: Mapping[str, dict[str, Any]], responses: Mapping[str, Response]
) -> pd.DataFrame:
    p_support = {(v.record_id, v.claim_id): v.p_support for v in run.verdicts}
    rewrites = {(c.record_id, c.claim_id) for c in run.candidates if c.kind == "rewrite"}
    actions: dict[tuple[str, str, str], Action] = {
        (a.record_id, a.claim_id, a.arm): a for a in run.actions
    }
    rows = []
    for claim in run.claims:
        key = (claim.record_id, claim.claim_id)
        fact = facts[claim.record_id]
        rows.append(
            {
                "record_id": claim.record_id,
                "claim_id": claim.claim_id,
                "task": fact["task"],
                "record_gold": fact["gold"],
                "kind": claim.kind,
                "text": claim.text,
                "p_support": p_support.get(key),
                "aligned": 1,
                "gold_unsupported": _overlaps_gold(claim, responses[claim.record_id]),
                **_action_columns(claim, actions, is_rewrite_proposed=key in rewrites),
            }
        )
    frame = _frame(rows).astype({"p_support": "float64"})
    return frame.drop(columns="rewrite_proposed") if "candidates" in run.lacks else frame


def _action_columns(
    claim: Claim, actions: Mapping[tuple[str, str, str], Action], *, is_rewrite_proposed: bool
) -> dict[str, Any]:
    """Return the arms' action columns; the proposal stands before the arm that uses it."""
    kinds = {
        arm: actions[claim.record_id, claim.claim_id, arm].kind
        for arm in ("removal", "extractive", "generative")
        if (claim.record_id, claim.claim_id, arm) in actions
    }
    columns: dict[str, Any] = {f"action_{arm}": kind for arm, kind in kinds.items()}
    generative = columns.pop("action_generative", None)
    columns["rewrite_proposed"] = int(is_rewrite_proposed)
    return columns if generative is None else {**columns, "action_generative": generative}


def _overlaps_gold(claim: Claim, response: Response) -> int | None:
    if response.gold_spans is None:
        return None
    spans = [(span.start, span.end) for span in response.gold_spans]
    return int(overlaps_any(claim.start, claim.end, spans))


def _selection_frame(run: RunRecords) -> pd.DataFrame:
    return _frame(
        {
            "response_id": selected.record_id,
            "task": selected.task_type,
            "gold": _as_int(selected.gold),
            "flagged": int(selected.flagged),
            "record_id": selected.record_id if selected.flagged else None,
            "verdict": selected.verdict,
        }
        for selected in run.selected
    )


def _candidate_frame(candidates: Sequence[Candidate]) -> pd.DataFrame:
    import pandas as pd

    columns = [
        "record_id", "claim_id", "kind", "gate_passed", "gate_reasons", "p_support", "accepted",
    ]  # fmt: skip
    rows = [
        (c.record_id, c.claim_id, c.kind, c.gate.passed, c.gate.reasons, c.p_support, c.accepted)
        for c in candidates
    ]
    return pd.DataFrame(rows, columns=columns)


def _verdict_frame(
    verdicts: Sequence[Verdict], facts: Mapping[str, dict[str, Any]]
) -> pd.DataFrame:
    import pandas as pd

    rows = [
        (
            verdict.record_id,
            verdict.claim_id,
            facts[verdict.record_id]["task"],
            verdict.p_support,
            *(verdict.p_interval or (None, None)),
            verdict.candidate_mass,
            verdict.form_probs,
            verdict.left_out_fragments,
        )
        for verdict in verdicts
    ]
    columns = [
        "record_id", "claim_id", "task", "p_support", "p_low", "p_high", "candidate_mass",
        "form_probs", "left_out_fragments",
    ]  # fmt: skip
    numbers = ("p_support", "p_low", "p_high", "candidate_mass")
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(numbers, "float64"))


def _rewrite_frame(rewrites: Sequence[Rewrite]) -> pd.DataFrame:
    import pandas as pd

    rows = [(r.record_id, r.claim_id, int(r.text is not None)) for r in rewrites]
    return pd.DataFrame(rows, columns=["record_id", "claim_id", "has_text"])


def _answer_frame(answers: Sequence[RepairedAnswer]) -> pd.DataFrame:
    import pandas as pd

    rows = [(a.record_id, a.condition, a.findings, int(a.repaired_chars == 0)) for a in answers]
    return pd.DataFrame(rows, columns=["record_id", "condition", "findings", "empty"])


def _action_frame(actions: Sequence[Action]) -> pd.DataFrame:
    import pandas as pd

    rows = [(a.record_id, a.claim_id, a.arm, a.kind, a.edits, a.text) for a in actions]
    return pd.DataFrame(rows, columns=["record_id", "claim_id", "arm", "kind", "edits", "text"])


def _frame(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame(list(rows))
    nullable = [column for column in GOLD_COLUMNS if column in frame]
    return frame.astype(dict.fromkeys(nullable, "Int64"))


def _pick(facts: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: facts[name] for name in names}


def _as_int(value: bool | None) -> int | None:
    return None if value is None else int(value)
