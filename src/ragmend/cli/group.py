"""The commands as one group, and what each kind of error becomes: a line and an exit code."""

import os
import sys
from contextlib import suppress
from pathlib import Path

import click

from ragmend import __version__
from ragmend.cli.commands import COMMANDS
from ragmend.cli.main import TRY_AGAIN
from ragmend.errors import PreemptedError, RagmendError


class Ordered(click.Group):
    """A group whose help lists commands in the order of the work."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which they were added."""
        return list(self.commands)


@click.group(cls=Ordered, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ragmend")
def cli() -> None:
    """Find unsupported statements in retrieval-augmented answers and repair them.

    A run is one folder of records; every command resumes what is not complete and leaves
    alone what is. CONFIG is a TOML file or the name of a shipped configuration.
    """


for command in COMMANDS:
    cli.add_command(command)


def run_command_line() -> int:
    """Run the command that the arguments name; return the exit code."""
    try:
        cli(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.exceptions.Exit as error:
        return error.exit_code
    except PreemptedError as error:
        return report_failure(str(error), TRY_AGAIN)
    except RagmendError as error:
        return report_failure(str(error), 1)
    except OSError as error:
        # What no reader or writer of ours has named: a full disk behind standard output, say.
        _abandon_output()
        return report_failure(_describe(error), 1)
    return 0


def report_failure(message: str, code: int) -> int:
    """Print an error as one line; return its exit code."""
    click.echo(f"ragmend: {' '.join(message.splitlines())}", err=True)
    return code


def _describe(error: OSError) -> str:
    place = "standard output" if error.filename is None else error.filename
    return f"{place}: {error.strerror or error}"


def _abandon_output() -> None:
    """Send what is still in the buffer of standard output nowhere, or exiting would fail."""
    with suppress(OSError), Path(os.devnull).open("wb") as sink:
        os.dup2(sink.fileno(), sys.stdout.fileno())
