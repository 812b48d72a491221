"""`ragmend analyze` on anyone's tables: read, check, compute, and write all of it or nothing."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ragmend.analysis.analyze import Analysis, analyze
from ragmend.analysis.figures.recipes import FIGURES
from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.inputs.tidy import FileFrame, tidy_frame
from ragmend.analysis.printing.notes import warnings_for
from ragmend.analysis.printing.printed import print_analysis
from ragmend.analysis.report import Summary, render_markdown
from ragmend.analysis.settings import InputFile, Provenance, Settings
from ragmend.analysis.tables.recipes import TABLES
from ragmend.cli.results import analysis_files
from ragmend.cli.tables_in import read_table
from ragmend.errors import OutputError
from ragmend.io import dump_record, sha256_of_file, write_bytes
from ragmend.paths import RunPaths

PRINTED = "analysis.json"


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
        frame: (InputFile(path=path.as_posix(), sha256=sha256_of_file(path)),)
        for frame, path in own.files.items()
    }
    words = ["ragmend", "analyze"]
    for frame, path in own.files.items():
        words += [f"--{frame}", path.as_posix()]
    for name, value in options.items():
        values = value if isinstance(value, tuple) else () if value is None else (value,)
        for one in values:
            words += [f"--{name}"] if one is True else [f"--{name}", str(one)]
    update = {"inputs": inputs, "command": shlex.join(words)}
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
    return analyze(Frames(**frames), settings=own.settings, provenance=own.provenance)


def write_analysis(analysis: Analysis, own: OwnTables, out: Path) -> list[Path]:
    """Write tables, figures, `report.md` and `analysis.json`; return what lies there.

    What an earlier analysis wrote into the same folder and this one did not is removed, so
    that no table of other inputs stands beside these.

    Raises:
        OutputError: The folder is that of a run, or cannot be written.
    """
    if RunPaths(out).config.exists():
        raise OutputError(f"{out}: is the folder of a run; give another --out")
    printed = print_analysis(analysis)
    files = analysis_files(analysis) | {
        "report.md": render_markdown(printed, _summary(own)),
        PRINTED: dump_record(printed),
    }
    _remove_earlier(out, files)
    for name, content in files.items():
        write_bytes(out / name, content)
    return [out / name for name in files]


def _summary(own: OwnTables) -> Summary:
    settings, provenance = own.settings, own.provenance
    inputs = [(f"{frame}", files[0]) for frame, files in provenance.inputs.items()]
    return Summary(
        title=f"Analysis of {', '.join(path.name for path in own.files.values())}",
        facts_title="Inputs and settings",
        facts=(
            *((name, f"{file.path} (SHA-256 {file.sha256})") for name, file in inputs),
            ("bootstrap", f"{settings.n_resamples} resamples, seed {settings.seed}"),
            ("confidence", f"{100 * settings.confidence:g} %"),
            ("command", provenance.command),
        ),
        warnings=warnings_for(provenance),
    )


def _remove_earlier(out: Path, files: Mapping[str, bytes]) -> None:
    """Remove the tables and figures of ours that are not made this time."""
    if not (out / PRINTED).is_file():
        return  # nothing here is ours
    ours = [
        f"tables/{name}.{form}" for name in (*TABLES, "provenance") for form in ("csv", "md", "tex")
    ]
    ours += [f"figures/{name}.{form}" for name in FIGURES for form in ("svg", "pdf", "png")]
    for name in ours:
        if name not in files:
            (out / name).unlink(missing_ok=True)
