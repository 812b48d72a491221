"""What the arguments of a statistic may be: checked, named where they are not, never coerced.

Numpy's whole numbers come back as Python's, which do not overflow; vectors come back as int64
or float64 arrays.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ragmend.errors import StatisticsError
from ragmend.io import shorten
from ragmend.values import MAX_COUNT

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Kind = Literal["label", "gold", "probability", "number"]

MAX_RESAMPLES = 10_000_000
LEAST_LEVEL = 1e-12
"""Levels nearer to 0 or 1 have no quantile that floats tell from another."""
_LARGEST = 1e70  # fourth powers of scores, as variances of variances have them, stay finite
_KINDS: dict[Kind, tuple[str, Callable[[NDArray[np.float64]], NDArray[np.bool_]]]] = {
    "label": ("a label must be 0 or 1", lambda values: (values == 0) | (values == 1)),
    "gold": (
        "must be 0, 1, or -1 where unknown",
        lambda values: (values == 0) | (values == 1) | (values == -1),
    ),
    "probability": ("expected probabilities in [0, 1]", lambda p: (p >= 0) & (p <= 1)),
    "number": ("expected finite numbers", lambda values: np.abs(values) <= _LARGEST),
}


def check_count(count: object, name: str, *, least: int = 0, most: int = MAX_COUNT) -> int:
    """Return a whole number as Python's, of any type of whole number but a truth value.

    Raises:
        StatisticsError: It is something else or out of range; `name` is named.
    """
    whole = _whole(count)
    if whole is None or not least <= whole <= most:
        raise StatisticsError(
            f"{name}: expected a whole number from {least} to {most:,}, got {shorten(count)}"
        )
    return whole


def check_resamples(n_resamples: object, name: str = "n_resamples") -> int:
    """Return a number of resamples, at least 1."""
    return check_count(n_resamples, name, least=1, most=MAX_RESAMPLES)


def check_seed(seed: object, name: str = "seed") -> int:
    """Return a seed, at least 0; None would seed from the machine, and nothing repeat.

    Raises:
        StatisticsError: It is something else; `name` is named.
    """
    whole = _whole(seed)
    if whole is None or whole < 0:
        raise StatisticsError(f"{name}: expected a whole number of at least 0, got {shorten(seed)}")
    return whole


def check_number(
    number: object, name: str, *, least: float = -_LARGEST, most: float = _LARGEST
) -> float:
    """Return a finite number as a float, both ends included.

    Raises:
        StatisticsError: It is something else or out of range; `name` is named.
    """
    value = _real(number)
    if not least <= value <= most:
        at_least = "" if least == -_LARGEST else f" of at least {least:g}"
        at_most = "" if most == _LARGEST else f" and at most {most:g}"
        raise StatisticsError(
            f"{name}: expected a finite number{at_least}{at_most}, got {shorten(number)}"
        )
    return value


def check_level(level: object, name: str = "confidence") -> float:
    """Return a level of confidence, a power or an expected rate: strictly between 0 and 1.

    Raises:
        StatisticsError: It is something else, or nearer than `LEAST_LEVEL` to 0 or 1.
    """
    value = _real(level)
    if not LEAST_LEVEL <= value <= 1 - LEAST_LEVEL:
        raise StatisticsError(
            f"{name}: expected a level strictly between 0 and 1, got {shorten(level)}"
        )
    return value


def check_share(share: object, name: str) -> Fraction:
    """Return a share in [0, 1] exactly; a float as the shortest decimal that names it."""
    value = check_number(share, name, least=0, most=1)
    if isinstance(share, Rational) and not isinstance(share, Integral):
        return Fraction(share)
    return Fraction(repr(value))


def check_paired_counts(b: object, c: object, n: object) -> tuple[int, int, int]:
    """Return the records labelled 1 then 0, those labelled 0 then 1, and all.

    Raises:
        StatisticsError: One is no count, there is no record, or more changed than there are.
    """
    b, c, n = check_count(b, "b"), check_count(c, "c"), check_count(n, "n", least=1)
    if b + c > n:
        raise StatisticsError(f"paired counts need b + c <= n, got b = {b}, c = {c}, n = {n}")
    return b, c, n


def check_labels(
    labels: ArrayLike, name: str, *, kind: Kind = "label", least: int = 0
) -> NDArray[np.int64]:
    """Return one row of labels (0, 1) or gold (0, 1, -1) as whole numbers."""
    return check_vector(labels, name, kind=kind, least=least).astype(np.int64)


def check_vector(
    values: ArrayLike, name: str, *, kind: Kind, least: int = 0
) -> NDArray[np.float64]:
    """Return one row of values, as many as `least` or more.

    Raises:
        StatisticsError: It has another shape, a value is missing or masked, no number, or not
            what `kind` says; `name` is named.
    """
    array = _array(values, name)
    if array.ndim != 1:
        raise StatisticsError(f"{name}: expected one row of values, got {_shape(values, array)}")
    if len(array) < least:
        raise StatisticsError(f"{name}: expected at least {least} value(s), got {len(array)}")
    return _checked(array, name, kind)


def check_matrix(
    values: ArrayLike, name: str, *, kind: Kind, least_columns: int = 1
) -> NDArray[np.float64]:
    """Return values as an array of records × columns.

    Raises:
        StatisticsError: There is no record or too few columns; or as `check_vector`.
    """
    array = _array(values, name)
    if array.ndim != 2 or len(array) == 0 or array.shape[1] < least_columns:
        raise StatisticsError(
            f"{name}: expected an array of records and at least {least_columns} column(s), got "
            f"{_shape(values, array)}"
        )
    return _checked(array, name, kind)


def check_lengths(**rows: NDArray[Any]) -> None:
    """Raise StatisticsError unless all rows are as long as the first."""
    if len({len(row) for row in rows.values()}) > 1:
        found = " and ".join(f"{len(row)} in {name}" for name, row in rows.items())
        raise StatisticsError(f"expected one value a unit in each, got {found}")


def check_sources(sources: ArrayLike | Sequence[object], name: str, *, n: int) -> NDArray[Any]:
    """Return the source of each record, all of them text or all whole numbers.

    Args:
        sources: Names.
        name: What to call them in a message.
        n: Number of records.

    Raises:
        StatisticsError: There is not one a record, or one is missing or something else.
    """
    array = _array(sources, name)
    if array.ndim != 1 or len(array) != n:
        raise StatisticsError(
            f"{name}: expected one source a record of {n}, got {_shape(sources, array)}"
        )
    is_text = array.dtype.kind == "U" and isinstance(sources, np.ndarray)
    if array.dtype.kind in "iu" or (is_text and (array != "").all()):
        return array
    # As objects, for in a list of mixed names all have become text on the way.
    names = (array if is_text else np.asarray(sources, dtype=object)).tolist()
    kinds = [_kind_of_source(source) for source in names]
    if None in kinds:
        place = kinds.index(None)
        raise StatisticsError(
            f"{name}: record {place + 1}: the source is missing or neither text nor a whole "
            f"number: {shorten(names[place])}"
        )
    if len(set(kinds)) > 1:
        raise StatisticsError(f"{name}: expected text or whole numbers, got both")
    return np.asarray(names)


def _whole(count: object) -> int | None:
    if isinstance(count, bool | np.bool_):
        return None
    try:
        return operator.index(count)  # type: ignore[arg-type]
    except TypeError:
        return None


def _real(number: object) -> float:
    """Return a number as a float; what is none is NaN, which no range holds."""
    if isinstance(number, bool | np.bool_) or not isinstance(number, Real):
        return math.nan
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _array(values: object, name: str) -> NDArray[Any]:
    if np.ma.isMaskedArray(values):
        raise StatisticsError(f"{name}: a masked array hides values; pass those that count")
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:
        raise StatisticsError(f"{name}: expected rows of equal length: {error}") from error


def _shape(values: object, array: NDArray[Any]) -> str:
    return f"shape {array.shape}" if array.ndim else shorten(values)


def _checked(array: NDArray[Any], name: str, kind: Kind) -> NDArray[np.float64]:
    expected, is_fit = _KINDS[kind]
    numbers = _numbers(array)
    is_wrong = ~is_fit(numbers)  # NaN fits nothing
    if is_wrong.any():
        wrong = array[is_wrong].tolist()[0]
        raise StatisticsError(f"{name}: {expected}, got {shorten(wrong)}")
    return numbers


def _numbers(array: NDArray[Any]) -> NDArray[np.float64]:
    """Return an array as floats, NaN where it holds no number."""
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    if array.dtype.kind != "O":
        return np.full(array.shape, np.nan)
    found = [1.0 * v if isinstance(v, bool | np.bool_) else _real(v) for v in array.ravel()]
    return np.array(found, dtype=np.float64).reshape(array.shape)


def _kind_of_source(source: object) -> str | None:
    if isinstance(source, str):
        return "text" if source else None
    return None if _whole(source) is None else "whole"
