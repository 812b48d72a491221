"""The house: links, wheel map, who may import whom, and how light the start is."""

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("detector", "repair", "judges", "analysis", "configs", "slurm")
STAGES = ("detector", "repair", "judges", "analysis")


def modules(folder):
    return sorted(path for path in (ROOT / folder).rglob("*.py") if path.is_file())


def imported_names(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_is_linked_into_the_package_and_mapped_into_the_wheel(room):
    link = ROOT / "src" / "ragmend" / room
    assert link.is_symlink()
    assert link.resolve() == (ROOT / room).resolve()
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert build["targets"]["wheel"]["sources"][room] == f"ragmend/{room}"
    assert room in build["targets"]["wheel"]["only-include"]
    assert f"/src/ragmend/{room}" in build["exclude"]


# A room of analysis imports those before it only: data flow one way there too.
ANALYSIS_ROOMS = (
    "settings", "inputs", "statistics", "study", "printing", "published", "tables", "figures",
    "prose", "acceptance", "report", "analyze",
)  # fmt: skip


def test_a_room_of_analysis_imports_the_rooms_before_it_only():
    rooms = {name: place for place, name in enumerate(ANALYSIS_ROOMS)}
    for path in modules("analysis"):
        own = path.relative_to(ROOT / "analysis").parts[0].removesuffix(".py")
        for name in imported_names(path):
            parts = name.split(".")
            if own != "__init__" and parts[:2] == ["ragmend", "analysis"] and len(parts) > 2:
                assert parts[2] == own or rooms[parts[2]] < rooms[own], f"{path}: {name}"


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_imports_the_core_and_itself_only(stage):
    files = modules(stage)
    assert files
    others = [f"ragmend.{other}" for other in (*STAGES, "cli", "slurm") if other != stage]
    for path in files:
        for name in imported_names(path):
            wrong = [o for o in others if name == o or name.startswith(f"{o}.")]
            assert not wrong, f"{path.relative_to(ROOT)} imports {name}"


def test_the_core_imports_no_stage_and_no_command():
    files = [p for p in modules("src/ragmend") if _is_core(p)]
    assert len(files) > 8
    for path in files:
        for name in imported_names(path):
            wrong = [s for s in (*STAGES, "cli", "slurm") if name.startswith(f"ragmend.{s}")]
            assert not wrong, f"{path.relative_to(ROOT)} imports {name}"


def _is_core(path):
    inside = path.relative_to(ROOT / "src" / "ragmend")
    return inside.parts[0] not in (*ROOMS, "cli", "__main__.py")


def test_no_file_is_longer_than_450_lines_and_no_function_than_60():
    for folder in (*STAGES, "slurm", "src/ragmend"):
        for path in modules(folder):
            text = path.read_text("utf-8")
            assert text.count("\n") <= 450, path
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    docstring = ast.get_docstring(node, clean=False) or ""
                    length = node.end_lineno - node.lineno + 1 - docstring.count("\n")
                    assert length <= 60, f"{path}: {node.name} has {length} lines"


def test_the_environment_that_trains_has_what_the_one_with_a_model_has_at_the_same_versions():
    local, train = (
        set((ROOT / "locks" / f"{name}.txt").read_text().lower().splitlines())
        for name in ("local", "train")
    )
    assert local <= train
