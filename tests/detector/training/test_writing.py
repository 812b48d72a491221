"""Weights come to their folder as a whole or not at all, and others may read them."""

import os

import pytest

from ragmend.detector.training.checkpoints import mark_complete
from ragmend.detector.training.writing import explain_writing, new_folder
from ragmend.errors import DataError, OutputError


@pytest.fixture(params=[0o022, 0o027, 0o077])
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path):
    return path.stat().st_mode & 0o777


def write_as_safetensors(path):
    path.touch()
    path.chmod(0o600)


def test_files_get_the_permissions_that_the_umask_gives(umask, tmp_path):
    with new_folder(tmp_path / "epochs" / "epoch-1") as folder:
        write_as_safetensors(folder / "model.safetensors")
        (folder / "more").mkdir()
        write_as_safetensors(folder / "more" / "model.safetensors")
    new = tmp_path / "epochs" / "epoch-1"
    assert mode(new) == mode(new / "more") == 0o777 & ~umask
    files = (new / "model.safetensors", new / "more" / "model.safetensors")
    assert [mode(path) for path in files] == [0o666 & ~umask] * 2


def test_those_of_a_checkpoint_do_too(umask, tmp_path):
    folder = tmp_path / "checkpoint-1"
    folder.mkdir()
    write_as_safetensors(folder / "model.safetensors")
    mark_complete(folder)
    assert {mode(path) for path in folder.iterdir()} == {0o666 & ~umask}


def test_what_a_killed_process_left_and_what_was_there_before_makes_way(tmp_path):
    folder = tmp_path / "epoch-1"
    for name in ("epoch-1", "epoch-1.partial"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "old").touch()
    with new_folder(folder) as partial:
        (partial / "new").touch()
        assert (folder / "old").exists()
    assert [path.name for path in tmp_path.rglob("*")] == ["epoch-1", "new"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_is_not_whole_does_not_take_the_place(tmp_path, error):
    def write(folder):
        with new_folder(folder) as partial:
            (partial / "new").touch()
            raise error

    with pytest.raises((OutputError, KeyboardInterrupt)):
        write(tmp_path / "a")
    assert not (tmp_path / "a").exists()


class SafetensorError(Exception):
    """As the library's, which the base installation lacks."""


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(28, "No space left on device"), "No space left on device"),
        (SafetensorError("I/O error: No space left"), "I/O error: No space left"),
        (RuntimeError("PytorchStreamWriter failed writing file data/0: x\nmore"), "data/0: x"),
        (RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos"), "pos"),
        (RuntimeError("basic_ios::clear: iostream error"), "iostream error"),
    ],
)
def test_a_full_disk_is_said_whoever_finds_it(tmp_path, error, words):
    with pytest.raises(OutputError) as caught, explain_writing(tmp_path):
        raise error
    assert str(caught.value).startswith(f"{tmp_path}: cannot be written (")
    assert f"{words})" in str(caught.value)


@pytest.mark.parametrize("error", [RuntimeError("shapes differ"), DataError("a row is missing")])
def test_other_faults_are_not_taken_for_it(tmp_path, error):
    with pytest.raises(type(error), match=str(error)), explain_writing(tmp_path):
        raise error
