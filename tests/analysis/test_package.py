"""The package's front: cheap to import, every public name there."""

import subprocess
import sys

import pytest

import ragmend.analysis

HEAVY = ("numpy", "pandas", "scipy", "statsmodels", "matplotlib", "jinja2")


def test_importing_the_package_loads_nothing_heavy():
    code = f"import sys, ragmend.analysis; print([m for m in {HEAVY} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_importing_every_module_loads_numpy_alone():
    names = ["analyze", "report", "printing.write"]
    code = "import sys\n" + "".join(f"import ragmend.analysis.{name}\n" for name in names)
    code += f"print([m for m in {HEAVY} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "['numpy']\n"


@pytest.mark.parametrize("name", dir(ragmend.analysis))
def test_every_public_name_can_be_loaded(name):
    assert getattr(ragmend.analysis, name).__name__ == name


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ragmend.analysis.nothing
