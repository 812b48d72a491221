"""A recipe in the words of transformers' Trainer: what is the same whatever is trained."""

from typing import Any

from ragmend.detector.training.checkpoints import N_CHECKPOINTS
from ragmend.detector.training.job import CHECKPOINTS, Job
from ragmend.detector.training.trackers import TENSORBOARD

_SCHEDULES = {"linear": "linear", "cosine": "cosine", "constant": "constant_with_warmup"}
_OPTIMIZERS = {"adamw": "adamw_torch", "paged-adamw-8bit": "paged_adamw_8bit"}


def trainer_arguments(job: Job) -> dict[str, Any]:
    """Return arguments for `TrainingArguments`; how many steps there are is set later."""
    import torch

    recipe, has_gpu = job.recipe, torch.cuda.is_available()
    return {
        "output_dir": str(job.folder / CHECKPOINTS),
        "learning_rate": recipe.learning_rate,
        "lr_scheduler_type": _SCHEDULES[recipe.schedule],
        "warmup_steps": recipe.warmup,  # a number below one is a share of all steps
        "weight_decay": recipe.weight_decay,
        "max_grad_norm": recipe.max_grad_norm,
        "optim": _OPTIMIZERS[recipe.optimizer],
        "per_device_train_batch_size": recipe.micro_batch_size,
        "gradient_accumulation_steps": recipe.batch_size // recipe.micro_batch_size,
        "activation_checkpointing": recipe.gradient_checkpointing,
        "activation_checkpointing_kwargs": {"use_reentrant": False},
        "use_cpu": not has_gpu,
        "dataloader_pin_memory": has_gpu,
        "seed": job.seed,
        "data_seed": job.seed,
        "logging_strategy": "steps",
        "logging_steps": 1,
        "logging_nan_inf_filter": False,  # it would write the mean of other losses in their place
        "save_strategy": "steps",
        "save_steps": recipe.save_steps,
        "save_total_limit": N_CHECKPOINTS,
        "report_to": [name for name in job.trackers if name != TENSORBOARD] or "none",
        "run_name": job.run_id,
        "project": "ragmend",
        "disable_tqdm": True,
        "log_level": "error",
    }
