"""The hashes of fetched files, in the form that `sha256sum --check` reads."""

import re
from pathlib import Path

from ragmend.errors import DataError
from ragmend.io import read_lines, write_bytes

SUMS = "SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64})  ([^\s/][^\s]*)")


def read_sums(root: Path) -> dict[str, str]:
    """Return the recorded hashes by path below a folder; none where there is no record.

    Raises:
        DataError: The record cannot be read.
    """
    if not (root / SUMS).exists():
        return {}
    found = {}
    for line in read_lines(root / SUMS):
        match = _LINE.fullmatch(line.text)
        if match is None:
            raise DataError(f"{line.where}: expected a SHA-256, two spaces and a file's name")
        found[match[2]] = match[1]
    return found


def record_sum(root: Path, name: str, sha256: str) -> None:
    """Add the hash of a file, or leave the record as it is where it has it.

    Raises:
        DataError, OutputError: The record cannot be read, or not be written.
    """
    sums = read_sums(root)
    if sums.get(name) == sha256:
        return
    sums[name] = sha256
    content = "".join(f"{digest}  {file}\n" for file, digest in sorted(sums.items()))
    write_bytes(root / SUMS, content.encode())
