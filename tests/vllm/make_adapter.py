"""Makes a base that ends its answers, and random adapters for it; run in the environment of vllm.

Usage: python make_adapter.py MODEL BASE ADAPTER BROKEN

BASE is MODEL with a second token that ends an answer; ADAPTER changes what it says; BROKEN is
ADAPTER with a number that is none.
"""

import json
import shutil
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, AutoTokenizer

TARGETS = "q_proj k_proj v_proj o_proj gate_proj up_proj down_proj".split()
RANK, ALPHA = 4, 8


def make_base(model, folder):
    """Copy a model, and let it end with a token that it favours, as well as with its own."""
    shutil.copytree(model, folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ends = [tokenizer.eos_token_id, tokenizer.encode("}", add_special_tokens=False)[0]]
    path = folder / "generation_config.json"
    settings = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**settings, "eos_token_id": ends}))


def make_tensors(folder):
    """Return matrices whose product is not small."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    drawn = torch.Generator().manual_seed(2)  # with it some answers end, and some do not
    found = {}
    for name, module in model.named_modules():
        if name.rpartition(".")[2] in TARGETS:
            place = f"base_model.model.{name}"
            found[f"{place}.lora_A.weight"] = (
                torch.randn(RANK, module.in_features, generator=drawn) * 0.2
            )
            found[f"{place}.lora_B.weight"] = (
                torch.randn(module.out_features, RANK, generator=drawn) * 0.1
            )
    return found


def write_adapter(tensors, folder):
    folder.mkdir()
    save_file(tensors, folder / "adapter_model.safetensors", metadata={"format": "pt"})
    settings = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": "org/tiny",
        "revision": None,
        "r": RANK,
        "lora_alpha": ALPHA,
        "lora_dropout": 0.05,
        "target_modules": TARGETS,
        "bias": "none",
        "inference_mode": True,
    }
    (folder / "adapter_config.json").write_text(json.dumps(settings))


def main():
    model, base, adapter, broken = map(Path, sys.argv[1:])
    make_base(model, base)
    tensors = make_tensors(base)
    write_adapter(tensors, adapter)
    next(iter(tensors.values()))[0, 0] = float("nan")
    write_adapter(tensors, broken)


if __name__ == "__main__":
    main()
