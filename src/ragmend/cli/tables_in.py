"""Anyone's tables from disk: CSV, JSONL or Parquet, as they stand; checking them is analysis."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragmend.errors import DataError
from ragmend.io import name_reading_errors, parse_object, read_lines

if TYPE_CHECKING:
    import pandas as pd

_SUFFIXES = ".csv, .jsonl or .parquet (CSV and JSONL perhaps followed by .gz)"


def read_table(path: Path) -> pd.DataFrame:
    """Read a table; CSV values are text, those of JSONL and Parquet keep their types.

    Raises:
        MissingInputError: No such file.
        DataError: Another ending; a line with more or fewer values than the header; a column
            named twice; broken JSON, Parquet, gzip or UTF-8.
    """
    name = path.name.lower().removesuffix(".gz")
    with name_reading_errors(path):
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

    header = _header(path)
    convert = csv.ConvertOptions(
        column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False
    )
    parse = csv.ParseOptions(newlines_in_values=True)
    try:
        with pa.input_stream(str(path), compression="detect") as stream:
            table = csv.read_csv(stream, parse_options=parse, convert_options=convert)
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: not a CSV table: {_first_line(error)}") from error
    frame: pd.DataFrame = table.to_pandas()
    return frame


def _header(path: Path) -> list[str]:
    import csv

    first = next(read_lines(path), None)
    if first is None or not first.text.strip():
        raise DataError(f"{path}: expected a header line with the names of the columns")
    names = next(csv.reader([first.text.rstrip("\r")]))
    _refuse_repeated(path, names)
    return names


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
        table = parquet.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise DataError(f"{path}: not a Parquet table: {_first_line(error)}") from error
    _refuse_repeated(path, table.column_names)
    frame: pd.DataFrame = table.to_pandas()
    return frame


def _refuse_repeated(path: Path, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{path}: the column {name!r} stands in the header twice")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
