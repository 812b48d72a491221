"""Fine-tunes an adapter with TRL's SFTTrainer: resumable, quiet, the same for a seed.

Rows come with their token ids and labels (`rows`), so nothing is tokenised, cut or masked by the
libraries: they would drop what is too long, with its end token, without a word.

Source: Dettmers et al. 2023, "QLoRA" (arXiv 2305.14314); arXiv 2608.29307, section 3.1.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import ceil
from typing import TYPE_CHECKING, Any

from ragmend.detector.qlora import collating
from ragmend.detector.qlora.adapters import make_float32, make_settings
from ragmend.detector.qlora.bases import load_base
from ragmend.detector.qlora.checkpoints import find_checkpoint, keep_log_until
from ragmend.detector.qlora.generating import GenerativePredictor
from ragmend.detector.qlora.libraries import ignore_known_warnings, require_libraries
from ragmend.detector.qlora.progress import Progress
from ragmend.detector.qlora.resources import explain_memory, release_memory
from ragmend.detector.qlora.rows import Row, make_rows, rows_that_fit
from ragmend.detector.qlora.tokens import Coder, load_coder
from ragmend.detector.qlora.trackers import check_trackers, tracked
from ragmend.detector.training.job import CHECKPOINTS, IN_MEMORY, Job, Pair, Watch
from ragmend.errors import ConfigError, DataError, OutputError, PreemptedError, RagmendError
from ragmend.io import write_records
from ragmend.trained import DetectorAnswer

if TYPE_CHECKING:
    from datasets import Dataset
    from transformers import PreTrainedModel
    from trl import SFTConfig, SFTTrainer

_SCHEDULES = {
    "linear": "linear",
    "cosine": "cosine",
    "constant": "constant_with_warmup",
}
_OPTIMIZERS = {"adamw": "adamw_torch", "paged-adamw-8bit": "paged_adamw_8bit"}
N_CHECKPOINTS = 2
"""How many are kept: the last may be half of one."""


def fit(job: Job, train: Sequence[Pair], probe: Sequence[Sequence[Pair]], watch: Watch) -> None:
    """Train to the end; see `ragmend.detector.training.job.Kind.fit`."""
    if _is_complete(job):
        return
    require_libraries(job.trained.model, to_train=True)
    check_trackers(job)
    _check_machine(job)
    coder = load_coder(job)
    rows = rows_that_fit(make_rows(train, coder, job.recipe))
    if not rows:
        raise DataError(
            f"{job.run_id}: not one of {len(train)} training answers fits in recipe.max_length "
            f"({job.recipe.max_length} tokens); raise it"
        )
    with (
        _explain_writing(job),
        explain_memory(job, "micro_batch_size"),
        tracked(job),
        ignore_known_warnings(),
    ):
        try:
            _train(job, rows, coder, probe, watch)
        finally:
            release_memory()


def _is_complete(job: Job) -> bool:
    if not (job.folder / IN_MEMORY).is_file():
        return False
    there = [job.weights(n).is_dir() for n in range(1, job.recipe.epochs + 1)]
    if any(there) and (all(there) or job.recipe.max_steps is not None):
        return True
    raise DataError(
        f"{job.folder}: the training has ended, but the weights of {there.count(False)} of its "
        f"{len(there)} epochs are missing; train again with --redo"
    )


def _check_machine(job: Job) -> None:
    import torch

    n_gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if n_gpus > 1:
        raise ConfigError(
            f"{n_gpus} GPUs are visible, and one training uses one: set CUDA_VISIBLE_DEVICES to "
            "one of them, and train other seeds on the others"
        )
    if not n_gpus and job.recipe.optimizer == "paged-adamw-8bit":
        raise ConfigError(
            'recipe.optimizer = "paged-adamw-8bit" works on a GPU only, and none is visible; set '
            '"adamw"'
        )


@contextmanager
def _explain_writing(job: Job) -> Iterator[None]:
    try:
        yield
    except RagmendError:
        raise
    except OSError as error:
        raise OutputError.of(job.folder, error) from error


def _train(
    job: Job,
    rows: Sequence[Row],
    coder: Coder,
    probe: Sequence[Sequence[Pair]],
    watch: Watch,
) -> None:
    progress = Progress(job, watch)
    base = load_base(job)
    own_types = {name: parameter.dtype for name, parameter in base.named_parameters()}
    trainer = make_trainer(job, base, rows, coder, progress)
    checkpoint = find_checkpoint(job)
    keep_log_until(job, checkpoint.step if checkpoint else 0)
    if checkpoint:
        watch.say(f"{job.run_id}: goes on after step {checkpoint.step:,}")
    trainer.train(resume_from_checkpoint=str(checkpoint.folder) if checkpoint else None)
    if progress.is_stopped:
        raise PreemptedError(
            f"{job.run_id}: stopped after step {trainer.state.global_step:,} of "
            f"{trainer.state.max_steps:,}; a checkpoint is saved: run the same command again to "
            "go on"
        )
    _make_ready(trainer.model, own_types)
    _answer_probe(GenerativePredictor(trainer.model, coder, job), job, probe, watch)


def make_trainer(
    job: Job, base: "PreTrainedModel", rows: Sequence[Row], coder: Coder, progress: Progress
) -> "SFTTrainer":
    """Put a fresh adapter on a base, and everything together that trains it."""
    from transformers import PrinterCallback
    from trl import SFTTrainer

    settings = make_settings(base, job.recipe.lora)
    if job.trained.model.quantization is not None:
        _prepare_quantised(base)
    trainer = SFTTrainer(
        model=base,
        args=_training_arguments(job, base),
        train_dataset=_as_dataset(rows),
        # TRL packs with a collator of its own.
        data_collator=None if job.recipe.packing else collating.build_collator(coder),
        processing_class=coder.tokenizer,
        peft_config=settings,
        callbacks=[progress.callback()],
    )
    trainer.args.max_steps = _max_steps(job, len(trainer.train_dataset))
    trainer.remove_callback(PrinterCallback)
    trainer.create_model_card = lambda *_, **__: None  # the runner writes one, with scores
    # A checkpoint is not looked up on the hub for where its base lies on this machine.
    trainer.model.peft_config["default"].base_model_name_or_path = None
    make_float32(trainer.model)
    return trainer


def _prepare_quantised(base: "PreTrainedModel") -> None:
    """Freeze a quantised base; norms, embeddings and head become float32 while it trains."""
    from peft import prepare_model_for_kbit_training

    # The Trainer turns checkpointing on itself, the way that the recipe says.
    prepare_model_for_kbit_training(base, use_gradient_checkpointing=False)


def _as_dataset(rows: Sequence[Row]) -> "Dataset":
    from datasets import Dataset

    return Dataset.from_dict(
        {"input_ids": [row.input_ids for row in rows], "labels": [row.labels for row in rows]}
    )


def _training_arguments(job: Job, base: "PreTrainedModel") -> "SFTConfig":
    import torch
    from trl import SFTConfig

    recipe, on_gpu = job.recipe, torch.cuda.is_available()
    return SFTConfig(
        output_dir=str(job.folder / CHECKPOINTS),
        num_train_epochs=recipe.epochs,
        learning_rate=recipe.learning_rate,
        lr_scheduler_type=_SCHEDULES[recipe.schedule],
        warmup_steps=recipe.warmup,  # a number below one is a share of all steps
        weight_decay=recipe.weight_decay,
        max_grad_norm=recipe.max_grad_norm,
        optim=_OPTIMIZERS[recipe.optimizer],
        per_device_train_batch_size=recipe.micro_batch_size,
        gradient_accumulation_steps=recipe.batch_size // recipe.micro_batch_size,
        activation_checkpointing=recipe.gradient_checkpointing,
        activation_checkpointing_kwargs={"use_reentrant": False},
        gradient_checkpointing=False,
        bf16=on_gpu and base.dtype == torch.bfloat16,
        use_cpu=not on_gpu,
        dataloader_pin_memory=on_gpu,
        seed=job.seed,
        data_seed=job.seed,
        **_length_arguments(job),
        logging_steps=1,
        logging_nan_inf_filter=False,
        save_strategy="steps",
        save_steps=recipe.save_steps,
        save_total_limit=N_CHECKPOINTS,
        report_to=list(job.trackers) or "none",
        run_name=job.run_id,
        project="ragmend",
        disable_tqdm=True,
        log_level="error",
    )


def _length_arguments(job: Job) -> dict[str, Any]:
    """Return how rows reach the model: as they are, or several in one where that is asked for.

    Packed rows do not see each other: their positions begin anew, and transformers masks by that.
    None is cut, for each fits; a step then has `batch_size` sequences, and more answers.
    """
    if job.recipe.packing:
        return {"packing": True, "packing_strategy": "bfd", "max_length": job.recipe.max_length}
    return {"max_length": None, "dataset_kwargs": {"skip_prepare_dataset": True}}


def _max_steps(job: Job, n_rows: int) -> int:
    """Return where to end early; -1: after the last epoch.

    Args:
        job: Its recipe may name a step.
        n_rows: Sequences an epoch, which are fewer than answers where several are packed in one.
    """
    recipe = job.recipe
    n_micro = ceil(n_rows / recipe.micro_batch_size)
    per_epoch = ceil(n_micro / (recipe.batch_size // recipe.micro_batch_size))
    n_all = recipe.epochs * per_epoch
    return -1 if recipe.max_steps is None or recipe.max_steps >= n_all else recipe.max_steps


def _make_ready(model: Any, own_types: dict[str, Any]) -> None:  # noqa: ANN401 - a PeftModel
    """Turn a model that trained into one that answers exactly as it will once reloaded."""
    model.disable_input_require_grads()
    model.get_base_model().activation_checkpointing_disable()
    model.config.use_cache = True
    base = {
        name.removeprefix("base_model.model.").replace(".base_layer.", "."): parameter
        for name, parameter in model.named_parameters()
        if "lora_" not in name
    }
    for name, parameter in base.items():
        if parameter.dtype != own_types[name]:
            parameter.data = parameter.data.to(own_types[name])
    model.eval()


def _answer_probe(
    predictor: GenerativePredictor, job: Job, probe: Sequence[Sequence[Pair]], watch: Watch
) -> None:
    answers: list[DetectorAnswer] = []
    for batch in probe:
        if watch.should_stop():
            raise PreemptedError(
                f"{job.run_id}: stopped while it answered its probe; the weights are saved: run "
                "the same command again to go on"
            )
        answers += predictor.answer(batch)
    write_records(job.folder / IN_MEMORY, answers)
