"""A journal loses nothing that was answered and repeats nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.errors import DataError
from ragmend.journal import Journal


def filled(path, n):
    with Journal(path) as journal:
        for i in range(n):
            journal.append(f"k{i}", [{"value": i}])
    return path


def test_a_reopened_journal_holds_every_answer(tmp_path):
    journal = Journal(filled(tmp_path / "s" / "j.jsonl", 3))
    assert journal.entries == {f"k{i}": [{"value": i}] for i in range(3)}
    assert journal.n_torn == 0


def test_appending_goes_on_behind_what_is_there(tmp_path):
    path = filled(tmp_path / "j.jsonl", 2)
    with Journal(path) as journal:
        journal.append("more", [])
    assert list(Journal(path).entries) == ["k0", "k1", "more"]


@given(cut=st.integers(min_value=1, max_value=200))
def test_a_cut_anywhere_keeps_all_whole_lines_and_appends_cleanly(tmp_path_factory, cut):
    path = filled(tmp_path_factory.mktemp("j") / "j.jsonl", 5)
    content = path.read_bytes()
    kept = content[: max(0, len(content) - cut)]
    path.write_bytes(kept)
    n_whole = kept.count(b"\n")
    journal = Journal(path)
    assert len(journal.entries) == n_whole
    assert journal.n_torn == (0 if kept.endswith(b"\n") or not kept else 1)
    with journal:
        journal.append("new", [{"value": 9}])
    assert list(Journal(path).entries) == [f"k{i}" for i in range(n_whole)] + ["new"]


@pytest.mark.parametrize("line", [b"{}\n", b'{"key": "a"}\n', b"half\n", b"\xff\n", b"\n"])
def test_a_bad_line_in_the_middle_stops_with_file_and_line(tmp_path, line):
    path = filled(tmp_path / "j.jsonl", 1)
    path.write_bytes(path.read_bytes() + line + path.read_bytes())
    with pytest.raises(DataError, match=r"j\.jsonl:2: "):
        Journal(path)


def test_a_value_that_is_not_finite_is_never_recorded(tmp_path):
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal, pytest.raises(ValueError):
        journal.append("k", [{"p": float("nan")}])
    assert path.read_bytes() == b""


def test_appending_outside_the_block_is_an_error(tmp_path):
    with pytest.raises(RuntimeError, match="with"):
        Journal(tmp_path / "j").append("k", [])
