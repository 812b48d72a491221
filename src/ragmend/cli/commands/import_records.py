"""`ragmend import`: other projects' result files become tables for `ragmend analyze`."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ragmend.foreign.convert import Imported, Table


@click.command("import")
@click.option(
    "--map",
    "map_name",
    required=True,
    metavar="MAP",
    help="A TOML file that says what stands where, or the name of a shipped one.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder to write to.",
)
@click.option("--check-only", is_flag=True, help="Read and check everything, write nothing.")
def import_command(map_name: str, out: Path | None, check_only: bool) -> None:
    """Turn per-record result files of other projects into tables that analyze reads.

    Whatever the map does not foresee stops the import with file, line and column; nothing is
    written before everything is checked. `import.json` says what the tables were made from.
    """
    from ragmend.foreign.convert import convert
    from ragmend.foreign.map import load_map
    from ragmend.foreign.writing import MANIFEST, table_file, write_import

    if check_only == (out is not None):
        raise click.UsageError("give --out DIR, or --check-only, which writes nothing")
    loaded = load_map(map_name)
    imported = convert(loaded)
    if out is not None:
        write_import(out, loaded, imported)
    for name, table in imported.tables.items():
        click.echo(f"{name:<9}  {_describe(table)}")
    if out is None:
        click.echo("checked    nothing was written")
        return
    options = [word for name in imported.tables for word in (f"--{name}", out / table_file(name))]
    click.echo(f"manifest   {out / MANIFEST}")
    if _lacks_labels(imported):
        options += ["--incomplete", "drop"]
    click.echo(f"next       ragmend analyze {shlex.join(map(str, options))} --out DIR")


def _lacks_labels(imported: "Imported") -> bool:
    """Tell whether a label is blank, which `analyze` takes only when told what to do with it."""
    from ragmend.foreign.writing import blank_cells

    labels = imported.tables.get("labels")
    return labels is not None and "label" in blank_cells(labels)


def _describe(table: "Table") -> str:
    """Say how many rows there are, and what is left out or blank in them."""
    from ragmend.foreign.writing import blank_cells

    parts = [f"{len(table.rows):,} rows of {table.n_read:,} read"]
    if table.n_left_out:
        parts.append(f"{table.n_left_out:,} left out by the map")
    parts += [f"{column} blank in {n:,}" for column, n in blank_cells(table).items()]
    return ", ".join(parts)
