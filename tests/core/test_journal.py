"""A journal loses nothing that was answered and repeats nothing."""

import errno

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.errors import DataError, OutputError, RunStateError
from ragmend.journal import Journal, read_journal


def filled(path, n):
    with Journal(path) as journal:
        for i in range(n):
            journal.append(f"k{i}", [{"value": i}])
    return path


def test_a_reopened_journal_holds_every_answer(tmp_path):
    with Journal(filled(tmp_path / "s" / "j.jsonl", 3)) as journal:
        assert journal.entries == {f"k{i}": [{"value": i}] for i in range(3)}
        assert journal.n_torn == 0


def test_appending_goes_on_behind_what_is_there(tmp_path):
    path = filled(tmp_path / "j.jsonl", 2)
    with Journal(path) as journal:
        journal.append("more", [])
    assert list(read_journal(path).entries) == ["k0", "k1", "more"]


@given(cut=st.integers(min_value=1, max_value=200))
def test_a_cut_anywhere_keeps_all_whole_lines_and_appends_cleanly(tmp_path_factory, cut):
    path = filled(tmp_path_factory.mktemp("j") / "j.jsonl", 5)
    content = path.read_bytes()
    kept = content[: max(0, len(content) - cut)]
    path.write_bytes(kept)
    n_whole = kept.count(b"\n")
    with Journal(path) as journal:
        assert len(journal.entries) == n_whole
        assert journal.n_torn == (0 if kept.endswith(b"\n") or not kept else 1)
        journal.append("new", [{"value": 9}])
    assert list(read_journal(path).entries) == [f"k{i}" for i in range(n_whole)] + ["new"]


@pytest.mark.parametrize(
    "line",
    [
        b"{}\n",
        b'{"key": "a"}\n',
        b'{"key": 1, "answer": []}\n',
        b'{"key": "a", "answer": [1]}\n',
        b"half\n",
        b"\xff\n",
        b"\n",
    ],
)
def test_a_bad_line_in_the_middle_stops_with_file_and_line(tmp_path, line):
    path = filled(tmp_path / "j.jsonl", 1)
    path.write_bytes(path.read_bytes() + line + path.read_bytes())
    with pytest.raises(DataError, match=r"j\.jsonl:2: "), Journal(path):
        pass
    assert not (tmp_path / "j.jsonl.lock").exists()


def test_two_answers_to_one_request_are_never_chosen_between(tmp_path):
    path = filled(tmp_path / "j.jsonl", 1)
    same, other = path.read_bytes(), path.read_bytes().replace(b"0}", b"7}")
    path.write_bytes(same + same)
    assert read_journal(path).entries == {"k0": [{"value": 0}]}
    path.write_bytes(same + other)
    with pytest.raises(DataError, match=r"j\.jsonl:2: key 'k0' has another answer above"):
        read_journal(path)


def test_a_shard_has_one_writer(tmp_path):
    path = filled(tmp_path / "j.jsonl", 1)
    before = path.read_bytes()
    with (
        Journal(path),
        pytest.raises(RunStateError, match=r"j\.jsonl\.lock: process \d+ on .* is at work"),
        Journal(path),
    ):
        pass
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["j.jsonl"]


def test_a_value_that_is_not_finite_is_never_recorded(tmp_path):
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal, pytest.raises(ValueError):
        journal.append("k", [{"p": float("nan")}])
    assert path.read_bytes() == b""


def test_an_entry_that_finds_no_room_leaves_none_of_itself(tmp_path):
    path = filled(tmp_path / "j.jsonl", 2)
    before = path.read_bytes()

    class HalfFull:
        """The journal's file on a disk with room for five bytes more."""

        def __init__(self, file):
            self.file, self.room = file, 5

        def __getattr__(self, name):
            return getattr(self.file, name)

        def write(self, content):
            if not self.room:
                raise OSError(errno.ENOSPC, "No space left on device")
            written, self.room = self.file.write(content[: self.room]), 0
            return written

    with Journal(path) as journal:
        journal._file = HalfFull(journal._file)
        with pytest.raises(OutputError, match=r"j\.jsonl: cannot be written \(No space left"):
            journal.append("k", [{"value": "x" * 100}])
    assert path.read_bytes() == before


def test_appending_outside_the_block_is_an_error(tmp_path):
    with pytest.raises(RuntimeError, match="with"):
        Journal(tmp_path / "j").append("k", [])
