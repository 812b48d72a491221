"""The flow figure: the tables' counts in boxes, and nothing for what is not known."""

import pytest

from ragmend.analysis import Frames, Provenance, Settings
from ragmend.analysis.figures import style
from ragmend.analysis.figures.flow import flow_figure
from ragmend.analysis.figures.style import HEURISTIC_FOOTNOTE
from ragmend.analysis.study import Study
from ragmend.analysis.tables.recipes import TABLES, reason_to_leave_out

SHOWN = ("selection", "claims_by_kind", "table3_arms", "table5_judged")


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


def draw(frames, **provenance):
    study = Study(frames, Settings(n_resamples=20), Provenance(**provenance))
    made = {name: TABLES[name] for name in SHOWN if not reason_to_leave_out(study, TABLES[name])}
    return flow_figure(study, {name: recipe.make(study) for name, recipe in made.items()})


def words(canvas):
    return [text.get_text() for text in canvas.axes[0].texts if text.get_text()]


def test_drawing_twice_gives_the_same_bytes(golden_frames):
    assert draw(golden_frames).images == draw(golden_frames).images


def test_the_counts_are_the_tables(golden_frames, canvas):
    draw(golden_frames)
    found = words(canvas[0])
    assert found[:12] == [
        "2,700", "responses", "916", "flagged", "916", "answers to repair", "7,926", "claims",
        "3,014", "eligible: P(support) < 0.5", "4,912", "not eligible, kept",
    ]  # fmt: skip
    assert found[-2:] == ["10,992", "labels: 3 judges × 4 conditions × 916 answers"]
    generative = found[found.index("generative") + 1 : -2]
    assert generative == [
        "unchanged", "4,912", "substituted", "459", "rewritten", "913", "dropped", "1,642",
    ]  # fmt: skip


def test_an_arms_bar_has_the_length_of_all_its_claims(golden_frames, canvas):
    draw(golden_frames)
    bars = [patch for patch in canvas[0].axes[0].patches if hasattr(patch, "get_x")
            and patch.get_height() == pytest.approx(0.1)]  # fmt: skip
    widths = [sum(bar.get_width() for bar in bars[i : i + 4]) for i in (0, 4, 8)]
    assert len(bars) == 12
    assert widths == pytest.approx([widths[0]] * 3)
    assert bars[3].get_width() / widths[0] == pytest.approx(3014 / 7926)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["selection"], ["2,700", "916"]),
        (["claims"], ["7,926", "3,014", "4,912"]),
        (["selection", "labels"], ["2,700", "916", "916", "10,992"]),
        (["claims", "labels"], ["916", "7,926", "3,014", "4,912", "10,992"]),
        (["arms"], ["916", "7,926", "3,014", "4,912"]),
    ],
)
def test_what_is_not_given_is_left_out(golden_frames, canvas, names, expected):
    draw(Frames(**{name: getattr(golden_frames, name) for name in names}))
    found = words(canvas[0])
    assert ("removal" in found) == ("arms" in names)
    boxes = found[: found.index("removal")] if "arms" in names else found
    assert [word for word in boxes if word.replace(",", "").isdigit()] == expected


@pytest.mark.parametrize("names", [["labels"], ["records"], []])
def test_nothing_is_drawn_without_selection_claims_and_arms(golden_frames, names):
    assert draw(Frames(**{name: getattr(golden_frames, name) for name in names})) is None


def test_no_text_covers_another_or_leaves_its_canvas(golden_frames, canvas):
    draw(golden_frames, embedded_judges=True)
    canvas[0].draw_without_rendering()
    texts = [text for text in canvas[0].axes[0].texts if text.get_text()]
    boxes = [text.get_window_extent() for text in texts]
    assert [box.count_overlaps(boxes) for box in boxes] == [1] * len(boxes)  # itself
    whole = canvas[0].bbox
    assert all(box.x0 > 0 and box.x1 < whole.x1 and box.y0 > 0 for box in boxes)


def test_heuristic_judges_are_named_where_labels_are_counted(golden_frames, canvas):
    draw(golden_frames, embedded_judges=True)
    draw(golden_frames._replace(labels=None), embedded_judges=True)
    assert [c.get_supxlabel() for c in canvas] == [HEURISTIC_FOOTNOTE, ""]
