"""What a server is started with: of the configuration alone, and no secret that it needs not."""

import sys

import pytest

from ragmend.cli.serving.command import (
    check_servable,
    own_variables,
    server_command,
    server_environment,
)
from ragmend.errors import ConfigError, MissingInputError
from ragmend.sections.models import ModelConfig, ServeConfig, is_secret


def value_of(command, flag):
    return command[command.index(flag) + 1]


def test_a_plain_model_is_served_from_the_hub_on_loopback():
    command = server_command(ModelConfig(id="org/model"), ServeConfig(), port=8123)
    assert command == [
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server"),
        *("--model", "org/model", "--served-model-name", "org/model"),
        *("--host", "127.0.0.1", "--port", "8123", "--dtype", "auto"),
        *("--generation-config", "vllm"),
        *("--logprobs-mode", "raw_logprobs", "--max-logprobs", "20"),
        "--disable-uvicorn-access-log",
    ]


def test_every_setting_of_a_model_and_its_server_becomes_a_flag():
    model = ModelConfig(
        id="org/model",
        revision="abc123",
        dtype="bfloat16",
        quantization="awq",
        max_model_len=8192,
        served_name="short",
        tensor_parallel_size=2,
    )
    serve = ServeConfig(python="/env/python", gpu_memory_utilization=0.85, enforce_eager=True)
    command = server_command(model, serve, port=1)
    assert command[0] == "/env/python"
    expected = {
        "--model": "org/model",
        "--revision": "abc123",
        "--served-model-name": "short",
        "--dtype": "bfloat16",
        "--quantization": "awq",
        "--max-model-len": "8192",
        "--gpu-memory-utilization": "0.85",
        "--tensor-parallel-size": "2",
    }
    assert {flag: value_of(command, flag) for flag in expected} == expected
    assert "--enforce-eager" in command


def test_a_folder_is_served_under_the_models_name_without_the_hub(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = ModelConfig(id="org/model", revision="abc123", folder="weights")
    command = server_command(model, ServeConfig(), port=1)
    assert value_of(command, "--model") == str(tmp_path / "weights")
    assert value_of(command, "--served-model-name") == "org/model"
    assert "--revision" not in command
    assert server_environment(model, ServeConfig(), {})["HF_HUB_OFFLINE"] == "1"
    assert "HF_HUB_OFFLINE" not in server_environment(ModelConfig(id="a/b"), ServeConfig(), {})


def test_no_code_of_a_repository_is_trusted_and_no_key_is_on_the_command_line():
    model = ModelConfig(id="org/model", api_key_env="MY_KEY")
    command = " ".join(server_command(model, ServeConfig(), port=1))
    assert "trust" not in command
    assert "key" not in command.lower()


def test_secrets_stay_at_home_but_the_hubs_token_where_weights_come_from_the_hub():
    ours = {
        "PATH": "/bin",
        "TOKENIZERS_PARALLELISM": "false",
        "OPENAI_API_KEY": "s1",
        "AWS_SECRET_ACCESS_KEY": "s2",
        "GITHUB_TOKEN": "s3",
        "DB_PASSWORD": "s4",
        "HF_TOKEN": "s5",
        "OMP_NUM_THREADS": "1",
    }
    from_hub = server_environment(ModelConfig(id="a/b"), ServeConfig(), ours)
    assert from_hub == {
        "PATH": "/bin",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_TOKEN": "s5",
        "VLLM_NO_USAGE_STATS": "1",
    }
    assert "HF_TOKEN" not in server_environment(
        ModelConfig(id="a/b", folder="/w"), ServeConfig(), ours
    )


def test_the_servers_own_key_comes_by_the_variable_that_is_named():
    model = ModelConfig(id="a/b", api_key_env="OPENAI_API_KEY")
    own = own_variables(model, ServeConfig(), {"OPENAI_API_KEY": "sesame"})
    assert own["VLLM_API_KEY"] == "sesame"
    with pytest.raises(ConfigError, match="OPENAI_API_KEY is not set"):
        own_variables(model, ServeConfig(), {})


def test_the_configured_variables_come_on_top():
    serve = ServeConfig(environment={"VLLM_NO_USAGE_STATS": "0", "OMP_NUM_THREADS": "4"})
    environment = server_environment(ModelConfig(id="a/b"), serve, {"OMP_NUM_THREADS": "1"})
    assert environment == {"VLLM_NO_USAGE_STATS": "0", "OMP_NUM_THREADS": "4"}


@pytest.mark.parametrize("name", ["API_KEY", "apikey", "MY_TOKEN", "Secret", "PGPASSWORD_KEY2"])
def test_a_name_that_says_secret_is_one(name):
    assert is_secret(name)


@pytest.mark.parametrize("name", ["MONKEY", "TOKENIZERS_PARALLELISM", "KEYBOARD", "PATH"])
def test_a_name_that_only_sounds_like_one_is_none(name):
    assert not is_secret(name)


def test_a_missing_interpreter_and_a_missing_model_are_named(tmp_path):
    with pytest.raises(MissingInputError, match=r"serve\.python: /no/python: no such program"):
        check_servable(ModelConfig(id="a/b"), ServeConfig(python="/no/python"))
    with pytest.raises(MissingInputError, match="no model there"):
        check_servable(ModelConfig(id="a/b", folder=str(tmp_path)), ServeConfig())
    (tmp_path / "config.json").write_text("{}")
    check_servable(ModelConfig(id="a/b", folder=str(tmp_path)), ServeConfig())
