"""Adapters: made for a base, kept on disk, checked before they are put on another base.

An adapter is float32 always, in training and in use: rounded to the base's bfloat16 it would give
other logits after it is reloaded than before (1.4e-3, against 0.0).
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from ragmend.detector.qlora.libraries import ignore_known_warnings
from ragmend.errors import ConfigError, DataError, MissingInputError
from ragmend.io import explain, read_file
from ragmend.sections.models import ModelConfig
from ragmend.sections.training import LoraConfig

if TYPE_CHECKING:
    from peft import LoraConfig as PeftLoraConfig
    from peft import PeftModel
    from transformers import PreTrainedModel

WEIGHTS = "adapter_model.safetensors"
SETTINGS = "adapter_config.json"


class AdapterSettings(BaseModel):
    """What an adapter's own settings say of it, of what matters here."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    base_model_name_or_path: str | None = None
    revision: str | None = None
    r: int
    lora_alpha: float
    target_modules: tuple[str, ...]

    @property
    def scale(self) -> float:
        """What its product is multiplied by: alpha / r."""
        return self.lora_alpha / self.r


class _Shapes(NamedTuple):
    a: tuple[int, ...]
    b: tuple[int, ...]


def make_settings(base: "PreTrainedModel", lora: LoraConfig) -> "PeftLoraConfig":
    """Return fresh settings of an adapter for a base.

    Raises:
        ConfigError: The base has no linear layer of a name that is to be adapted.
    """
    from peft import LoraConfig as PeftLoraConfig

    there = {name.rpartition(".")[2] for name in _linear_names(base)}
    missing = [name for name in lora.targets if name not in there]
    if missing:
        raise ConfigError(
            f"recipe.lora.targets: {base.config.name_or_path} has no linear layer named "
            f"{', '.join(missing)}; it has: {', '.join(sorted(there))}"
        )
    return PeftLoraConfig(
        task_type="CAUSAL_LM",
        r=lora.r,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=list(lora.targets),
        bias="none",
    )


def make_float32(model: "PeftModel") -> None:
    """Turn an adapter's numbers into float32, in place: an optimiser that has them keeps them."""
    for name, parameter in model.named_parameters():
        if "lora_" in name:
            parameter.data = parameter.data.float()


def write_adapter(model: "PeftModel", folder: Path, base: ModelConfig) -> None:
    """Write an adapter into a folder.

    Its settings name the base by id and revision, not by where that lay while it was trained.
    """
    from peft import get_peft_model_state_dict
    from safetensors.torch import save_file

    state = get_peft_model_state_dict(model, save_embedding_layers=False)
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}
    settings = model.peft_config["default"].to_dict()
    settings["base_model_name_or_path"], settings["revision"] = base.id, base.revision
    settings["inference_mode"] = True
    settings["target_modules"] = sorted(settings["target_modules"])
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})
    text = json.dumps(settings, indent=2, sort_keys=True, default=str)
    (folder / SETTINGS).write_text(text + "\n", encoding="utf-8")


def load_adapter(base: "PreTrainedModel", folder: Path, model: ModelConfig) -> "PeftModel":
    """Put an adapter from disk on its base, to be used and not to be trained.

    Raises:
        ConfigError: It is of another base, or its matrices do not fit this one.
        DataError: It cannot be read.
        MissingInputError: It is not there.
    """
    from peft import PeftModel

    settings = read_settings(folder)
    _check_base(folder, settings, model)
    _check_shapes(folder, read_tensors(folder), base, settings)
    with ignore_known_warnings():
        loaded = PeftModel.from_pretrained(base, str(folder), is_trainable=False)
    make_float32(loaded)
    return loaded.eval()


def read_settings(folder: Path) -> AdapterSettings:
    """Read what an adapter's settings say.

    Raises:
        DataError: They cannot be read.
        MissingInputError: They are not there.
    """
    path = folder / SETTINGS
    try:
        return AdapterSettings.model_validate_json(read_file(path))
    except ValidationError as error:
        raise DataError(f"{path}: {explain(error, 'the adapter settings')}") from error


def read_tensors(folder: Path) -> dict[str, Any]:
    """Read an adapter's matrices by name.

    Raises:
        DataError: They cannot be read.
        MissingInputError: They are not there.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    path = folder / WEIGHTS
    if not path.is_file():
        raise MissingInputError(f"{path}: no such file; it is to hold an adapter's weights")
    try:
        tensors: dict[str, Any] = load_file(path)
    except (SafetensorError, OSError) as error:
        raise DataError(
            f"{path}: cannot be read as safetensors ({error}); it is cut or damaged: copy it "
            "again, or train again"
        ) from error
    return tensors


def _check_base(folder: Path, settings: AdapterSettings, model: ModelConfig) -> None:
    found = (settings.base_model_name_or_path, settings.revision)
    if found != (model.id, model.revision):
        raise ConfigError(
            f"{folder / SETTINGS}: the adapter is of base {_show_base(*found)}, the configuration "
            f"has {_show_base(model.id, model.revision)}; an adapter works on its own base only"
        )


def _show_base(name: str | None, revision: str | None) -> str:
    return f"{name} at {revision}" if revision else f"{name}"


def _check_shapes(
    folder: Path, tensors: dict[str, Any], base: "PreTrainedModel", settings: AdapterSettings
) -> None:
    expected = {
        f"base_model.model.{name}.{matrix}.weight": shape
        for name, shapes in _expected_shapes(base, settings)
        for matrix, shape in (("lora_A", shapes.a), ("lora_B", shapes.b))
    }
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if found == expected:
        return
    differing = sorted(
        name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)
    )
    first = differing[0]
    raise ConfigError(
        f"{folder / WEIGHTS}: {len(differing)} matrices do not fit the base, as {first}: it has "
        f"room for {expected.get(first, 'none')}, found {found.get(first, 'none')}; the adapter "
        "is of another base, or not all there"
    )


def _expected_shapes(
    base: "PreTrainedModel", settings: AdapterSettings
) -> Iterator[tuple[str, _Shapes]]:
    targets = set(settings.target_modules)
    for name in _linear_names(base):
        if name.rpartition(".")[2] in targets:
            layer = base.get_submodule(name)
            yield name, _Shapes((settings.r, layer.in_features), (layer.out_features, settings.r))


def _linear_names(base: "PreTrainedModel") -> list[str]:
    """Return the names of the linear layers that can be adapted: all but the head."""
    import torch

    head = base.get_output_embeddings()
    return [
        name
        for name, module in base.named_modules()
        if isinstance(module, torch.nn.Linear) and module is not head
    ]
