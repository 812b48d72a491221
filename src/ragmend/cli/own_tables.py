"""`ragmend analyze` on anyone's tables: read, check, compute, and write all of it or nothing."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ragmend.analysis.analyze import Analysis, analyze, print_analysis
from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.inputs.places import in_message
from ragmend.analysis.inputs.tidy import FileFrame, tidy_frame
from ragmend.analysis.printing.notes import warnings_for
from ragmend.analysis.report import Summary, render_markdown
from ragmend.analysis.settings import InputFile, Provenance, Settings
from ragmend.cli.output_folder import PRINTED, REPORT, refuse_folder, write_files
from ragmend.cli.results import analysis_files
from ragmend.cli.tables_in import read_table
from ragmend.errors import StatisticsError
from ragmend.io import dump_record, path_text, sha256_of_file, shorten

if TYPE_CHECKING:
    import pandas as pd


class OwnTables(NamedTuple):
    """Somebody's tables and what was said about them."""

    files: Mapping[FileFrame, Path]
    settings: Settings
    provenance: Provenance


def with_inputs(own: OwnTables, options: Mapping[str, object]) -> OwnTables:
    """Return the tables with their hashes and the command that makes the numbers again.

    Args:
        own: The tables.
        options: The other options given, by name; None and empty ones are not repeated.
    """
    inputs = {
        frame: (InputFile(path=path_text(path), sha256=sha256_of_file(path)),)
        for frame, path in own.files.items()
    }
    words = ["ragmend", "analyze"]
    for frame, path in own.files.items():
        words += [f"--{frame}", path.as_posix()]
    for name, value in options.items():
        values = value if isinstance(value, tuple) else () if value is None else (value,)
        for one in values:
            words += [f"--{name}"] if one is True else [f"--{name}", str(one)]
    update = {"inputs": inputs, "command": f"{shlex.join(words)} --out DIR"}
    return own._replace(provenance=own.provenance.model_copy(update=update))


def analyze_tables(own: OwnTables) -> Analysis:
    """Read and analyse the tables.

    Raises:
        MissingInputError, DataError: A file cannot be read.
        StatisticsError: A table is not what it should be, or nothing can be made from it.
    """
    frames = {
        frame: tidy_frame(read_table(path), frame, name=path.as_posix())
        for frame, path in own.files.items()
    }
    if "labels" in frames:
        _refuse_unknown_judges(own.provenance, frames["labels"])
    return analyze(Frames(**frames), settings=own.settings, provenance=own.provenance)


def write_analysis(analysis: Analysis, own: OwnTables, out: Path) -> None:
    """Write tables, figures, `report.md` and `analysis.json`.

    What an earlier analysis wrote into the same folder and this one did not is removed, so
    that no table of other inputs stands beside these.

    Raises:
        OutputError: The folder cannot be written, or holds what must not be replaced.
    """
    refuse_folder(out, own.files.values())
    printed = print_analysis(analysis)
    report = render_markdown(printed, _summary(own))
    files = analysis_files(analysis) | {REPORT: report, PRINTED: dump_record(printed)}
    write_files(out, files)


def _refuse_unknown_judges(said: Provenance, labels: pd.DataFrame) -> None:
    known = sorted(set(labels["judge"]))
    primary = () if said.primary_judge is None else (said.primary_judge,)
    for word, judges in (
        ("--primary-judge", primary),
        ("--same-family", said.verifier_family_judges),
    ):
        for judge in judges:
            if judge not in known:
                raise StatisticsError(
                    f"{word} {shorten(judge)}: no such judge in {said.name_of('labels')}; "
                    f"there are {', '.join(map(in_message, known))}"
                )


def _title(names: Sequence[str]) -> str:
    return f"Analysis of {names[0] if len(names) == 1 else f'{len(names)} files'}"


def _summary(own: OwnTables) -> Summary:
    settings, provenance = own.settings, own.provenance
    inputs = [(f"{frame}", files[0]) for frame, files in provenance.inputs.items()]
    return Summary(
        title=_title([path.name for path in own.files.values()]),
        facts_title="Inputs and settings",
        facts=(
            *((name, f"{file.path} (SHA-256 {file.sha256})") for name, file in inputs),
            ("bootstrap", f"{settings.n_resamples} resamples, seed {settings.seed}"),
            ("confidence", f"{100 * settings.confidence:g} %"),
            ("command", provenance.command),
        ),
        warnings=warnings_for(provenance),
    )
