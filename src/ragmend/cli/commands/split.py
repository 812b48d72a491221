"""`ragmend split`: the claims of text files, as JSON lines."""

import json
import sys
from pathlib import Path

import click

from ragmend.errors import DataError
from ragmend.io import read_file
from ragmend.repair.splitting.claims import split_claims


@click.command("split")
@click.argument("files", nargs=-1, required=True, metavar="FILE…|-")
def split_command(files: tuple[str, ...]) -> None:
    """Split answers in text files (or standard input: -) into claims, one JSON line a claim."""
    for name in files:
        text = _read(name)
        stem = "stdin" if name == "-" else Path(name).stem
        for claim in split_claims(text, record_id=stem):
            row = {
                "file": name,
                "claim_id": claim.claim_id,
                "text": claim.text,
                "start": claim.start,
                "end": claim.end,
            }
            click.echo(json.dumps(row, ensure_ascii=False))


def _read(name: str) -> str:
    if not _is_text(name):
        raise DataError(f"{name!r}: the file's name is not UTF-8; claim ids are made from it")
    content = sys.stdin.buffer.read() if name == "-" else read_file(Path(name))
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: not UTF-8 (byte {error.start}: {error.reason})") from error


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
