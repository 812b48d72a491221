"""Configurations: strict, with the nearest key named and nothing guessed."""

from importlib import resources

import pytest

from ragmend.config import dump_config, load_config, read_resolved_config, shipped_configs
from ragmend.errors import ConfigError, MissingInputError
from ragmend.sections.models import ModelConfig

MINIMAL = """
name = "x"
[data]
kind = "demo"
[detector]
kind = "lexical"
[judges]
primary = "overlap"
[[judges.panel]]
name = "overlap"
"""


def load(tmp_path, text=MINIMAL, overrides=(), environ=None):
    file = tmp_path / "c.toml"
    file.write_text(text)
    return load_config(str(file), overrides, environ or {})


def test_every_shipped_configuration_loads():
    assert {"demo", "ragtruth-cpu", "paper", "cpu-llm", "detector-cpu"} <= set(shipped_configs())
    variables = ("RAGMEND_DATA", "RAGMEND_DETECTIONS", "RAGMEND_SMOLLM2")
    for name in shipped_configs():
        assert load_config(name, environ=dict.fromkeys(variables, "/data")).name == name


def test_a_dumped_configuration_loads_as_the_same(tmp_path):
    config = load(tmp_path)
    file = tmp_path / "again.toml"
    file.write_bytes(dump_config(config))
    assert load_config(str(file)) == config


@pytest.mark.parametrize(
    ("override", "words"),
    [
        (
            "verifier.treshold=0.5",
            "unknown key 'verifier.treshold'; did you mean 'verifier.threshold'",
        ),
        ("verfier.threshold=0.5", "unknown key 'verfier'; did you mean 'verifier"),
        ("verifier.threshold=1.5", "verifier.threshold: .*less than or equal to 1, found 1.5"),
        ("verifier.threshold=nan", "verifier.threshold"),
        ("verifier.threshold=high", "verifier.threshold: .*valid number"),
        ("data.kind=csv", "data.kind: .*'ragtruth' or 'demo'"),
        ("data.path=x", "`path` is not allowed for kind 'demo'"),
        ("detector.kind=predictions", "`predictions` is required"),
        ("detector.system=x", "not allowed for kind 'lexical'"),
        ("judges.primary=nobody", "primary judge 'nobody' is none of"),
        ("judges.panel=[]", "judges.panel"),
        ("name=../x", "name: .*pattern"),
        ("analysis.confidence=95", "analysis.confidence"),
        ("threshold", "expected key=value"),
        ("name.x=1", "'name' is a value, not a section"),
        (".".join("a" * 5000) + "=1", "nested deeper than 10 levels"),
        ("analysis.seed=" + "9" * 5000, "analysis.seed: .*valid integer"),
        ("analysis.seed=" + "[" * 5000, "analysis.seed: .*valid integer"),
        ("analysis.seed=1\nverifier.threshold=2", "analysis.seed: .*valid integer"),
        ("evidence.top_k=2.5", "evidence.top_k"),
    ],
)
def test_a_wrong_value_is_one_clear_line(tmp_path, override, words):
    with pytest.raises(ConfigError, match=words) as caught:
        load(tmp_path, overrides=[override])
    assert "\n" not in str(caught.value)


def test_two_judges_of_one_name_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="judge names must differ"):
        load(tmp_path, MINIMAL + '[[judges.panel]]\nname = "overlap"\n')


def test_a_variable_comes_from_the_environment(tmp_path):
    text = MINIMAL.replace('kind = "demo"', 'path = "${SOMEWHERE}/x"')
    assert load(tmp_path, text, environ={"SOMEWHERE": "/d"}).data.path == "/d/x"
    with pytest.raises(ConfigError, match=r"data\.path needs the environment variable SOMEWHERE"):
        load(tmp_path, text)


def test_an_overridden_value_needs_no_variable(tmp_path):
    text = MINIMAL.replace('kind = "demo"', 'path = "${SOMEWHERE}/x"')
    assert load(tmp_path, text, ["data.path=elsewhere"]).data.path == "elsewhere"


def test_an_override_is_read_as_toml_else_as_a_string(tmp_path):
    config = load(tmp_path, overrides=['data.tasks=["QA"]', "verifier.parameters=a b.json"])
    assert config.data.tasks == ("QA",)
    assert config.verifier.parameters == "a b.json"


def test_an_empty_override_unsets_a_key(tmp_path):
    overrides = ["verifier.parameters=a.json", "verifier.parameters=", "evidence.top_k= "]
    config = load(tmp_path, overrides=overrides)
    assert config.verifier.parameters is None
    assert config.evidence.top_k == 3


def test_bad_toml_and_an_unknown_name_are_named(tmp_path):
    with pytest.raises(ConfigError, match=r"c\.toml: not valid TOML"):
        load(tmp_path, "name = ")
    with pytest.raises(MissingInputError, match=r"nowhere: neither a file .*demo"):
        load_config("nowhere")


def test_a_runs_configuration_that_was_cut_between_two_lines_is_refused(tmp_path):
    whole = dump_config(load(tmp_path))
    file = tmp_path / "config.toml"
    file.write_bytes(whole)
    assert read_resolved_config(file) == load(tmp_path)
    file.write_bytes(whole[: whole.index(b"\n[analysis]") + 1])
    with pytest.raises(ConfigError, match="its last line, '# end', is missing"):
        read_resolved_config(file)


MODEL = """
[verifier]
backend = "openai"
[verifier.model]
id = "Qwen/Qwen2.5-7B-Instruct"
"""


def test_a_role_with_a_language_model_names_it_and_a_lexical_one_does_not(tmp_path):
    config = load(tmp_path, MINIMAL + MODEL)
    assert config.verifier.language_model.family == "qwen"
    with pytest.raises(ConfigError, match="`model` is required for backend 'openai'"):
        load(tmp_path, MINIMAL + '[verifier]\nbackend = "openai"\n')
    with pytest.raises(ConfigError, match="`model` is not allowed for backend 'lexical'"):
        load(tmp_path, MINIMAL + '[verifier.model]\nid = "m"\n')


def test_lexical_settings_are_refused_for_a_language_model(tmp_path):
    text = MINIMAL + MODEL.replace("[verifier.model]", "answer_features = true\n[verifier.model]")
    with pytest.raises(ConfigError, match="allowed for backend 'lexical' only"):
        load(tmp_path, text)


def test_a_server_of_no_role_is_refused_with_the_roles_there_are(tmp_path):
    with pytest.raises(ConfigError, match=r"servers\.verifer: no such role, there are: verifier"):
        load(tmp_path, MINIMAL + '[servers]\nverifer = "http://h:1/v1"\n')
    with pytest.raises(ConfigError, match=r"servers\.verifier"):
        load(tmp_path, MINIMAL + '[servers]\nverifier = "file:///etc"\n')


@pytest.mark.parametrize(
    ("model_id", "family"),
    [
        ("Qwen/Qwen2.5-32B-Instruct-AWQ", "qwen"),
        ("meta-llama/Meta-Llama-3.1-70B-Instruct", "llama"),
        ("meta-llama/Llama-3.1-70B-Instruct", "llama"),
        ("google/gemma-2-27b-it", "gemma"),
        ("2wheels", "2wheels"),
    ],
)
def test_a_models_family_is_read_from_its_name(model_id, family):
    assert ModelConfig(id=model_id).family == family


def test_the_published_configuration_says_of_every_line_whose_choice_it_is():
    text = (resources.files("ragmend.configs") / "paper.toml").read_text()
    lines = [
        line
        for line in text.splitlines()
        if " = " in line and not line.startswith(("#", "name = "))
    ]
    assert len(lines) > 45
    for line in lines:
        assert "# published" in line or "# our choice" in line, line


def test_the_published_configuration_has_the_papers_defaults():
    config = load_config("paper", environ={"RAGMEND_DATA": "/data"})
    assert (config.verifier.scoring, config.verifier.threshold) == ("two-token", 0.5)
    assert {judge.output for judge in config.judges.panel} == {"unconstrained"}
    families = [judge.language_model.family for judge in config.judges.panel]
    assert families == ["qwen", "llama", "gemma"]
    quantised = [name for name, role in config.roles().items() if role.language_model.quantization]
    assert quantised == ["verifier"]


def test_the_published_configuration_has_the_papers_detectors():
    config = load_config("paper", environ={"RAGMEND_DATA": "/data"})
    training = config.trainings
    assert training.run_ids() == tuple(
        f"llama-2-{size}/seed-{seed}" for size in ("7b", "13b") for seed in (13, 21, 42, 84, 100)
    )
    assert config.population.run == "llama-2-13b/seed-42"
    for name, trained in training.models.items():
        recipe = training.recipe_of(name)
        assert (recipe.lora.r, recipe.lora.alpha, recipe.learning_rate) == (32, 64, 5e-4)
        assert (recipe.epochs, recipe.max_length, recipe.batch_size) == (3, 2048, 16)
        assert (trained.model.quantization, trained.model.dtype) == ("bitsandbytes", "bfloat16")
    assert training.development.sources == 157


@pytest.mark.parametrize(
    ("text", "telling"),
    [
        ('[servers]\nverifier = "http://me:secret@h/v1"\n', r"servers\.verifier"),
        ('[serve.environment]\nHF_TOKEN = "x"\n', "would write HF_TOKEN to disk"),
        ('[serve.environment]\nOPENAI_API_KEY = "x"\n', "would write OPENAI_API_KEY to disk"),
    ],
)
def test_no_secret_may_stand_in_a_configuration(tmp_path, text, telling):
    with pytest.raises(ConfigError, match=telling):
        load(tmp_path, MINIMAL + text)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000/v1", "https://h.example/v1/", "http://h:1"])
def test_servers_are_named_by_their_addresses(tmp_path, url):
    config = load(tmp_path, MINIMAL + f'[servers]\nrewriter = "{url}"\n')
    assert config.servers == {"rewriter": url}


def test_a_part_of_a_key_may_be_quoted(tmp_path):
    judge = (
        '[[judges.panel]]\nname = "qwen2.5 b"\nbackend = "openai"\n[judges.panel.model]\nid = "m"\n'
    )
    override = 'servers."qwen2.5 b"=http://h:1/v1'
    config = load(tmp_path, MINIMAL + judge, [override])
    assert config.servers == {"qwen2.5 b": "http://h:1/v1"}
