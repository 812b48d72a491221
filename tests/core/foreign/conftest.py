"""A folder with a map and its files, and the import of it."""

from pathlib import Path
from typing import NamedTuple

import pytest

from ragmend.foreign.convert import convert
from ragmend.foreign.map import load_map


class Workplace(NamedTuple):
    """A folder in which a test puts a map and files."""

    folder: Path

    def put(self, name, content):
        """Write a file; text or bytes."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def load(self, text):
        """Load a map from its text."""
        return load_map(str(self.put("m.toml", text)))

    def convert(self, text, environ=None):
        """Load a map from its text and make its tables."""
        return convert(self.load(text), environ or {}).tables


@pytest.fixture
def place(tmp_path) -> Workplace:
    return Workplace(tmp_path)
