"""The folder that an analysis of one's own tables goes to: nobody's files lost, nothing half new.

While an analysis is written, `analysis.unfinished` lies there, and neither report nor
`analysis.json`: what a failure leaves behind never looks complete, and is ours to replace.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from ragmend.analysis.figures.recipes import FIGURES
from ragmend.analysis.tables.recipes import TABLES
from ragmend.errors import OutputError, RagmendError
from ragmend.io import PARTIAL, Line, parse_object, path_text, read_file, write_bytes
from ragmend.paths import RunPaths

PRINTED = "analysis.json"
REPORT = "report.md"
UNFINISHED = "analysis.unfinished"
_STAGES = "[0-9][0-9]-*"  # the folders of a run's stages


def refuse_folder(out: Path, inputs: Iterable[Path]) -> None:
    """Refuse a folder that an analysis must not or cannot be written to; write nothing.

    Args:
        out: The folder, there or not.
        inputs: Files that are read.

    Raises:
        DataError: The folder's name is not UTF-8.
        OutputError: It is, or is inside, the folder of a run; a file cannot be written there,
            or would replace an input or a file that no analysis made.
    """
    path_text(out)
    try:
        _refuse_run(out)
        _refuse_obstacles(out)
        _refuse_inputs(out, inputs)
        _refuse_others(out)
    except RagmendError:
        raise
    except (OSError, RuntimeError) as error:  # a name too long; links that lead in a circle
        failure = error if isinstance(error, OSError) else OSError(str(error))
        raise OutputError.of(out, failure) from error


def write_files(out: Path, files: Mapping[str, bytes]) -> None:
    """Write all files of an analysis, and remove those of an earlier one that it lacks.

    Args:
        out: The folder.
        files: Contents by name; report and `analysis.json` are written last.

    Raises:
        OutputError: A file cannot be written.
    """
    write_bytes(out / UNFINISHED, b"")
    last = [name for name in (REPORT, PRINTED) if name in files]
    _remove(out, (PRINTED, REPORT, *(name for name in _all_names() if name not in files)))
    for name in (*(name for name in files if name not in last), *last):
        write_bytes(out / name, files[name])
    _remove(out, (UNFINISHED,))


def _all_names() -> list[str]:
    """Return the names of all files that any analysis writes."""
    tables = [
        f"tables/{name}.{form}" for name in (*TABLES, "provenance") for form in ("csv", "md", "tex")
    ]
    figures = [f"figures/{name}.{form}" for name in FIGURES for form in ("svg", "pdf", "png")]
    return [*tables, *figures, REPORT, PRINTED]


def _refuse_run(out: Path) -> None:
    if RunPaths(out).config.exists():
        raise OutputError(f"{out}: is the folder of a run; give another --out")
    for parent in out.resolve().parents:
        if RunPaths(parent).config.exists() and any(parent.glob(_STAGES)):
            raise OutputError(f"{out}: is inside the folder of a run, {parent}; give another --out")


def _refuse_obstacles(out: Path) -> None:
    for folder in (out, out / "tables", out / "figures"):
        there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        if not there.is_dir():
            raise OutputError(f"{there}: is a file, where a folder of the analysis would go")
        if not os.access(there, os.W_OK | os.X_OK):
            raise OutputError(f"{there}: no permission to write there")
    for name in (*_all_names(), UNFINISHED):
        for file in (out / name, out / f"{name}{PARTIAL}"):
            if file.is_dir():
                raise OutputError(f"{file}: is a folder, where a file of the analysis would go")


def _refuse_inputs(out: Path, inputs: Iterable[Path]) -> None:
    read = {place: path for path in inputs for place in _places(path)}
    for name in _all_names():
        for place in _places(out / name):
            if place in read:
                raise OutputError(
                    f"{read[place]}: is an input and would be replaced; give another --out"
                )


def _places(path: Path) -> set[Path]:
    """Return where a path leads and, should it be a link itself, where that lies."""
    return {path.resolve(), path.parent.resolve() / path.name}


def _refuse_others(out: Path) -> None:
    if _is_of_an_analysis(out):
        return
    for name in _all_names():
        if os.path.lexists(out / name):
            raise OutputError(
                f"{out / name}: is there already, and not from an analysis; give another --out"
            )


def _is_of_an_analysis(out: Path) -> bool:
    if (out / UNFINISHED).is_file():
        return True
    try:
        found = parse_object(Line(PRINTED, read_file(out / PRINTED).decode("utf-8", "replace")))
    except RagmendError:
        return False
    return {"schema_version", "tables", "figures"} <= found.keys()


def _remove(out: Path, names: Iterable[str]) -> None:
    for name in names:
        try:
            (out / name).unlink(missing_ok=True)
        except OSError as error:
            raise OutputError.of(out / name, error) from error
