"""The generative detector as one of the kinds that can be trained."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from ragmend.detector.qlora.facts import find_token_facts
from ragmend.detector.qlora.generating import make_batches, open_predictor
from ragmend.detector.qlora.lengths import measure_lengths
from ragmend.detector.qlora.memory import estimate_memory
from ragmend.detector.qlora.norms import adapter_norms
from ragmend.detector.qlora.reading import read_answer
from ragmend.detector.qlora.rows import make_rows
from ragmend.detector.qlora.tokens import load_coder
from ragmend.detector.qlora.training import fit
from ragmend.detector.training.job import Job, Kind, Pair, Predictor, Watch
from ragmend.records import Detection, Response
from ragmend.trained import DetectorAnswer, LayerNorm, LengthRow, MemoryPart, TokenFacts


class _Generative:
    """A causal language model with an adapter, that writes its verdict as JSON."""

    def measure(self, job: Job, pairs: Sequence[Pair]) -> list[LengthRow]:
        return measure_lengths(make_rows(pairs, load_coder(job), job.recipe))

    def memory(self, job: Job) -> list[MemoryPart]:
        return estimate_memory(job)

    def fit(
        self, job: Job, train: Sequence[Pair], probe: Sequence[Sequence[Pair]], watch: Watch
    ) -> None:
        fit(job, train, probe, watch)

    def open(self, job: Job, weights: Path) -> AbstractContextManager[Predictor]:
        return open_predictor(job, weights)

    def batches(self, job: Job, pairs: Sequence[Pair]) -> Iterator[Sequence[Pair]]:
        return make_batches(job, pairs)

    def read(
        self, answer: DetectorAnswer, response: Response, *, run_id: str, threshold: float | None
    ) -> Detection:
        return read_answer(answer, response, run_id=run_id)

    def choose_threshold(
        self, answers: Mapping[str, DetectorAnswer], responses: Sequence[Response]
    ) -> float | None:
        return None

    def norms(self, job: Job, weights: Path) -> list[LayerNorm]:
        return adapter_norms(job, weights)

    def token_facts(self, job: Job, pairs: Sequence[Pair]) -> TokenFacts | None:
        coder = load_coder(job)
        return find_token_facts(make_rows(pairs, coder, job.recipe), coder, job.recipe)


GENERATIVE: Kind = _Generative()
