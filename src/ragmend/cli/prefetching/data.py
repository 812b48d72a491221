"""The official files of a data set: which are there and right, and how the others come."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ragmend.cli.prefetching.archive import extract_members
from ragmend.cli.prefetching.download import download
from ragmend.cli.prefetching.sums import read_sums, record_sum
from ragmend.cli.progress import stage_progress
from ragmend.datasets.official import Member, OfficialDataset, OfficialFile
from ragmend.errors import DataError, OutputError
from ragmend.io import sha256_of_file

MEGABYTE = 1_000_000
SPLITS, ENDS = ("train", "test"), ("", ".gz")
"""What other files of RAGTruth can be called; see `ragmend.datasets.ragtruth.find_files`."""


class DataFile(NamedTuple):
    """One file of a data set that is there and right.

    Attributes:
        path: Where.
        n_bytes: Its size.
        sha256: Its hash as hex.
        was_there: Whether it was not fetched now.
        is_known: Whether that hash was expected; else it is only recorded.
    """

    path: Path
    n_bytes: int
    sha256: str
    was_there: bool
    is_known: bool


def fetch_dataset(name: str, dataset: OfficialDataset, root: Path) -> Iterator[DataFile]:
    """Make sure that a data set is there, and yield its files as they are.

    Args:
        name: What it is called here; its files go to the folder of that name.
        dataset: What it is to be.
        root: The folder of all data sets; `SHA256SUMS` in it has the hashes.

    Raises:
        DataError: A file that is there, or was fetched, is not the right one.
        MissingInputError, ServerError, OutputError, RunStateError: As `download`.
    """
    folder = root / name
    _refuse_rivals(name, dataset, folder)
    for file in dataset.files:
        sums = read_sums(root)
        were_there = {member.name for member in file.kept() if _is_there(member, folder, sums)}
        if len(were_there) < len(file.kept()):
            _fetch(file, folder)
        for member in file.kept():
            path = folder / member.name
            found = _checked(member, path, sums.get(f"{name}/{member.name}"))
            record_sum(root, f"{name}/{member.name}", found)
            yield DataFile(
                path,
                path.stat().st_size,
                found,
                was_there=member.name in were_there,
                is_known=member.sha256 is not None,
            )


def missing_files(name: str, dataset: OfficialDataset, root: Path) -> list[Path]:
    """Return the files of a data set that are not there.

    Raises:
        DataError: A file is there that is not the right one.
    """
    folder, sums = root / name, read_sums(root)
    members = [member for file in dataset.files for member in file.kept()]
    return [folder / m.name for m in members if not _is_there(m, folder, sums)]


def _is_there(member: Member, folder: Path, sums: dict[str, str]) -> bool:
    path = folder / member.name
    if not path.exists():
        return False
    _checked(member, path, sums.get(f"{folder.name}/{member.name}"))
    return True


def _checked(member: Member, path: Path, recorded: str | None) -> str:
    """Return the hash of a file that is there, if it is the one that is known or recorded."""
    found, expected = sha256_of_file(path), member.sha256 or recorded
    if expected not in (None, found):
        raise DataError(
            f"{path}: has sha256 {found}, expected {expected}: it is another file, or was changed; "
            "move it away and run the same command again"
        )
    return found


def _fetch(file: OfficialFile, folder: Path) -> None:
    target = folder / file.name
    with _counted(file) as advance:
        download(file, target, advance)
    if not file.members:
        return
    try:
        extract_members(target, file.members, folder)
    finally:
        _remove(target)


def _remove(archive: Path) -> None:
    try:
        archive.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError.of(archive, error) from error


@contextmanager
def _counted(file: OfficialFile) -> Iterator[Callable[[int], None]]:
    """Show how many megabytes are there."""
    n_fetched = 0
    n_megabytes = (file.n_bytes or 0) // MEGABYTE
    with stage_progress("prefetch", n_megabytes, describe=lambda: f"MB of {file.name}") as advance:

        def count(n_bytes: int) -> None:
            nonlocal n_fetched
            before, n_fetched = n_fetched, n_fetched + n_bytes
            for _ in range(n_fetched // MEGABYTE - before // MEGABYTE):
                advance()

        yield count


def _refuse_rivals(name: str, dataset: OfficialDataset, folder: Path) -> None:
    """Refuse a folder in which the official files would be one of two that could be meant."""
    if name != "ragtruth":
        return
    for own in (file.name for file in dataset.files):
        for rival in (f"{own}.gz", *(f"{split}_{own}{end}" for split in SPLITS for end in ENDS)):
            if (folder / rival).exists():
                raise DataError(
                    f"{folder / rival}: could be meant as well as {own}; move it away, or name "
                    "another folder by --data-dir"
                )
