"""The heat map of κ: every rater once, nothing drawn that is undefined."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from ragmend.analysis import Frames, Provenance, Settings
from ragmend.analysis.figures import agreement as module
from ragmend.analysis.figures.agreement import agreement_heatmap_figure
from ragmend.analysis.study import Study
from ragmend.analysis.tables.agreement_tables import rater_agreement_table

FAST = Settings(n_resamples=10)


def study_of(labels):
    return Study(Frames(labels=labels), FAST, Provenance())


def random_labels(n_judges, conditions=("original",)):
    stream = np.random.default_rng(4)
    return pd.DataFrame(
        [
            (f"r{i:02}", f"judge-{j:02}", condition, int(stream.random() < 0.5), i % 2)
            for i in range(12)
            for j in range(n_judges)
            for condition in conditions
        ],
        columns=["record_id", "judge", "condition", "label", "gold"],
    )


def draw(labels, marks=None):
    study = study_of(labels)
    table = rater_agreement_table(study)._replace(marks=marks or {})
    return agreement_heatmap_figure(study, {"agreement": table})


@pytest.fixture
def panels_of(monkeypatch):
    """Draw, and return the axes of each condition instead of rendering them."""
    held = []

    def hold(settings, title, caption, draw):
        held[:] = draw().axes
        return module.Figure(title, caption, {})

    def panels(labels, marks=None):
        draw(labels, marks)
        return [axes for axes in held if axes.get_title(loc="left")]

    monkeypatch.setattr(module, "draw_figure", hold)
    return panels


def cells(panels):
    return [text.get_text() for axes in panels for text in axes.texts]


def test_the_golden_map_has_a_panel_a_condition_and_each_kappa_twice(golden_frames, panels_of):
    panels = panels_of(golden_frames.labels)
    titles = [axes.get_title(loc="left") for axes in panels]
    assert titles == ["original", "removal", "extractive", "generative"]
    assert [len(axes.texts) for axes in panels] == [4 * 3, 3 * 2, 3 * 2, 3 * 2]
    assert cells(panels).count("0.48") == 2
    assert cells(panels).count("0.32") == 2


def test_drawing_twice_gives_the_same_bytes(golden_frames):
    labels = golden_frames.labels.query("condition == 'original'")
    first, second = draw(labels), draw(labels)
    assert first.images == second.images
    assert ET.fromstring(first.images["svg"]).tag.endswith("svg")
    assert "gold: human annotation" in first.caption


def test_an_undefined_kappa_is_a_dash(panels_of):
    labels = random_labels(3).drop(columns="gold")
    constant = labels.assign(label=labels["label"].where(labels["judge"] != "judge-01", 1))
    texts = cells(panels_of(constant))
    assert texts.count("—") == 4
    assert len([text for text in texts if re.fullmatch(r"-?\d\.\d\d", text)]) == 2


def test_raters_without_any_kappa_can_be_drawn(panels_of):
    assert cells(panels_of(random_labels(2).assign(label=1))) == ["—"] * 6


def test_more_than_twelve_raters_are_drawn_without_numbers(panels_of):
    assert len(cells(panels_of(random_labels(11)))) == 12 * 11
    assert cells(panels_of(random_labels(12))) == []


def test_conditions_beyond_the_sixth_are_counted_in_the_caption(panels_of):
    labels = random_labels(2, conditions=list("abcdefgh"))
    assert len(panels_of(labels)) == 6
    assert "The first 6 of 8 conditions." in draw(labels).caption


def test_a_marked_judge_is_drawn_with_its_mark(golden_frames, panels_of):
    panels = panels_of(golden_frames.labels, marks={"llama": "llama †"})
    for labels in (panels[0].get_xticklabels(), panels[0].get_yticklabels()):
        assert [label.get_text() for label in labels] == ["gemma", "llama †", "qwen", "gold"]
