"""`python -m ragmend`: the command line, for an interpreter named by its path."""

from ragmend.cli.main import main

main()
