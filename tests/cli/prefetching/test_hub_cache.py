"""What is in the hub's cache, read without its library: complete, or what is missing."""

import json
from pathlib import Path

import pytest

from ragmend.cli.prefetching.hub_cache import (
    cache_problem,
    cached_snapshot,
    hub_cache,
    hub_is_offline,
    is_wanted,
    snapshot_bytes,
)

COMMIT = "a" * 40
INDEX = {"weight_map": {"x": "model-1.safetensors", "y": "model-2.safetensors"}}
SHARDED = {
    "model.safetensors": None,
    "model.safetensors.index.json": json.dumps(INDEX).encode(),
    "model-1.safetensors": b"1",
    "model-2.safetensors": b"2",
}


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, Path.home() / ".cache/huggingface/hub"),
        ({"XDG_CACHE_HOME": "/x"}, Path("/x/huggingface/hub")),
        ({"HF_HOME": "/h", "XDG_CACHE_HOME": "/x"}, Path("/h/hub")),
        ({"HF_HUB_CACHE": "/c", "HF_HOME": "/h"}, Path("/c")),
        ({"HUGGINGFACE_HUB_CACHE": "/old", "HF_HOME": "/h"}, Path("/old")),
        ({"HF_HUB_CACHE": "~/c"}, Path.home() / "c"),
    ],
)
def test_the_cache_is_where_its_library_has_it(environ, expected):
    assert hub_cache(environ) == expected


def test_a_complete_snapshot_is_found_by_commit_branch_and_default(make_snapshot):
    snapshot = make_snapshot(branch="main")
    assert cached_snapshot("org/tiny", COMMIT) == snapshot
    assert cached_snapshot("org/tiny", "main") == snapshot
    assert cached_snapshot("org/tiny", None) == snapshot
    assert cached_snapshot("org/tiny", "b" * 40) is None
    assert cached_snapshot("org/tiny", "dev") is None
    assert cached_snapshot("org/other", COMMIT) is None


@pytest.mark.parametrize("listing", [True, False])
def test_shards_of_weights_must_all_be_there(make_snapshot, listing):
    snapshot = make_snapshot(files=SHARDED, listing=listing)
    assert cached_snapshot("org/tiny", COMMIT) == snapshot
    (snapshot / "model-2.safetensors").unlink()
    assert "model-2.safetensors" in cache_problem("org/tiny", COMMIT)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"config.json": None}, "config.json is missing"),
        ({"tokenizer.json": None}, "tokenizer is missing"),
        ({"model.safetensors": None}, "no safetensors"),
        ({"model.safetensors": None, "pytorch_model.bin": b"p"}, "no safetensors"),
        ({**SHARDED, "model.safetensors.index.json": b"{"}, "cannot be read"),
        ({**SHARDED, "model.safetensors.index.json": b"[]"}, "cannot be read"),
        ({**SHARDED, "model.safetensors.index.json": b'{"weight_map": 3}'}, "cannot be read"),
    ],
)
@pytest.mark.parametrize("listing", [True, False])
def test_what_is_missing_is_said(make_snapshot, files, expected, listing):
    make_snapshot(files=files, listing=listing)
    assert expected in cache_problem("org/tiny", COMMIT)
    assert cached_snapshot("org/tiny", COMMIT) is None


def test_a_link_to_nowhere_is_noticed(make_snapshot):
    snapshot = make_snapshot(files={"notes.txt": b"n"}, listing=False)
    (snapshot / "notes.txt").resolve().unlink()
    assert "notes.txt is a link to a file that is not there" in cache_problem("org/tiny", COMMIT)


def test_a_file_of_another_size_than_its_repository_says_is_noticed(make_snapshot):
    snapshot = make_snapshot()
    (snapshot / "model.safetensors").resolve().write_bytes(b"we")
    found = cache_problem("org/tiny", COMMIT)
    assert "model.safetensors has 2 bytes, its repository says 7" in found


def test_a_small_file_that_only_the_listing_knows_is_missed(make_snapshot):
    snapshot = make_snapshot(files={"chat_template.jinja": b"{{ messages }}"})
    (snapshot / "chat_template.jinja").unlink()
    assert "chat_template.jinja is missing" in cache_problem("org/tiny", COMMIT)


def test_half_fetched_files_count_where_nothing_else_says_what_belongs_there(make_snapshot, cache):
    make_snapshot(listing=False)
    make_snapshot("org/listed", listing=True)
    for name in ("tiny", "listed"):
        (cache / f"models--org--{name}/blobs/9.1234.incomplete").write_bytes(b"half")
    assert "half-fetched" in cache_problem("org/tiny", COMMIT)
    assert cache_problem("org/listed", COMMIT) is None


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"format_version": 2, "files": {}}', "\udcff"]
)
def test_a_listing_that_cannot_be_read_is_as_none(make_snapshot, cache, content):
    snapshot = make_snapshot()
    tree = cache / f"models--org--tiny/trees/{COMMIT}.json"
    tree.write_bytes(content.encode(errors="surrogateescape"))
    assert cached_snapshot("org/tiny", COMMIT) == snapshot


@pytest.mark.parametrize("model_id", ["../../etc", "a/b/c", "/abs", "", "a--b/c", "org/", "o rg/a"])
def test_what_is_no_repository_is_none_in_the_cache(cache, model_id):
    assert cached_snapshot(model_id, COMMIT) is None
    assert "no id of a repository" in cache_problem(model_id, COMMIT)


@pytest.mark.parametrize("revision", ["../../secret", "..", "a/../../../secret"])
def test_a_revision_leads_nowhere_else(make_snapshot, cache, revision):
    make_snapshot()
    (cache / "secret").write_text(COMMIT)
    assert cached_snapshot("org/tiny", revision) is None


def test_a_reference_that_is_no_commit_is_none(make_snapshot, cache):
    make_snapshot()
    (cache / "models--org--tiny/refs/main").write_text("../../../etc")
    assert cached_snapshot("org/tiny", None) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("model-00001-of-00002.safetensors", True),
        ("tokenizer.model", True),
        ("merges.txt", True),
        ("additional_chat_templates/tool.jinja", True),
        ("pytorch_model.bin", False),
        ("model.pt", False),
        ("model.pth", False),
        ("training_args.bin", False),
        ("modeling_x.py", False),
        ("model.gguf", False),
        ("consolidated.safetensors", False),
        ("consolidated-00001-of-00002.safetensors", False),
        ("original/params.json", False),
        ("original/consolidated.00.pth", False),
        ("unet/model.safetensors", False),
        ("onnx/config.json", False),
    ],
)
def test_weights_settings_and_tokenizer_are_wanted_and_no_pickle_code_or_double(name, expected):
    assert is_wanted(name) is expected


def test_the_size_is_of_what_is_used(make_snapshot):
    snapshot = make_snapshot(files={"pytorch_model.bin": b"p" * 1000})
    assert snapshot_bytes(snapshot) == len(b"{}" + b"{}" + b"weights")


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, False),
        ({"HF_HUB_OFFLINE": ""}, False),
        ({"HF_HUB_OFFLINE": "0"}, False),
        ({"HF_HUB_OFFLINE": "1"}, True),
        ({"HF_HUB_OFFLINE": "true"}, True),
        ({"TRANSFORMERS_OFFLINE": "yes"}, True),
    ],
)
def test_offline_is_read_as_its_library_reads_it(environ, expected):
    assert hub_is_offline(environ) is expected
