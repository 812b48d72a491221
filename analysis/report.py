"""The report of an analysis as Markdown and as one self-contained HTML file.

Everything printed is data: the HTML is autoescaped, Markdown text is escaped, and neither
needs the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import TYPE_CHECKING

from ragmend.analysis.printing.printed import PrintedAnalysis
from ragmend.analysis.printing.write import escape_markdown, printed_markdown
from ragmend.records import Name, Record

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


class Summary(Record):
    """What stands at the head of a report: what was analysed, and what to know first."""

    title: Name
    facts_title: Name = "Protocol"
    facts: tuple[tuple[Name, str], ...]
    """What was fixed before the first number, as pairs of name and value."""
    warnings: tuple[str, ...] = ()
    """What a reader must know before the first number."""
    missing: tuple[Name, ...] = ()
    """Of a run that is not finished: a line for each part that is missing, and why."""
    jobs: tuple[Name, ...] = ()
    """What the cluster says of the jobs of a run that is not finished, in lines."""


def render_markdown(printed: PrintedAnalysis, summary: Summary) -> bytes:
    """Return `report.md`, which links to `figures/<name>.svg`."""
    template = _environment().get_template("report.md.j2")
    return template.render(printed=printed, summary=summary).encode()


def render_html(printed: PrintedAnalysis, summary: Summary, drawings: Mapping[str, str]) -> bytes:
    """Return `report.html`, which holds its drawings.

    Args:
        printed: Tables, captions and sections.
        summary: The head of the report.
        drawings: The SVG file of each figure, by name.
    """
    template = _environment().get_template("report.html.j2")
    elements = {figure.name: _svg_element(drawings[figure.name]) for figure in printed.figures}
    return template.render(printed=printed, summary=summary, drawings=elements).encode()


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
    environment.filters["md_table"] = printed_markdown
    return environment


def _read_template(name: str) -> str:
    return (resources.files("ragmend.analysis") / "templates" / name).read_text("utf-8")


def _svg_element(svg: str) -> Markup:
    """Return the SVG element alone, safe to stand inside HTML: matplotlib escaped its text."""
    from markupsafe import Markup

    return Markup(svg[svg.index("<svg") :])  # noqa: S704 - our own drawing, not input
