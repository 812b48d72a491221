"""What verifier, rewriter and judges answered, held against what was made of it."""

from __future__ import annotations

from collections.abc import Iterable

from ragmend.analysis.inputs.accounting import RunRecords
from ragmend.errors import AccountingError
from ragmend.records import Candidate, Judgement, Rewrite, Span, Verdict

Key = tuple[str, str]


def check_model_answers(run: RunRecords, *, threshold: float) -> None:
    """Check that decisions are those of the recorded answers, and of no others.

    Args:
        run: The records.
        threshold: Claims with P(support) strictly below it are eligible for repair.

    Raises:
        AccountingError: A probability lies outside its interval, or the interval on both sides of
            the threshold; a candidate is accepted against gate or threshold; the rewriter was not
            asked about an eligible claim, or about another one; a rewrite is not its; a label is
            not what its spans make it; a span does not stand in the judged answer; an answer
            without text was judged.
    """
    for verdict in run.verdicts:
        _check_interval(verdict, threshold)
    for candidate in run.candidates:
        _check_interval(candidate, threshold)
        _check_accepted(candidate, threshold)
    if run.rewrites is not None:
        _check_rewrites(run, run.rewrites, threshold)
    texts = {(answer.record_id, answer.condition): answer.text for answer in run.answers}
    for judgement in run.judgements:
        _check_label(judgement, texts[judgement.record_id, judgement.condition])


def _check_interval(answer: Verdict | Candidate, threshold: float) -> None:
    if answer.p_interval is None:
        return
    low, high = answer.p_interval
    if answer.p_support is None or not low <= answer.p_support <= high:
        raise AccountingError(
            f"{_name(answer)}: P(support) is {answer.p_support}, but known to lie in "
            f"[{low:g}, {high:g}]"
        )
    if low < threshold <= high:
        raise AccountingError(
            f"{_name(answer)}: P(support) is known to lie in [{low:g}, {high:g}] only, which does "
            f"not decide at {threshold:g}"
        )


def _check_accepted(candidate: Candidate, threshold: float) -> None:
    p = candidate.p_support if candidate.gate.passed else None
    if candidate.accepted != (p is not None and p >= threshold):
        gate = "passed" if candidate.gate.passed else "refused"
        raise AccountingError(
            f"{_name(candidate)}, {candidate.kind}: accepted is {candidate.accepted}, but the gate "
            f"{gate} it, and P(support) is {candidate.p_support} at a threshold of {threshold:g}"
        )


def _check_rewrites(run: RunRecords, rewrites: Iterable[Rewrite], threshold: float) -> None:
    texts: dict[Key, str | None] = {}
    for rewrite in rewrites:
        if (key := _key(rewrite)) in texts:
            raise AccountingError(f"{_name(rewrite)}: the rewriter was asked more than once")
        texts[key] = rewrite.text
    eligible = {_key(verdict) for verdict in run.verdicts if verdict.p_support < threshold}
    if different := eligible ^ texts.keys():
        key = min(different)
        was_it = "was not asked about this eligible" if key in eligible else "was asked about this"
        rest = "" if key in eligible else f", which is not below the threshold of {threshold:g}"
        raise AccountingError(f"record {key[0]}, claim {key[1]}: the rewriter {was_it} claim{rest}")
    for candidate in run.candidates:
        if candidate.kind == "rewrite" and candidate.text != texts.get(_key(candidate)):
            raise AccountingError(f"{_name(candidate)}: the rewriter did not give this rewrite")


def _check_label(judgement: Judgement, answer: str) -> None:
    n_named = len(judgement.spans) + len(judgement.unlocated)
    at = f"record {judgement.record_id}, judge {judgement.judge}, condition {judgement.condition}"
    if judgement.label != (n_named > 0):
        raise AccountingError(f"{at}: the label is {judgement.label}, with {n_named} spans named")
    if (judgement.status == "empty_answer") != (not answer.strip()):
        has = "text" if answer.strip() else "no text"
        raise AccountingError(f"{at}: the status is {judgement.status}, but the answer has {has}")
    for span in judgement.spans:
        if not _stands_in(span, answer):
            raise AccountingError(
                f"{at}: span {span.start}:{span.end} does not stand in the judged answer"
            )


def _stands_in(span: Span, answer: str) -> bool:
    return answer[span.start : span.end] == span.text


def _key(record: Verdict | Candidate | Rewrite) -> Key:
    return record.record_id, record.claim_id


def _name(record: Verdict | Candidate | Rewrite) -> str:
    return f"record {record.record_id}, claim {record.claim_id}"
