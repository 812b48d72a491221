"""What the two kinds of trained detectors have in common, as one Protocol.

The runner knows nothing of torch: it hands a job and its pairs over and gets files and records.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol

from ragmend.records import Detection, Response, Source
from ragmend.sections.training import Recipe, TrainedModelConfig, run_id
from ragmend.trained import DetectorAnswer, LayerNorm, LengthRow, MemoryPart, TokenFacts

LOG = "log.jsonl"
CHECKPOINTS = "checkpoints"
IN_MEMORY = "in-memory.jsonl"


class Pair(NamedTuple):
    """A response and the source that it must be supported by."""

    response: Response
    source: Source


class Job(NamedTuple):
    """One training.

    Attributes:
        name: The detector's, as in "llama-2-13b".
        trained: What it is.
        recipe: How it is trained.
        seed: Of everything that is drawn while it is.
        trackers: Where losses go besides the log.
        folder: Its own, "00-training/<name>/seed-<n>".
    """

    name: str
    trained: TrainedModelConfig
    recipe: Recipe
    seed: int
    trackers: tuple[str, ...]
    folder: Path

    @property
    def run_id(self) -> str:
        """Its name: "llama-2-13b/seed-42"."""
        return run_id(self.name, self.seed)

    def weights(self, epoch: int) -> Path:
        """Where the weights after an epoch lie, complete or not there."""
        return self.folder / "epochs" / f"epoch-{epoch}"


class Watch(Protocol):
    """Whether the process is asked to end, and where progress goes."""

    def should_stop(self) -> bool:
        """Tell whether a signal asked for it: what can be saved is saved, then `PreemptedError`."""

    def say(self, text: str) -> None:
        """Show one line of progress."""


class Predictor(Protocol):
    """A trained detector that is loaded."""

    def answer(self, batch: Sequence[Pair]) -> list[DetectorAnswer]:
        """Answer a batch at once; what the answers are depends on nothing else.

        Returns:
            One a pair, in order; one that does not fit, or whose numbers are none, says so.
        """


class Kind(Protocol):
    """One kind of detector that can be trained."""

    def measure(self, job: Job, pairs: Sequence[Pair]) -> list[LengthRow]:
        """Count the tokens of training pairs, by task; nothing is loaded but the tokenizer."""

    def memory(self, job: Job) -> list[MemoryPart]:
        """Estimate the memory that training needs; nothing is loaded but the settings."""

    def fit(
        self, job: Job, train: Sequence[Pair], probe: Sequence[Sequence[Pair]], watch: Watch
    ) -> None:
        """Train to the end, going on from the last checkpoint in `job.folder`.

        Leaves there `LOG` (a `LogRow` a step), the weights of each epoch (`Job.weights`), and,
        in `IN_MEMORY`, what the weights in memory answer to the probe's batches at the end:
        nothing where the process was killed before it had asked them all.

        Raises:
            PreemptedError: `watch` said so; the last checkpoint is of the last step.
            ResourceError: There is no memory for it.
            RagmendError: As opening the base model.
        """

    def open(self, job: Job, weights: Path) -> AbstractContextManager[Predictor]:
        """Load the base and the weights of one epoch; let go of both at the end.

        Raises:
            ConfigError: They are of another base.
            DataError: They cannot be read.
        """

    def batches(self, job: Job, pairs: Sequence[Pair]) -> Iterator[Sequence[Pair]]:
        """Put pairs into batches; the same ones always, whatever is answered already."""

    def read(
        self, answer: DetectorAnswer, response: Response, *, run_id: str, threshold: float | None
    ) -> Detection:
        """Read a verdict out of an answer that has no `problem`."""

    def choose_threshold(
        self, answers: Mapping[str, DetectorAnswer], responses: Sequence[Response]
    ) -> float | None:
        """Choose what `read` is given on development answers; None of a kind without one."""

    def norms(self, job: Job, weights: Path) -> list[LayerNorm]:
        """Return the norms of the adapter's layers; none where the whole model is trained.

        Raises:
            DataError: The weights cannot be read.
        """

    def token_facts(self, job: Job, pairs: Sequence[Pair]) -> TokenFacts | None:
        """Look at the tokens of training pairs; None of a kind that writes no text."""
