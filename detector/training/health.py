"""The verdict on a training: usable, degraded or failed, and why, in words.

Two of the paper's ten trainings failed, and nobody can say how, for neither adapters nor answers
were kept. So each training here answers a fixed probe, and what its answers, adapter, losses and
tokens show is turned into reasons. Only a usable training may define a population.

Source: arXiv 2608.29307, section 5 (two of ten runs without usable answers). The limits are ours.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Literal, NamedTuple

from ragmend.errors import AccountingError
from ragmend.records import Detection
from ragmend.trained import (
    UNREAD_LIMIT,
    AnswerRates,
    DetectorAnswer,
    Health,
    HealthReport,
    LayerNorm,
    LogRow,
    TokenFacts,
)

DEGRADED_SHARE = UNREAD_LIMIT
"""More answers without a verdict make a training degraded: its recall is bounded by them."""
FAILED_SHARE = 0.25
"""More make it failed: its score says more of them than of what it found."""
OUTLIER = 20.0
"""An adapted layer that adds so many times the median of all is an outlier."""
WINDOW = 10  # steps whose mean loss is compared, at both ends

_Severity = Literal["degraded", "failed"]


class Finding(NamedTuple):
    """One thing that is wrong, and how much that matters."""

    severity: _Severity
    reason: str


class Evidence(NamedTuple):
    """What is known of a training when it has ended.

    Attributes:
        answers: What the chosen weights, reloaded from disk, answered to development responses.
        verdicts: How that was read, by record id; none of an answer that does not fit.
        n_hallucinated: How many of these responses are hallucinated by gold.
        in_memory: What the weights in memory answered to the probe when training ended.
        reloaded: What the same weights answered after they were reloaded.
        log: One row a step.
        tokens: Of a detector that writes text.
        layers: Norms of the adapter; none where the whole model was trained.
    """

    answers: Sequence[DetectorAnswer]
    verdicts: Mapping[str, Detection]
    n_hallucinated: int
    in_memory: Sequence[DetectorAnswer]
    reloaded: Sequence[DetectorAnswer]
    log: Sequence[LogRow]
    tokens: TokenFacts | None = None
    layers: Sequence[LayerNorm] = ()


def judge_training(run_id: str, evidence: Evidence) -> HealthReport:
    """Give the verdict on one training.

    Raises:
        AccountingError: There are no answers, or the two probes are of different responses.
    """
    if not evidence.answers:
        raise AccountingError(f"{run_id}: it has no answers to look at")
    rates = _rates(evidence)
    n_differs = _n_reload_differs(run_id, evidence)
    findings = [
        *_find_in_answers(rates),
        *_find_one_verdict(rates, evidence.n_hallucinated),
        *_find_problems(evidence.answers),
        *_find_in_tokens(evidence.tokens),
        *_find_in_losses(evidence.log),
        *_find_in_layers(evidence.layers),
        *_find_in_reload(n_differs, len(evidence.in_memory)),
    ]
    return HealthReport(
        run_id=run_id,
        verdict=_worst(findings),
        reasons=tuple(finding.reason for finding in sorted(findings, key=_gravest_first)),
        answers=rates,
        tokens=evidence.tokens,
        n_reload_differs=n_differs,
        first_loss=_mean_loss(evidence.log[:WINDOW]),
        last_loss=_mean_loss(evidence.log[-WINDOW:]),
        n_bad_losses=sum(row.loss is None for row in evidence.log),
        layers=tuple(evidence.layers),
    )


def _gravest_first(finding: Finding) -> bool:
    return finding.severity != "failed"


def _worst(findings: Sequence[Finding]) -> Health:
    severities = {finding.severity for finding in findings}
    if "failed" in severities:
        return "failed"
    return "degraded" if severities else "usable"


def _rates(evidence: Evidence) -> AnswerRates:
    n = len(evidence.answers)
    statuses = [detection.status for detection in evidence.verdicts.values()]
    verdicts = [detection.verdict for detection in evidence.verdicts.values()]
    n_flagged = verdicts.count("hallucinated")
    n_read = n_flagged + verdicts.count("clean")
    return AnswerRates(
        n=n,
        empty=statuses.count("empty") / n,
        malformed=statuses.count("malformed") / n,
        truncated=statuses.count("truncated") / n,
        no_end=sum(not answer.ended for answer in evidence.answers) / n,
        contradicting=sum(d.contradicts for d in evidence.verdicts.values()) / n,
        hallucinated=n_flagged / n_read if n_read else 0.0,
    )


def _find_in_answers(rates: AnswerRates) -> Iterator[Finding]:
    shares = {
        "are empty": rates.empty,
        "are no readable JSON": rates.malformed,
        "are cut at their limit": rates.truncated,
    }
    unread = sum(shares.values())
    if unread > DEGRADED_SHARE:
        parts = ", ".join(f"{_percent(share)} {how}" for how, share in shares.items() if share)
        yield Finding(
            "failed" if unread > FAILED_SHARE else "degraded",
            f"{_percent(unread)} of {rates.n} answers give no verdict: {parts}",
        )
    if rates.no_end > FAILED_SHARE:
        yield Finding(
            "failed",
            f"{_percent(rates.no_end)} of {rates.n} answers never end: the end token was "
            "not learnt (is the padding token the end token?)",
        )
    if rates.contradicting > DEGRADED_SHARE:
        yield Finding(
            "degraded",
            f"{_percent(rates.contradicting)} of {rates.n} answers contradict themselves: "
            "their boolean and their spans say different things",
        )


def _find_one_verdict(rates: AnswerRates, n_hallucinated: int) -> Iterator[Finding]:
    """Find out whether it says the same of all, though they are not: among those that were read."""
    has_read_any = rates.empty + rates.malformed + rates.truncated < 1
    if has_read_any and rates.hallucinated == 1.0 and n_hallucinated < rates.n:
        n_clean = rates.n - n_hallucinated
        yield Finding("degraded", f"it flags every answer, though {n_clean} of {rates.n} are clean")
    if has_read_any and rates.hallucinated == 0.0 and n_hallucinated > 0:
        yield Finding(
            "degraded",
            f"it flags none of the answers, though {n_hallucinated} of {rates.n} are hallucinated",
        )


def _find_problems(answers: Sequence[DetectorAnswer]) -> Iterator[Finding]:
    n = sum(answer.problem == "non_finite" for answer in answers)
    if n:
        yield Finding("failed", f"{n} of {len(answers)} answers had numbers that are none")


def _find_in_tokens(tokens: TokenFacts | None) -> Iterator[Finding]:
    if tokens is None:
        return
    if tokens.pad_is_end:
        yield Finding(
            "failed",
            f"the padding token is the end token ({tokens.end_token!r}): where padding has no "
            "loss, a detector never learns to stop",
        )
    if tokens.n_without_end:
        yield Finding(
            "failed",
            f"{tokens.n_without_end} of {tokens.n_targets} targets have no loss on an end token "
            f"({tokens.end_token!r}): a detector never learns to stop",
        )
    if tokens.n_double_begin:
        yield Finding(
            "degraded", f"{tokens.n_double_begin} prompts begin with two tokens for the beginning"
        )
    # A few may: a target that is longer than any answer may be leaves its source less room.
    if tokens.n_served_otherwise > DEGRADED_SHARE * tokens.n_targets:
        yield Finding(
            "failed",
            f"{tokens.n_served_otherwise} of {tokens.n_targets} prompts are asked with other "
            "tokens than they were trained on (a target longer than recipe.answer_tokens leaves "
            "its source less room)",
        )


def _find_in_losses(log: Sequence[LogRow]) -> Iterator[Finding]:
    if not log:
        yield Finding("failed", "no step was logged: nothing shows that it was trained")
        return
    bad = [row.step for row in log if row.loss is None]
    if bad:
        yield Finding(
            "failed", f"the loss was no finite number in {len(bad)} steps, first {bad[0]}"
        )
    broken = [row.step for row in log if row.grad_norm is None and row.loss is not None]
    if broken:
        yield Finding(
            "degraded",
            f"gradients were no finite numbers in {len(broken)} steps, first {broken[0]}",
        )
    first, last = _mean_loss(log[:WINDOW]), _mean_loss(log[-WINDOW:])
    if len(log) >= 2 * WINDOW and first is not None and last is not None and last >= first:
        yield Finding(
            "degraded",
            f"the loss did not fall: {first:.3g} over the first {WINDOW} steps, {last:.3g} over "
            "the last",
        )


def _find_in_layers(layers: Sequence[LayerNorm]) -> Iterator[Finding]:
    if not layers:
        return
    broken = [layer.layer for layer in layers if None in (layer.a, layer.b, layer.delta)]
    if broken:
        yield Finding(
            "failed",
            f"{len(broken)} of {len(layers)} adapted layers hold numbers that are none, as "
            f"{broken[0]}",
        )
    added = {layer.layer: layer.delta for layer in layers if layer.delta is not None}
    empty = [name for name, delta in added.items() if delta == 0]
    if added and len(empty) == len(added):
        yield Finding("failed", "the adapter adds nothing: every layer of it is zero")
        return
    if empty:
        yield Finding(
            "degraded",
            f"{len(empty)} of {len(layers)} adapted layers add nothing, as {empty[0]}",
        )
    middle = median(delta for delta in added.values() if delta) if len(empty) < len(added) else 0.0
    far = [name for name, delta in added.items() if middle and delta > OUTLIER * middle]
    if far:
        yield Finding(
            "degraded",
            f"{len(far)} of {len(layers)} adapted layers add more than {OUTLIER:g} times what the "
            f"median layer adds, as {far[0]} ({added[far[0]]:.3g} against {middle:.3g})",
        )


def _find_in_reload(n_differs: int | None, n_probe: int) -> Iterator[Finding]:
    if n_differs:
        yield Finding(
            "failed",
            f"{n_differs} of {n_probe} probe answers differ after the weights were saved and "
            "reloaded: what is on disk is not what was trained",
        )


def _n_reload_differs(run_id: str, evidence: Evidence) -> int | None:
    if not evidence.in_memory:
        return None
    before = {answer.record_id: answer for answer in evidence.in_memory}
    after = {answer.record_id: answer for answer in evidence.reloaded}
    if before.keys() != after.keys():
        raise AccountingError(
            f"{run_id}: the probes before and after reloading are of different responses"
        )
    return sum(before[record_id] != after[record_id] for record_id in before)


def _mean_loss(log: Sequence[LogRow]) -> float | None:
    """Return the mean of the losses; None where one is none, or there are none."""
    losses = [row.loss for row in log if row.loss is not None]
    return sum(losses) / len(losses) if losses and len(losses) == len(log) else None


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
