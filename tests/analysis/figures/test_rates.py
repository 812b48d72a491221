"""The figure: the same bytes from the same numbers, in three formats."""

import sys
import xml.etree.ElementTree as ET

import pytest

from ragmend.analysis import Frames, Provenance, Settings, figure_files
from ragmend.analysis.figures import style
from ragmend.analysis.figures.rates import judged_rates_figure
from ragmend.analysis.printing.notes import mark_judges
from ragmend.analysis.study import Study
from ragmend.analysis.tables.recipes import TABLES


@pytest.fixture(scope="module")
def table(golden_frames):
    judges = Provenance(judges=("qwen", "llama", "gemma"))
    return TABLES["table5_judged"].make(Study(golden_frames, Settings(), judges))


def draw(table, provenance=None):
    study = Study(Frames(), Settings(), provenance or Provenance())
    return judged_rates_figure(study, {"table5_judged": table})


def test_drawing_twice_gives_the_same_bytes(table):
    first = draw(table).images
    assert draw(table).images == first


def test_each_format_is_what_it_says(table):
    files = figure_files({"judged_rates": draw(table)})
    assert files["figures/judged_rates.png"].startswith(b"\x89PNG")
    assert files["figures/judged_rates.pdf"].startswith(b"%PDF")
    assert ET.fromstring(files["figures/judged_rates.svg"]).tag.endswith("svg")


def test_no_date_and_no_program_is_in_the_files(table):
    for image in draw(table).images.values():
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


def test_pyplot_is_not_needed(table):
    assert draw(table).images
    assert "matplotlib.pyplot" not in sys.modules


def many_judges(table, n_judges, prefix="judge-"):
    one = table.frame[table.frame["judge"] == "qwen"]
    parts = [one.assign(judge=f"{prefix}{i}") for i in range(n_judges)]
    rows = [row for part in parts for row in part.to_dict("records")]
    return table._replace(frame=type(table.frame)(rows, dtype=object))


@pytest.fixture
def canvas(monkeypatch):
    """The canvases that are drawn; none becomes bytes, which takes longest."""
    drawn = []

    def keep(figure, form):
        if figure not in drawn:
            drawn.append(figure)
        return b""

    monkeypatch.setattr(style, "_render", keep)
    return drawn


def test_few_judges_have_their_numbers_beside_the_dots(table, canvas):
    caption = draw(table).caption
    assert [text.get_text() for text in canvas[0].axes[0].texts][:4] == ["94", "54", "62", "65"]
    assert "The numbers are in the table" not in caption


def test_many_judges_have_no_numbers_and_a_legend_beside_the_axes(table, canvas):
    assert "The numbers are in the table" in draw(many_judges(table, 10)).caption
    canvas[0].draw_without_rendering()
    axes = canvas[0].axes[0]
    assert list(axes.texts) == []
    legend, title = axes.get_legend().get_window_extent(), axes.title.get_window_extent()
    assert not legend.overlaps(title)
    assert legend.x0 >= axes.get_window_extent().x1 - 1
    assert legend.x1 <= canvas[0].bbox.x1 + 1


def test_no_two_judges_share_colour_and_shape(table, canvas):
    draw(many_judges(table, 10))
    looks = [(line.get_color(), line.get_marker()) for line in canvas[0].axes[0].lines]
    assert len(set(looks)) == 10


def test_more_than_ten_judges_stand_in_rows_with_a_look_for_each_condition(table, canvas):
    draw(many_judges(table, 27))
    axes = canvas[0].axes[0]
    assert len(axes.get_yticklabels()) == 27
    assert len({line.get_color() for line in axes.lines}) == table.frame["condition"].nunique()
    assert canvas[0].get_size_inches()[1] > 7


def test_a_long_name_is_cut_and_does_not_narrow_the_axes(table, canvas):
    draw(many_judges(table, 3, prefix="a-judge-with-quite-a-long-name-"))
    canvas[0].draw_without_rendering()
    axes = canvas[0].axes[0]
    names = {text.get_text() for text in axes.get_legend().get_texts()}
    assert names == {f"a-judge-with-…-long-name-{j}" for j in range(3)}  # still told apart
    assert axes.get_window_extent().width > 0.6 * canvas[0].bbox.width


def test_a_judge_of_the_verifiers_family_is_marked_and_explained(table, canvas):
    caption = draw(mark_judges(table, Provenance(verifier_family_judges=("llama",)))).caption
    names = [text.get_text() for text in canvas[0].axes[0].get_legend().get_texts()]
    assert names == ["qwen", "llama †", "gemma"]
    assert "† of the verifier's own model family" in caption
