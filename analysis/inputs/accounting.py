"""The records of one run, and the identities they must satisfy before anything is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import product
from typing import Literal, NamedTuple

from ragmend.errors import AccountingError, StatisticsError
from ragmend.records import (
    ARMS,
    Action,
    Arm,
    Candidate,
    Claim,
    DetectorScore,
    Judgement,
    RepairedAnswer,
    Response,
    Rewrite,
    Selected,
    TaskType,
    Verdict,
)
from ragmend.trained import DetectorRunFacts

RecordKind = Literal[
    "selected", "claims", "verdicts", "candidates", "actions", "answers", "judgements"
]
"""What one stage of a run records, by its field of `RunRecords`."""


class RunRecords(NamedTuple):
    """Everything a run recorded about its population, as read from disk."""

    selected: Sequence[Selected]
    """The whole evaluated split."""
    responses: Sequence[Response]
    """At least the population's."""
    tasks: Mapping[str, TaskType]
    """Task of each source."""
    population: Sequence[str]
    """Record ids that were repaired and judged: flagged ones, perhaps limited."""
    claims: Sequence[Claim]
    verdicts: Sequence[Verdict]
    candidates: Sequence[Candidate]
    actions: Sequence[Action]
    answers: Sequence[RepairedAnswer]
    judgements: Sequence[Judgement]
    judges: Sequence[str]
    """The judges of the protocol, in table order."""
    arms: Sequence[Arm] = ARMS
    detector_scores: Sequence[DetectorScore] = ()
    """Counts of the detector run that defines the population, if it was scored; of trained ones,
    of all that were."""
    detector_runs: Sequence[DetectorRunFacts] = ()
    """The detectors that were trained, or are to be."""
    rewrites: Sequence[Rewrite] | None = None
    """What the rewriter said on each claim that it was asked about; None: not recorded."""
    lacks: frozenset[RecordKind] = frozenset()
    """What is not recorded yet, of a run that is not finished: empty above, and nothing is said
    of it. What a stage needs is there where its own records are."""

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions that every record of the population was judged in."""
        return ("original", *self.arms)


def check_accounting(run: RunRecords) -> None:
    """Check that nothing was lost, doubled or added between the stages.

    Raises:
        AccountingError: A record, claim, action or answer is missing, doubled or unknown, or
            an answer's counts are not those of its claims.
        StatisticsError: A (record, judge, condition) cell is missing, doubled or unknown.
    """
    _check_population(run)
    _check_claims(run)
    if "actions" not in run.lacks:
        _check_actions(run)
    if "answers" not in run.lacks:
        _check_answers(run)
    if "judgements" not in run.lacks:
        _check_judgements(run)


def _check_population(run: RunRecords) -> None:
    _refuse_repeated("response of the split", (s.record_id for s in run.selected))
    _refuse_repeated("response", (r.record_id for r in run.responses))
    _refuse_repeated("record of the population", run.population)
    _refuse_lost(
        "flagged response", run.population, {s.record_id for s in run.selected if s.flagged}
    )
    _refuse_lost("response", run.population, {r.record_id for r in run.responses})
    _refuse_lost("task of source", (s.source_id for s in run.selected), run.tasks)


def _check_claims(run: RunRecords) -> None:
    claims = [(c.record_id, c.claim_id) for c in run.claims]
    statements = [(c.record_id, c.claim_id) for c in run.claims if c.kind == "statement"]
    verdicts = [(v.record_id, v.claim_id) for v in run.verdicts]
    candidates = [(c.record_id, c.claim_id, c.kind) for c in run.candidates]
    _refuse_lost("record of the population", (c.record_id for c in run.claims), run.population)
    _refuse_repeated("claim", claims)
    _refuse_repeated("verdict", verdicts)
    _refuse_repeated("candidate", candidates)
    if "verdicts" not in run.lacks:
        _refuse_lost("verdict of claim", statements, verdicts)
    _refuse_lost("claim of verdict", verdicts, claims)
    _refuse_lost("claim of candidate", (key[:2] for key in candidates), claims)


def _check_actions(run: RunRecords) -> None:
    expected = [(c.record_id, c.claim_id, arm) for c in run.claims for arm in run.arms]
    actions = [(a.record_id, a.claim_id, a.arm) for a in run.actions]
    _refuse_repeated("action", actions)
    _refuse_lost("action", expected, actions)
    _refuse_lost("claim of action", actions, expected)


def _check_answers(run: RunRecords) -> None:
    expected = list(product(run.population, run.conditions))
    answers = [(a.record_id, a.condition) for a in run.answers]
    _refuse_repeated("answer", answers)
    _refuse_lost("answer", expected, answers)
    _refuse_lost("record and condition of answer", answers, expected)
    n_claims = Counter(claim.record_id for claim in run.claims)
    for answer in run.answers:
        if answer.n_claims != n_claims[answer.record_id]:
            raise AccountingError(
                f"record {answer.record_id}, condition {answer.condition}: the answer counts "
                f"{answer.n_claims} claims, recorded are {n_claims[answer.record_id]}"
            )


def _check_judgements(run: RunRecords) -> None:
    expected = set(product(run.population, run.judges, run.conditions))
    found: Counter[tuple[str, str, str]] = Counter(
        (j.record_id, j.judge, j.condition) for j in run.judgements
    )
    for cell in sorted(expected | found.keys()):
        if cell not in expected:
            raise StatisticsError(f"{_name_cell(cell)}: no such cell in the protocol")
        if found[cell] != 1:
            raise StatisticsError(
                f"{_name_cell(cell)}: expected one judgement, found {found[cell]}"
            )


def _refuse_repeated(what: str, keys: Iterable[Hashable]) -> None:
    for key, count in Counter(keys).items():
        if count > 1:
            raise AccountingError(f"{what} {_name(key)}: occurs {count} times, expected once")


def _refuse_lost(what: str, needed: Iterable[Hashable], present: Iterable[Hashable]) -> None:
    there = frozenset(present)
    for key in needed:
        if key not in there:
            raise AccountingError(f"{what} {_name(key)}: missing")


def _name(key: object) -> str:
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _name_cell(cell: tuple[str, str, str]) -> str:
    return "record {}, judge {}, condition {}".format(*cell)
