"""The official data: licences first, right files only, and no archive writes where it likes."""

import hashlib
import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from ragmend.cli.prefetching import archive as unpacking
from ragmend.cli.prefetching.archive import extract_members
from ragmend.cli.prefetching.data import fetch_dataset
from ragmend.datasets.official import OFFICIAL, Member, OfficialDataset, OfficialFile
from ragmend.datasets.ragtruth import demo_folder, find_files, load_ragtruth
from ragmend.errors import DataError

CORPUS, CLAIMS = b'{"doc_id": 1}\n' * 50, b'{"id": 1}\n' * 20


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def entry(name, content=b"", kind=tarfile.REGTYPE, link=""):
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = len(content), kind, link
    return info, content


def make_tar(*entries):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for info, content in entries:
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


TAR = make_tar(entry("data/corpus.jsonl", CORPUS), entry("data/claims.jsonl", CLAIMS))
MEMBERS = (
    Member("data/corpus.jsonl", "corpus.jsonl", len(CORPUS), sha256(CORPUS)),
    Member("data/claims.jsonl", "claims.jsonl", len(CLAIMS), sha256(CLAIMS)),
)


@pytest.fixture
def official(server, monkeypatch):
    """Stand-ins of the data sets, of the same form, on a server of this machine."""
    for name in ("response.jsonl", "source_info.jsonl"):
        server.files[name] = (demo_folder() / name).read_bytes()
    server.files.update({"data.tar.gz": TAR, "plain.json": b"[1, 2]"})

    def whole(name, content, members=()):
        return OfficialFile(name, server.url(name), len(content), sha256(content), members)

    stand_ins = {
        "ragtruth": ("response.jsonl", "source_info.jsonl"),
        "hotpotqa": ("plain.json",),
    }
    for key, names in stand_ins.items():
        files = tuple(whole(name, server.files[name]) for name in names)
        monkeypatch.setitem(OFFICIAL, key, OFFICIAL[key]._replace(files=files))
    monkeypatch.setitem(
        OFFICIAL,
        "scifact",
        OFFICIAL["scifact"]._replace(files=(whole("data.tar.gz", TAR, MEMBERS),)),
    )
    return OFFICIAL


@pytest.fixture
def prefetch(official, cache, command, tmp_path):
    """The command, with data in a folder of this test."""

    def run(*words):
        return command("prefetch", "demo", "--data-dir", tmp_path / "sets", *words)

    return run


def files_of(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes()
            for p in sorted(folder.rglob("*")) if p.is_file()}  # fmt: skip


def test_every_official_file_is_known_to_the_byte_and_fetched_from_a_publisher():
    assert sorted(OFFICIAL) == ["diahalu", "hotpotqa", "ragtruth", "scifact"]
    for dataset in OFFICIAL.values():
        assert dataset.licence
        for file in dataset.files:
            assert file.url.startswith(("https://", "http://curtis.ml.cmu.edu/"))
            for known in (file, *file.members):
                assert known.n_bytes
                assert len(known.sha256) == 64
                assert "/" not in known.name
    assert len({m.sha256 for d in OFFICIAL.values() for f in d.files for m in f.kept()}) == 9


def test_ragtruth_comes_as_a_folder_that_data_path_takes(prefetch, tmp_path):
    done = prefetch("--data", "ragtruth")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "sets/ragtruth"
    assert f"data.path={folder}" in done.stdout
    found = find_files(folder, "test")
    assert found.ignored == ()
    tasks = ("QA", "Data2txt", "Summary")
    assert load_ragtruth(found, split="test", tasks=tasks).responses


def test_the_licence_is_said_before_anything_is_fetched(prefetch, server):
    server.files.clear()
    done = prefetch("--data", "ragtruth")
    assert done.returncode == 1
    assert "licence   ragtruth: MIT" in done.stdout
    assert "file" not in done.stdout


def test_the_sums_can_be_checked_by_others(prefetch, tmp_path):
    assert prefetch("--data", "ragtruth", "--data", "scifact").returncode == 0
    root = tmp_path / "sets"
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"],
        cwd=root,
        capture_output=True,
        check=True,
    )
    assert done.stdout.count(b": OK") == 4


def test_what_is_there_and_right_is_not_fetched_again(prefetch, server, tmp_path):
    first = prefetch("--data", "hotpotqa", "--data", "scifact")
    assert first.returncode == 0, first.stderr
    assert first.stdout.count("fetched") == 3
    before, n_seen = files_of(tmp_path / "sets"), len(server.seen)
    again = prefetch("--data", "hotpotqa", "--data", "scifact")
    assert again.stdout.count("already there") == 3
    assert len(server.seen) == n_seen
    assert files_of(tmp_path / "sets") == before


def test_a_file_that_was_changed_is_named_and_stays(prefetch, server, tmp_path):
    assert prefetch("--data", "hotpotqa").returncode == 0
    path = tmp_path / "sets/hotpotqa/plain.json"
    path.write_bytes(b"[1, 3]")
    for more in ((), ("--check",)):
        done = prefetch("--data", "hotpotqa", *more)
        assert done.returncode == 1
        assert (
            f"{path}: has sha256 {sha256(b'[1, 3]')}, expected {sha256(b'[1, 2]')}" in done.stderr
        )
    assert path.read_bytes() == b"[1, 3]"


def test_only_the_wanted_files_of_an_archive_are_kept(prefetch, tmp_path):
    assert prefetch("--data", "scifact").returncode == 0
    assert files_of(tmp_path / "sets/scifact") == {"corpus.jsonl": CORPUS, "claims.jsonl": CLAIMS}


def test_check_says_which_files_are_missing_and_fetches_none(prefetch, server, tmp_path):
    done = prefetch("--data", "scifact", "--check")
    assert done.returncode == 1
    assert f"missing   {tmp_path / 'sets/scifact/corpus.jsonl'}" in done.stdout
    assert "2 files of data are not there" in done.stderr
    assert server.seen == []
    assert not (tmp_path / "sets").exists()
    assert prefetch("--data", "scifact").returncode == 0
    assert prefetch("--data", "scifact", "--check").returncode == 0


@pytest.mark.parametrize("rival", ["test_response.jsonl.gz", "response.jsonl.gz"])
def test_a_second_file_that_could_be_meant_is_refused_before_the_download(
    prefetch, server, tmp_path, rival
):
    folder = tmp_path / "sets/ragtruth"
    folder.mkdir(parents=True)
    (folder / rival).write_bytes(b"")
    done = prefetch("--data", "ragtruth")
    assert done.returncode == 1
    assert f"{folder / rival}: could be meant as well as response.jsonl" in done.stderr
    assert server.seen == []


def test_the_folder_comes_from_the_environment_where_it_is_not_given(
    official, cache, command, tmp_path, monkeypatch
):
    monkeypatch.setenv("RAGMEND_DATA", str(tmp_path / "mine"))
    assert command("prefetch", "demo", "--data", "hotpotqa").returncode == 0
    assert (tmp_path / "mine/hotpotqa/plain.json").read_bytes() == b"[1, 2]"


def test_a_data_set_that_is_unknown_is_a_usage_error(prefetch):
    done = prefetch("--data", "squad")
    assert done.returncode == 2
    assert "ragtruth" in done.stderr


def test_a_hash_that_nobody_published_is_recorded_and_held_against_a_later_file(server, tmp_path):
    server.files["new.json"] = b"[1]"
    dataset = OfficialDataset("new", "none", (OfficialFile("new.json", server.url("new.json")),))
    (found,) = fetch_dataset("new", dataset, tmp_path)
    assert found.sha256 == sha256(b"[1]")
    assert not found.is_known
    assert (tmp_path / "SHA256SUMS").read_text() == f"{found.sha256}  new/new.json\n"
    (again,) = fetch_dataset("new", dataset, tmp_path)
    assert again.was_there
    found.path.unlink()
    server.files["new.json"] = b"[2]"
    with pytest.raises(DataError, match=f"has sha256 .*, expected {sha256(b'[1]')}"):
        list(fetch_dataset("new", dataset, tmp_path))


@pytest.mark.parametrize("line", ["what", "a" * 64 + "  /etc/passwd", "A" * 64 + "  new/new.json"])
def test_a_record_of_hashes_that_is_damaged_is_named(tmp_path, line):
    (tmp_path / "SHA256SUMS").write_text(line + "\n")
    dataset = OfficialDataset("new", "none", (OfficialFile("new.json", "http://127.0.0.1:9/"),))
    with pytest.raises(DataError, match="SHA256SUMS:1: expected a SHA-256"):
        list(fetch_dataset("new", dataset, tmp_path))


HOSTILE = {
    "absolute": (entry("/tmp/evil.jsonl", b"evil"),),
    "upwards": (entry("../evil.jsonl", b"evil"), entry("data/../../evil.jsonl", b"evil")),
    "link": (entry("evil", kind=tarfile.SYMTYPE, link="/etc"), entry("evil/passwd", b"evil")),
    "hard link": (entry("evil", kind=tarfile.LNKTYPE, link="/etc/passwd"),),
    "device": (entry("evil", kind=tarfile.CHRTYPE), entry("pipe", kind=tarfile.FIFOTYPE)),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_members_never_reach_the_disk(tmp_path, kind):
    good = (entry("data/corpus.jsonl", CORPUS), entry("./data/claims.jsonl", CLAIMS))
    path = tmp_path / "in/a.tar.gz"
    path.parent.mkdir()
    path.write_bytes(make_tar(*HOSTILE[kind], *good))
    extract_members(path, MEMBERS, tmp_path / "out")
    assert files_of(tmp_path / "out") == {"corpus.jsonl": CORPUS, "claims.jsonl": CLAIMS}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "out"]
    assert not Path("/tmp/evil.jsonl").exists()


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (
            (entry("data/corpus.jsonl", kind=tarfile.SYMTYPE, link="/etc/passwd"),),
            "no regular file",
        ),
        ((entry("data/corpus.jsonl", kind=tarfile.LNKTYPE, link="x"),), "no regular file"),
        ((entry("data/corpus.jsonl", kind=tarfile.DIRTYPE),), "no regular file"),
        ((entry("data/corpus.jsonl", b"short"),), "has 5 bytes, expected 700"),
        ((entry("data/corpus.jsonl", CORPUS), entry("data/corpus.jsonl", CORPUS)), "twice"),
        ((entry("other", b"x"),), "data/corpus.jsonl, data/claims.jsonl is not in it"),
    ],
)
def test_a_wanted_member_that_is_not_a_plain_right_file_is_refused(tmp_path, entries, expected):
    path = tmp_path / "a.tar.gz"
    path.write_bytes(make_tar(*entries))
    with pytest.raises(DataError, match=expected):
        extract_members(path, MEMBERS, tmp_path / "out")


# Named, for a packed file holds the time: workers would collect other names.
@pytest.mark.parametrize(
    "content",
    [b"", b"no archive", TAR[:100], TAR[:-30]],
    ids=["empty", "text", "its beginning", "without its end"],
)
def test_an_archive_that_cannot_be_read_is_named(tmp_path, content):
    path = tmp_path / "a.tar.gz"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"a\.tar\.gz: "):
        extract_members(path, MEMBERS, tmp_path / "out")


def test_an_archive_that_unpacks_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "MAX_UNPACKED_BYTES", 1000)
    path = tmp_path / "a.tar.gz"
    path.write_bytes(make_tar(entry("bomb", bytes(2000))))
    with pytest.raises(DataError, match="unpacks to more than 1,000 bytes"):
        extract_members(path, MEMBERS, tmp_path / "out")


def test_data_need_no_model_and_no_library_of_the_hub(prefetch):
    done = prefetch("--data", "hotpotqa")
    assert done.returncode == 0
    assert "models    none comes from the hub" in done.stdout
