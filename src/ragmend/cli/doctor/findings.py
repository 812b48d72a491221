"""What a check came to: all is well, it failed and why, or it could not be made."""

from collections.abc import Callable
from typing import Generic, Literal, NamedTuple, TypeVar

from ragmend.errors import RagmendError

T = TypeVar("T")

CHECKED = (RagmendError, OSError)
"""What a failed check raises; anything else is a defect of the program and comes out."""


class Finding(NamedTuple):
    """One check's outcome; what was not checked is not well, but another check says why."""

    kind: Literal["ok", "failed", "unchecked"]
    name: str
    text: str

    @property
    def line(self) -> str:
        """The finding as one line."""
        if self.kind == "unchecked":
            return f"----  {self.name}: not checked: {self.text}"
        return f"{'ok  ' if self.kind == 'ok' else 'FAIL'}  {self.name}: {self.text}"


class Examined(NamedTuple, Generic[T]):
    """A finding, and what was found; None where the check failed."""

    finding: Finding
    value: T | None


def examine(name: str, work: Callable[[], T], describe: Callable[[T], str]) -> Examined[T]:
    """Do what a check needs, and keep what it gives for the checks that build on it.

    Args:
        name: The check's name.
        work: What is tried; an error of ragmend's or of the system's is the check's failure.
        describe: Says in a few words what was found.
    """
    try:
        value = work()
        return Examined(well(name, describe(value)), value)
    except CHECKED as error:
        return Examined(failure(name, error), None)


def check(name: str, work: Callable[[], str]) -> Finding:
    """Make a check on which no other depends; `work` says what it found."""
    return examine(name, work, str).finding


def well(name: str, text: str) -> Finding:
    """Return the finding that all is well."""
    return Finding("ok", name, _one_line(text))


def failure(name: str, error: Exception) -> Finding:
    """Return the finding that a check failed."""
    return Finding("failed", name, _one_line(str(error)) or type(error).__name__)


def unchecked(name: str, why: str) -> Finding:
    """Return the finding that there was nothing to check, and why."""
    return Finding("unchecked", name, _one_line(why))


def _one_line(text: str) -> str:
    return " ".join(text.split())
