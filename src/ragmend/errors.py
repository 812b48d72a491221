"""The error tree: one root, and beside it the standard type a caller may already catch.

A message names the place (file:line or record id), what was expected, what came, and what
to do. The command line prints it without a traceback and exits with 1.
"""

from typing import Literal, Self

FaultStatus = Literal[
    "malformed",  # what came cannot be read
    "truncated",  # it was cut at its limit
    "empty",  # nothing came, or less than was asked for
    "non_finite",  # a number that is none
    "low_mass",  # too little probability on the labels
    "undecided",  # known only between limits, and the threshold lies between them
    "too_long",  # the question does not fit the model's context
    "refused",  # the server will not answer this question
    "timeout",  # no answer in time, as often as it was asked
    "unavailable",  # the server failed each time this was asked, though it lives
]


class RagmendError(Exception):
    """Root of every error that ragmend raises on purpose."""

    def __str__(self) -> str:
        """Return the message as written (`KeyError` would quote it)."""
        return str(self.args[0]) if self.args else type(self).__name__


class ConfigError(RagmendError, ValueError):
    """A configuration that cannot be read, has an unknown key or a value out of range."""


class DataError(RagmendError, ValueError):
    """An input record or file that does not hold what its format promises."""


class MissingInputError(RagmendError, FileNotFoundError):
    """A file, folder or resource that should be there and is not."""


class OutputError(RagmendError, OSError):
    """A file that cannot be written: no room, no permission; what was there before stays."""

    @classmethod
    def of(cls, path: object, error: OSError) -> Self:
        """Build the error of one file from the system's."""
        return cls(
            f"{path}: cannot be written ({error.strerror or error}); nothing complete is lost: "
            "put that right and run the same command again"
        )


class AccountingError(RagmendError, RuntimeError):
    """Counts that must agree do not: records were lost, doubled or changed."""


class LookupMissError(RagmendError, KeyError):
    """A recorded answer that a later stage needs is not on disk."""


class FaultError(RagmendError, RuntimeError):
    """Some answers of a stage are faulty; they are recorded as faults, never as decisions."""


class AnswerFaultError(FaultError):
    """One answer that could not be had or read; recorded as a fault of its record.

    Attributes:
        status: What kind of fault.
        claim_id: The claim that it was about, if one.
        raw: What came, if anything.
    """

    def __init__(
        self,
        message: str,
        *,
        status: FaultStatus,
        claim_id: str | None = None,
        raw: str | None = None,
    ) -> None:
        """Build the error of one answer."""
        super().__init__(message)
        self.status = status
        self.claim_id = claim_id
        self.raw = raw

    def about(self, claim_id: str) -> "AnswerFaultError":
        """Return this fault as one of a claim; one answer may be a fault of several."""
        return AnswerFaultError(str(self), status=self.status, claim_id=claim_id, raw=self.raw)


class ServerError(RagmendError, ConnectionError):
    """A model server that is not there, not the one configured, or dead: nothing can be asked.

    Everything answered so far is recorded; the same command goes on once it is put right.
    """


class RunStateError(RagmendError, RuntimeError):
    """A run folder whose state forbids what was asked: stale, locked by a protocol, damaged."""


class PreemptedError(RagmendError, InterruptedError):
    """A signal asked for an end: all is saved, exit code 75, the same command goes on."""


class ResourceError(RagmendError, MemoryError):
    """There is not enough memory; the message says what to lower."""


class StatisticsError(RagmendError, ValueError):
    """A statistic that is undefined or must not be computed on what was given."""
