"""A run folder as trainings and predictions leave it, with records made by hand."""

import shutil
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

from ragmend.analysis.analyze import analyze
from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.inputs.tidy import tidy_frame
from ragmend.analysis.inputs.trained_runs import run_frame
from ragmend.analysis.settings import Settings
from ragmend.cli.detector_runs import read_detector_runs
from ragmend.cli.training.plan import name_of, training_settings
from ragmend.cli.training.predicting import predict_stage
from ragmend.config import load_config, validate_config
from ragmend.datasets.ragtruth import demo_folder
from ragmend.io import dump_record, sha256_of_file, write_bytes, write_records
from ragmend.manifest import Manifest, hash_files, write_manifest
from ragmend.paths import RunPaths, manifest_path
from ragmend.records import Detection, DetectorScore
from ragmend.trained import AnswerRates, EpochScore, HealthReport, LedgerEntry

PUBLISHED = Path(__file__).parents[2] / "golden" / "analysis" / "published_seed_f1.csv"
SEEDS = (13, 21, 42, 84, 100)
N_POSITIVE, N_RESPONSES = 943, 2700
FAILED = {
    "7b/seed-100": "97 % of its answers never end",
    "13b/seed-13": "the adapter of layer 3 holds numbers that are none",
}
VERDICTS = ("hallucinated", "clean", "empty", "unparsed", "clean")
READABLE = ("hallucinated", "clean", "clean", "hallucinated", "clean")


class Folder:
    """Writes what one training or prediction leaves; a run is named as in "7b/seed-13"."""

    def __init__(self, paths, config):
        self.paths = paths
        self.config = config

    def write(self, run, *, f1, threshold=None):
        """Write a training and its prediction with that F1 in percent, exactly."""
        self.train(run, threshold=threshold)
        self.predict(run, counts_of(f1))

    def train(self, run, *, threshold=None, **said):
        trained = self.paths.training(run)
        verdict, reasons = ("failed", (FAILED[run],)) if run in FAILED else ("usable", ())
        rates = dict.fromkeys(set(AnswerRates.model_fields) - {"n"}, 0.0)
        known = {"verdict": verdict, "reasons": reasons, "answers": AnswerRates(n=48, **rates)}
        known |= {"tokens": None, "n_reload_differs": 0, "n_bad_losses": 0}
        known |= {"run_id": run, "first_loss": 1.0, "last_loss": 0.5}
        write_bytes(trained.health, dump_record(HealthReport(**known | said)))
        write_records(trained.epochs, epochs(threshold))
        write_bytes(trained.begun, b"{}\n")
        self.seal_training(run)

    def predict(self, run, counts, verdicts=None):
        verdicts = verdicts or (VERDICTS if run in FAILED else READABLE)
        detections = [
            Detection(record_id=str(i), run_id=run, verdict=verdict)
            for i, verdict in enumerate(verdicts)
        ]
        scores = [
            DetectorScore(
                run_id=run, level=level, protocol=protocol, group=group, n_responses=2700, **counts
            )
            for protocol in ("all", "good-only")
            for group in ("QA", "Data2txt", "Summary", "pooled")
            for level in ("response", "span")
        ]
        write_records(self.paths.detections(run), detections)
        write_records(self.paths.detector_run_scores(run), scores)
        self.seal_prediction(run)
        self.write_ledger(run, [None])

    def write_ledger(self, run, reasons, *, split="test", events=("begun", "ended")):
        entries = [
            LedgerEntry(
                event=event, number=number, split=split, settings_sha256="0", reason=reason, at="t"
            )
            for number, reason in enumerate(reasons, 1)
            for event in events
        ]
        write_records(self.paths.training(run).ledger, entries)

    def remove(self, run, *, training=False):
        """Take back a prediction, and perhaps what says that its training is complete."""
        manifest_path(self.paths.detections(run)).unlink()
        self.paths.training(run).ledger.unlink()
        if training:
            self.paths.training(run).manifest.unlink()

    def seal_training(self, run):
        """Write the manifest that says that the training is complete as it lies there."""
        trained = self.paths.training(run)
        settings = training_settings(self.config, name_of(self.config, run))
        self._seal(trained.manifest, settings, {}, [trained.health, trained.epochs])

    def seal_prediction(self, run, *, data="0", **changes):
        """Write the manifest that says that the prediction is complete as it lies there."""
        trained, detections = self.paths.training(run), self.paths.detections(run)
        own = (trained.manifest, trained.health, trained.epochs)
        inputs = {self.paths.relative(path): sha256_of_file(path) for path in own}
        self._seal(
            manifest_path(detections),
            predict_stage(name_of(self.config, run)).settings(self.config),
            inputs | {"data:test_response.jsonl": data},
            [detections, self.paths.detector_run_scores(run)],
            **changes,
        )

    def _seal(self, path, settings, inputs, outputs, **changes):
        known = {"stage": "x", "counts": {}, "models": {}, "packages": {}, "python": "3"}
        known |= {"host": "h", "slurm_job_id": None, "started_at": "t", "ended_at": "t"} | changes
        hashes = hash_files({self.paths.relative(output): output for output in outputs})
        write_manifest(path, Manifest(settings=settings, inputs=inputs, outputs=hashes, **known))


def counts_of(f1):
    """Counts of 943 positives of 2,700 whose F1 is that percentage exactly."""
    tp = int(10 * Fraction(f1))
    fn = N_POSITIVE - tp
    fp = 2000 - 2 * tp - fn
    return {"tp": tp, "fp": fp, "fn": fn, "tn": N_RESPONSES - tp - fp - fn}


def epochs(threshold):
    return [
        EpochScore(
            epoch=epoch, level=level, n_responses=942, tp=300 + epoch, fp=100, fn=50,
            tn=492 - epoch, n_empty=9, n_unparsed=3, threshold=threshold, chosen=epoch == 2,
        )
        for epoch in (1, 2, 3)
        for level in ("response", "span")
    ]  # fmt: skip


@pytest.fixture(scope="session")
def published():
    """The ten published F1s, as `ragmend analyze --runs` reads them."""
    return tidy_frame(pd.read_csv(PUBLISHED, dtype=str), "runs", name="published")


@pytest.fixture(scope="session")
def config():
    """Two detectors with five seeds each; one of them flags the population."""
    raw = load_config("demo").model_dump(mode="json", exclude_none=True)
    raw["data"] |= {"kind": "ragtruth", "path": str(demo_folder())}
    raw["detector"] = {"kind": "trained"}
    model = {"model": {"id": "some/base"}}
    raw["training"] = {"models": {"7b": model, "13b": model}, "seeds": list(SEEDS)}
    raw["population"] = {"run": "13b/seed-42"}
    return validate_config(raw, "here")


@pytest.fixture(scope="session")
def template(config, published, tmp_path_factory):
    """Ten trained and predicted detectors with the published F1s; tests must not change it."""
    root = tmp_path_factory.mktemp("trained") / "run"
    folder = Folder(RunPaths(root), config)
    for row in published.to_dict("records"):
        folder.write(f"{row['model']}/seed-{row['seed']}", f1=row["f1"])
    return root


@pytest.fixture
def folder_in(template, config):
    """A copy of them in any run folder, as a function of it."""

    def copy(root):
        shutil.copytree(template, root, dirs_exist_ok=True)
        return Folder(RunPaths(root), config)

    return copy


@pytest.fixture
def folder(folder_in, tmp_path):
    """A run folder in which nothing but training and prediction happened."""
    return folder_in(tmp_path / "run")


@pytest.fixture
def paths(folder):
    """Its files."""
    return folder.paths


@pytest.fixture(scope="session")
def failed():
    """The two runs that failed, with the reason."""
    return FAILED


@pytest.fixture(scope="session")
def counts():
    """Counts whose F1 is exactly some percentage, as a function of it."""
    return counts_of


@pytest.fixture
def tables_of(config, paths):
    """The tables that the runs alone give, as a function of nothing: the folder may change."""

    def analyze_runs():
        runs = read_detector_runs(config, paths)
        return analyze(Frames(runs=run_frame(runs)), settings=Settings(figure_formats=())).tables

    return analyze_runs
