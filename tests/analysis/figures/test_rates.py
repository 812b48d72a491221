"""The figure: the same bytes from the same numbers, in three formats."""

import sys
import xml.etree.ElementTree as ET

import pytest

from ragmend.analysis import Frames, Provenance, Settings, figure_files
from ragmend.analysis.figures.rates import judged_rates_figure
from ragmend.analysis.study import Study


@pytest.fixture
def table(golden_analysis):
    return golden_analysis.tables["table5_judged"]


def draw(table, provenance=None):
    study = Study(Frames(), Settings(), provenance or Provenance())
    return judged_rates_figure(study, {"table5_judged": table})


def test_drawing_twice_gives_the_same_bytes(table):
    first = draw(table).images
    assert draw(table).images == first


def test_each_format_is_what_it_says(golden_analysis):
    files = figure_files(golden_analysis.figures)
    assert files["figures/judged_rates.png"].startswith(b"\x89PNG")
    assert files["figures/judged_rates.pdf"].startswith(b"%PDF")
    assert ET.fromstring(files["figures/judged_rates.svg"]).tag.endswith("svg")


def test_no_date_and_no_program_is_in_the_files(golden_analysis):
    for image in golden_analysis.figures["judged_rates"].images.values():
        for word in (b"CreationDate", b"<dc:date>", b"Matplotlib v"):
            assert word not in image


def test_the_caption_names_the_interval_and_the_heuristic_judges(table):
    assert "Wilson, 95 %" in draw(table).caption
    caption = draw(table, Provenance(embedded_judges=True)).caption
    assert "does not show a better answer" in caption


def test_a_judges_name_is_never_read_as_markup(table):
    frame = table.frame.assign(judge=table.frame["judge"].replace("qwen", "_$a^{ --><script>"))
    svg = draw(table._replace(frame=frame)).images["svg"]
    assert b"<script>" not in svg
    assert ET.fromstring(svg) is not None


def test_pyplot_is_not_needed(golden_analysis):
    assert golden_analysis.figures
    assert "matplotlib.pyplot" not in sys.modules
