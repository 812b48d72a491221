"""Which journals a stage reads: its own, to which it appends, and those of other parts."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Self, TypeVar

from ragmend.cli.context import Context
from ragmend.journal import Journal, read_journal
from ragmend.paths import shard_path, shard_paths
from ragmend.records import Record

M = TypeVar("M", bound=Record)


class Journals(NamedTuple):
    """Where answers are recorded.

    Attributes:
        own: What is appended to; None in a fold, which asks nobody.
        others: What is only read.
        is_whole: Whether this is all of the stage, and not one part.
    """

    own: Path | None
    others: tuple[Path, ...] = ()
    is_whole: bool = True


class SharedJournal(Journal):
    """A journal that also knows what others hold; it appends to its own file alone.

    Attributes:
        n_torn_elsewhere: How many others' last lines are torn, by a kill or while they grow.
    """

    def __init__(self, path: Path, others: Sequence[Path] = ()) -> None:
        """Prepare a journal; its `with` block reads it and the others."""
        super().__init__(path)
        self._others = others
        self._held: dict[str, Journal] = {}
        self.n_torn_elsewhere = 0

    @property
    def n_recorded(self) -> int:
        """How many answers are recorded, in all of them."""
        return len(self.entries) + len(self._held.keys() - self.entries.keys())

    def __enter__(self) -> Self:
        """Lock and read its own; read the others, which nobody else need leave alone.

        Raises:
            RunStateError, DataError, OutputError: As of a journal.
        """
        super().__enter__()
        try:
            self.read_others()
        except BaseException as error:
            self.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def sync(self) -> None:
        """Make everything durable that was appended, before something says that it is there.

        Raises:
            OutputError: It cannot be written.
        """
        self._sync()

    def read_others(self) -> None:
        """Read what the others hold; where two have an answer, the first one's counts.

        Raises:
            DataError: One is damaged.
        """
        for path in self._others:
            other = Journal(path)
            other.entries, n_torn, _ = read_journal(path)
            self.n_torn_elsewhere += n_torn
            for key in other.entries:
                self._held.setdefault(key, other)

    def read(self, key: str, model: type[M]) -> list[M] | None:
        """Return the answer to a request as records; None where nobody has recorded one.

        Raises:
            DataError: It is not made of such records.
        """
        holder = self._held.get(key)
        if key in self.entries or holder is None:
            return super().read(key, model)
        return holder.read(key, model)


def journals_of(context: Context, folder: Path, *, role: str | None = None) -> Journals:
    """Return the journals of what is done now: a part, a fold, or a whole stage.

    Args:
        context: The run.
        folder: The stage's folder.
        role: None for the units' own records; else whose language model's answers they hold.
    """
    first = shard_path(folder, role=role)
    if context.part is not None:
        own = shard_path(folder, context.part.number, role=role)
        # A run without parts, which has begun before them, has recorded all in the first.
        return Journals(own, (first,) if own != first else (), is_whole=False)
    if context.fold is not None:
        numbers = sorted({0, *context.fold.done}) if role is None else []
        return Journals(None, tuple(shard_path(folder, number) for number in numbers))
    return Journals(first, tuple(path for path in shard_paths(folder, role=role) if path != first))


@contextmanager
def open_journal(journals: Journals) -> Iterator[SharedJournal]:
    """Open journals for a block.

    Raises:
        RunStateError: Another process writes its own.
        DataError: One is damaged.
        OutputError: Its own cannot be written.
    """
    if journals.own is not None:
        with SharedJournal(journals.own, journals.others) as journal:
            yield journal
        return
    # Never opened, it can be appended to by nobody.
    reading = SharedJournal(journals.others[0] if journals.others else Path(), journals.others)
    reading.read_others()
    yield reading
