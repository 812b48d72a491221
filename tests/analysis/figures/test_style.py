"""What stands in every figure alike."""

import warnings

import pytest

from ragmend.analysis.figures.style import draw_figure, drawable, new_canvas, set_footnote
from ragmend.analysis.settings import Settings


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("qwen†", "qwen†"),
        ("κ, ß, −0.5 and …", "κ, ß, −0.5 and …"),
        ("日本", "□□"),
        ("a🙂b", "a□b"),
        ("a\nb\0\x1b[31m", "a□b□□[31m"),
        ("\u202ereversed", "□reversed"),
        ("x" * 3000, "x" * 14 + "…" + "x" * 13),
        ("日" * 3000, "□" * 14 + "…" + "□" * 13),
    ],
)
def test_a_name_is_drawn_with_the_signs_of_the_font_and_cut(name, shown):
    assert drawable(name) == shown


def test_a_name_is_cut_to_the_length_that_has_room():
    assert drawable("generative", 10) == "generative"
    assert drawable("generative", 6) == "gen…ve"


def test_a_footnote_of_any_signs_draws_without_a_warning():
    def draw():
        canvas = new_canvas()
        canvas.add_subplot()
        set_footnote(canvas, "日本 " * 200)
        return canvas

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert set(draw_figure(Settings(), "t", "c", draw).images) == {"svg", "pdf", "png"}
