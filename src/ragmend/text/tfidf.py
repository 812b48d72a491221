"""TF-IDF over the fragments of one source: how near a text lies to each piece of evidence."""

from collections.abc import Sequence
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
        n_fragments: How many fragments the source has.
        vectorizer: Fitted on the fragments, over content stems.
        weights_FV: Unit-length rows: fragments × vocabulary.
    """

    n_fragments: int
    vectorizer: "TfidfVectorizer | None"
    weights_FV: "csr_matrix | None"  # noqa: N815 - axes are written in capitals


class Match(NamedTuple):
    """One fragment found for one text: its position among the fragments, and the cosine."""

    position: int
    score: float


def index_fragments(stems_F: Sequence[Sequence[str]]) -> FragmentIndex:
    """Fit TF-IDF once on the content stems of a source's fragments."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    if not any(stems_F):
        return FragmentIndex(len(stems_F), None, None)
    vectorizer = TfidfVectorizer(analyzer=_as_given, sublinear_tf=True)
    return FragmentIndex(len(stems_F), vectorizer, vectorizer.fit_transform(stems_F))


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
    order_TK = np.argsort(-score_TF, axis=1, kind="stable")[:, :top_k]
    best_TK = np.take_along_axis(score_TF, order_TK, axis=1)
    return [
        tuple(Match(position, score) for position, score in zip(order, best, strict=True) if score)
        for order, best in zip(order_TK.tolist(), best_TK.tolist(), strict=True)
    ]


def _as_given(stems: Sequence[str]) -> Sequence[str]:
    return stems
