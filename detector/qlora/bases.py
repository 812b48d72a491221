"""Loads the base of a detector, so that it computes alike in training and in use."""

from typing import TYPE_CHECKING

from ragmend.detector.training.job import Job
from ragmend.llm.in_process.loading import load_model

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def load_base(job: Job) -> "PreTrainedModel":
    """Load the base of a job, quantised where that is configured, in evaluation mode.

    Raises:
        RagmendError: As `ragmend.llm.in_process.loading.load_model`.
    """
    import torch

    if not torch.cuda.is_available():
        torch.set_num_threads(job.trained.model.threads)
    base = load_model(job.trained.model).model
    for module in base.modules():
        # On CPUs that multiply bfloat16, bitsandbytes repacks a layer when it is first used
        # without gradients, and rounds to bfloat16 from then on: a detector would be asked with
        # other numbers than it was trained on (logits differ by 0.09 instead of 1e-5).
        if hasattr(module, "support_avx512bf16_for_cpu"):
            module.support_avx512bf16_for_cpu = False
    return base
