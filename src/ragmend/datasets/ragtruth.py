"""RAGTruth in its official schema, from a folder; every promise of the format is checked.

Source: Niu et al. 2024, "RAGTruth: A Hallucination Corpus for Developing Trustworthy
Retrieval-Augmented Language Models"; schema of ParticleMedia/RAGTruth, `dataset/`.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import JsonValue, ValidationError

from ragmend.errors import DataError, MissingInputError
from ragmend.io import Line, explain, parse_record, read_lines
from ragmend.records import (
    GoldSpan,
    Record,
    Response,
    Source,
    SpanPolicy,
    Split,
    TaskType,
    record_order,
)
from ragmend.scoring import merge_spans

LabelType = Literal[
    "Evident Conflict", "Subtle Conflict", "Evident Baseless Info", "Subtle Baseless Info"
]


class Label(Record):
    """One annotation, as published."""

    start: int
    end: int
    text: str
    meta: str | None = None
    label_type: LabelType
    implicit_true: bool
    due_to_null: bool


class RawResponse(Record):
    """One line of `response.jsonl`, as published.

    `labels` that are null or not there mean that nobody annotated the response; an empty
    list means that an annotator found nothing.
    """

    id: str
    source_id: str
    model: str
    temperature: float | None = None
    labels: tuple[Label, ...] | None = None
    split: Split
    quality: str | None = None
    response: str


class RawSource(Record):
    """One line of `source_info.jsonl`, as published."""

    source_id: str
    task_type: TaskType
    source: str | None = None
    source_info: str | dict[str, JsonValue]
    prompt: str


class DatasetFiles(NamedTuple):
    """The files that hold one split, and those beside them that are not read."""

    responses: Path
    sources: Path
    ignored: tuple[str, ...]


class Dataset(NamedTuple):
    """Responses in order of id, their sources, and what was noticed on the way.

    `left_out` has the ids of responses that were left out with their sources.
    """

    responses: tuple[Response, ...]
    sources: dict[str, Source]
    notes: tuple[str, ...]
    left_out: frozenset[str] = frozenset()


def demo_folder() -> Path:
    """Return the folder of the built-in demonstration set."""
    return Path(str(resources.files("ragmend.datasets"))) / "demo"


def find_files(folder: Path, split: Split) -> DatasetFiles:
    """Find the official or `{split}_…` files of a split in a folder.

    Raises:
        MissingInputError: No such folder, or a file is not there.
        DataError: More than one file could be meant.
    """
    if not folder.is_dir():
        what = "is not a directory" if folder.exists() else "no such folder"
        raise MissingInputError(f"{folder}: {what}; a folder with RAGTruth's files was expected")
    responses = _find_one(folder, "response.jsonl", split)
    sources = _find_one(folder, "source_info.jsonl", split)
    ignored = [f.name for f in sorted(folder.iterdir()) if f not in (responses, sources)]
    return DatasetFiles(responses, sources, tuple(ignored))


def load_ragtruth(
    files: DatasetFiles,
    *,
    split: Split,
    tasks: Sequence[TaskType],
    implicit_true: SpanPolicy = "count",
    due_to_null: SpanPolicy = "count",
    leave_out: frozenset[str] = frozenset(),
) -> Dataset:
    """Load the responses of one split and their sources.

    Args:
        files: What `find_files` found.
        split: Which split's responses to keep.
        tasks: Which tasks to keep.
        implicit_true: `ignore` leaves spans out whose content is true although the source
            does not say so; the official counting keeps them.
        due_to_null: `ignore` leaves spans out that state a null attribute; likewise.
        leave_out: Ids of sources that are left out with their responses, and counted.

    Raises:
        MissingInputError, DataError: As `ragmend.io`; a duplicate id, a missing source, an
            unknown task, label or split, or a span that does not fit its text.
    """
    sources = _load_sources(files.sources)
    notes: Counter[str] = Counter()
    responses: dict[str, Response] = {}
    for line in read_lines(files.responses):
        raw = parse_record(line, RawResponse)
        if raw.id in responses:
            raise DataError(f"{line.where}: id {raw.id!r} appears twice")
        source = sources.get(raw.source_id)
        if source is None:
            raise DataError(
                f"{line.where}: source {raw.source_id!r} is not in {files.sources.name}"
            )
        _note_quirks(raw, notes)
        spans = _gold_spans(raw, line, implicit_true=implicit_true, due_to_null=due_to_null)
        responses[raw.id] = _as_response(raw, spans, line)
    chosen = [
        response
        for response in responses.values()
        if response.split == split and sources[response.source_id].task_type in tasks
    ]
    kept = [response for response in chosen if response.source_id not in leave_out]
    left_out = frozenset(r.record_id for r in chosen if r.source_id in leave_out)
    if left_out:
        notes["responses to development sources (left out)"] += len(left_out)
    if not kept:
        raise DataError(f"{files.responses}: no {split} response of {', '.join(tasks)}")
    kept.sort(key=lambda response: record_order(response.record_id))
    used = {response.source_id for response in kept}
    return Dataset(
        responses=tuple(kept),
        sources={key: source for key, source in sources.items() if key in used},
        notes=(
            *(f"ignored: {name}" for name in files.ignored),
            *(f"{count} {text}" for text, count in sorted(notes.items())),
        ),
        left_out=left_out,
    )


def development_sources() -> frozenset[str]:
    """Return the test sources on which the embedded verifier was developed.

    RAGTruth's train records at hand have no data-to-text, so 30 of the 130 such test sources
    at hand were drawn; no printed test figure may use them.
    """
    listed = resources.files("ragmend.datasets").joinpath("data2txt_development.json")
    return frozenset(json.loads(listed.read_text(encoding="utf-8"))["source_ids"])


def draw_sources(
    sources: Mapping[str, Source] | Iterable[str], *, n_sources: int, seed: int
) -> frozenset[str]:
    """Draw sources at random, so that no source has answers on both sides.

    Args:
        sources: Ids of the sources to draw from.
        n_sources: How many to draw.
        seed: Seed of the draw; the order of `sources` does not matter.

    Raises:
        DataError: Fewer sources than asked for plus one that is left.
    """
    import numpy as np

    ids = sorted(sources, key=record_order)
    if not 0 < n_sources < len(ids):
        raise DataError(f"cannot draw {n_sources} sources from {len(ids)}")
    chosen = np.random.default_rng(seed).choice(len(ids), size=n_sources, replace=False)
    return frozenset(ids[i] for i in chosen)


def _find_one(folder: Path, name: str, split: Split) -> Path:
    names = [f"{prefix}{name}{suffix}" for prefix in ("", f"{split}_") for suffix in ("", ".gz")]
    found = [folder / candidate for candidate in names if (folder / candidate).exists()]
    if not found:
        raise MissingInputError(f"{folder}: none of {', '.join(names)} is there")
    if len(found) > 1:
        both = ", ".join(path.name for path in found)
        raise DataError(f"{folder}: {both} could each be meant; keep one")
    return found[0]


def _load_sources(path: Path) -> dict[str, Source]:
    sources: dict[str, Source] = {}
    for line in read_lines(path):
        raw = parse_record(line, RawSource)
        if raw.source_id in sources:
            raise DataError(f"{line.where}: source_id {raw.source_id!r} appears twice")
        sources[raw.source_id] = _as_source(raw, line)
    return sources


def _as_source(raw: RawSource, line: Line) -> Source:
    info = raw.source_info
    common = {"source_id": raw.source_id, "task_type": raw.task_type}
    try:
        if raw.task_type == "Summary" and isinstance(info, str):
            return Source.model_validate({**common, "text": info})
        if raw.task_type == "Data2txt" and isinstance(info, dict):
            return Source.model_validate({**common, "fields": info})
        if (
            raw.task_type == "QA"
            and isinstance(info, dict)
            and set(info) == {"question", "passages"}
        ):
            body = {"text": info["passages"], "question": info["question"]}
            return Source.model_validate({**common, **body})
    except ValidationError as error:
        raise DataError(f"{line.where}: {explain(error, 'source_info')}") from error
    expected = {
        "Summary": "a string",
        "Data2txt": "an object",
        "QA": "an object with `question` and `passages`",
    }[raw.task_type]
    raise DataError(f"{line.where}: source_info of a {raw.task_type} source must be {expected}")


def _as_response(raw: RawResponse, spans: tuple[GoldSpan, ...] | None, line: Line) -> Response:
    try:
        return Response(
            record_id=raw.id,
            source_id=raw.source_id,
            generator=raw.model,
            text=raw.response,
            gold_spans=spans,
            split=raw.split,
            quality=raw.quality,
        )
    except ValidationError as error:
        raise DataError(f"{line.where}: {explain(error, 'response')}") from error


def _gold_spans(
    raw: RawResponse, line: Line, *, implicit_true: SpanPolicy, due_to_null: SpanPolicy
) -> tuple[GoldSpan, ...] | None:
    if raw.labels is None:
        return None
    spans = []
    for number, label in enumerate(raw.labels):
        place = f"{line.where}: id {raw.id!r}, label {number}"
        if not 0 <= label.start < label.end <= len(raw.response):
            raise DataError(
                f"{place}: span {label.start}:{label.end} leaves the text of "
                f"{len(raw.response)} characters"
            )
        if raw.response[label.start : label.end] != label.text:
            raise DataError(f"{place}: span {label.start}:{label.end} does not hold {label.text!r}")
        if (label.implicit_true and implicit_true == "ignore") or (
            label.due_to_null and due_to_null == "ignore"
        ):
            continue
        spans.append(GoldSpan.model_validate(label.model_dump(exclude={"meta"})))
    return tuple(sorted(spans, key=lambda span: (span.start, span.end, span.label_type)))


def _note_quirks(raw: RawResponse, notes: Counter[str]) -> None:
    if raw.labels is None:
        notes["responses without annotation (in no score against gold)"] += 1
        return
    offsets = [(label.start, label.end) for label in raw.labels]
    if offsets != sorted(offsets):
        notes["responses with gold spans out of order (sorted)"] += 1
    if len(set(offsets)) < len(offsets):
        notes["responses with a gold span annotated twice (kept, counted once in scores)"] += 1
    touching = sum(end - start for start, end in merge_spans(offsets))
    if touching < sum(end - start for start, end in set(offsets)):
        notes["responses with overlapping gold spans (merged in scores)"] += 1
