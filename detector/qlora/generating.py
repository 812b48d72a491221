"""Asks a generative detector: batches, greedy, to the token that ends an answer.

Prompts are filled up on the left: on the right, the default, what is generated would follow
padding, and answers come out empty.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ragmend.detector.qlora.adapters import load_adapter
from ragmend.detector.qlora.bases import load_base
from ragmend.detector.qlora.libraries import require_libraries
from ragmend.detector.qlora.rows import FittedPrompt, asked_prompt, too_long_answer
from ragmend.detector.qlora.tokens import Coder, load_coder
from ragmend.detector.training.job import Job, Pair
from ragmend.detector.training.resources import explain_memory, release_memory
from ragmend.llm.fitting import source_text
from ragmend.trained import DetectorAnswer

if TYPE_CHECKING:
    import torch
    from peft import PeftModel
    from transformers import PreTrainedModel


class _Batch(NamedTuple):
    input_ids: "torch.Tensor"
    attention_mask: "torch.Tensor"


class GenerativePredictor:
    """A model that is loaded, with its adapter, and answers."""

    def __init__(self, model: "PeftModel | PreTrainedModel", coder: Coder, job: Job) -> None:
        """Take a model in evaluation mode; it generates greedily from now on."""
        from transformers import GenerationConfig

        self.model = model
        self._coder = coder
        self._job = job
        # The base's own settings (temperature, penalties) are of another use.
        base = model.get_base_model() if hasattr(model, "get_base_model") else model
        base.generation_config = GenerationConfig(
            do_sample=False,
            max_new_tokens=job.recipe.answer_tokens,
            bos_token_id=coder.begin_id,
            eos_token_id=sorted(coder.end_ids),
            pad_token_id=coder.pad_id,
        )

    def answer(self, batch: Sequence[Pair]) -> list[DetectorAnswer]:
        """Answer a batch at once.

        Raises:
            ResourceError: There is no memory for so many at once.
        """
        prompts = [asked_prompt(pair, self._coder, self._job.recipe) for pair in batch]
        asked = [prompt for prompt in prompts if prompt is not None]
        with explain_memory(self._job, "generation_batch_size"):
            written = iter(self._generate(asked) if asked else ())
        return [
            too_long_answer(pair, self._coder, self._job.recipe)
            if prompt is None
            else _as_answer(pair, prompt, next(written))
            for pair, prompt in zip(batch, prompts, strict=True)
        ]

    def next_logits(self, batch: Sequence[Pair]) -> "torch.Tensor":
        """Return the logits of the first token of each answer that fits: (answers, vocabulary)."""
        import torch

        prompts = [asked_prompt(pair, self._coder, self._job.recipe) for pair in batch]
        padded = self._pad([prompt for prompt in prompts if prompt is not None])
        with torch.inference_mode():
            logits = self.model(**padded._asdict(), logits_to_keep=1).logits
        first: torch.Tensor = logits[:, -1].float().cpu()
        return first

    def _generate(self, prompts: Sequence[FittedPrompt]) -> list["_Written"]:
        import torch

        padded = self._pad(prompts)
        watch = _FiniteWatch()
        with torch.inference_mode():
            ids = self.model.generate(**padded._asdict(), logits_processor=[watch])
        new = ids[:, padded.input_ids.shape[1] :].tolist()
        return [
            _read_tokens(tokens, bad_at, self._coder)
            for tokens, bad_at in zip(new, watch.first_bad(len(new)), strict=True)
        ]

    def _pad(self, prompts: Sequence[FittedPrompt]) -> _Batch:
        import torch

        longest = max(len(prompt.ids) for prompt in prompts)
        pad = [longest - len(prompt.ids) for prompt in prompts]
        ids = [[self._coder.pad_id] * n + p.ids for n, p in zip(pad, prompts, strict=True)]
        mask = [[0] * n + [1] * (longest - n) for n in pad]
        device = self.model.device
        return _Batch(torch.tensor(ids, device=device), torch.tensor(mask, device=device))


class _Written(NamedTuple):
    """What was generated for one prompt; `bad_at` is the first token whose logits were none."""

    text: str
    n_tokens: int
    ended: bool
    bad_at: int | None


class _FiniteWatch:
    """Sees every step's logits, and remembers where they were no finite numbers."""

    def __init__(self) -> None:
        self._bad: list[torch.Tensor] = []

    def __call__(self, input_ids: "torch.Tensor", scores: "torch.Tensor") -> "torch.Tensor":
        self._bad.append(~scores.isfinite().all(dim=-1))
        return scores

    def first_bad(self, n_rows: int) -> list[int | None]:
        """Return, for each row, the first step with such logits."""
        import torch

        if not self._bad:
            return [None] * n_rows
        bad = torch.stack(self._bad, dim=1).tolist()
        return [row.index(True) if True in row else None for row in bad]


@contextmanager
def open_predictor(job: Job, weights: Path) -> Iterator[GenerativePredictor]:
    """Load the base and the adapter of one epoch; let go of both at the end.

    Raises:
        ConfigError: The adapter is of another base.
        DataError: It cannot be read.
        ResourceError: There is no memory for them.
        RagmendError: As opening the base model.
    """
    require_libraries(job.trained.model)
    coder = load_coder(job)
    with explain_memory(job, "generation_batch_size"):
        model = load_adapter(load_base(job), weights, job.trained.model)
    predictor = GenerativePredictor(model, coder, job)
    del model
    try:
        yield predictor
    finally:
        predictor.model = None  # whoever still holds the predictor does not hold the weights
        release_memory()


def make_batches(job: Job, pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """Put pairs into batches of about equal length, longest first; always the same ones.

    Length is that of question, answer and source in characters: it decides about padding alone.
    The first batch is the largest: where memory is short, that shows at once.
    """
    order = sorted(range(len(pairs)), key=lambda at: (-_n_characters(pairs[at]), at))
    size = job.recipe.generation_batch_size
    for begin in range(0, len(order), size):
        yield [pairs[at] for at in order[begin : begin + size]]


def _n_characters(pair: Pair) -> int:
    question = pair.source.question or ""
    return len(question) + len(pair.response.text) + len(source_text(pair.source))


def _read_tokens(tokens: list[int], bad_at: int | None, coder: Coder) -> _Written:
    end = next((at for at, token in enumerate(tokens) if token in coder.end_ids), None)
    own = tokens if end is None else tokens[: end + 1]
    # What follows an answer's end is padding, and its logits are nobody's.
    is_bad = bad_at is not None and bad_at < len(own)
    return _Written(coder.text_of(own), len(own), end is not None, bad_at if is_bad else None)


def _as_answer(pair: Pair, prompt: FittedPrompt, written: _Written) -> DetectorAnswer:
    record_id = pair.response.record_id
    if written.bad_at is not None:
        return DetectorAnswer(
            record_id=record_id,
            text=written.text,
            n_tokens=written.n_tokens,
            ended=written.ended,
            left_out_fragments=prompt.n_left_out,
            problem="non_finite",
            message=(
                f"response {record_id}: the logits of token {written.bad_at + 1} of its answer "
                "are no finite numbers: the weights are damaged, or the training diverged"
            ),
        )
    return DetectorAnswer(
        record_id=record_id,
        text=written.text,
        n_tokens=written.n_tokens,
        ended=written.ended,
        left_out_fragments=prompt.n_left_out,
    )
