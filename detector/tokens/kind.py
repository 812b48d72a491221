"""Token classification as one kind of detector that can be trained."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from ragmend.detector.tokens.batching import batch_by_length
from ragmend.detector.tokens.loading import check_base
from ragmend.detector.tokens.measuring import estimate_memory, measure_lengths
from ragmend.detector.tokens.predicting import open_predictor
from ragmend.detector.tokens.reading import read_scores
from ragmend.detector.tokens.threshold import choose_threshold
from ragmend.detector.tokens.training import fit_encoder
from ragmend.detector.training.job import Job, Kind, Pair, Predictor, Watch
from ragmend.records import Detection, Response
from ragmend.trained import DetectorAnswer, LayerNorm, LengthRow, MemoryPart, TokenFacts


class TokenClassification:
    """An encoder gives each token of an answer P(unsupported); see `Kind`."""

    def measure(self, job: Job, pairs: Sequence[Pair]) -> list[LengthRow]:
        """Count the tokens of training pairs, by task."""
        return measure_lengths(job, pairs)

    def memory(self, job: Job) -> list[MemoryPart]:
        """Estimate the memory that training needs."""
        return estimate_memory(job)

    def fit(
        self, job: Job, train: Sequence[Pair], probe: Sequence[Sequence[Pair]], watch: Watch
    ) -> None:
        """Train to the end, going on from the last checkpoint."""
        fit_encoder(job, train, probe, watch)

    def open(self, job: Job, weights: Path) -> AbstractContextManager[Predictor]:
        """Load the weights of one epoch, which are whole: no base is needed."""
        return open_predictor(job, weights)

    def batches(self, job: Job, pairs: Sequence[Pair]) -> Iterator[Sequence[Pair]]:
        """Put pairs of about one length into batches."""
        return batch_by_length(pairs, job.recipe.generation_batch_size)

    def read(
        self, answer: DetectorAnswer, response: Response, *, run_id: str, threshold: float | None
    ) -> Detection:
        """Read a verdict out of token probabilities."""
        return read_scores(answer, response, run_id=run_id, threshold=threshold)

    def choose_threshold(
        self, answers: Mapping[str, DetectorAnswer], responses: Sequence[Response]
    ) -> float | None:
        """Choose the threshold with the best response-level F1."""
        return choose_threshold(answers, responses)

    def norms(self, job: Job, weights: Path) -> list[LayerNorm]:
        """Return none: there is no adapter."""
        check_base(job, weights)
        return []

    def token_facts(self, job: Job, pairs: Sequence[Pair]) -> TokenFacts | None:
        """Return None: it writes no text, so it need not learn to stop."""
        return None


TOKEN_CLASSIFICATION: Kind = TokenClassification()
