"""Which epoch's weights are kept: the best on the development answers, the earlier of equals.

Source: arXiv 2608.29307, section 3.1 (response-level F1 of greedy generation, each epoch).
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ragmend.errors import AccountingError
from ragmend.records import Detection, Response
from ragmend.scoring import score_responses, score_spans
from ragmend.trained import EpochScore


def score_epoch(
    epoch: int,
    responses: Sequence[Response],
    detections: Mapping[str, Detection],
    *,
    threshold: float | None = None,
) -> list[EpochScore]:
    """Score one epoch's verdicts on all development answers, at response and at span level.

    Args:
        epoch: Counts from 1.
        responses: The development answers, each annotated.
        detections: The verdict on each, by record id.
        threshold: What a token classifier's spans were made with.

    Raises:
        AccountingError: An answer has no verdict.
    """
    missing = [r.record_id for r in responses if r.record_id not in detections]
    if missing:
        raise AccountingError(f"epoch {epoch}: no verdict on development answer {missing[0]!r}")
    found = [detections[response.record_id] for response in responses]
    gold = [[(span.start, span.end) for span in r.gold_spans or ()] for r in responses]
    scores = {
        "response": score_responses(
            [bool(spans) for spans in gold], [d.verdict == "hallucinated" for d in found]
        ),
        "span": score_spans(
            gold,
            [[(span.start, span.end) for span in d.spans] for d in found],
            [len(response.text) for response in responses],
        ),
    }
    verdicts = [detection.verdict for detection in found]
    return [
        EpochScore(
            epoch=epoch,
            level="response" if level == "response" else "span",
            n_responses=len(responses),
            n_empty=verdicts.count("empty"),
            n_unparsed=verdicts.count("unparsed"),
            threshold=threshold,
            **score._asdict(),
        )
        for level, score in scores.items()
    ]


def choose_epoch(scores: Sequence[EpochScore]) -> list[EpochScore]:
    """Mark the rows of the epoch with the best response-level F1, the earlier of equals.

    F1 is compared exactly; where it is undefined (nothing is hallucinated, and nothing was
    flagged) it ranks last.
    """
    by_epoch = {row.epoch: row for row in scores if row.level == "response"}
    best = min(by_epoch, key=lambda epoch: (-_f1(by_epoch[epoch]), epoch))
    return [row.model_copy(update={"chosen": row.epoch == best}) for row in scores]


def chosen_epoch(scores: Sequence[EpochScore]) -> EpochScore:
    """Return the response-level row of the epoch that was chosen.

    Raises:
        AccountingError: Not one was.
    """
    chosen = [row for row in scores if row.chosen and row.level == "response"]
    if len(chosen) != 1:
        raise AccountingError(f"{len(chosen)} epochs are marked as chosen, one was expected")
    return chosen[0]


def _f1(row: EpochScore) -> Fraction:
    whole = 2 * row.tp + row.fp + row.fn
    return Fraction(2 * row.tp, whole) if whole else Fraction(-1)
