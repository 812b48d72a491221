"""`ragmend prefetch` with a stand-in for the hub's library, and what is asked without it."""

import os
import signal
import subprocess
import sys
import time

import pytest

from ragmend.cli.prefetching.models import missing_models, needed_models
from ragmend.cli.serving.command import offline_snapshot, server_command
from ragmend.cli.serving.keeper import ServerKeeper
from ragmend.cli.serving.server import run_server
from ragmend.config import validate_config
from ragmend.errors import MissingInputError
from ragmend.sections.models import ModelConfig, ServeConfig

COMMIT = "a" * 40
LIBRARY = '''
"""Stands in for the hub's library: does what STAND_IN says."""
import json, os, pathlib, sys, time

def snapshot_download(model_id, *, revision, allow_patterns, ignore_patterns):
    cache = pathlib.Path(os.environ["HF_HUB_CACHE"])
    with open(cache.parent / "asked.jsonl", "a") as file:
        file.write(json.dumps([model_id, revision, allow_patterns]) + "\\n")
    what = os.environ.get("STAND_IN", "fetch")
    if what == "die":
        os._exit(9)
    if what == "chatter":
        print("not an answer")
        os._exit(0)
    home = cache / f"models--{model_id.replace('/', '--')}"
    (home / "blobs").mkdir(parents=True, exist_ok=True)
    if what == "hang":
        with open(home / "blobs" / "1.abcd.incomplete", "wb") as file:
            file.write(b"half")
            file.flush()
            (cache.parent / "hangs").touch()
            time.sleep(600)
    names = ["config.json", "tokenizer.json", "model.safetensors"]
    if what.startswith("only "):
        names, what = what.split()[1:], "fetch"
    if what != "fetch":
        from huggingface_hub import errors
        raise eval(what, {**vars(errors), **vars(errors.builtins)})
    commit = revision if revision and len(revision) == 40 else "a" * 40
    snapshot = home / "snapshots" / commit
    snapshot.mkdir(parents=True)
    for name in names:
        (snapshot / name).write_text("{}")
    if commit != revision:
        (home / "refs").mkdir()
        (home / "refs" / (revision or "main")).write_text(commit)
    return str(snapshot)
'''
ERRORS = """
import builtins

class Response:
    def __init__(self, status):
        self.status_code = status

class HfHubHTTPError(OSError):
    def __init__(self, message, status=500):
        super().__init__(message)
        self.response = Response(status)

class RepositoryNotFoundError(HfHubHTTPError): ...
class GatedRepoError(RepositoryNotFoundError): ...
class RevisionNotFoundError(HfHubHTTPError): ...
class LocalEntryNotFoundError(FileNotFoundError): ...
"""


@pytest.fixture
def library(tmp_path, cache, monkeypatch):
    """Put a stand-in for the hub's library where the download finds it."""
    folder = tmp_path / "lib/huggingface_hub"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(LIBRARY)
    (folder / "errors.py").write_text(ERRORS)
    (folder / "utils.py").write_text("def disable_progress_bars(): ...\n")
    monkeypatch.setenv("PYTHONPATH", str(folder.parent))
    return tmp_path


def asked(folder):
    path = folder / "asked.jsonl"
    return path.read_text().splitlines() if path.exists() else []


MODELS = {
    "verifier": {"backend": "openai", "model": {"id": "org/big", "revision": COMMIT}},
    "rewriter": {"backend": "transformers", "model": {"id": "org/small", "revision": "b" * 40}},
    "judges": {
        "primary": "one",
        "panel": [
            {"name": "one", "backend": "openai", "model": {"id": "org/big", "revision": COMMIT}},
            {"name": "two", "backend": "openai", "model": {"id": "org/mine", "folder": "/w"}},
            {"name": "three", "backend": "openai", "model": {"id": "gpt-x"}},
            {"name": "sentence"},
        ],
    },
    "servers": {"three": "https://api.example.org/v1"},
}


def config_of(**sections):
    base = {"name": "t", "data": {"kind": "demo"}, "detector": {"kind": "lexical"}, **MODELS}
    return validate_config({**base, **sections}, "t.toml")


def write_config(folder, revision=COMMIT):
    path = folder / "t.toml"
    pinned = "" if revision is None else f'revision = "{revision}"\n'
    path.write_text(
        'name = "t"\n[data]\nkind = "demo"\n[detector]\nkind = "lexical"\n'
        '[judges]\nprimary = "sentence"\n[[judges.panel]]\nname = "sentence"\n'
        f'[verifier]\nbackend = "openai"\n[verifier.model]\nid = "org/tiny"\n{pinned}'
    )
    return path


def test_each_model_is_needed_once_with_all_who_use_it():
    training = {
        "seeds": [1],
        "models": {"det": {"model": {"id": "org/small", "revision": "b" * 40}}},
    }
    found = needed_models(config_of(training=training))
    assert [(m.id, m.revision, m.used_by) for m in found] == [
        ("org/small", "b" * 40, ("training.models.det", "rewriter")),
        ("org/big", COMMIT, ("verifier", "one")),
    ]


def test_a_model_with_a_folder_or_a_server_elsewhere_is_not_needed():
    ids = {model.id for model in needed_models(config_of())}
    assert ids == {"org/big", "org/small"}
    assert "gpt-x" in {model.id for model in needed_models(config_of(servers={}))}


def test_what_is_missing_is_known_without_the_hubs_library(make_snapshot):
    make_snapshot("org/big")
    (missing,) = missing_models(config_of())
    assert missing.model.id == "org/small"
    assert "not in " in missing.problem
    make_snapshot("org/small", "b" * 40)
    assert missing_models(config_of()) == ()


def test_a_model_is_fetched_at_its_revision_and_only_once(library, command):
    path = write_config(library)
    first = command("prefetch", path)
    assert first.returncode == 0, first.stderr
    assert f"model     org/tiny @ {COMMIT}: {library / 'hub'}" in first.stdout
    assert "6 bytes, fetched" in first.stdout
    second = command("prefetch", path)
    assert "6 bytes, already there" in second.stdout
    (line,) = asked(library)
    assert f'["org/tiny", "{COMMIT}", ' in line
    assert ".bin" not in line


@pytest.mark.parametrize("revision", [None, "dev"])
def test_a_model_that_is_not_pinned_comes_with_the_line_to_pin_it(library, command, revision):
    done = command("prefetch", write_config(library, revision))
    assert done.returncode == 0, done.stderr
    assert "pin       org/tiny (verifier): a later job could get another commit" in done.stdout
    assert f'revision = "{COMMIT}"' in done.stdout


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        ("GatedRepoError('no', 403)", "accept the licence at https://huggingface.co/org/tiny"),
        ("HfHubHTTPError('no', 401)", "accept the licence"),
        ("RepositoryNotFoundError('no', 404)", "no such repository, or it is private"),
        ("RevisionNotFoundError('no', 404)", "no such revision"),
        ("HfHubHTTPError('down', 503)", "cannot be reached or is not well (down)"),
        ("LocalEntryNotFoundError('Got: ConnectError')", "cannot be reached"),
        ("ConnectionError('cut')", "cannot be reached"),
        ("OSError(28, 'No space left on device')", "hub: cannot be written"),
        ("OSError(122, 'Disk quota exceeded')", "name another place in HF_HUB_CACHE"),
        ("RuntimeError('odd')", "cannot be fetched (odd)"),
    ],
)  # fmt: skip
def test_what_the_library_says_becomes_one_line_with_what_to_do(
    library, command, monkeypatch, raised, expected
):
    monkeypatch.setenv("STAND_IN", raised)
    done = command("prefetch", write_config(library))
    assert done.returncode == 1
    assert expected in done.stderr
    assert len([e for e in done.stderr.splitlines() if e.startswith("ragmend: ")]) == 1


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("config.json model.safetensors", "was fetched, and yet its tokenizer is missing"),
        ("config.json tokenizer.json", "no safetensors"),
    ],
)
def test_what_the_library_returns_is_looked_at(library, command, monkeypatch, names, expected):
    monkeypatch.setenv("STAND_IN", f"only {names}")
    done = command("prefetch", write_config(library))
    assert done.returncode == 1
    assert expected in done.stderr
    assert "fetched\n" not in done.stdout


@pytest.mark.parametrize("how", ["die", "chatter"])
def test_a_download_that_dies_is_no_answer(library, command, monkeypatch, how):
    monkeypatch.setenv("STAND_IN", how)
    done = command("prefetch", write_config(library))
    assert done.returncode == 1
    assert "org/tiny" in done.stderr
    assert "run the same command again" in done.stderr


def test_without_the_library_the_extra_is_named(cache, tmp_path, command, monkeypatch):
    blocked = tmp_path / "lib/huggingface_hub"
    blocked.mkdir(parents=True)
    (blocked / "__init__.py").write_text("raise ImportError('not here')\n")
    monkeypatch.setenv("PYTHONPATH", str(blocked.parent))
    done = command("prefetch", write_config(tmp_path))
    assert done.returncode == 1
    assert "pip install 'ragmend[train]'" in done.stderr


def test_offline_and_no_repository_are_said_before_anything_is_asked(library, command, monkeypatch):
    path = write_config(library)
    done = command("prefetch", path, "--set", "verifier.model.id=/models/llama")
    assert (done.returncode, "name that as model.folder" in done.stderr) == (1, True)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    done = command("prefetch", path)
    assert (done.returncode, "unset it for this command" in done.stderr) == (1, True)
    assert asked(library) == []


def test_check_names_what_is_missing_and_asks_nobody(library, command, make_snapshot):
    path = write_config(library)
    done = command("prefetch", path, "--check")
    assert done.returncode == 1
    assert f"missing   org/tiny @ {COMMIT} (verifier): not in {library / 'hub'}" in done.stdout
    make_snapshot()
    done = command("prefetch", path, "--check")
    assert (done.returncode, done.stdout) == (0, "complete  1 models\n")
    assert asked(library) == []


def test_half_fetched_files_of_earlier_downloads_are_mentioned(library, command, make_snapshot):
    make_snapshot()
    (library / "hub/models--org--tiny/blobs/1.x.incomplete").write_bytes(b"half")
    done = command("prefetch", write_config(library))
    assert done.returncode == 0
    assert "1 half-fetched files (4 bytes)" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_ends_the_download_and_takes_its_half_file_along(library, number):
    environ = {**os.environ, "STAND_IN": "hang"}
    words = [sys.executable, "-m", "ragmend", "prefetch", str(write_config(library))]
    with subprocess.Popen(words, env=environ, stderr=subprocess.PIPE, text=True) as running:
        deadline = time.monotonic() + 60
        while not (library / "hangs").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        running.send_signal(number)
        said = running.communicate(timeout=60)[1]
    assert running.returncode == 128 + number
    assert "run the same command again to go on" in said
    assert list((library / "hub/models--org--tiny/blobs").iterdir()) == []


OFFLINE = {"HF_HUB_OFFLINE": "1"}


def test_a_server_that_may_not_go_online_gets_the_snapshots_path(make_snapshot, cache):
    snapshot = make_snapshot()
    model, environ = ModelConfig(id="org/tiny", revision=COMMIT), {"HF_HUB_CACHE": str(cache)}
    found = offline_snapshot(model, ServeConfig(), {**environ, **OFFLINE})
    assert found == snapshot
    command = server_command(model, ServeConfig(), port=1, snapshot=found)
    assert command[command.index("--model") + 1] == str(snapshot)
    assert command[command.index("--served-model-name") + 1] == "org/tiny"
    assert "--revision" not in command
    assert offline_snapshot(model, ServeConfig(), environ) is None
    in_serve = ServeConfig(environment={**environ, **OFFLINE})
    assert offline_snapshot(model, in_serve, {}) == snapshot


def test_a_snapshot_that_is_not_there_is_named_with_the_command_that_fetches_it(cache):
    environ = {"HF_HUB_CACHE": str(cache), **OFFLINE}
    model = ModelConfig(id="org/tiny", revision=COMMIT)
    with pytest.raises(MissingInputError, match=rf"org/tiny @ {COMMIT}: .*ragmend prefetch"):
        offline_snapshot(model, ServeConfig(), environ)
    assert (
        offline_snapshot(model.model_copy(update={"folder": "/w"}), ServeConfig(), environ) is None
    )


def test_serve_shows_the_snapshot_where_it_is_offline(
    make_snapshot, tmp_path, command, monkeypatch
):
    path = write_config(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    done = command("serve", "verifier", path, "--dry-run")
    assert (done.returncode, "ragmend prefetch" in done.stderr) == (1, True)
    snapshot = make_snapshot()
    done = command("serve", "verifier", path, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert f"--model {snapshot} --served-model-name org/tiny" in done.stdout


def test_no_server_is_started_offline_for_weights_that_are_not_there(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    model = ModelConfig(id="org/tiny", revision=COMMIT)
    log = tmp_path / "server.log"
    with pytest.raises(MissingInputError, match="ragmend prefetch"):
        run_server(model, ServeConfig(), log=log).__enter__()
    with (
        ServerKeeper(ServeConfig(), tmp_path) as keeper,
        pytest.raises(MissingInputError, match="ragmend prefetch"),
    ):
        keeper.url_of(model)
    assert not log.exists()
