"""The report of a run as Markdown and as one self-contained HTML file.

Everything printed is data: the HTML is autoescaped, Markdown text is escaped, and neither
needs the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import TYPE_CHECKING

from pydantic import Field

from ragmend.analysis.figures.style import Figure
from ragmend.analysis.printing.table import Table, print_rows
from ragmend.analysis.printing.write import escape_markdown, table_markdown
from ragmend.records import Name, Probability, Record

if TYPE_CHECKING:
    from jinja2 import Environment


class Summary(Record):
    """What the protocol fixed before any judging, for the head of the report."""

    title: Name
    population_run: str
    """The detector run whose flags define the population."""
    population_hash: str
    n_records: int
    threshold: Probability
    arms: dict[str, str]
    """Each arm's policy in words."""
    judges: tuple[str, ...]
    primary_judge: str
    warnings: tuple[str, ...] = ()
    """What a reader must know before the first number."""
    left_out: dict[str, str] = Field(default_factory=dict)
    """Tables that were not made, each with the reason."""

    def facts(self) -> list[tuple[str, str]]:
        """Return the protocol as pairs of name and value."""
        return [
            ("population", f"{self.n_records} answers flagged by {self.population_run}"),
            ("population hash", self.population_hash),
            ("threshold", f"claims with P(support) < {self.threshold:g} are repaired"),
            *((f"arm: {arm}", policy) for arm, policy in self.arms.items()),
            ("judges", ", ".join(self.judges)),
            ("primary judge", self.primary_judge),
        ]


def render_report(
    tables: Mapping[str, Table], figures: Mapping[str, Figure], summary: Summary
) -> dict[str, bytes]:
    """Return `report.md` and `report.html`.

    Args:
        tables: The tables, in report order.
        figures: The figures, in report order; the HTML holds their SVG, the Markdown links
            to `figures/<name>.svg`.
        summary: The protocol, and the warnings to stand on top.
    """
    environment = _environment()
    return {
        name: environment.get_template(f"{name}.j2")
        .render(tables=tables, figures=figures, summary=summary)
        .encode()
        for name in ("report.md", "report.html")
    }


def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=FunctionLoader(_read_template),
        autoescape=select_autoescape(("html.j2",), disabled_extensions=("md.j2",), default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["md"] = escape_markdown
    environment.filters["md_table"] = table_markdown
    environment.filters["printed"] = print_rows
    environment.filters["inline_svg"] = _inline_svg
    return environment


def _read_template(name: str) -> str:
    return (resources.files("ragmend.analysis") / "templates" / name).read_text("utf-8")


def _inline_svg(figure: Figure) -> str:
    """Return the SVG element alone, safe to stand inside HTML: matplotlib escaped its text."""
    from markupsafe import Markup

    svg = figure.images["svg"].decode()
    return Markup(svg[svg.index("<svg") :])  # noqa: S704 - our own drawing, not input
