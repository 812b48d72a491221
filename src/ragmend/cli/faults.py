"""Records that accepted faults of earlier stages take out of a run."""

from pathlib import Path

from ragmend.cli.context import Context, run_inputs
from ragmend.io import read_records
from ragmend.paths import faults_path
from ragmend.records import Fault


def faulty_records(*folders: Path) -> frozenset[str]:
    """Return the records with a fault in any of the given stages' folders."""
    files = [faults_path(folder) for folder in folders if faults_path(folder).is_file()]
    return frozenset(fault.record_id for file in files for fault in read_records(file, Fault))


def faults_inputs(context: Context, *folders: Path) -> dict[str, Path]:
    """Name the faults files that are there: accepted faults are an input like any other."""
    files = [faults_path(folder) for folder in folders if faults_path(folder).is_file()]
    return run_inputs(context, *files)
