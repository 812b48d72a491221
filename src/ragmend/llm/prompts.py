r"""Prompts: files in the package, filled with data that cannot leave its place.

A prompt file has a first line "version: N", then a part `[system]` and a part `[user]`, in which
`{{name}}` stands for data; each place of data lies between tags of its own, as in
"<source>\n{{source}}\n</source>". Data are text of others: a source may say "answer Yes" or hold
"</source>", and a chat template would read "<|im_end|>" as the end of a turn. So in data every
"<" and "[" that could begin a tag or a special token is parted from what follows by a space.
"""

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

from pydantic import JsonValue

from ragmend.errors import DataError
from ragmend.llm.protocol import Prompt

_PLACE = re.compile(r"\{\{(\w+)\}\}")
# What no number, comparison or white space follows may be a tag: "<b>", "</source>", "<|eot_id|>";
# so may digits with a letter, "<2mass>" or "<0x0A>", and a prompt's own tag behind a line break.
# Some models' special tokens stand in brackets: "[INST]", "[/INST]", "[TOOL_CALLS]", "[SEP]",
# "[gMASK]", "[@BOS@]", "[control_8]".
_OWN_TAG = r"(?:source|claim|answer|question|fragments|task)\b"
_MAY_BE_A_TAG = re.compile(
    r"[<＜](?=[^\s\d=<＜.,]|\d++[^\W\d])"
    # Parted by a space already, as this does it, a tag stays: it would be parted without end.
    rf"|[<＜](?=[^\S ]\s*+(?:/|(?i:{_OWN_TAG})))"
    r"|\[(?=/?[A-Z][A-Z0-9_]*+\]|[^\s\[\]]*MASK\]|@|control_)"
)


class PromptFile(NamedTuple):
    """A prompt as its file has it.

    Attributes:
        name: The file's name without its ending.
        version: Grows with every change of its words.
        sha256: Of the file's bytes.
        system: The first turn.
        user: The second turn, with places for data.
    """

    name: str
    version: int
    sha256: str
    system: str
    user: str

    def render(self, **data: str) -> Prompt:
        """Fill data in.

        Args:
            **data: A text for each place; none may be missing or left over.

        Raises:
            ValueError: The names are not those of the prompt's places.
        """
        places = set(_PLACE.findall(self.user))
        if places != set(data):
            raise ValueError(f"prompt {self.name} wants {sorted(places)}, got {sorted(data)}")
        harmless = {name: as_data(text) for name, text in data.items()}
        # One pass: what looks like a place inside data is data.
        return Prompt(self.system, _PLACE.sub(lambda place: harmless[place[1]], self.user))

    def identity(self) -> dict[str, JsonValue]:
        """Return what the lock and the journals' keys say of it."""
        return {"name": self.name, "version": self.version, "sha256": self.sha256}


def as_data(text: str) -> str:
    """Return a text in which nothing can close a delimiter or be read as a special token."""
    return _MAY_BE_A_TAG.sub(lambda mark: f"{mark[0]} ", text)


def shown_as(place: str, user: str) -> str:
    """Return the data that a rendered prompt shows in a place, as "answer"; none: no text.

    Args:
        place: The name of the place and of the tags around it.
        user: The prompt's second turn. Data hold no tag of a prompt, see `as_data`.
    """
    behind = user.rpartition(f"<{place}>\n")[2]
    data, closed, _ = behind.partition(f"\n</{place}>")
    return data if closed else ""


@cache
def load_prompt(package: str, name: str) -> PromptFile:
    """Load a prompt that ships in a package, as in ("ragmend.judges.prompts", "judge").

    Raises:
        DataError: It is no prompt file.
    """
    content = (resources.files(package) / f"{name}.txt").read_bytes()
    return parse_prompt(name, content)


def parse_prompt(name: str, content: bytes) -> PromptFile:
    """Parse a prompt file; see the module.

    Raises:
        DataError: It lacks its version or one of its parts.
    """
    found = re.fullmatch(
        r"version: (\d+)\n\[system\]\n(.*)\n\[user\]\n(.*)\n", content.decode(), re.DOTALL
    )
    if found is None:
        raise DataError(f"prompt {name}: expected `version: N`, `[system]` and `[user]`")
    version, system, user = found.groups()
    digest = hashlib.sha256(content).hexdigest()
    return PromptFile(name, int(version), digest, system.strip(), user.strip())


def render_fields(fields: Mapping[str, JsonValue]) -> str:
    """Render a structured source as JSON, one entry a line, its letters as they are."""
    import json

    return json.dumps(fields, ensure_ascii=False, indent=1)
