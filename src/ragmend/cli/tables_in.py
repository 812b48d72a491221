"""Anyone's tables from disk: CSV, JSONL or Parquet, as they stand; checking them is analysis."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragmend.errors import DataError
from ragmend.io import parse_object, read_file, read_lines, shorten

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_SUFFIXES = ".csv, .jsonl or .parquet, perhaps followed by .gz"


def read_table(path: Path) -> pd.DataFrame:
    """Read a table; CSV values are text, those of JSONL and Parquet keep their types.

    Raises:
        MissingInputError: No such file.
        DataError: Another ending; a line with more or fewer values than the header; a column
            named twice; broken JSON, Parquet, gzip or UTF-8.
    """
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(".csv"):
        return _read_csv(path)
    if name.endswith((".jsonl", ".ndjson")):
        return _read_jsonl(path)
    if name.endswith(".parquet"):
        return _read_parquet(path)
    raise DataError(f"{path}: a table must end in {_SUFFIXES}")


def _read_csv(path: Path) -> pd.DataFrame:
    """Read with Arrow, whose reader refuses ragged lines and names them."""
    import pyarrow as pa
    from pyarrow import csv

    first = next(read_lines(path), None)
    if first is None or not first.text.strip():
        raise DataError(f"{path}: expected a header line with the names of the columns")
    content = _unpacked(path)
    parse = csv.ParseOptions(newlines_in_values=True)
    try:
        names = csv.open_csv(pa.BufferReader(content), parse_options=parse).schema.names
        _refuse_repeated(path, names)
        types = csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
        )
        table = csv.read_csv(pa.BufferReader(content), parse_options=parse, convert_options=types)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise DataError(f"{path}: not a CSV table: {_first_line(error)}") from error
    return _as_objects(path, table)


def _read_jsonl(path: Path) -> pd.DataFrame:
    import pandas as pd

    rows: list[dict[str, Any]] = [
        parse_object(line) for line in read_lines(path) if line.text.strip()
    ]
    if not rows:
        raise DataError(f"{path}: no rows")
    # Objects, so that 1, true and "1" stay what they are and a missing key stays missing.
    return pd.DataFrame(rows, dtype=object)


def _read_parquet(path: Path) -> pd.DataFrame:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(pa.BufferReader(_unpacked(path)))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(f"{path}: not a Parquet table: {_first_line(error)}") from error
    _refuse_repeated(path, table.column_names)
    return _as_objects(path, table)


def _as_objects(path: Path, table: pa.Table) -> pd.DataFrame:
    """Return Python's own values, so that an id stays whole beside a blank, and text text.

    A named index of pandas is a column like any other.
    """
    import pandas as pd
    import pyarrow as pa

    columns = {}
    for name in table.column_names:
        try:
            columns[name] = pd.Series(table[name].to_pylist(), dtype=object)
        except (pa.ArrowException, ValueError, OverflowError) as error:
            raise DataError(f"{path}: column {name!r}: {_first_line(error)}") from error
    return pd.DataFrame(columns)


def _unpacked(path: Path) -> bytes:
    content = read_file(path)
    if path.suffix.lower() != ".gz":
        return content
    try:
        return gzip.decompress(content)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path}: broken gzip file ({error}); fetch it again") from error


def _refuse_repeated(path: Path, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{path}: the column {shorten(name)} stands in the header twice")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
