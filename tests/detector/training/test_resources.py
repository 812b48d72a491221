"""When memory runs out, whoever says it, the message says what to lower."""

import pytest

from ragmend.detector.training.resources import explain_memory
from ragmend.errors import DataError, ResourceError, ServerError


def caused(error, cause):
    error.__cause__ = cause
    return error


RUN_OUT = [
    MemoryError(),
    RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB.\nmore"),
    RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9"),
    RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate"),
    caused(ServerError("org/base: cannot be loaded"), RuntimeError("CUDA out of memory.")),
]


@pytest.mark.parametrize("error", RUN_OUT, ids=str)
def test_each_way_to_run_out_of_memory_is_one_error_of_one_line(make_job, error):
    with pytest.raises(ResourceError) as caught, explain_memory(make_job(), "micro_batch_size"):
        raise error
    message = str(caught.value)
    assert message.startswith("tiny/seed-3: there is not enough memory (")
    assert "\n" not in message


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("shapes differ"),
        ServerError("dead"),
        caused(ServerError("cannot be loaded"), RuntimeError("shapes differ")),
        DataError("out of memory is what the text says"),
    ],
    ids=str,
)
def test_other_faults_are_not_taken_for_it(make_job, error):
    with pytest.raises(type(error)) as caught, explain_memory(make_job(), "micro_batch_size"):
        raise error
    assert caught.value is error


def test_it_is_explained_once(make_job):
    with (
        pytest.raises(ResourceError, match="generation_batch_size") as caught,
        explain_memory(make_job(), "micro_batch_size"),
        explain_memory(make_job(), "generation_batch_size"),
    ):
        raise MemoryError
    assert "micro_batch_size" not in str(caught.value)


def advice(job, first):
    with pytest.raises(ResourceError) as caught, explain_memory(job, first):
        raise MemoryError
    return str(caught.value)


def test_a_training_is_told_to_lower_what_costs_least_first(make_job):
    found = advice(make_job(gradient_checkpointing=False), "micro_batch_size")
    order = ["recipe.micro_batch_size (now 4", "recipe.max_length (now 2048)",
             "gradient_checkpointing = true", 'quantization = "bitsandbytes"']  # fmt: skip
    places = [found.find(part) for part in order]
    assert -1 not in places
    assert places == sorted(places)


def test_nobody_is_told_to_do_what_is_done_or_cannot_be(make_job):
    done = make_job(quantization="bitsandbytes", micro_batch_size=1)
    found = advice(done, "micro_batch_size")
    assert not any(word in found for word in ("micro_batch", "checkpointing", "quantization"))
    classifier = make_job(kind="token-classification")
    assert "quantization" not in advice(classifier, "micro_batch_size")


def test_what_answers_is_told_what_changes_no_training(make_job):
    found = advice(make_job(gradient_checkpointing=False), "generation_batch_size")
    assert found.endswith("lower recipe.generation_batch_size (now 8)")
    found = advice(make_job(generation_batch_size=1), "generation_batch_size")
    assert "is 1 already" in found
