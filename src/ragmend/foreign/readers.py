"""Foreign files as rows: CSV, JSONL, a JSON array or Parquet, each perhaps gzip.

Every row knows its place for messages: "file:line", or the row's number in a file without lines.
"""

import csv
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ragmend.errors import DataError
from ragmend.io import Line, parse_json, parse_object, read_file, read_lines

Format = Literal["csv", "jsonl", "json", "parquet"]
_ENDINGS: dict[str, Format] = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
}


class Row(NamedTuple):
    """One foreign record and where it stands."""

    where: str
    cells: dict[str, Any]


def format_of(path: Path) -> Format:
    """Tell the format by the file's name.

    Raises:
        DataError: The name's ending is unknown.
    """
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    if ending not in _ENDINGS:
        raise DataError(
            f"{path}: no format has this ending; known are {', '.join(_ENDINGS)}, each perhaps "
            "with .gz; the map's `format` names one for any other"
        )
    return _ENDINGS[ending]


def read_rows(path: Path, kind: Format) -> Iterator[Row]:
    """Yield the rows of a file.

    Raises:
        MissingInputError: No such file.
        DataError: It is not what the format promises; the message says where.
    """
    readers = {
        "csv": _read_csv,
        "jsonl": _read_jsonl,
        "json": _read_array,
        "parquet": _read_parquet,
    }
    return readers[kind](path)


def _read_csv(path: Path) -> Iterator[Row]:
    reader = csv.reader((line.text + "\n" for line in read_lines(path)), strict=True)
    try:
        header = next(reader, None)
        if header is None:
            raise DataError(f"{path}: the file is empty")
        _refuse_repeated(header, f"{path}:1")
        n_before = reader.line_num
        for cells in reader:
            where = f"{path}:{n_before + 1}"
            n_before = reader.line_num
            if len(cells) != len(header):
                raise DataError(f"{where}: {len(cells)} cells, the header has {len(header)}")
            yield Row(where, dict(zip(header, cells, strict=True)))
    except csv.Error as error:
        raise DataError(f"{path}:{reader.line_num}: not valid CSV ({error})") from error


def _read_jsonl(path: Path) -> Iterator[Row]:
    for line in read_lines(path):
        yield Row(line.where, parse_object(line))


def _read_array(path: Path) -> Iterator[Row]:
    whole = parse_json(Line(str(path), "\n".join(line.text for line in read_lines(path))))
    if not isinstance(whole, list):
        raise DataError(f"{path}: expected a JSON array, found {type(whole).__name__}")
    for number, item in enumerate(whole, 1):
        where = f"{path}: item {number}"
        if not isinstance(item, dict):
            raise DataError(f"{where}: expected a JSON object, found {type(item).__name__}")
        yield Row(where, item)


def _read_parquet(path: Path) -> Iterator[Row]:
    import pyarrow as pa
    from pyarrow import parquet

    content, number = _unpacked(path), 0
    # What Python's own types cannot hold (a date of the year 300,000, say) is refused too.
    try:
        table = parquet.read_table(pa.BufferReader(content))
        _refuse_repeated(table.column_names, str(path))
        for batch in table.to_batches():
            for cells in batch.to_pylist():
                number += 1
                yield Row(f"{path}: row {number}", cells)
    except DataError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(f"{path}: not a Parquet file that can be read ({first})") from error


def _unpacked(path: Path) -> bytes:
    content = read_file(path)
    if path.suffix.lower() != ".gz":
        return content
    try:
        return gzip.decompress(content)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path}: broken gzip file ({error}); fetch it again") from error


def _refuse_repeated(names: list[str], where: str) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{where}: the column {twice!r} stands there twice")
