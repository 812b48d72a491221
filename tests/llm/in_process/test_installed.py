"""What is said where the extra is not installed; it is made to look so where it is."""

import sys

import pytest

from ragmend.errors import ConfigError
from ragmend.llm.in_process.installed import require_libraries
from ragmend.llm.in_process.loading import load_model
from ragmend.sections.models import ModelConfig


def test_a_missing_library_is_named_with_what_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ConfigError, match=r"needs torch.*pip install 'ragmend\[local\]'"):
        load_model(ModelConfig(id="org/tiny"))


def test_libraries_of_one_feature_are_asked_for_by_it(monkeypatch):
    for name in ("torch", "transformers"):
        monkeypatch.setitem(sys.modules, name, sys)
    monkeypatch.setitem(sys.modules, "llguidance", None)
    require_libraries()
    with pytest.raises(ConfigError, match="needs llguidance"):
        require_libraries("llguidance")
