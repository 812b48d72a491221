"""One experiment as the commands see it: configuration, folder, stages, summary."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Self, TypeVar

from ragmend.cli.context import Context, say
from ragmend.cli.data import read_data
from ragmend.cli.engine import inspect_stage, run_lock, run_stages
from ragmend.cli.roles.identities import check_roles
from ragmend.cli.stages import STAGES
from ragmend.config import Config, load_config, read_resolved_config
from ragmend.errors import ConfigError, RunStateError
from ragmend.io import read_records, write_records
from ragmend.manifest import current_environment
from ragmend.paths import RunPaths, StageName
from ragmend.records import CONDITIONS, Condition, Record, RepairedAnswer, Selected
from ragmend.sections.roles import RoleConfig
from ragmend.sections.section import Section
from ragmend.sections.training import TrainingConfig

S = TypeVar("S", bound=Section)
Role = TypeVar("Role", bound=RoleConfig)


class ExportedAnswer(Record):
    """One answer in one condition; an unflagged one passes through every condition unchanged."""

    record_id: str
    condition: Condition
    text: str
    flagged: bool


class Experiment(NamedTuple):
    """A configured run."""

    context: Context

    def run(
        self,
        *,
        only: StageName | None = None,
        redo: StageName | None = None,
        fold: bool = False,
    ) -> None:
        """Run what is not complete; see `run_stages`.

        Raises:
            RunStateError: A trained detector's verdicts would be made again without a reason.
        """
        if redo == "detect" and self.context.config.detector.kind == "trained":
            raise RunStateError(
                "a trained detector has one test evaluation: `ragmend detect predict … --again "
                '"reason"` makes its verdicts again, then `ragmend run … --redo select` goes on'
            )
        run_stages(self.context, STAGES, only=only, redo=redo, fold=fold)

    @contextmanager
    def served(self) -> Iterator[Self]:
        """Start the model servers that stages ask for, one at a time; all are ended at the end."""
        from ragmend.cli.serving.keeper import ServerKeeper

        config, paths = self.context.config, self.context.paths
        with ServerKeeper(config.serve, paths.server_logs) as keeper:
            yield self._replace(context=self.context._replace(keeper=keeper))

    def export_all(self) -> None:
        """Write every answer of the split in every condition, unflagged ones marked.

        Flagged answers without a repair (past a limit, or faulty) are left out and counted.

        Raises:
            RunStateError: The repaired answers are not complete, or another command writes.
        """
        with run_lock(self.context.paths):
            self._export_locked()

    def _export_locked(self) -> None:
        paths = self.context.paths
        assemble = next(stage for stage in STAGES if stage.name == "assemble")
        if inspect_stage(assemble, self.context).kind != "complete":
            raise RunStateError("--export-all needs the stage assemble, which is not complete")
        selected = list(read_records(paths.selection, Selected))
        repaired = {
            (answer.record_id, answer.condition): answer.text
            for answer in read_records(paths.answers, RepairedAnswer)
        }
        n_left_out = sum(
            row.flagged and (row.record_id, "original") not in repaired for row in selected
        )
        write_records(paths.exported, self._exported(selected, repaired))
        say(f"{'export':9} {paths.exported}, {n_left_out} flagged answers without repair left out")

    def _exported(
        self, selected: Sequence[Selected], repaired: Mapping[tuple[str, Condition], str]
    ) -> Iterator[ExportedAnswer]:
        texts = {r.record_id: r.text for r in read_data(self.context.config).responses}
        for row in selected:
            for condition in CONDITIONS:
                key = (row.record_id, condition)
                if row.flagged and key not in repaired:
                    continue
                yield ExportedAnswer(
                    record_id=row.record_id,
                    condition=condition,
                    text=repaired[key] if row.flagged else texts[row.record_id],
                    flagged=row.flagged,
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
    config = load_experiment_config(where, overrides)
    context = _context(config, out or Path("runs") / config.name, accept_faults)
    STAGES[0].inputs(context)  # finds the data
    check_roles(config)
    return Experiment(context)


def load_experiment_config(where: str, overrides: Sequence[str] = ()) -> Config:
    """Load a configuration with input paths made absolute; see `load_config`."""
    return _with_absolute_paths(load_config(where, overrides))


def reopen_experiment(root: Path) -> Experiment:
    """Open a run folder with the configuration that it holds.

    Raises:
        MissingInputError: It is no run folder.
    """
    return Experiment(_context(read_resolved_config(RunPaths(root).config), root, None))


def _context(config: Config, root: Path, accept_faults: str | None) -> Context:
    return Context(config, RunPaths(root), current_environment(), accept_faults)


def _with_absolute_paths(config: Config) -> Config:
    """Make input paths absolute, so that a run can be resumed from anywhere."""
    return config.model_copy(
        update={
            "data": _with_absolute(config.data, "path"),
            "detector": _with_absolute(config.detector, "predictions"),
            "training": _training_with_absolute(config.training),
            "verifier": _with_absolute(_role_with_absolute(config.verifier), "parameters"),
            "rewriter": _role_with_absolute(config.rewriter),
            "judges": config.judges.model_copy(
                update={"panel": tuple(map(_role_with_absolute, config.judges.panel))}
            ),
            "serve": _with_absolute(config.serve, "python")
            if "/" in (config.serve.python or "")  # else it is a name on the path
            else config.serve,
        }
    )


def _training_with_absolute(training: TrainingConfig | None) -> TrainingConfig | None:
    if training is None:
        return None
    models = {
        name: trained.model_copy(update={"model": _with_absolute(trained.model, "folder")})
        for name, trained in training.models.items()
    }
    return training.model_copy(update={"models": models})


def _role_with_absolute(role: Role) -> Role:
    if role.model is None:
        return role
    return role.model_copy(update={"model": _with_absolute(role.model, "folder")})


def _with_absolute(section: S, key: str) -> S:
    return section.model_copy(update={key: _absolute(getattr(section, key))})


def _absolute(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        return str(Path(path).expanduser().absolute())
    except RuntimeError as error:
        raise ConfigError(f"{path}: {error}") from error
