#!/usr/bin/env bash
# What only a GPU can show of trained detectors, in under ten minutes:
#   tests/gpu/check.sh [FOLDER of a Llama-2 base model, for its memory and seconds a step]
# It wants an environment with the extra [train] and a torch that sees the GPU (plain `pip install
# torch==2.13.0`); PYTHON names its interpreter.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-.venv-train/bin/python}
"$python" - <<'PYTHON'
import sys
import torch
if not torch.cuda.is_available():
    sys.exit("check.sh: torch sees no GPU here")
print(torch.cuda.get_device_name(), "torch", torch.__version__)
PYTHON
# One: with several visible, training refuses.
export CUDA_VISIBLE_DEVICES="${CUDA_VISIBLE_DEVICES:-0}"
RAGMEND_GPU_MODEL="${1:-${RAGMEND_GPU_MODEL:-}}" timeout 600 \
  "$python" -m pytest -q -p no:cacheprovider -m gpu tests/gpu
