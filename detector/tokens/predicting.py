"""Asks a loaded encoder: each token of an answer gets P(unsupported)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ragmend.detector.tokens.batching import pad_columns
from ragmend.detector.tokens.encoding import Encoded, encode_pair
from ragmend.detector.tokens.loading import UNSUPPORTED, Encoder, load_trained
from ragmend.detector.training.job import Job, Pair
from ragmend.detector.training.resources import explain_memory, release_memory
from ragmend.trained import DetectorAnswer, TokenScore

if TYPE_CHECKING:
    from torch import Tensor


class EncoderPredictor:
    """A token classifier that is loaded; a `Predictor`."""

    def __init__(self, job: Job, encoder: Encoder) -> None:
        """Take a loaded encoder."""
        self._job = job
        self._loaded: Encoder | None = encoder

    @property
    def _encoder(self) -> Encoder:
        if self._loaded is None:
            raise RuntimeError("a predictor is asked inside its `with` block")
        return self._loaded

    def close(self) -> None:
        """Let go of the model, whoever still holds this."""
        self._loaded = None

    def answer(self, batch: Sequence[Pair]) -> list[DetectorAnswer]:
        """Classify the tokens of some answers at once.

        Raises:
            ResourceError: There is no memory for them.
        """
        encoded = [self._encode(pair) for pair in batch]
        asked = [row for row in encoded if row is not None and row.tokens]
        probabilities = iter(self._classify(asked) if asked else ())
        return [
            _too_long(pair, self._job)
            if row is None
            else _answer(pair, row, next(probabilities) if row.tokens else None)
            for pair, row in zip(batch, encoded, strict=True)
        ]

    def _encode(self, pair: Pair) -> Encoded | None:
        return encode_pair(self._encoder.tokenizer, pair, self._job.recipe.max_length)

    def _classify(self, rows: Sequence[Encoded]) -> "Tensor":
        """Return P(unsupported), float64 on the CPU, of shape (rows, greatest length)."""
        import torch

        model, tokenizer, names = self._encoder
        padded = pad_columns(
            [row.columns for row in rows], names=names, pad_id=int(tokenizer.pad_token_id)
        )
        is_mixed = self._job.trained.model.dtype == "bfloat16"
        with (
            explain_memory(self._job, "generation_batch_size"),
            torch.inference_mode(),
            torch.autocast(model.device.type, dtype=torch.bfloat16, enabled=is_mixed),
        ):
            logits = model(
                **{name: torch.from_numpy(a).to(model.device) for name, a in padded.items()}
            ).logits
        found: Tensor = logits.cpu().double().softmax(dim=-1)[..., UNSUPPORTED]
        return found


@contextmanager
def open_predictor(job: Job, weights: Path) -> Iterator[EncoderPredictor]:
    """Load a trained classifier; let go of it at the end.

    Raises:
        RagmendError: As `load_trained`.
    """
    predictor = EncoderPredictor(job, load_trained(job, weights))
    try:
        yield predictor
    finally:
        predictor.close()
        release_memory()


def _too_long(pair: Pair, job: Job) -> DetectorAnswer:
    return DetectorAnswer(
        record_id=pair.response.record_id,
        problem="too_long",
        message=(
            f"an answer of {len(pair.response.text)} characters does not fit {job.name} beside "
            f"its question and one sentence of its source: recipe.max_length is "
            f"{job.recipe.max_length} tokens"
        ),
    )


def _answer(pair: Pair, row: Encoded, probabilities: "Tensor | None") -> DetectorAnswer:
    """Build the answer about one response; `probabilities` have shape (length,)."""
    found = [] if probabilities is None else probabilities.tolist()
    values = [found[token.position] for token in row.tokens]
    # A number that is none compares as false with everything.
    n_bad = sum(not 0 <= value <= 1 for value in values)
    scores = (
        TokenScore(start=token.start, end=token.end, p=value)
        for token, value in zip(row.tokens, values, strict=True)
        if not n_bad
    )
    return DetectorAnswer(
        record_id=pair.response.record_id,
        n_tokens=row.n_answer_tokens,
        left_out_fragments=row.n_left_out,
        scores=tuple(scores),
        problem="non_finite" if n_bad else None,
        message=f"{n_bad} of {len(values)} token probabilities are no numbers" if n_bad else None,
    )
