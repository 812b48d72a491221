"""Which answers of the train split a detector learns from, and on which it is chosen.

Whole sources are held out, so that no source has answers on both sides. The draw depends on the
ids and its seed alone: every training of an experiment has the same development answers.

Source: arXiv 2608.29307, section 3.1: 942 development records, 157 sources with six answers each.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ragmend.datasets.ragtruth import Dataset, draw_sources
from ragmend.detector.training.job import Pair
from ragmend.errors import DataError
from ragmend.io import sha256_of
from ragmend.records import Response
from ragmend.sections.training import TrainingConfig


class TrainingSplit(NamedTuple):
    """The train split, parted.

    Attributes:
        train: What is learnt from.
        development: What epoch and threshold are chosen on.
        probe: Of these, what a training's health is found out on.
    """

    train: tuple[Pair, ...]
    development: tuple[Pair, ...]
    probe: tuple[Pair, ...]

    def hashes(self) -> dict[str, str]:
        """Return the SHA-256 of each part's ids, in order."""
        return {f"{name}_ids_sha256": _hash_ids(pairs) for name, pairs in self._asdict().items()}


def split_training(data: Dataset, training: TrainingConfig) -> TrainingSplit:
    """Part the train split into what is learnt from and what is chosen on.

    Args:
        data: The train split.
        training: How many sources are held out, and what is left out for trying.

    Raises:
        DataError: A response is not annotated, none has a gold span, or there are too few
            sources.
    """
    _refuse_unannotated(data.responses)
    held_out = draw_sources(
        data.sources, n_sources=training.development.sources, seed=training.development.seed
    )
    seed = training.development.seed
    train = [r for r in data.responses if r.source_id not in held_out]
    development = [r for r in data.responses if r.source_id in held_out]
    train = _draw(train, training.limit, seed)
    development = _draw(development, training.development.limit, seed)
    _refuse_one_class(train, "training")
    _refuse_one_class(development, "development")
    return TrainingSplit(
        train=_pairs(data, train),
        development=_pairs(data, development),
        probe=_pairs(data, _draw(development, training.probe, seed)),
    )


def _refuse_unannotated(responses: Sequence[Response]) -> None:
    missing = [response.record_id for response in responses if response.gold_spans is None]
    if missing:
        raise DataError(
            f"{len(missing)} of {len(responses)} responses of the train split have no annotation, "
            f"the first is {missing[0]!r}: a detector learns from `labels`, an empty list where "
            "nothing is unsupported"
        )


def _refuse_one_class(responses: Sequence[Response], what: str) -> None:
    n_flagged = sum(bool(response.gold_spans) for response in responses)
    if n_flagged in (0, len(responses)):
        raise DataError(
            f"{n_flagged} of {len(responses)} {what} responses have a gold span: a detector needs "
            "hallucinated and clean ones to learn from, and to be chosen on"
        )


def _draw(responses: Sequence[Response], limit: int | None, seed: int) -> list[Response]:
    """Draw responses at random, and return them in their order.

    Where the draw has one class only and there are others, its last one makes room for one of them.
    """
    if limit is None or limit >= len(responses):
        return list(responses)
    order = [int(n) for n in np.random.default_rng(seed).permutation(len(responses))]
    chosen, rest = order[:limit], order[limit:]
    classes = [bool(response.gold_spans) for response in responses]
    other = [n for n in rest if classes[n] != classes[chosen[0]]]
    if limit > 1 and other and len({classes[n] for n in chosen}) == 1:
        chosen[-1] = other[0]
    return [responses[position] for position in sorted(chosen)]


def _pairs(data: Dataset, responses: Sequence[Response]) -> tuple[Pair, ...]:
    return tuple(Pair(response, data.sources[response.source_id]) for response in responses)


def _hash_ids(pairs: Sequence[Pair]) -> str:
    return sha256_of([pair.response.record_id for pair in pairs])
