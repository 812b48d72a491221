"""`ragmend`: the commands, and the one place where errors become a line and an exit code."""

import os
import sys
from pathlib import Path

import click

from ragmend import __version__
from ragmend.cli.commands import COMMANDS
from ragmend.errors import RagmendError

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


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


def main() -> None:
    """Run the command line; an error of ours is one line on stderr and exit code 1."""
    for variable in THREAD_VARIABLES:
        # Parallelism is by process: two OpenMP threads made a fit many times slower.
        os.environ.setdefault(variable, "1")
    try:
        cli(standalone_mode=False)
    except click.exceptions.Abort:
        _fail("interrupted; what is done is kept, run the same command again to go on", 130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.exceptions.Exit as error:
        sys.exit(error.exit_code)
    except RagmendError as error:
        _fail(str(error), 1)
    except OSError as error:
        # A full disk, a missing permission: the system's words name the file.
        _fail(_os_error(error), 1)


def _fail(message: str, code: int) -> None:
    click.echo(f"ragmend: {message}", err=True)
    sys.exit(code)


def _os_error(error: OSError) -> str:
    place = f"{Path(str(error.filename))}: " if error.filename is not None else ""
    return f"{place}{error.strerror or error}"


if __name__ == "__main__":
    main()
