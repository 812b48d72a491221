"""Raters' 0/1 labels, checked, and counted by pair of raters and by source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.statistics.checks import check_labels, check_lengths, check_sources

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from scipy.sparse import csr_array


class PairCounts(NamedTuple):
    """What two raters' agreement depends on."""

    n: int
    first: int
    """Records that the first rater labelled 1."""
    second: int
    """Records that the second rater labelled 1."""
    both: int
    """Records that both labelled 1."""
    by_source_G4: NDArray[np.float64] | None = None  # noqa: N815
    """The same four counts of each source; None: records are taken as independent."""


def count_pair(
    labels_a_R: ArrayLike, labels_b_R: ArrayLike, sources_R: Sequence[object] | None = None
) -> PairCounts:
    """Count the labels of two raters.

    Args:
        labels_a_R: The first rater's labels, 0 or 1.
        labels_b_R: The second rater's labels, 0 or 1.
        sources_R: Source of each record; None: records are taken as independent.

    Raises:
        StatisticsError: There is no record, the lengths differ, a label is not 0 or 1, or a
            source is missing.
    """
    a_R = check_labels(labels_a_R, "labels_a_R", least=1)
    b_R = check_labels(labels_b_R, "labels_b_R", least=1)
    check_lengths(labels_a_R=a_R, labels_b_R=b_R)
    members_GR = None if sources_R is None else source_members(sources_R, len(a_R))
    (counts,) = count_pairs(a_R, b_R[:, None], members_GR)
    return counts


def count_pairs(
    first_R: NDArray[np.int64],
    others_RK: NDArray[np.int64],
    members_GR: csr_array[np.float64] | None,
) -> Iterator[PairCounts]:
    """Yield the counts of one rater beside each of several others.

    Args:
        first_R: One rater's labels, 0 or 1.
        others_RK: The others' labels, records × raters.
        members_GR: As `source_members` returns it; None: records are taken as independent.
    """
    both_RK = first_R[:, None] * others_RK
    n, first = len(first_R), int(first_R.sum())
    seconds, boths = others_RK.sum(axis=0).tolist(), both_RK.sum(axis=0).tolist()
    if members_GR is None:
        yield from (PairCounts(n, first, *rest) for rest in zip(seconds, boths, strict=True))
        return
    own_G2 = members_GR @ np.column_stack([np.ones(n), first_R])
    seconds_GK, boths_GK = members_GR @ others_RK, members_GR @ both_RK
    for k, (second, both) in enumerate(zip(seconds, boths, strict=True)):
        by_source_G4 = np.column_stack([own_G2, seconds_GK[:, k], boths_GK[:, k]])
        yield PairCounts(n, first, second, both, by_source_G4)


def source_members(sources_R: Sequence[object], n: int) -> csr_array[np.float64]:
    """Return which records belong to each source: 1 or 0, sources × records.

    Its product with values of records is their sums by source, sources in order of their names.

    Args:
        sources_R: Source of each record.
        n: Number of records.

    Raises:
        StatisticsError: There is not one source a record, or one is missing.
    """
    from scipy.sparse import csr_array

    sources = check_sources(sources_R, "sources_R", n=n)
    names, codes_R = np.unique(sources.astype(np.str_), return_inverse=True)
    return csr_array((np.ones(n), (codes_R, np.arange(n))), shape=(len(names), n))
