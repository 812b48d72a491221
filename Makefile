# Two commands set everything up: `make demo` and `make test`.
SHELL := /bin/bash
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
# Parallelism is by process; a second OpenMP thread slows the small fits here down.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

.PHONY: demo test quick soak fuzz bench check format env clean

env: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml locks/base.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c locks/base.txt -e '.[dev]'
	touch $@

demo: env
	$(BIN)/ragmend run demo --out runs/demo

test: env
	$(BIN)/python -m pytest -n 2

quick: env
	$(BIN)/python -m pytest -n 2 -m "not slow"

bench: env
	$(BIN)/python -m bench

# Everything long: 100 kills, 10,000 injected faults, a million broken inputs.
soak: env
	RAGMEND_KILLS=100 $(BIN)/python -m pytest -q tests/cli/test_resume.py -k random_moments
	RAGMEND_FAULTS=10000 $(BIN)/python -m pytest -q tests/cli/test_injected_faults.py
	$(MAKE) fuzz

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
	rm -rf $(VENV) build dist runs/demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
