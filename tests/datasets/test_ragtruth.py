"""The official schema, with every promise of it checked."""

import gzip
import json

import pytest

from ragmend.datasets.ragtruth import (
    demo_folder,
    development_sources,
    draw_sources,
    find_files,
    load_ragtruth,
)
from ragmend.errors import DataError, MissingInputError
from ragmend.records import TASKS

LABEL = {
    "start": 4,
    "end": 7,
    "text": "red",
    "meta": "",
    "label_type": "Evident Conflict",
    "implicit_true": False,
    "due_to_null": False,
}
RESPONSE = {
    "id": "7",
    "source_id": "s",
    "model": "m",
    "temperature": 0.7,
    "labels": [],
    "split": "test",
    "quality": "good",
    "response": "It’s red.",
}
SOURCE = {
    "source_id": "s",
    "task_type": "QA",
    "source": None,
    "source_info": {"question": "q?", "passages": "passage 1:It is blue.\n\n"},
    "prompt": "p",
}


def folder(tmp_path, responses=(RESPONSE,), sources=(SOURCE,), prefix=""):
    for name, rows in (("response", responses), ("source_info", sources)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{prefix}{name}.jsonl").write_text(text)
    return tmp_path


def load(path, **settings):
    files = find_files(path, settings.get("split", "test"))
    return load_ragtruth(files, **{"split": "test", "tasks": TASKS, **settings})


def with_labels(*labels):
    return {**RESPONSE, "response": "the red fox", "labels": [{**LABEL, **x} for x in labels]}


def test_a_response_keeps_its_fields(tmp_path):
    data = load(folder(tmp_path, [with_labels({})]))
    (response,) = data.responses
    assert (response.record_id, response.generator, response.quality) == ("7", "m", "good")
    assert [(s.start, s.end, s.text) for s in response.gold_spans] == [(4, 7, "red")]
    assert data.sources["s"].question == "q?"


def test_split_names_are_read_and_other_files_are_listed_as_ignored(tmp_path):
    path = folder(tmp_path, prefix="test_")
    (path / "notes.txt").write_text("x")
    (path / "train_response.jsonl").write_text("broken")
    data = load(path)
    assert "ignored: notes.txt" in data.notes
    assert "ignored: train_response.jsonl" in data.notes


def test_gzip_files_are_read(tmp_path):
    folder(tmp_path)
    for name in ("response.jsonl", "source_info.jsonl"):
        plain = tmp_path / name
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()
    assert len(load(tmp_path).responses) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"split": "validation"}, "split: Input should be 'train' or 'test'"),
        ({"labels": [{**LABEL, "label_type": "Wrong"}]}, "label_type"),
        ({"labels": [{**LABEL, "start": 5}]}, "label 0: span 5:7 does not hold 'red'"),
        ({"labels": [{**LABEL, "end": 70}]}, "label 0: span 4:70 leaves the text"),
        ({"labels": [{**LABEL, "start": -3}]}, "span -3:7 leaves the text"),
        ({"labels": [{**LABEL, "end": 4}]}, "span 4:4 leaves the text"),
        ({"source_id": "t"}, "source 't' is not in source_info.jsonl"),
        ({"response": None}, "response: Input should be a valid string"),
        ({"extra": 1}, "extra"),
        ({"id": ""}, "record_id"),
        ({"id": 7}, "id: Input should be a valid string"),
    ],
)
def test_a_broken_response_is_refused_with_file_and_line(tmp_path, changes, words):
    response = {**with_labels({}), **changes}
    with pytest.raises(DataError, match=words) as caught:
        load(folder(tmp_path, [RESPONSE | {"id": "1"}, response]))
    assert "response.jsonl:2: " in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"task_type": "Translation"}, "task_type"),
        ({"source_info": "text"}, "must be an object with `question` and `passages`"),
        ({"task_type": "Summary"}, "must be a string"),
        ({"task_type": "Data2txt", "source_info": "text"}, "must be an object"),
        ({"source_info": {"question": 1, "passages": "x"}}, "question"),
    ],
)
def test_a_broken_source_is_refused_with_file_and_line(tmp_path, changes, words):
    with pytest.raises(DataError, match=words) as caught:
        load(folder(tmp_path, sources=[{**SOURCE, **changes}]))
    assert "source_info.jsonl:1: " in str(caught.value)


def test_duplicate_ids_are_refused(tmp_path):
    with pytest.raises(DataError, match="id '7' appears twice"):
        load(folder(tmp_path, [RESPONSE, RESPONSE]))
    with pytest.raises(DataError, match="source_id 's' appears twice"):
        load(folder(tmp_path, sources=[SOURCE, SOURCE]))


def test_missing_ambiguous_and_empty_inputs_are_refused(tmp_path):
    with pytest.raises(MissingInputError, match="no such folder"):
        find_files(tmp_path / "none", "test")
    with pytest.raises(MissingInputError, match=r"none of response\.jsonl"):
        find_files(tmp_path, "test")
    with pytest.raises(DataError, match="no train response"):
        load_ragtruth(find_files(folder(tmp_path), "train"), split="train", tasks=TASKS)
    folder(tmp_path, prefix="test_")
    with pytest.raises(DataError, match="could each be meant"):
        find_files(tmp_path, "test")


def test_the_policies_leave_marked_spans_out(tmp_path):
    marked = with_labels({"implicit_true": True}, {"due_to_null": True}, {})
    path = folder(tmp_path, [marked])

    def n_spans(**policies):
        return len(load(path, **policies).responses[0].gold_spans)

    assert n_spans() == 3
    assert n_spans(implicit_true="ignore") == 2
    assert n_spans(implicit_true="ignore", due_to_null="ignore") == 1


def test_unsorted_doubled_and_overlapping_spans_are_kept_sorted_and_noted(tmp_path):
    response = with_labels({}, {}, {"start": 0, "end": 7, "text": "the red"})
    data = load(folder(tmp_path, [response]))
    assert [s.start for s in data.responses[0].gold_spans] == [0, 4, 4]
    notes = " ".join(data.notes)
    assert all(word in notes for word in ("out of order", "annotated twice", "overlapping"))


@pytest.mark.parametrize("change", [{"labels": None}, {}])
def test_a_response_that_nobody_annotated_is_not_taken_for_clean(tmp_path, change):
    response = {name: value for name, value in RESPONSE.items() if name != "labels"} | change
    data = load(folder(tmp_path, [response]))
    assert data.responses[0].gold_spans is None
    assert data.responses[0].is_gold_hallucinated is None
    assert any("1 responses without annotation" in note for note in data.notes)


def test_records_come_in_order_of_their_number(tmp_path):
    rows = [{**RESPONSE, "id": i} for i in ("10", "9", "x-1", "100")]
    ids = [r.record_id for r in load(folder(tmp_path, rows)).responses]
    assert ids == ["9", "10", "100", "x-1"]


def test_a_draw_of_sources_does_not_depend_on_order_and_leaves_some():
    ids = [str(i) for i in range(30)]
    drawn = draw_sources(ids, n_sources=7, seed=1)
    assert drawn == draw_sources(reversed(ids), n_sources=7, seed=1)
    assert len(drawn) == 7
    assert drawn != draw_sources(ids, n_sources=7, seed=2)
    with pytest.raises(DataError, match="cannot draw 30"):
        draw_sources(ids, n_sources=30, seed=1)


def test_sources_that_are_left_out_take_their_responses_with_them_and_are_counted():
    everything = load(demo_folder())
    wanted = everything.responses[0].source_id
    rest = load_ragtruth(
        find_files(demo_folder(), "test"), split="test", tasks=TASKS, leave_out=frozenset({wanted})
    )
    gone = [r for r in everything.responses if r.source_id == wanted]
    assert [r for r in everything.responses if r not in gone] == list(rest.responses)
    assert wanted not in rest.sources
    assert f"{len(gone)} responses to development sources (left out)" in rest.notes


def test_the_development_sources_are_the_draw_that_their_file_describes(real_data):
    data = load_ragtruth(
        find_files(real_data / "ragtruth", "test"), split="test", tasks=["Data2txt"]
    )
    assert development_sources() == draw_sources(data.sources, n_sources=30, seed=42)


def test_the_built_in_data_keeps_what_its_readme_promises():
    data = load(demo_folder())
    assert len(data.responses) == 48
    tasks = {data.sources[r.source_id].task_type for r in data.responses}
    assert tasks == set(TASKS)
    flags = [bool(r.gold_spans) for r in data.responses]
    assert flags.count(True) == 28
    spans = [span for r in data.responses for span in r.gold_spans]
    assert any(s.implicit_true for s in spans)
    assert any(s.due_to_null for s in spans)
    assert any(
        None in (s.fields or {}).get("attributes", {}).values() for s in data.sources.values()
    )
    notes = " ".join(data.notes)
    assert all(word in notes for word in ("out of order", "annotated twice", "overlapping"))
    assert any("\u200d" in r.text for r in data.responses)


def test_the_real_test_split_has_the_counts_of_its_readme(real_data):
    data = load(real_data / "ragtruth")
    by_task = {
        task: [r for r in data.responses if data.sources[r.source_id].task_type == task]
        for task in TASKS
    }
    counts = {
        task: (len(rs), sum(bool(r.gold_spans) for r in rs), sum(len(r.gold_spans) for r in rs))
        for task, rs in by_task.items()
    }
    assert counts == {
        "QA": (780, 143, 205),
        "Data2txt": (780, 498, 926),
        "Summary": (654, 159, 180),
    }


def test_the_real_train_split_loads(real_data):
    data = load_ragtruth(find_files(real_data / "ragtruth", "train"), split="train", tasks=TASKS)
    assert len(data.responses) == 3570
    assert len(data.sources) == 860
