"""The shipped configuration of a small model in this process."""

import re
from importlib import resources

from ragmend.config import load_config

ENVIRON = {"RAGMEND_DATA": "/data", "RAGMEND_SMOLLM2": "/models/smollm2"}


def test_every_role_but_the_embedded_judges_is_the_same_small_model():
    config = load_config("cpu-llm", environ=ENVIRON)
    roles = {name: role for name, role in config.roles().items() if role.backend != "lexical"}
    assert list(roles) == ["verifier", "rewriter", "smollm2"]
    models = {role.model.model_dump_json() for role in roles.values()}
    assert len(models) == 1
    assert {role.backend for role in roles.values()} == {"transformers"}
    assert config.verifier.model.folder == "/models/smollm2"
    assert config.population.limit is not None
    assert config.servers == {}


def test_every_line_says_whether_it_is_published_or_our_choice():
    text = (resources.files("ragmend.configs") / "cpu-llm.toml").read_text()
    unsaid = [
        line
        for line in text.splitlines()
        if re.match(r"\w+ = ", line)
        and not line.startswith(("name = ", "predictions = "))
        and not re.search(r"# (?:our choice|published|or --set)", line)
    ]
    assert unsaid == []
