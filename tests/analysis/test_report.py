"""The report: self-contained, escaped, with the warnings on top."""

from html.parser import HTMLParser

import pytest

from ragmend.analysis import Provenance, Summary, render_html, render_markdown, warnings_for
from ragmend.analysis.analyze import Analysis, print_analysis
from ragmend.analysis.printing.printed import PrintedAnalysis
from ragmend.io import dump_record

EMBEDDED = Provenance(embedded_verifier=True, embedded_judges=True, faults=())
VOID = {"meta", "link", "br", "img", "hr", "path", "use", "rect", "input"}


class Checker(HTMLParser):
    """Collects addresses and checks that every element is closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in {"src", "href"}]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


@pytest.fixture
def summary() -> Summary:
    return Summary(
        title="Demo <b>run</b>",
        facts=(
            ("population", "916 answers flagged by llama-2-13b/seed-42"),
            ("population hash", "ab" * 32),
            ("arm: extractive", "extract, else drop"),
            ("judges", "qwen, <script>alert(1)</script>"),
        ),
        warnings=warnings_for(EMBEDDED),
    )


@pytest.fixture
def printed(golden_analysis: Analysis) -> PrintedAnalysis:
    return print_analysis(golden_analysis).model_copy(
        update={"left_out": {"gate_reasons": "needs candidates"}}
    )


def render(golden_analysis, printed, summary) -> dict[str, bytes]:
    drawings = {
        name: figure.images["svg"].decode() for name, figure in golden_analysis.figures.items()
    }
    return {
        "report.md": render_markdown(printed, summary),
        "report.html": render_html(printed, summary, drawings),
    }


@pytest.fixture
def report(golden_analysis: Analysis, printed: PrintedAnalysis, summary: Summary) -> dict[str, str]:
    files = render(golden_analysis, printed, summary)
    return {name: content.decode() for name, content in files.items()}


def test_the_html_is_well_formed_and_needs_no_network(report, printed, golden_analysis):
    checker = Checker()
    checker.feed(report["report.html"])
    assert checker.open == []
    assert all(address.startswith("#") for address in checker.addresses)
    assert checker.tags.count("table") == len(printed.tables)
    assert checker.tags.count("svg") == len(golden_analysis.figures)
    assert "script" not in checker.tags


def test_names_are_data_in_html_and_markdown(report):
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in report["report.html"]
    assert "<script>" not in report["report.html"]
    assert "<script>" not in report["report.md"]
    assert "Demo &lt;b&gt;run" in report["report.html"]


def test_warnings_stand_before_the_first_number(report):
    for content in report.values():
        assert content.index("lexical (no language model)") < content.index("llama-2-13b/seed-42")


@pytest.mark.parametrize("name", ["report.md", "report.html"])
def test_the_protocol_every_number_and_what_was_left_out_are_there(report, name):
    for text in (
        "ab" * 32,
        "7.0e-62",
        "[-31.55, -25.22]",
        "extract, else drop",
        "needs candidates",
    ):
        assert text in report[name]


def test_light_and_dark_are_both_served(report):
    assert "prefers-color-scheme: dark" in report["report.html"]


def test_rendering_twice_gives_the_same_bytes(golden_analysis, printed, summary):
    first = render(golden_analysis, printed, summary)
    assert render(golden_analysis, printed, summary) == first


def test_a_printed_analysis_comes_back_from_json_as_it_was(printed):
    assert PrintedAnalysis.model_validate_json(dump_record(printed)) == printed


def test_faults_are_a_warning():
    fault = {"stage": "judge", "status": "truncated", "count": 2, "answers": 100}
    provenance = Provenance.model_validate({"faults": (fault,)})
    assert warnings_for(provenance) == ("faults: judge truncated 2 of 100 (2.0 %)",)


def test_no_faults_are_no_warning():
    assert warnings_for(Provenance(faults=())) == ()
