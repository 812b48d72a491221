"""Which answers are repaired: those that one run flagged; nothing else decides."""

from collections.abc import Mapping, Sequence

from ragmend.errors import AccountingError
from ragmend.records import Detection, Response, Selected, Source


def select_flagged(
    responses: Sequence[Response],
    sources: Mapping[str, Source],
    detections: Sequence[Detection],
) -> list[Selected]:
    """Say of each response with a verdict whether it belongs to the population.

    Flagged = the verdict is `hallucinated`; an empty or unparsed detector answer is not
    (as published), and a response without a verdict is left out.

    Raises:
        AccountingError: Two verdicts on one response, or one on an unknown response.

    Source: Mulakkayala, van Stein, Plaat (arXiv 2608.29307), section 4.
    """
    verdicts = {detection.record_id: detection.verdict for detection in detections}
    known = {response.record_id for response in responses}
    if len(verdicts) != len(detections) or not verdicts.keys() <= known:
        raise AccountingError("detections are not one a response of the data; redo detect")
    return [
        Selected(
            record_id=response.record_id,
            source_id=response.source_id,
            task_type=sources[response.source_id].task_type,
            gold=response.is_gold_hallucinated,
            verdict=verdicts[response.record_id],
            flagged=verdicts[response.record_id] == "hallucinated",
        )
        for response in responses
        if response.record_id in verdicts
    ]
