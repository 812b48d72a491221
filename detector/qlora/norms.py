"""Norms of an adapter, layer by layer, read from its file: a damaged one shows here."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragmend.detector.qlora.adapters import AdapterSettings, read_settings, read_tensors
from ragmend.detector.qlora.libraries import require_libraries
from ragmend.detector.training.job import Job
from ragmend.errors import DataError
from ragmend.trained import LayerNorm

if TYPE_CHECKING:
    import torch

_PREFIX = "base_model.model."
_A, _B = ".lora_A.weight", ".lora_B.weight"


def adapter_norms(job: Job, weights: Path) -> list[LayerNorm]:
    """Return the Frobenius norms of every adapted layer, in the order of their names.

    Raises:
        DataError: The file cannot be read, or is no adapter.
        MissingInputError: It is not there.
    """
    require_libraries(job.trained.model)
    settings = read_settings(weights)
    tensors = read_tensors(weights)
    names = sorted({name.removesuffix(_A).removesuffix(_B) for name in tensors})
    return [_layer_norm(name, tensors, settings, weights) for name in names]


def _layer_norm(
    name: str, tensors: dict[str, Any], settings: AdapterSettings, weights: Path
) -> LayerNorm:
    a, b = tensors.get(name + _A), tensors.get(name + _B)
    if a is None or b is None or a.ndim != 2 or b.ndim != 2 or a.shape[0] != b.shape[1]:
        raise DataError(
            f"{weights}: layer {name.removeprefix(_PREFIX)} has no two matrices that belong "
            "together (lora_A, lora_B): no adapter, or part of one; copy or train it again"
        )
    a, b = a.double(), b.double()
    return LayerNorm(
        layer=name.removeprefix(_PREFIX),
        a=_finite(a.norm()),
        b=_finite(b.norm()),
        delta=_finite(settings.scale * _product_norm(a, b)),
    )


def _product_norm(a: "torch.Tensor", b: "torch.Tensor") -> "torch.Tensor":
    """Return ‖B · A‖ without B · A: its square is the sum of (BᵀB) ∘ (AAᵀ), both r × r."""
    return ((b.T @ b) * (a @ a.T)).sum().clamp(min=0).sqrt()


def _finite(number: "torch.Tensor") -> float | None:
    value = float(number)
    return value if math.isfinite(value) else None
