"""Asks a trained detector about many responses: by batch, recorded, resumable.

Batches are always the same, whatever is answered already: on most hardware the last digits of a
batch depend on what else is in it, and a resumed evaluation must not differ from another.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, Self

from ragmend.cli.training.plan import Plan
from ragmend.detector.training.job import Pair, Predictor, Watch
from ragmend.errors import AccountingError, DataError, PreemptedError
from ragmend.io import sha256_of, sha256_of_file
from ragmend.journal import Journal
from ragmend.paths import shard_path
from ragmend.trained import DetectorAnswer

SAY_EVERY = 10  # batches between two lines of progress


def weights_digest(weights: Path) -> str:
    """Return the SHA-256 of the weights in a folder, by file name.

    Raises:
        DataError: It has none.
    """
    files = sorted(weights.glob("*.safetensors"))
    if not files:
        raise DataError(f"{weights}: has no weights (no .safetensors in it)")
    return sha256_of({path.name: sha256_of_file(path) for path in files})


class Asked(NamedTuple):
    """Weights that are asked, and where their answers are recorded."""

    plan: Plan
    weights: Path
    folder: Path
    what: str

    def answer(self, pairs: Sequence[Pair], watch: Watch) -> dict[str, DetectorAnswer]:
        """Return the answers to all pairs by record id; the weights are loaded if one is missing.

        Raises:
            PreemptedError: A signal asked for an end; what is answered is recorded.
            AccountingError: A batch's answers are not one a response.
            RagmendError: As opening the weights.
        """
        digest = weights_digest(self.weights)
        with _LazyPredictor(self) as predictor, Journal(shard_path(self.folder)) as journal:
            found: dict[str, DetectorAnswer] = {}
            batches = list(self.plan.kind.batches(self.plan.job, pairs))
            for number, batch in enumerate(batches, 1):
                if watch.should_stop():
                    raise PreemptedError(
                        f"{self.plan.run_id}: stopped after {len(found)} of {len(pairs)} answers "
                        f"({self.what}); they are recorded: run the same command again to go on"
                    )
                found |= _answer_batch(batch, digest, journal, predictor)
                if number % SAY_EVERY == 0 or number == len(batches):
                    watch.say(f"{self.what:9} {len(found):,} of {len(pairs):,} answers")
        return found


class _LazyPredictor:
    """Loads the weights when the first question comes that is not answered already."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._stack = ExitStack()
        self._opened: Predictor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()
        self._opened = None

    def answer(self, batch: Sequence[Pair]) -> list[DetectorAnswer]:
        if self._opened is None:
            plan = self._asked.plan
            self._opened = self._stack.enter_context(plan.kind.open(plan.job, self._asked.weights))
        return self._opened.answer(batch)


def _answer_batch(
    batch: Sequence[Pair], digest: str, journal: Journal, predictor: _LazyPredictor
) -> dict[str, DetectorAnswer]:
    ids = [pair.response.record_id for pair in batch]
    keys = [_key(digest, pair, ids) for pair in batch]
    recorded = [journal.read(key, DetectorAnswer) for key in keys]
    if all(recorded):
        return {answer.record_id: answer for answers in recorded for answer in answers or ()}
    answers = predictor.answer(batch)
    if [answer.record_id for answer in answers] != ids:
        raise AccountingError(f"a batch of {len(ids)} responses got answers to others, or not all")
    for key, answer, known in zip(keys, answers, recorded, strict=True):
        if known is None and answer.problem is None:  # a failure is never recorded as an answer
            journal.append(key, [answer.model_dump(mode="json")])
    return {answer.record_id: answer for answer in answers}


def _key(digest: str, pair: Pair, batch: Sequence[str]) -> str:
    response, source = pair
    return sha256_of(
        {
            "weights": digest,
            "batch": list(batch),
            "record": pair.response.record_id,
            "response": response.text,
            "source": source.model_dump(mode="json"),
        }
    )
