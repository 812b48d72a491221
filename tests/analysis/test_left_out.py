"""Records and claims that tables leave out: the same in each, and told under each."""

import pandas as pd
import pytest

from ragmend.analysis import Frames, Provenance, Settings, build_frames
from ragmend.analysis.analyze import analyze
from ragmend.analysis.study import Study
from ragmend.analysis.tables.recipes import TABLES

DROPPED = Settings(n_resamples=20, incomplete="drop")
ARM_TABLES = ("table3_arms", "table7_clean_and_hallucinatory")


@pytest.fixture
def frames(run) -> Frames:
    built = build_frames(run, threshold=0.5)
    names = ("labels", "arms", "claims", "records")
    return Frames(**{name: getattr(built, name) for name in names})


def test_every_table_of_labels_says_how_many_records_lack_one(frames):
    analysis = analyze(frames._replace(labels=frames.labels.drop(index=0)), settings=DROPPED)
    note = "1 record lacks a label: left out of all that is judged"
    noted = {name for name, table in analysis.tables.items() if note in table.notes}
    judged = ("table5_judged", "contrasts", "across_judges", "table6_tasks", "empty_answers")
    assert noted >= set(judged)
    assert not noted & {*ARM_TABLES, "acceptance", "verifier_by_task", "provenance"}
    for name in ARM_TABLES:
        assert any(
            note.startswith("all records are counted") for note in analysis.tables[name].notes
        )


def test_where_no_label_is_missing_nothing_is_said_of_it(frames):
    for table in analyze(frames, settings=DROPPED).tables.values():
        assert not any("lack" in note for note in table.notes)


@pytest.mark.parametrize(
    "name",
    ["claims_by_kind", "acceptance", "repair_against_gold", "answers_against_gold", "table6_tasks"],
)
@pytest.mark.parametrize("with_records", [True, False])
def test_no_table_of_the_repair_counts_what_a_threshold_was_chosen_on(frames, name, with_records):
    other = frames.claims.assign(record_id="d" + frames.claims["record_id"], split="development")
    claims = pd.concat([other, frames.claims.assign(split="test")])
    more = frames.records.assign(record_id="d" + frames.records["record_id"])
    records = pd.concat([more, frames.records]) if with_records else None
    both = frames._replace(claims=claims, records=records)
    alone = frames if with_records else frames._replace(records=None)
    found, expected = (
        TABLES[name].make(Study(each, DROPPED, Provenance())).frame for each in (both, alone)
    )
    pd.testing.assert_frame_equal(found, expected)
