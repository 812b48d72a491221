"""Trains an encoder as a whole, on a CPU or one GPU, with the Trainer of transformers."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmend.detector.tokens.batching import LABELS, pad_columns
from ragmend.detector.tokens.checkpoints import Checkpoint, cut_log, last_checkpoint
from ragmend.detector.tokens.encoding import encode_pair
from ragmend.detector.tokens.labels import NO_LOSS, label_tokens, require_gold
from ragmend.detector.tokens.loading import Encoder, explain_memory, load_base, load_trained
from ragmend.detector.tokens.predicting import EncoderPredictor
from ragmend.detector.tokens.recording import Recorder, as_callback
from ragmend.detector.tokens.trackers import require_trackers, tracker_callbacks
from ragmend.detector.training.job import CHECKPOINTS, IN_MEMORY, LOG, Job, Pair, Watch
from ragmend.errors import ConfigError, DataError, OutputError, PreemptedError, RagmendError
from ragmend.io import write_records
from ragmend.sections.training import Recipe

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedTokenizerBase, Trainer, TrainingArguments

KEPT_CHECKPOINTS = 2  # a kill while one is written leaves the other
SCHEDULES = {"linear": "linear", "cosine": "cosine", "constant": "constant_with_warmup"}
OPTIMIZERS = {"adamw": "adamw_torch", "paged-adamw-8bit": "paged_adamw_8bit"}

Example = Mapping[str, NDArray[np.int32]]


class Schedule(NamedTuple):
    """How many steps there are, and which of them end an epoch."""

    steps_per_epoch: int
    n_steps: int

    @classmethod
    def of(cls, recipe: Recipe, n_examples: int) -> "Schedule":
        """Return the schedule of so many examples."""
        per_epoch = math.ceil(n_examples / recipe.batch_size)
        n_steps = recipe.epochs * per_epoch
        return cls(per_epoch, min(recipe.max_steps or n_steps, n_steps))

    def epoch_of(self, step: int) -> int:
        """Return the epoch that a step belongs to; both count from 1."""
        return math.ceil(step / self.steps_per_epoch)

    def ends_epoch(self, step: int) -> bool:
        """Tell whether a step is its epoch's last, or the last of all."""
        return step % self.steps_per_epoch == 0 or step == self.n_steps


def fit_encoder(
    job: Job, train: Sequence[Pair], probe: Sequence[Sequence[Pair]], watch: Watch
) -> None:
    """Train a token classifier, going on from the last checkpoint; see `Kind.fit`.

    Raises:
        DataError: A training response is not annotated, or none can be learnt from.
        PreemptedError, ResourceError, ConfigError, MissingInputError, ServerError: As there.
    """
    if (job.folder / IN_MEMORY).exists():  # it is written last of all
        return
    require_gold([pair.response for pair in train])
    require_trackers(job.trackers)
    encoder = load_base(job)
    examples = _examples(job, encoder.tokenizer, train, watch)
    schedule = Schedule.of(job.recipe, len(examples))
    checkpoint = last_checkpoint(job.folder / CHECKPOINTS)
    step = 0 if checkpoint is None else checkpoint.step
    job.folder.mkdir(parents=True, exist_ok=True)
    cut_log(job.folder / LOG, step)
    if step < schedule.n_steps:
        encoder = _train(job, encoder, examples, schedule, checkpoint, watch)
    else:
        # Killed between the last step and the probe. The Trainer would take one step more.
        encoder = load_trained(job, job.weights(schedule.epoch_of(schedule.n_steps)))
    predictor = EncoderPredictor(job, encoder)
    answers = [answer for batch in probe for answer in predictor.answer(batch)]
    write_records(job.folder / IN_MEMORY, answers)


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


def _train(
    job: Job,
    encoder: Encoder,
    examples: Sequence[Example],
    schedule: Schedule,
    checkpoint: Checkpoint | None,
    watch: Watch,
) -> Encoder:
    """Train to the end; return the weights in memory, ready to be asked."""
    recorder = Recorder(job, schedule, encoder.tokenizer, watch)
    step = 0 if checkpoint is None else checkpoint.step
    if checkpoint is not None:
        watch.say(f"{job.run_id}: goes on after step {step} of {schedule.n_steps}")
    with explain_memory(job), _explain_writing(job):
        trainer = _trainer(job, encoder, examples, schedule)
        trainer.add_callback(as_callback(recorder))
        for callback in tracker_callbacks(job, step):
            trainer.add_callback(callback)
        trainer.train(resume_from_checkpoint=checkpoint and str(checkpoint.folder))
    if recorder.is_stopped:
        raise PreemptedError(
            f"{job.run_id}: stopped on request after step {trainer.state.global_step} of "
            f"{schedule.n_steps}; all is saved, the same command goes on"
        )
    model = trainer.accelerator.unwrap_model(trainer.model, keep_fp32_wrapper=False)
    return encoder._replace(model=model.eval())


def _trainer(
    job: Job, encoder: Encoder, examples: Sequence[Example], schedule: Schedule
) -> "Trainer":
    from transformers import PrinterCallback, Trainer

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
        args=_arguments(job, schedule),
        train_dataset=examples,
        data_collator=collate,
        compute_loss_func=_mean_over_tokens,
    )
    trainer.remove_callback(PrinterCallback)  # the log is written to a file
    return trainer


def _arguments(job: Job, schedule: Schedule) -> "TrainingArguments":
    import torch
    from transformers import TrainingArguments

    recipe, has_gpu = job.recipe, torch.cuda.is_available()
    if recipe.optimizer != "adamw" and not has_gpu:
        raise ConfigError(f"{job.name}: recipe.optimizer {recipe.optimizer!r} needs a GPU")
    arguments = TrainingArguments(
        output_dir=str(job.folder / CHECKPOINTS),
        per_device_train_batch_size=recipe.micro_batch_size,
        gradient_accumulation_steps=recipe.batch_size // recipe.micro_batch_size,
        max_steps=schedule.n_steps,
        learning_rate=recipe.learning_rate,
        lr_scheduler_type=SCHEDULES[recipe.schedule],
        warmup_steps=recipe.warmup,  # below 1: a share of the steps
        weight_decay=recipe.weight_decay,
        max_grad_norm=recipe.max_grad_norm,
        optim=OPTIMIZERS[recipe.optimizer],
        activation_checkpointing=recipe.gradient_checkpointing,
        activation_checkpointing_kwargs={"use_reentrant": False},
        bf16=job.trained.model.dtype == "bfloat16",
        use_cpu=not has_gpu,
        seed=job.seed,
        data_seed=job.seed,
        logging_strategy="steps",
        logging_steps=1,
        logging_nan_inf_filter=False,  # it would write the mean of other losses in their place
        save_strategy="steps",
        save_steps=recipe.save_steps,
        save_total_limit=KEPT_CHECKPOINTS,
        report_to=[name for name in job.trackers if name != "tensorboard"] or "none",
        run_name=job.run_id,
        disable_tqdm=True,
        remove_unused_columns=False,
        dataloader_pin_memory=has_gpu,
    )
    if arguments.n_gpu > 1:
        # With more, a step would silently be of more answers than `batch_size`.
        arguments._n_gpu = 1
    return arguments


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


@contextmanager
def _explain_writing(job: Job) -> Iterator[None]:
    """Turn what fails while files are written into an error that names the folder."""
    from safetensors import SafetensorError

    try:
        yield
    except RagmendError:
        raise
    except OSError as error:
        raise OutputError.of(job.folder, error) from error
    except SafetensorError as error:
        raise OutputError(
            f"{job.folder}: cannot be written ({error}); the last checkpoint stays: put that "
            "right and run the same command again"
        ) from error
