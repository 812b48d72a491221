"""Trains an encoder as a whole, on a CPU or one GPU, with the Trainer of transformers."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragmend.detector.tokens.batching import LABELS, pad_columns
from ragmend.detector.tokens.encoding import encode_pair
from ragmend.detector.tokens.labels import NO_LOSS, label_tokens, require_gold
from ragmend.detector.tokens.loading import Encoder, load_base, write_trained
from ragmend.detector.tokens.predicting import EncoderPredictor
from ragmend.detector.training.arguments import trainer_arguments
from ragmend.detector.training.fitting import Trainee, fit_detector
from ragmend.detector.training.job import Job, Pair, Watch
from ragmend.detector.training.resources import check_machine
from ragmend.errors import ConfigError, DataError

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedTokenizerBase, Trainer

Example = Mapping[str, NDArray[np.int32]]


def fit_encoder(
    job: Job, train: Sequence[Pair], probe: Sequence[Sequence[Pair]], watch: Watch
) -> None:
    """Train a token classifier, going on from the last checkpoint; see `Kind.fit`.

    Raises:
        DataError: A training response is not annotated, or none can be learnt from.
        RagmendError: As there.
    """
    fit_detector(job, partial(_prepare, job, train, watch), probe, watch)


def _prepare(job: Job, train: Sequence[Pair], watch: Watch) -> Trainee:
    require_gold([pair.response for pair in train])
    encoder = load_base(job)
    check_machine(job)
    trainer = _trainer(job, encoder, _examples(job, encoder.tokenizer, train, watch))

    def save(model: Any, folder: Path) -> None:  # noqa: ANN401 - a PreTrainedModel
        write_trained(model, encoder.tokenizer, folder, job.trained.model)

    def finish() -> EncoderPredictor:
        model = trainer.accelerator.unwrap_model(trainer.model, keep_fp32_wrapper=False)
        return EncoderPredictor(job, encoder._replace(model=model.eval()))

    return Trainee(trainer, save=save, begin=lambda model: None, finish=finish)


def _examples(
    job: Job, tokenizer: "PreTrainedTokenizerBase", train: Sequence[Pair], watch: Watch
) -> list[Example]:
    """Encode and label what can be learnt from; say how much cannot be."""
    examples: list[Example] = []
    n_too_long = 0
    for pair in train:
        encoded = encode_pair(tokenizer, pair, job.recipe.max_length)
        if encoded is None:
            n_too_long += 1
        elif encoded.tokens:
            labels = label_tokens(encoded, pair.response)
            examples.append({**encoded.columns, LABELS: labels})
    n_empty = len(train) - n_too_long - len(examples)
    watch.say(
        f"{job.run_id}: {len(examples)} answers to learn from; left out: {n_too_long} that do not "
        f"fit in {job.recipe.max_length} tokens, {n_empty} without a token"
    )
    if not examples:
        raise DataError(
            f"{job.run_id}: none of {len(train)} training answers can be learnt from; raise "
            "recipe.max_length, or give answers with text"
        )
    return examples


def _trainer(job: Job, encoder: Encoder, examples: Sequence[Example]) -> "Trainer":
    from transformers import PrinterCallback, Trainer, TrainingArguments

    if job.recipe.gradient_checkpointing and not encoder.model.supports_gradient_checkpointing:
        raise ConfigError(
            f"{job.trained.model.id}: cannot compute activations twice; set "
            "recipe.gradient_checkpointing = false"
        )
    pad_id = int(encoder.tokenizer.pad_token_id)

    def collate(rows: Sequence[Example]) -> dict[str, "Tensor"]:
        import torch

        padded = pad_columns(rows, names=encoder.columns, pad_id=pad_id)
        return {name: torch.from_numpy(array) for name, array in padded.items()}

    trainer = Trainer(
        model=encoder.model,
        args=TrainingArguments(
            **trainer_arguments(job),
            bf16=job.trained.model.dtype == "bfloat16",
            remove_unused_columns=False,
        ),
        train_dataset=examples,
        data_collator=collate,
        compute_loss_func=_mean_over_tokens,
    )
    trainer.remove_callback(PrinterCallback)  # the log is written to a file
    return trainer


def _mean_over_tokens(outputs: Any, labels: "Tensor", num_items_in_batch: "Tensor") -> "Tensor":  # noqa: ANN401
    """Return a micro-batch's share of the mean cross-entropy over all labelled tokens of a step.

    So the loss of a step does not depend on how it is cut into micro-batches.
    """
    from torch.nn.functional import cross_entropy

    logits = outputs.logits.float()
    total: Tensor = cross_entropy(
        logits.flatten(0, 1), labels.flatten(), ignore_index=NO_LOSS, reduction="sum"
    )
    return total / num_items_in_batch
