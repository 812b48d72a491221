"""Where an analysis of one's own tables goes: no file of anybody's lost, nothing half new."""

import pytest

from ragmend.cli.output_folder import PRINTED, REPORT, UNFINISHED, refuse_folder, write_files
from ragmend.errors import DataError, OutputError

ANALYSIS = b'{"schema_version": 1, "tables": [], "figures": []}'
FILES = {PRINTED: ANALYSIS, REPORT: b"# new", "tables/contrasts.csv": b"new"}


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def put(path, content=b"mine"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def names(out):
    return sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())


def test_a_folder_that_is_not_there_is_not_made_by_asking(out):
    refuse_folder(out, [])
    assert not out.exists()


def test_files_of_ones_own_under_other_names_stay(out):
    put(out / "notes.md")
    refuse_folder(out, [])
    write_files(out, FILES)
    assert names(out) == ["analysis.json", "notes.md", "report.md", "tables/contrasts.csv"]


@pytest.mark.parametrize("name", [REPORT, PRINTED, "tables/table3_arms.tex"])
def test_a_file_of_ones_own_is_not_replaced(out, name):
    put(out / name)
    with pytest.raises(OutputError, match="is there already, and not from an analysis"):
        refuse_folder(out, [])


def test_an_input_is_not_replaced_by_whatever_path_it_is_named(out, tmp_path):
    given = put(out / "tables" / "contrasts.csv")
    link = tmp_path / "link.csv"
    link.symlink_to(given)
    folder = tmp_path / "folder"
    folder.symlink_to(out)
    put(out / PRINTED, ANALYSIS)
    for path in (given, link, folder / "tables" / "contrasts.csv"):
        for target in (out, folder):
            with pytest.raises(OutputError, match="is an input and would be replaced"):
                refuse_folder(target, [path])


def test_an_input_that_is_a_link_in_the_folder_is_not_replaced(out, tmp_path):
    given = put(tmp_path / "mine.csv")
    (out / "tables").mkdir(parents=True)
    put(out / PRINTED, ANALYSIS)
    (out / "tables" / "contrasts.csv").symlink_to(given)
    with pytest.raises(OutputError, match="is an input and would be replaced"):
        refuse_folder(out, [out / "tables" / "contrasts.csv"])


def test_a_folder_inside_a_run_is_refused(tmp_path):
    put(tmp_path / "run" / "config.toml")
    (tmp_path / "run" / "03-claims").mkdir()
    with pytest.raises(OutputError, match="is the folder of a run"):
        refuse_folder(tmp_path / "run", [])
    with pytest.raises(OutputError, match="is inside the folder of a run"):
        refuse_folder(tmp_path / "run" / "03-claims" / "mine", [])


@pytest.mark.parametrize(
    ("obstacle", "message"),
    [
        ("", "is a file, where a folder"),
        ("figures", "is a file, where a folder"),
        ("report.md/x", "is a folder, where a file"),
        ("analysis.json.partial/x", "is a folder, where a file"),
    ],
)
def test_what_stands_in_the_way_is_told_before_anything_is_computed(out, obstacle, message):
    put(out / obstacle)
    with pytest.raises(OutputError, match=message):
        refuse_folder(out, [])


def test_a_name_that_no_system_takes_is_refused(tmp_path):
    with pytest.raises(OutputError, match="cannot be written"):
        refuse_folder(tmp_path / ("a" * 5000), [])
    with pytest.raises(DataError, match="not UTF-8"):
        refuse_folder(tmp_path / "o\udcff", [])
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(OutputError):
        refuse_folder(tmp_path / "loop" / "out", [])


def test_what_an_earlier_analysis_made_and_this_one_does_not_goes(out):
    write_files(out, {**FILES, "tables/agreement.csv": b"old", "figures/judged_rates.svg": b"old"})
    refuse_folder(out, [])
    write_files(out, FILES)
    assert names(out) == ["analysis.json", "report.md", "tables/contrasts.csv"]


def test_a_failure_midway_leaves_what_does_not_look_complete_and_can_be_written_again(out):
    write_files(out, {**FILES, REPORT: b"# old"})
    (out / "tables" / "agreement.csv").mkdir()
    with pytest.raises(OutputError, match=r"agreement\.csv"):
        write_files(out, {**FILES, "tables/agreement.csv": b"new"})
    assert names(out) == [UNFINISHED, "tables/contrasts.csv"]
    (out / "tables" / "agreement.csv").rmdir()
    refuse_folder(out, [])
    write_files(out, FILES)
    assert names(out) == ["analysis.json", "report.md", "tables/contrasts.csv"]
