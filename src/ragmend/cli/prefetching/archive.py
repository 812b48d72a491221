"""Takes single files out of a gzipped tar archive; no name in the archive becomes a path."""

import gzip
import tarfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from ragmend.datasets.official import Member
from ragmend.errors import DataError
from ragmend.io import name_reading_errors, write_bytes

MAX_MEMBER_BYTES = 256 << 20
"""What a member of unknown size may have at most; it is read into memory."""
MAX_UNPACKED_BYTES = 2 << 30
"""What all members may have together, those included that are skipped."""


def extract_members(archive: Path, members: Sequence[Member], folder: Path) -> None:
    """Write the wanted files of an archive to a folder, under names of our own.

    Args:
        archive: A tar file, gzipped.
        members: What is wanted.
        folder: Where it goes.

    Raises:
        DataError: It is no such archive, a wanted file is not there, is there twice, is a link
            or has another size, or the archive is unreasonably large.
        OutputError: A file cannot be written.
    """
    left = {member.path: member for member in members}
    n_bytes = 0
    try:
        with name_reading_errors(archive), tarfile.open(archive, "r:gz") as tar:
            for entry in tar:
                n_bytes += entry.size
                if n_bytes > MAX_UNPACKED_BYTES:
                    raise DataError(
                        f"{archive}: unpacks to more than {MAX_UNPACKED_BYTES:,} bytes; refused"
                    )
                path = entry.name.removeprefix("./")
                if path not in {member.path for member in members}:
                    continue
                if path not in left:
                    raise DataError(f"{archive}: {path} is in it twice; refused")
                member = left.pop(path)
                write_bytes(folder / member.name, _read(tar, entry, member, archive))
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{archive}: not an archive that can be read ({error})") from error
    if left:
        raise DataError(f"{archive}: {', '.join(left)} is not in it")


def _read(tar: tarfile.TarFile, entry: tarfile.TarInfo, member: Member, archive: Path) -> bytes:
    if not entry.isreg():
        raise DataError(f"{archive}: {member.path} is no regular file in it; refused")
    if member.n_bytes is not None and entry.size != member.n_bytes:
        raise DataError(
            f"{archive}: {member.path} has {entry.size:,} bytes, expected {member.n_bytes:,}"
        )
    if entry.size > MAX_MEMBER_BYTES:
        raise DataError(f"{archive}: {member.path} has {entry.size:,} bytes; refused")
    file = tar.extractfile(entry)
    if file is None:
        raise DataError(f"{archive}: {member.path} is no regular file in it; refused")
    with file:
        content = file.read()
    if len(content) != entry.size:
        raise DataError(f"{archive}: {member.path} ends early in it")
    return content
