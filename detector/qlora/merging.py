"""Merges an adapter into its base, and measures what that changes. Nothing does so by itself.

An adapter that was trained on a quantised base belongs to that base as it computes: it is merged
into the base's numbers after they were quantised and unpacked again. Merged into the original
ones, or in four bits, a detector generates otherwise.
"""

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ragmend.detector.qlora.adapters import load_adapter
from ragmend.detector.qlora.bases import load_base
from ragmend.detector.qlora.generating import GenerativePredictor, open_predictor
from ragmend.detector.qlora.tokens import load_coder
from ragmend.detector.training.job import Job, Pair
from ragmend.detector.training.resources import explain_memory, release_memory
from ragmend.detector.training.writing import new_folder
from ragmend.errors import DataError
from ragmend.trained import DetectorAnswer

if TYPE_CHECKING:
    import torch


class Merged(NamedTuple):
    """What merging changed.

    Attributes:
        difference: The greatest absolute difference of the logits of the first token that answers
            a prompt; not a number where one of them is none.
        n_different_answers: How many answers differ in any way.
    """

    difference: float
    n_different_answers: int


class _Asked(NamedTuple):
    logits: list["torch.Tensor"]
    answers: list[DetectorAnswer]


def merge_adapter(job: Job, weights: Path, out: Path, batches: Sequence[Sequence[Pair]]) -> Merged:
    """Write a model with an adapter merged in, and compare it with base and adapter.

    Args:
        job: The training.
        weights: Its adapter.
        out: The folder of the merged model, as safetensors with its tokenizer.
        batches: What both are asked about, for comparison.

    Raises:
        DataError: There is nothing to compare with: no prompt fits.
        OutputError: The model cannot be written.
        RagmendError: As `ragmend.detector.qlora.generating.open_predictor`.
    """
    with open_predictor(job, weights) as predictor:
        before = _ask(predictor, batches)
    coder = load_coder(job)
    with explain_memory(job, "generation_batch_size"):
        base = load_base(job)
        if job.trained.model.quantization is not None:
            base = base.dequantize(dtype=base.dtype)
        model = load_adapter(base, weights, job.trained.model).merge_and_unload(safe_merge=True)
        with new_folder(out) as partial:
            model.save_pretrained(partial)
            coder.tokenizer.save_pretrained(partial)
        after = _ask(GenerativePredictor(model, coder, job), batches)
    del base, model
    release_memory()
    return _compare(before, after)


def _ask(predictor: GenerativePredictor, batches: Sequence[Sequence[Pair]]) -> _Asked:
    logits, answers = [], []
    for batch in batches:
        answers += predictor.answer(batch)
        fitting = [
            pair
            for pair, answer in zip(batch, answers[-len(batch) :], strict=True)
            if answer.problem != "too_long"
        ]
        if fitting:
            logits.append(predictor.next_logits(fitting))
    return _Asked(logits, answers)


def _compare(before: _Asked, after: _Asked) -> Merged:
    if not before.logits:
        raise DataError("no probe answer fits the detector: nothing shows what merging changed")
    differences = [
        float((left - right).abs().max())
        for left, right in zip(before.logits, after.logits, strict=True)
    ]
    n_different = sum(
        left != right for left, right in zip(before.answers, after.answers, strict=True)
    )
    # A plain maximum would pass over what is not a number.
    worst = next((d for d in differences if isnan(d)), max(differences))
    return Merged(worst, n_different)
