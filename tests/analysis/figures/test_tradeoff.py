"""The trade-off figure: its points are the tables' numbers, and every arm's name can be read."""

import xml.etree.ElementTree as ET

import pytest

from ragmend.analysis import Frames, Provenance, Settings
from ragmend.analysis.figures import style, tradeoff
from ragmend.analysis.figures.style import HEURISTIC_FOOTNOTE
from ragmend.analysis.figures.tradeoff import tradeoff_figure
from ragmend.analysis.printing.notes import mark_judges
from ragmend.analysis.study import Study
from ragmend.analysis.tables.recipes import TABLES

FAST = Settings(n_resamples=200)
NEEDED = ("table3_arms", "contrasts", "table6_tasks")


@pytest.fixture(scope="module")
def study(golden_frames):
    return Study(golden_frames, FAST, Provenance())


@pytest.fixture(scope="module")
def tables(study):
    return {name: TABLES[name].make(study) for name in NEEDED}


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


def texts(canvas):
    return [text for text in canvas.axes[0].texts if text.get_text()]


def with_arms(tables, **changes):
    table = tables["table3_arms"]
    return {**tables, "table3_arms": table._replace(frame=table.frame.assign(**changes))}


def test_drawing_twice_gives_the_same_bytes(study, tables):
    assert tradeoff_figure(study, tables).images == tradeoff_figure(study, tables).images


def test_the_points_are_the_tables_numbers(study, tables, canvas):
    tradeoff_figure(study, tables)
    drawn = {
        (round(float(x), 1), round(float(y), 1))
        for line in canvas[0].axes[0].lines
        for x, y in [(line.get_xdata()[0], line.get_ydata()[0])]
    }
    # All tasks, in the paper's Tables 3 and 5: 857 of 916 become 498, 567 and 597.
    assert {(64.3, 39.2), (74.8, 31.7), (80.1, 28.4), (100.0, 0.0)} <= drawn
    assert {(53.9, 48.5), (77.0, 34.3), (89.5, 41.2)} <= drawn  # single tasks
    assert len(drawn) == 3 + 1 + 9


def test_every_name_stands_and_none_covers_another(study, tables, canvas):
    tradeoff_figure(study, tables)
    names = texts(canvas[0])
    assert {"removal", "extractive", "generative", "original"} <= {t.get_text() for t in names}
    boxes = [text.get_window_extent() for text in names]
    assert [box.count_overlaps(boxes) for box in boxes] == [1] * len(boxes)  # itself


def test_arms_at_the_same_place_keep_their_names_apart(study, tables, canvas):
    same = {"retention_pct": 80.0, "retention_low": 79.0, "retention_high": 81.0}
    contrasts = tables["contrasts"]
    frame = contrasts.frame.assign(diff_pp=-30.0, ci_low=-33.0, ci_high=-27.0)
    changed = {**with_arms(tables, **same), "contrasts": contrasts._replace(frame=frame)}
    tradeoff_figure(study, changed)
    arms = [t for t in texts(canvas[0]) if t.get_text() in ("removal", "extractive", "generative")]
    boxes = [text.get_window_extent() for text in arms]
    assert [box.count_overlaps(boxes) for box in boxes] == [1, 1, 1]


def test_many_tasks_are_drawn_without_names(study, tables, canvas):
    table = tables["table6_tasks"]
    many = [table.frame.assign(task=table.frame["task"].replace("QA", f"t{i}")) for i in range(5)]
    frame = type(table.frame)([row for part in many for row in part.to_dict("records")])
    tradeoff_figure(study, {**tables, "table6_tasks": table._replace(frame=frame)})
    assert {t.get_text() for t in texts(canvas[0])} == {
        "removal", "extractive", "generative", "original",
    }  # fmt: skip


def test_a_contrast_given_the_other_way_round_is_the_same_point(golden_frames, study, tables):
    other = Study(
        golden_frames,
        Settings(n_resamples=200, family=("removal-original",)),
        Provenance(),
    )
    turned = {**tables, "contrasts": TABLES["contrasts"].make(other)}
    one, same = (tradeoff._points(*pair) for pair in ((study, tables), (other, turned)))
    assert [point.arm for point in same] == [point.arm for point in one]
    assert same[0][1:] == pytest.approx(one[0][1:])


def test_without_tasks_the_arms_are_drawn(study, tables, canvas):
    del (only := dict(tables))["table6_tasks"]
    assert tradeoff_figure(study, only) is not None
    assert len(texts(canvas[0])) == 4


def test_nothing_is_drawn_where_no_arm_was_judged_or_nothing_is_the_reference(
    golden_frames, study, tables
):
    assert tradeoff_figure(study, with_arms(tables, arm=["a", "b", "c"])) is None
    labels = golden_frames.labels.query("condition != 'original'")
    family = Settings(n_resamples=20, family=("removal-extractive",))
    other = Study(Frames(labels=labels, arms=golden_frames.arms), family, Provenance())
    contrasts = TABLES["contrasts"].make(other)
    assert tradeoff_figure(other, {**tables, "contrasts": contrasts}) is None


def test_the_caption_names_judge_interval_and_heuristic_judges(
    golden_frames, study, tables, canvas
):
    caption = tradeoff_figure(study, tables).caption
    assert "qwen, the primary judge" in caption
    assert "95 % percentile bootstrap" in caption
    heuristic = Study(golden_frames, FAST, Provenance(embedded_judges=True))
    assert "does not show a better answer" in tradeoff_figure(heuristic, tables).caption


def test_heuristic_judges_are_named_in_the_drawing_too(golden_frames, tables, canvas):
    heuristic = Study(golden_frames, FAST, Provenance(embedded_judges=True))
    tradeoff_figure(heuristic, tables)
    assert canvas[0].get_supxlabel() == HEURISTIC_FOOTNOTE


def test_a_heuristic_among_other_judges_is_named_where_it_is_the_one_drawn(
    golden_frames, tables, canvas
):
    for names in (("qwen",), ("llama", "gemma")):
        provenance = Provenance(heuristic_judges=names)
        tradeoff_figure(Study(golden_frames, FAST, provenance), tables)
    assert [c.get_supxlabel() for c in canvas] == [
        "Heuristic, no language model: qwen. A lower rate by it does not show a better answer.",
        "",
    ]


def test_a_judge_of_the_verifiers_family_is_marked(golden_frames, tables, canvas):
    provenance = Provenance(verifier_family_judges=("qwen",))
    marked = {**tables, "contrasts": mark_judges(tables["contrasts"], provenance)}
    caption = tradeoff_figure(Study(golden_frames, FAST, provenance), marked).caption
    assert "qwen †, the primary judge" in caption
    assert "of the verifier's own model family" in caption


def test_names_are_never_read_as_markup(study, tables):
    odd = _renamed(tables, "removal", "_$a^{ --><script>")
    svg = tradeoff_figure(study, odd).images["svg"]
    assert b"<script>" not in svg
    assert ET.fromstring(svg) is not None


def _renamed(tables, old, new):
    arms, contrasts = tables["table3_arms"], tables["contrasts"]
    names = contrasts.frame["contrast"].str.replace(old, new, regex=False)
    return {
        **with_arms(tables, arm=arms.frame["arm"].replace(old, new)),
        "contrasts": contrasts._replace(frame=contrasts.frame.assign(contrast=names)),
    }
