"""Import anybody's verdicts on responses: JSONL or CSV, by record id, verdict and/or spans.

One row a response. `system` names a column of verdicts (with an optional `<system>_score`
beside it) or a key of a mapping column of spans (`{"pred_spans": {"my-system": [...]}}`).
Without `system` the columns are `verdict` (or `hallucinated`), `spans` and `score`. A cell
that cannot be read stops with file and line: it is never taken for "clean".
"""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ragmend.errors import DataError
from ragmend.io import Line, parse_json, parse_object, read_lines, shorten
from ragmend.records import Detection, DetectionVerdict, Response, Span

VERDICT_WORDS: dict[str, DetectionVerdict] = {
    "1": "hallucinated",
    "true": "hallucinated",
    "hallucinated": "hallucinated",
    "0": "clean",
    "false": "clean",
    "clean": "clean",
    "unparsed": "unparsed",
    "empty": "empty",
}
ID_COLUMNS = ("record_id", "id")
VERDICT_COLUMNS = ("verdict", "hallucinated")


class Row(NamedTuple):
    """One prediction and where it stands."""

    where: str
    cells: dict[str, Any]


class Columns(NamedTuple):
    """Where a row keeps what; a column that it lacks is None."""

    record_id: str
    verdict: str | None
    spans: str | None
    spans_key: str | None
    score: str | None

    def __str__(self) -> str:
        """Name the columns, for messages."""
        named = {k: v for k, v in self._asdict().items() if v is not None}
        return "columns " + ", ".join(f"{use}: {name}" for use, name in named.items())


class Imported(NamedTuple):
    """The detections in order of the responses, and the counts that a person must see."""

    detections: tuple[Detection, ...]
    counts: dict[str, int]


def import_predictions(
    path: Path,
    responses: Sequence[Response],
    *,
    system: str | None,
    run_id: str,
    unknown_records: Literal["error", "ignore"] = "error",
    missing_records: Literal["error", "exclude"] = "error",
    left_out: frozenset[str] = frozenset(),
) -> Imported:
    """Read a prediction file as detections on the given responses.

    Args:
        path: JSONL or CSV, plain or .gz; told apart by the name.
        responses: What the predictions are about.
        system: Column or mapping key that holds the detector's output; see the module.
        run_id: The name these detections get.
        unknown_records: Whether a prediction for another response stops the import.
        missing_records: Whether a response without a prediction stops the import, or is
            left out of it.
        left_out: Ids of responses that are known but take no part; their rows are counted.

    Raises:
        DataError: A bad row, a duplicate id, or records unknown or missing under `error`.
    """
    wanted = {response.record_id: response for response in responses}
    found: dict[str, Detection] = {}
    n_unknown = n_left_out = n_contradictions = 0
    for row, columns, record_id in _read_keyed_rows(path, system):
        response = wanted.get(record_id)
        if response is not None:
            found[record_id], contradicts = _as_detection(row, columns, response, run_id)
            n_contradictions += contradicts
        elif record_id in left_out:
            n_left_out += 1
        elif unknown_records == "ignore":
            n_unknown += 1
        else:
            raise DataError(
                f"{row.where}: record {record_id!r} is not in the data; "
                'detector.unknown_records = "ignore" passes over such rows'
            )
    if not found and not n_unknown and not n_left_out:
        raise DataError(f"{path}: the file holds no prediction")
    missing = [record_id for record_id in wanted if record_id not in found]
    if missing and missing_records == "error":
        raise DataError(
            f"{path}: no prediction for {len(missing)} of {len(wanted)} records, the first is "
            f'{missing[0]!r}; detector.missing_records = "exclude" leaves them out'
        )
    return Imported(
        detections=tuple(found[record_id] for record_id in wanted if record_id in found),
        counts={
            "rows": len(found) + n_left_out + n_unknown,
            "imported": len(found),
            "left_out": n_left_out,
            "unknown_records_ignored": n_unknown,
            "missing_records_excluded": len(missing),
            "verdict_contradicts_spans": n_contradictions,
        },
    )


def _read_keyed_rows(path: Path, system: str | None) -> Iterator[tuple[Row, Columns, str]]:
    """Yield each row with its columns and id; all rows have the same columns, each id once."""
    first: Columns | None = None
    seen: set[str] = set()
    for row in _read_rows(path):
        columns = _find_columns(row, system, path)
        first = first or columns
        if columns._replace(score=first.score) != first:
            # Reading such a row by the first row's columns would pass over what it says.
            raise DataError(f"{row.where}: {columns} here, but {first} in the first row")
        record_id = _read_id(row, columns)
        if record_id in seen:
            raise DataError(f"{row.where}: id {record_id!r} appears twice")
        seen.add(record_id)
        yield row, columns, record_id


def _read_rows(path: Path) -> Iterator[Row]:
    name = path.name.removesuffix(".gz")
    if name.endswith(".csv"):
        yield from _read_csv(path)
    elif name.endswith((".jsonl", ".json")):
        for line in read_lines(path):
            yield Row(line.where, parse_object(line))
    else:
        raise DataError(f"{path}: predictions must be .jsonl or .csv, plain or .gz")


def _read_csv(path: Path) -> Iterator[Row]:
    lines = list(read_lines(path))
    reader = csv.reader((line.text + "\n" for line in lines), strict=True)
    try:
        header = next(reader, None)
        if header is None:
            raise DataError(f"{path}: the file is empty")
        if len(set(header)) < len(header):
            raise DataError(f"{path}:1: a column name appears twice")
        for cells in reader:
            where = lines[reader.line_num - 1].where
            if len(cells) != len(header):
                raise DataError(f"{where}: {len(cells)} cells, the header has {len(header)}")
            yield Row(where, dict(zip(header, cells, strict=True)))
    except csv.Error as error:
        raise DataError(f"{path}:{reader.line_num}: not valid CSV ({error})") from error


def _find_columns(row: Row, system: str | None, path: Path) -> Columns:
    cells = row.cells
    ids = [name for name in ID_COLUMNS if name in cells]
    if len(ids) != 1:
        found = " and ".join(ids) or "none"
        raise DataError(f"{row.where}: one of {', '.join(ID_COLUMNS)} must be there, found {found}")
    record_id = ids[0]
    if system is None:
        verdict = next((name for name in VERDICT_COLUMNS if name in cells), None)
        spans = "spans" if "spans" in cells else None
        if verdict is None and spans is None:
            raise DataError(
                f"{row.where}: no column named {', '.join(VERDICT_COLUMNS)} or spans; "
                f"name one by detector.system, of: {', '.join(_systems(cells))}"
            )
        return Columns(record_id, verdict, spans, None, "score" if "score" in cells else None)
    if system in cells:
        score = f"{system}_score"
        return Columns(record_id, system, None, None, score if score in cells else None)
    for name, value in cells.items():
        if isinstance(value, dict) and system in value:
            return Columns(record_id, None, name, system, None)
    raise DataError(
        f"{path}: no column {system!r} (detector.system), nor such a key in a mapping column; "
        f"there are: {', '.join(_systems(cells))}. --set detector.system= reads `verdict`, "
        "`spans` and `score`"
    )


def _systems(cells: Mapping[str, Any]) -> list[str]:
    nested = [key for value in cells.values() if isinstance(value, dict) for key in value]
    flat = [name for name in cells if not isinstance(cells[name], dict | list)]
    return nested + [name for name in flat if name not in ID_COLUMNS and "score" not in name]


def _read_id(row: Row, columns: Columns) -> str:
    value = row.cells.get(columns.record_id)
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise DataError(f"{row.where}: {columns.record_id} must be an id, found {shorten(value)}")
    return str(value)


def _as_detection(
    row: Row, columns: Columns, response: Response, run_id: str
) -> tuple[Detection, bool]:
    spans = _read_spans(row, columns, response)
    verdict = _read_verdict(row, columns)
    if verdict is None:
        verdict = "hallucinated" if spans else "clean"
    # The boolean is the verdict; spans that say otherwise are counted, not obeyed.
    contradicts = spans is not None and bool(spans) != (verdict == "hallucinated")
    detection = Detection(
        record_id=response.record_id,
        run_id=run_id,
        verdict=verdict,
        spans=spans or (),
        score=_read_score(row, columns),
    )
    return detection, contradicts


def _read_verdict(row: Row, columns: Columns) -> DetectionVerdict | None:
    if columns.verdict is None:
        return None
    value = row.cells.get(columns.verdict)
    word = str(value).strip().lower() if isinstance(value, str | int) else ""
    if word not in VERDICT_WORDS:
        raise DataError(
            f"{row.where}: {columns.verdict} must be one of {', '.join(VERDICT_WORDS)}, "
            f"found {shorten(value)}"
        )
    return VERDICT_WORDS[word]


def _read_spans(row: Row, columns: Columns, response: Response) -> tuple[Span, ...] | None:
    if columns.spans is None:
        return None
    value = row.cells.get(columns.spans)
    if value == "" and columns.verdict is not None:
        return None  # an empty cell beside a verdict gives no spans
    if columns.spans_key is not None:
        if not isinstance(value, dict) or columns.spans_key not in value:
            raise DataError(f"{row.where}: no {columns.spans}.{columns.spans_key}")
        value = value[columns.spans_key]
    if isinstance(value, str):
        value = parse_json(Line(f"{row.where}: {columns.spans}", value))
    if not isinstance(value, list):
        raise DataError(f"{row.where}: {columns.spans} must be a list, found {shorten(value)}")
    return tuple(_read_span(item, row.where, response) for item in value)


def _read_span(item: object, where: str, response: Response) -> Span:
    bounds: Sequence[Any] = (
        (item.get("start"), item.get("end")) if isinstance(item, dict)
        else item if isinstance(item, list) else ()
    )  # fmt: skip
    if len(bounds) != 2 or not all(type(bound) is int for bound in bounds):
        found = shorten(item)
        raise DataError(f"{where}: a span is [start, end] or has start and end, found {found}")
    start, end = bounds
    if not 0 <= start < end <= len(response.text):
        raise DataError(
            f"{where}: span {start}:{end} leaves the text of record {response.record_id!r} "
            f"({len(response.text)} characters)"
        )
    text = response.text[start:end]
    if isinstance(item, dict) and item.get("text", text) != text:
        other = shorten(item["text"])
        raise DataError(f"{where}: span {start}:{end} holds {shorten(text)}, not {other}")
    return Span(start=start, end=end, text=text)


def _read_score(row: Row, columns: Columns) -> float | None:
    value = row.cells.get(columns.score) if columns.score else None
    if value is None or value == "":
        return None
    try:
        score = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"{row.where}: {columns.score} must be a number, found {shorten(value)}"
        ) from error
    if not math.isfinite(score):
        raise DataError(
            f"{row.where}: {columns.score} must be a finite number, found {shorten(value)}"
        )
    return score
