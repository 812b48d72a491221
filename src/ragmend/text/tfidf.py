"""TF-IDF over the fragments of one source: how near a text lies to each piece of evidence."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfVectorizer

# Beyond this the last bits of a cosine depend on the order of summation.
_DECIMALS = 12


class FragmentIndex(NamedTuple):
    """A TF-IDF model of one source; the model is None where no fragment has a content word.

    Attributes:
        n_fragments: How many fragments it has.
        vectorizer: Fitted on the fragments, over content stems.
        weights_FV: Unit-length rows: fragments × vocabulary.
        parts_F: Positions of the parts that fragments are made of; those that share a part say
            the same, at least in part. Empty where each fragment stands for itself.
    """

    n_fragments: int
    vectorizer: "TfidfVectorizer | None"
    weights_FV: "csr_matrix | None"  # noqa: N815 - axes are written in capitals
    parts_F: Sequence[frozenset[int]]  # noqa: N815


class Match(NamedTuple):
    """One fragment found for one text: its position among the fragments, and the cosine."""

    position: int
    score: float


def index_fragments(
    stems_F: Sequence[Sequence[str]],
    *,
    n_fitted: int | None = None,
    parts_F: Sequence[frozenset[int]] = (),
) -> FragmentIndex:
    """Fit TF-IDF once on the content stems of a source's fragments.

    Args:
        stems_F: The content stems of each fragment.
        n_fitted: How many of them, from the first, a stem's rarity is counted in (None: all):
            windows repeat their sentences and would make every stem common.
        parts_F: The positions of what each fragment is made of, itself if of nothing else.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    fitted = stems_F[:n_fitted]
    if not any(fitted):
        return FragmentIndex(len(stems_F), None, None, parts_F)
    vectorizer = TfidfVectorizer(analyzer=_as_given, sublinear_tf=True)
    weights_FV = vectorizer.fit_transform(fitted)
    if len(fitted) < len(stems_F):
        weights_FV = vectorizer.transform(stems_F)
    return FragmentIndex(len(stems_F), vectorizer, weights_FV, parts_F)


def cosines(
    index: FragmentIndex,
    stems_T: Sequence[Sequence[str]],
) -> NDArray[np.float64]:
    """Return the cosine of each text with each fragment.

    Args:
        index: The source's model.
        stems_T: The content stems of each text.

    Returns:
        Texts × fragments, each in [0, 1]; a text that shares no stem has a row of zeros.
    """
    if index.vectorizer is None or index.weights_FV is None or not stems_T:
        return np.zeros((len(stems_T), index.n_fragments))
    weights_TV = index.vectorizer.transform(stems_T)
    cosine_TF: NDArray[np.float64] = (weights_TV @ index.weights_FV.T).toarray()
    return cosine_TF.round(_DECIMALS).clip(0.0, 1.0)


def best_fragments(
    index: FragmentIndex,
    stems_T: Sequence[Sequence[str]],
    *,
    top_k: int,
) -> list[tuple[Match, ...]]:
    """Return the nearest fragments of each text, nearest first, only those with a score above 0.

    A fragment that shares a part with a nearer one is passed over: it would say the same again.

    Args:
        index: The source's model.
        stems_T: The content stems of each text.
        top_k: The most fragments a text gets, at least 1; equal scores keep the source's order.

    Raises:
        ValueError: `top_k` is under 1.
    """
    if top_k < 1:
        raise ValueError(f"top_k must be at least 1, not {top_k}")
    score_TF = cosines(index, stems_T)
    order_TF = np.argsort(-score_TF, axis=1, kind="stable")
    if not index.parts_F:
        order_TF = order_TF[:, :top_k]
    sorted_TF = np.take_along_axis(score_TF, order_TF, axis=1)
    ranked_T = (
        [Match(position, score) for position, score in zip(order, scores, strict=True) if score]
        for order, scores in zip(order_TF.tolist(), sorted_TF.tolist(), strict=True)
    )
    return [tuple(islice(_disjoint(index, ranked), top_k)) for ranked in ranked_T]


def _disjoint(index: FragmentIndex, ranked: Iterable[Match]) -> Iterator[Match]:
    """Yield the matches that share no part with one before them."""
    taken: set[int] = set()
    for match in ranked:
        parts = index.parts_F[match.position] if index.parts_F else frozenset()
        if taken.isdisjoint(parts):
            taken |= parts
            yield match


def _as_given(stems: Sequence[str]) -> Sequence[str]:
    return stems
