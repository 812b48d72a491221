"""One experiment as the commands see it: configuration, folder, stages, summary."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ragmend.cli.context import Context, say
from ragmend.cli.data import read_data
from ragmend.cli.engine import run_stages
from ragmend.cli.stages import STAGES
from ragmend.config import Config, load_config
from ragmend.errors import MissingInputError
from ragmend.io import read_records, write_records
from ragmend.manifest import current_environment
from ragmend.paths import RunPaths, StageName
from ragmend.records import CONDITIONS, Condition, Record, RepairedAnswer


class ExportedAnswer(Record):
    """One answer in one condition, with unflagged ones passed through unchanged."""

    record_id: str
    condition: Condition
    text: str
    flagged: bool


class Experiment(NamedTuple):
    """A configured run."""

    context: Context

    def run(self, *, only: StageName | None = None, redo: StageName | None = None) -> None:
        """Run what is not complete; see `run_stages`."""
        run_stages(self.context, STAGES, only=only, redo=redo)

    def export_all(self) -> None:
        """Write every answer of the split in every condition, unflagged ones marked."""
        path = self.context.paths.exported
        n_records = write_records(path, self._exported())
        say(f"{'export':9} {n_records:,} answers in {path}")

    def _exported(self) -> Iterator[ExportedAnswer]:
        repaired = {
            (answer.record_id, answer.condition): answer.text
            for answer in read_records(self.context.paths.answers, RepairedAnswer)
        }
        for response in read_data(self.context.config).responses:
            for condition in CONDITIONS:
                text = repaired.get((response.record_id, condition))
                yield ExportedAnswer(
                    record_id=response.record_id,
                    condition=condition,
                    text=response.text if text is None else text,
                    flagged=text is not None,
                )


def open_experiment(
    where: str,
    out: Path | None,
    overrides: Sequence[str] = (),
    *,
    accept_faults: str | None = None,
) -> Experiment:
    """Load a configuration and check all of it that needs no run; nothing is written yet.

    Args:
        where: A configuration's path or shipped name.
        out: The run folder; `runs/<name>` when None.
        overrides: `key=value` strings.
        accept_faults: Why faulty answers may be left out, if they may.
    """
    config = _with_absolute_paths(load_config(where, overrides))
    context = _context(config, out or Path("runs") / config.name, accept_faults)
    STAGES[0].inputs(context)  # finds the data
    for stage in STAGES:
        stage.settings(config)  # finds parameter files and judges
    return Experiment(context)


def reopen_experiment(root: Path) -> Experiment:
    """Open a run folder with the configuration that it holds.

    Raises:
        MissingInputError: It is no run folder.
    """
    paths = RunPaths(root)
    if not paths.config.is_file():
        raise MissingInputError(f"{root}: no run folder (there is no {paths.config.name} in it)")
    return Experiment(_context(load_config(str(paths.config)), root, None))


def _context(config: Config, root: Path, accept_faults: str | None) -> Context:
    return Context(config, RunPaths(root), current_environment(), accept_faults)


def _with_absolute_paths(config: Config) -> Config:
    """Make input paths absolute, so that a run can be resumed from anywhere."""
    data, detector, verifier = config.data, config.detector, config.verifier
    return config.model_copy(
        update={
            "data": data.model_copy(update={"path": _absolute(data.path)}),
            "detector": detector.model_copy(
                update={"predictions": _absolute(detector.predictions)}
            ),
            "verifier": verifier.model_copy(update={"parameters": _absolute(verifier.parameters)}),
        }
    )


def _absolute(path: str | None) -> str | None:
    return None if path is None else str(Path(path).expanduser().absolute())
