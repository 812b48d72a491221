"""Where losses go besides the log."""

import os
import sys
from contextlib import suppress
from types import ModuleType

import pytest

from ragmend.detector.training.trackers import tracked
from ragmend.errors import ConfigError

NAMES = ("TENSORBOARD_LOGGING_DIR", "WANDB_DIR", "MLFLOW_TRACKING_URI", "TRACKIO_DIR")


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def libraries(monkeypatch, tmp_path):
    """Trackers that are there, but do no more than take down what is asked of them."""
    asked = []
    for name, functions in {
        "wandb": ("finish", "teardown"), "mlflow": ("end_run",), "trackio": ()
    }.items():  # fmt: skip
        module = ModuleType(name)
        for function in functions:
            setattr(module, function, _taking_down(asked, f"{name}.{function}"))
        monkeypatch.setitem(sys.modules, name, module)
    return asked


def _taking_down(asked, name):
    return lambda: asked.append((name, sorted(n for n in NAMES if n in os.environ)))


def test_a_tracker_that_is_not_installed_is_named_and_nothing_is_left(make_job, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    job = make_job(trackers=("mlflow",))
    with (
        pytest.raises(ConfigError, match=r"'mlflow', which cannot be imported .* pip install mlfl"),
        tracked(job),
    ):
        pytest.fail("begun")
    assert not job.folder.exists()
    assert not any(name in os.environ for name in NAMES)


def test_all_of_them_write_into_the_folder_of_the_training(make_job, libraries):
    job = make_job(trackers=("wandb", "mlflow", "trackio"))
    with tracked(job):
        assert all(str(job.folder) in os.environ[name] for name in NAMES)
        # MLflow takes no folder any more.
        assert os.environ["MLFLOW_TRACKING_URI"].startswith("sqlite:////")
        assert (job.folder / "tracking").is_dir()
    assert not any(name in os.environ for name in NAMES)


def test_the_environment_has_the_last_word_and_is_left_as_it_was(make_job, monkeypatch):
    monkeypatch.setenv("WANDB_DIR", "/elsewhere")
    with suppress(ZeroDivisionError), tracked(make_job()):
        assert os.environ["WANDB_DIR"] == "/elsewhere"
        raise ZeroDivisionError
    assert os.environ["WANDB_DIR"] == "/elsewhere"
    assert "TRACKIO_DIR" not in os.environ


def test_a_job_without_trackers_has_no_folder_for_them(job, libraries):
    with tracked(job):
        pass
    assert not job.folder.exists()
    assert not libraries


def test_the_next_training_does_not_go_on_in_this_ones_run_or_folder(make_job, libraries):
    with suppress(ZeroDivisionError), tracked(make_job(trackers=("wandb", "mlflow"))):
        raise ZeroDivisionError
    # They end their runs where these lie.
    assert libraries == [
        (name, sorted(NAMES)) for name in ("wandb.finish", "wandb.teardown", "mlflow.end_run")
    ]


def test_a_library_that_reads_its_folder_when_imported_is_imported_anew_each_time(
    make_job, monkeypatch, tmp_path
):
    (tmp_path / "trackio.py").write_text("import os\nFOLDER = os.environ['TRACKIO_DIR']\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("a", "b"):
        job = make_job(trackers=("trackio",))._replace(folder=tmp_path / name)
        with tracked(job):
            found = sys.modules["trackio"].FOLDER
            assert found == str(job.folder / "tracking" / "trackio")
    assert "trackio" not in sys.modules
