import pandas as pd
import pytest
from matplotlib.text import Text

from ragmend.analysis.figures import seeds, verifier
from ragmend.analysis.figures.style import Figure
from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.settings import Provenance, Settings
from ragmend.analysis.study import Study
from ragmend.analysis.tables.verifier_tables import verifier_by_task_table

RUNS = pd.DataFrame(
    [("7b", 13, 78.5, 1, 0), ("7b", 100, 1.3, 0, 0), ("13b", 13, 79.6, 1, 1)],
    columns=["model", "seed", "f1", "usable", "population"],
)
DRAW = {
    "verifier_roc": verifier.verifier_roc_figure,
    "support_by_task": verifier.support_figure,
    "seed_f1": seeds.seed_f1_figure,
}


def study_of(claims, **provenance):
    frames = Frames(claims=claims, runs=RUNS)
    return Study(frames, Settings(n_resamples=20), Provenance(**provenance))


def tables_of(study):
    return {"verifier_by_task": verifier_by_task_table(study)}


@pytest.fixture
def texts(monkeypatch):
    """A function that returns every piece of text of a figure, and its caption, unrendered."""
    for module in (verifier, seeds):
        monkeypatch.setattr(module, "draw_figure", lambda _, __, caption, draw: (draw(), caption))

    def texts_of(name, study):
        canvas, caption = DRAW[name](study, tables_of(study))
        return [text.get_text() for text in canvas.findobj(Text)], caption

    return texts_of


@pytest.mark.parametrize("name", DRAW)
def test_a_figure_has_all_three_formats(golden_frames, name):
    study = study_of(golden_frames.claims.iloc[::20])
    figure = DRAW[name](study, tables_of(study))
    assert isinstance(figure, Figure)
    assert set(figure.images) == {"svg", "pdf", "png"}


def test_a_figure_is_the_same_bytes_twice(golden_frames):
    study = study_of(golden_frames.claims.iloc[::20])
    first, second = (seeds.seed_f1_figure(study, {}) for _ in range(2))
    assert first == second


def test_the_curves_name_their_areas_and_the_threshold_in_use(golden_frames, texts):
    found, caption = texts("verifier_roc", study_of(golden_frames.claims))
    assert [text for text in found if "AUC" in text] == [
        "pooled, AUC 0.881", "Data2txt, AUC 0.884", "QA, AUC 0.860", "Summary, AUC 0.892",
    ]  # fmt: skip
    assert "P(support) < 0.5\nrecall 0.858" in found
    assert "P(support) < 0.5\nprecision 0.401" in found
    assert "P(support) < 0.5" in caption


def test_a_task_without_both_kinds_has_no_curve(golden_frames, texts):
    claims = golden_frames.claims
    supported = claims[(claims["task"] != "QA") | (claims["gold_unsupported"] != 1)]
    found, _ = texts("verifier_roc", study_of(supported))
    assert not any(text.startswith("QA") for text in found)


def test_each_task_has_its_panel_with_the_eligible_share(golden_frames, texts):
    found, _ = texts("support_by_task", study_of(golden_frames.claims))
    for share in ("36.6", "49.6", "34.3", "38.0"):
        assert f"{share} % eligible" in found
    assert {"QA (1,131 claims)", "unsupported by gold", "all claims"} <= {*found}


def test_without_gold_all_claims_alone_are_drawn(golden_frames, texts):
    bare = golden_frames.claims.assign(gold_unsupported=None)
    found, _ = texts("support_by_task", study_of(bare, threshold=0.1))
    assert "all claims" in found
    assert "supported by gold" not in found


def test_many_tasks_stand_in_rows(golden_frames, texts):
    claims = golden_frames.claims
    many = claims.assign(task="task " + claims["record_id"].str[-1])
    found, _ = texts("support_by_task", study_of(many))
    assert sum("claims)" in text for text in found) == 11


def test_every_run_is_named_with_its_score(golden_frames, texts):
    found, caption = texts("seed_f1", study_of(golden_frames.claims))
    assert {"7b", "13b", "seed 100", "78.5", "1.3", "79.6", "unusable run"} <= {*found}
    assert "the run whose flags are the population" in caption


def test_the_caption_says_why_runs_are_hollow_and_which_are_not_drawn(golden_frames, texts):
    told = RUNS.assign(health=["usable", "failed", "usable"], unscored=[None, None, "lost"])
    told["f1"] = [78.5, 1.3, None]
    study = study_of(golden_frames.claims)
    frames = study.frames._replace(runs=told)
    found, caption = texts("seed_f1", Study(frames, study.settings, study.provenance))
    assert "13b" not in found
    assert "Hollow: runs unusable by the verdict on their training." in caption
    assert "Not drawn, without a score, and counted nowhere: 13b seed 13 (lost)." in caption
    _, caption = texts("seed_f1", study)
    assert "excluded as unusable after their outcome was seen" in caption
    assert "Not drawn" not in caption
