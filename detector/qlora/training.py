"""Fine-tunes an adapter with TRL's SFTTrainer: resumable, quiet, the same for a seed.

Rows come with their token ids and labels (`rows`), so nothing is tokenised, cut or masked by the
libraries: they would drop what is too long, with its end token, without a word.

Source: Dettmers et al. 2023, "QLoRA" (arXiv 2305.14314); arXiv 2608.29307, section 3.1.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragmend.detector.qlora import collating
from ragmend.detector.qlora.adapters import make_float32, make_settings, write_adapter
from ragmend.detector.qlora.bases import load_base
from ragmend.detector.qlora.generating import GenerativePredictor
from ragmend.detector.qlora.libraries import ignore_known_warnings, require_libraries
from ragmend.detector.qlora.rows import Row, make_rows, rows_that_fit
from ragmend.detector.qlora.tokens import Coder, load_coder
from ragmend.detector.training.arguments import trainer_arguments
from ragmend.detector.training.fitting import Trainee, fit_detector
from ragmend.detector.training.job import Job, Pair, Watch
from ragmend.detector.training.resources import check_machine
from ragmend.errors import DataError

if TYPE_CHECKING:
    from datasets import Dataset
    from transformers import PreTrainedModel
    from trl import SFTConfig, SFTTrainer


def fit(job: Job, train: Sequence[Pair], probe: Sequence[Sequence[Pair]], watch: Watch) -> None:
    """Train to the end; see `ragmend.detector.training.job.Kind.fit`."""
    with ignore_known_warnings():
        fit_detector(job, partial(_prepare, job, train), probe, watch)


def _prepare(job: Job, train: Sequence[Pair]) -> Trainee:
    require_libraries(job.trained.model, to_train=True)
    check_machine(job)
    coder = load_coder(job)
    rows = rows_that_fit(make_rows(train, coder, job.recipe))
    if not rows:
        raise DataError(
            f"{job.run_id}: not one of {len(train)} training answers fits in recipe.max_length "
            f"({job.recipe.max_length} tokens); raise it"
        )
    base = load_base(job)
    own_types = {name: parameter.dtype for name, parameter in base.named_parameters()}
    trainer = make_trainer(job, base, rows, coder)

    def save(model: Any, folder: Path) -> None:  # noqa: ANN401 - a PeftModel
        write_adapter(model, folder, job.trained.model)

    def finish() -> GenerativePredictor:
        _make_ready(trainer.model, own_types)
        return GenerativePredictor(trainer.model, coder, job)

    # TRL makes a quantised base's adapter bfloat16; resuming brings its own type.
    return Trainee(trainer, save=save, begin=make_float32, finish=finish)


def make_trainer(
    job: Job, base: "PreTrainedModel", rows: Sequence[Row], coder: Coder
) -> "SFTTrainer":
    """Put a fresh adapter on a base, and everything together that trains it."""
    from transformers import PrinterCallback
    from trl import SFTTrainer

    settings = make_settings(base, job.recipe.lora)
    # Asked before it is prepared, which makes float32 of all that is not quantised.
    is_bfloat16 = is_in_bfloat16(base)
    if job.trained.model.quantization is not None:
        _prepare_quantised(base)
    trainer = SFTTrainer(
        model=base,
        args=_training_arguments(job, is_bfloat16=is_bfloat16),
        train_dataset=_as_dataset(rows),
        # TRL packs with a collator of its own.
        data_collator=None if job.recipe.packing else collating.build_collator(coder),
        processing_class=coder.tokenizer,
        peft_config=settings,
    )
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


def is_in_bfloat16(base: "PreTrainedModel") -> bool:
    """Tell whether a base that was just loaded computes in bfloat16, so that training does too."""
    import torch

    return bool(base.dtype == torch.bfloat16)


def _training_arguments(job: Job, *, is_bfloat16: bool) -> "SFTConfig":
    import torch
    from trl import SFTConfig

    return SFTConfig(
        **trainer_arguments(job),
        **_length_arguments(job),
        gradient_checkpointing=False,
        bf16=torch.cuda.is_available() and is_bfloat16,
    )


def _length_arguments(job: Job) -> dict[str, Any]:
    """Return how rows reach the model: as they are, or several in one where that is asked for.

    Packed rows do not see each other: their positions begin anew, and transformers masks by that.
    None is cut, for each fits; a step then has `batch_size` sequences, and more answers.
    """
    if job.recipe.packing:
        return {"packing": True, "packing_strategy": "bfd", "max_length": job.recipe.max_length}
    return {"max_length": None, "dataset_kwargs": {"skip_prepare_dataset": True}}


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
