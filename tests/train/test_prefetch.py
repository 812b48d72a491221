"""`ragmend prefetch` with the hub's own library, against a stand-in hub on this machine."""

import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fake_hub import COMMIT, serve_hub

from ragmend.cli.prefetching.hub_cache import cache_problem, cached_snapshot, incomplete_files

pytestmark = pytest.mark.train

REPO = "org/tiny"
SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")
WANTED = {
    "config.json": b"{}",
    "tokenizer.json": b'{"a": 1}',
    "tokenizer_config.json": b'{"b": 1}',
    "chat_template.jinja": b"{{ messages }}",
    "model.safetensors.index.json": b'{"weight_map": {"a": "%s", "b": "%s"}}'
    % tuple(name.encode() for name in SHARDS),
    SHARDS[0]: b"w" * 300_000,
    SHARDS[1]: b"x" * 200_000,
}
UNWANTED = {
    "pytorch_model.bin": b"pickle",
    "model.pt": b"pickle",
    "weights.pth": b"pickle",
    "modeling_tiny.py": b"raise SystemExit",
    "original/consolidated.00.safetensors": b"twice",
    "original/params.json": b"{}",
    "consolidated.safetensors": b"twice",
    "onnx/config.json": b"{}",
    "README.md": b"# Tiny",
}
CONFIG = """
name = "t"
[data]
kind = "demo"
[detector]
kind = "lexical"
[judges]
primary = "sentence"
[[judges.panel]]
name = "sentence"
[verifier]
backend = "transformers"
[verifier.model]
id = "org/tiny"
"""


@pytest.fixture
def hub():
    with serve_hub(REPO, {**WANTED, **UNWANTED}) as server:
        yield server


@pytest.fixture
def environ(hub, tmp_path):
    """The environment of a user whose hub is the stand-in and whose cache is empty."""
    kept = {k: v for k, v in os.environ.items() if not re.match("HF_|HUGGING|TRANSFORMERS_", k)}
    return {**kept, "HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hf"), "NO_PROXY": "*"}


def cache_of(environ):
    return Path(environ["HF_HOME"]) / "hub"


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "t.toml"
    path.write_text(CONFIG)
    return path


def words(config, *more, revision=COMMIT):
    pinned = ("--set", f"verifier.model.revision={revision}") if revision else ()
    return [sys.executable, "-m", "ragmend", "prefetch", str(config), *pinned, *more]


def prefetch(config, environ, *more, revision=COMMIT, **how):
    return subprocess.run(
        words(config, *more, revision=revision),
        env=environ, capture_output=True, text=True, check=False, **how,
    )  # fmt: skip


def test_only_safetensors_settings_and_tokenizer_come_into_the_hubs_cache(hub, config, environ):
    done = prefetch(config, environ)
    assert done.returncode == 0, done.stderr
    snapshot = cached_snapshot(REPO, COMMIT, environ)
    assert snapshot is not None
    assert snapshot.is_absolute()
    assert {p.relative_to(snapshot).as_posix(): p.read_bytes()
            for p in snapshot.rglob("*") if p.is_file()} == WANTED  # fmt: skip
    assert hub.fetched() == sorted(WANTED)
    n_bytes = sum(map(len, WANTED.values()))
    assert f"{REPO} @ {COMMIT}: {snapshot}, {n_bytes:,} bytes, fetched" in done.stdout
    assert "revision =" not in done.stdout


def test_what_is_there_is_not_fetched_again_and_the_hub_is_not_asked(hub, config, environ):
    assert prefetch(config, environ).returncode == 0
    n_seen = len(hub.seen)
    done = prefetch(config, environ)
    assert done.returncode == 0, done.stderr
    assert "already there" in done.stdout
    assert len(hub.seen) == n_seen
    assert prefetch(config, {**environ, "HF_HUB_OFFLINE": "1"}, "--check").returncode == 0


def test_a_model_without_a_revision_comes_with_the_line_that_pins_it(hub, config, environ):
    done = prefetch(config, environ, revision=None)
    assert done.returncode == 0, done.stderr
    assert f'revision = "{COMMIT}"' in done.stdout
    assert cached_snapshot(REPO, None, environ) == cached_snapshot(REPO, COMMIT, environ)


def test_check_fetches_nothing_and_says_what_is_missing(hub, config, environ):
    done = prefetch(config, environ, "--check")
    assert done.returncode == 1
    assert f"missing   {REPO} @ {COMMIT} (verifier)" in done.stdout
    assert "1 of 1 models are not there" in done.stderr
    assert hub.seen == []


def test_a_transfer_that_is_torn_is_made_again_at_once(hub, config, environ):
    hub.torn = {SHARDS[0]: 100_000}
    done = prefetch(config, environ)
    assert done.returncode == 0, done.stderr
    assert hub.torn == {}
    assert hub.fetched() == sorted([*WANTED, SHARDS[0]])
    assert cache_problem(REPO, COMMIT, environ) is None


def test_a_file_that_is_cut_afterwards_is_noticed_by_its_size(hub, config, environ):
    assert prefetch(config, environ).returncode == 0
    blob = (cached_snapshot(REPO, COMMIT, environ) / SHARDS[1]).resolve()
    blob.write_bytes(b"x" * 10)
    assert cached_snapshot(REPO, COMMIT, environ) is None
    assert f"{SHARDS[1]} has 10 bytes" in prefetch(config, environ, "--check").stdout


def wait_for_all_but(name, environ):
    snapshot = cache_of(environ) / "models--org--tiny/snapshots" / COMMIT
    others = [snapshot / each for each in WANTED if each != name]
    deadline = time.monotonic() + 60
    while not all(path.exists() for path in others):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_in_the_middle_leaves_no_half_file_and_the_next_goes_on(
    hub, config, environ, number
):
    hub.held = SHARDS[1]
    with subprocess.Popen(words(config), env=environ, stderr=subprocess.PIPE, text=True) as running:
        assert hub.began.wait(60)
        wait_for_all_but(SHARDS[1], environ)
        running.send_signal(number)
        said = running.communicate(timeout=60)[1]
    assert running.returncode == 128 + number
    assert "run the same command again to go on" in said
    assert incomplete_files(REPO, cache_of(environ)) == []
    assert cached_snapshot(REPO, COMMIT, environ) is None
    hub.held, n_seen = None, len(hub.seen)
    done = prefetch(config, environ)
    assert done.returncode == 0, done.stderr
    assert cached_snapshot(REPO, COMMIT, environ) is not None
    again = [path for verb, path, _ in hub.seen[n_seen:] if verb == "GET"]
    assert [path.rpartition("/")[2] for path in again] == [SHARDS[1]]


@pytest.mark.parametrize(
    ("refuses", "expected"),
    [
        ((403, "GatedRepo"), "accept the licence at"),
        ((401, "GatedRepo"), "no HF_TOKEN is set"),
        ((401, "RepoNotFound"), "no such repository, or it is private"),
        ((404, "RepoNotFound"), "used by verifier"),
        ((404, "RevisionNotFound"), "no such revision"),
    ],
)
def test_a_hub_that_refuses_is_one_line_that_says_what_to_do(
    hub, config, environ, refuses, expected
):
    hub.refuses = refuses
    done = prefetch(config, environ)
    assert done.returncode == 1
    errors = [line for line in done.stderr.splitlines() if line.startswith("ragmend: ")]
    assert len(errors) == 1, done.stderr
    assert expected in errors[0]
    assert "Traceback" not in done.stderr


def test_a_token_is_sent_and_never_printed(hub, config, environ):
    hub.refuses = (403, "GatedRepo")
    done = prefetch(config, {**environ, "HF_TOKEN": "hf_secret"})
    assert "HF_TOKEN is set, but" in done.stderr
    assert "hf_secret" not in done.stderr + done.stdout
    assert {h.get("Authorization") for _, _, h in hub.seen} == {"Bearer hf_secret"}


@pytest.mark.slow  # the library tries for 23 s
def test_a_hub_that_is_not_there_is_one_line(config, environ):
    done = prefetch(config, {**environ, "HF_ENDPOINT": "http://127.0.0.1:9"})
    assert done.returncode == 1
    assert "the hub http://127.0.0.1:9 cannot be reached" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_half_snapshot_is_not_taken_for_the_model_when_the_hub_refuses(hub, config, environ):
    assert prefetch(config, environ).returncode == 0
    (cached_snapshot(REPO, COMMIT, environ) / SHARDS[0]).unlink()
    for listing in cache_of(environ).rglob("trees/*.json"):
        listing.unlink()
    hub.refuses = (403, "GatedRepo")  # the library returns the folder that it has
    done = prefetch(config, environ)
    assert done.returncode == 1
    assert "1 shards of its weights are missing" in done.stderr


def test_a_repository_of_pickles_only_is_refused(hub, config, environ):
    for name in (*SHARDS, "model.safetensors.index.json"):
        del hub.files[name]
    done = prefetch(config, environ)
    assert done.returncode == 1
    assert "no safetensors" in done.stderr
    assert not any("pytorch_model.bin" in path for _, path, _ in hub.seen)


def test_a_disk_that_is_full_is_one_line_that_names_the_cache(hub, config, environ):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = prefetch(config, environ, preexec_fn=limit)
    assert done.returncode == 1
    assert f"{cache_of(environ)}: cannot be written" in done.stderr
    assert "HF_HUB_CACHE" in done.stderr
    assert "Traceback" not in done.stderr
    assert prefetch(config, environ).returncode == 0


def test_offline_is_said_before_the_hub_is_asked(hub, config, environ):
    done = prefetch(config, {**environ, "HF_HUB_OFFLINE": "1"})
    assert done.returncode == 1
    assert "unset it for this command" in done.stderr
    assert hub.seen == []
