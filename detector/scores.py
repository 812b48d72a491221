"""Detector scores in the RAGTruth protocol: response and span level, by task and pooled."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from ragmend.records import (
    TASKS,
    Detection,
    DetectorScore,
    Response,
    ScoreLevel,
    ScoreProtocol,
    Source,
    TaskType,
)
from ragmend.scoring import Score, score_responses, score_spans

Group = TaskType | Literal["pooled"]


def score_detections(
    responses: Sequence[Response],
    sources: Mapping[str, Source],
    detections: Sequence[Detection],
) -> list[DetectorScore]:
    """Score one run over the annotated responses that it gave a verdict on.

    `good-only` keeps responses whose quality is "good"; an unknown quality is not good.
    `read-only` keeps those on which the detector gave a verdict that could be read; it is there
    where some could not, which the others count as not flagged.

    Source: Niu et al. 2024 (RAGTruth), section 5.1.
    """
    verdicts = {detection.record_id: detection for detection in detections}
    # A detector that never gives spans has no span-level score, not one of zero; one that
    # gives none for a task has missed what there was.
    levels: tuple[ScoreLevel, ...] = ("response",)
    if any(detection.spans for detection in detections):
        levels = ("response", "span")
    annotated = [r for r in responses if r.gold_spans is not None and r.record_id in verdicts]
    kept: dict[ScoreProtocol, list[Response]] = {
        "all": annotated,
        "good-only": [response for response in annotated if response.quality == "good"],
    }
    read = [r for r in annotated if verdicts[r.record_id].verdict not in ("empty", "unparsed")]
    if len(read) < len(annotated):
        kept["read-only"] = read
    return [
        DetectorScore(
            run_id=detections[0].run_id,
            level=level,
            protocol=protocol,
            group=group,
            n_responses=len(members),
            **score._asdict(),
        )
        for protocol, chosen in kept.items()
        for group, members in _groups(chosen, sources)
        for level in levels
        for score in [_score(members, verdicts, level)]
    ]


def _groups(
    responses: Sequence[Response], sources: Mapping[str, Source]
) -> Iterator[tuple[Group, Sequence[Response]]]:
    for task in TASKS:
        members = [r for r in responses if sources[r.source_id].task_type == task]
        if members:
            yield task, members
    if responses:
        yield "pooled", responses


def _score(
    responses: Sequence[Response], verdicts: Mapping[str, Detection], level: ScoreLevel
) -> Score:
    found = [verdicts[response.record_id] for response in responses]
    if level == "response":
        return score_responses(
            [bool(response.gold_spans) for response in responses],
            [detection.verdict == "hallucinated" for detection in found],
        )
    return score_spans(
        [[(s.start, s.end) for s in response.gold_spans or ()] for response in responses],
        [[(s.start, s.end) for s in detection.spans] for detection in found],
        [len(response.text) for response in responses],
    )
