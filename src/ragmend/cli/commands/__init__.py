"""The commands of `ragmend`, one module a group of them."""

import click

from ragmend.cli.commands.analyze import analyze_command
from ragmend.cli.commands.cancel import cancel_command
from ragmend.cli.commands.convert_gguf import convert_gguf_command
from ragmend.cli.commands.detect import detect_group
from ragmend.cli.commands.doctor import doctor_command
from ragmend.cli.commands.fit import fit_verifier_command
from ragmend.cli.commands.import_records import import_command
from ragmend.cli.commands.prefetch import prefetch_command
from ragmend.cli.commands.run import run_command
from ragmend.cli.commands.serve import serve_command
from ragmend.cli.commands.shard import shard_command
from ragmend.cli.commands.split import split_command
from ragmend.cli.commands.stages import (
    judge_command,
    repair_command,
    report_command,
)
from ragmend.cli.commands.status import status_command
from ragmend.cli.commands.submit import submit_command
from ragmend.cli.commands.unlock import unlock_command
from ragmend.cli.commands.validate import validate_verifier_command

COMMANDS: tuple[click.Command, ...] = (
    run_command,
    shard_command,
    status_command,
    doctor_command,
    serve_command,
    submit_command,
    cancel_command,
    prefetch_command,
    unlock_command,
    detect_group,
    repair_command,
    judge_command,
    import_command,
    analyze_command,
    report_command,
    split_command,
    convert_gguf_command,
    fit_verifier_command,
    validate_verifier_command,
)
