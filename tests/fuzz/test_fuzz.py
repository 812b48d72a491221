"""Broken inputs without end: every reader gives records or an error of ours, and nothing else.

Each input is made from a valid one by its kind and number alone, so that a failure is found
again by its number. `RAGMEND_FUZZ` is how many inputs there are.
"""

import os
import random
import time

import pytest
from fuzz_readers import SAMPLES, Readers

from ragmend.errors import RagmendError
from ragmend.io import read_records

N_INPUTS = int(os.environ.get("RAGMEND_FUZZ", "20000"))
N_PARTS = 4 if N_INPUTS > 100_000 else 1

SHARES = {  # of all inputs
    "records": 0.22,
    "ragtruth": 0.12,
    "zipped": 0.03,
    "predictions": 0.13,
    "config": 0.09,
    "settings": 0.08,
    "one_record": 0.11,
    "parameters": 0.02,
    "splitter": 0.12,
    "fragments": 0.08,
}


@pytest.mark.parametrize("part", range(N_PARTS))
@pytest.mark.parametrize("kind", SHARES)
def test_any_input_gives_records_or_an_error_of_ours(kind, part, finished, tmp_path, note):
    started, n_inputs, n_refused = time.monotonic(), round(N_INPUTS * SHARES[kind] / N_PARTS), 0
    read = getattr(Readers(tmp_path, finished), kind)
    for number in range(part * n_inputs, (part + 1) * n_inputs):
        n_refused += is_refused(read, f"{kind}-{number}")
    assert kind in ("splitter", "fragments") or 0 < n_refused < n_inputs
    note(
        f"{n_inputs:,} fuzzed {kind} in {time.monotonic() - started:.0f} s: {n_refused:,} refused "
        "by an error of ours, no other exception"
    )


def is_refused(read, name):
    """Read one broken input; return whether an error of ours refused it."""
    try:
        read(random.Random(name))
    except RagmendError:
        return True
    except Exception as error:
        raise AssertionError(f"input {name} raised {type(error).__name__}") from error
    return False


@pytest.mark.parametrize("name", SAMPLES)
def test_each_sample_can_be_read_before_it_is_broken(name, tmp_path):
    model, content = SAMPLES[name]
    (tmp_path / "sample.jsonl").write_bytes(content)
    assert len(list(read_records(tmp_path / "sample.jsonl", model))) == 1
