"""A server comes up, is watched, and ends with all of its processes whatever happens."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from ragmend.cli.serving.server import base_url, run_server
from ragmend.cli.serving.warden import lives, session_members
from ragmend.errors import ConfigError, MissingInputError, OutputError, ServerError
from ragmend.sections.models import ModelConfig, ServeConfig


def engine_pid(log):
    return int(log.read_text().split("engine ")[1].split()[0])


def test_a_server_answers_inside_and_is_gone_outside(model, fake, tmp_path, ends, capsys):
    with run_server(model, fake(), log=tmp_path / "logs/verifier.log") as server:
        with urllib.request.urlopen(f"{server.base_url[:-3]}/health") as answer:
            assert answer.status == 200
        assert server.pid in session_members(server.pid)
        assert server.alive
    assert session_members(server.pid) == []
    said = capsys.readouterr().err
    assert "org/model: starting" in said
    assert f"ready at {server.base_url}" in said


def test_it_gets_the_command_and_environment_of_the_configuration(
    model, fake, tmp_path, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "ours")
    monkeypatch.setenv("THEIRS", "sesame")
    note = tmp_path / "note.json"
    keyed = model.model_copy(update={"api_key_env": "THEIRS"})
    with run_server(keyed, fake(FAKE_VLLM_NOTE=str(note)), log=tmp_path / "log") as server:
        seen = json.loads(note.read_text())
    port = server.base_url.removesuffix("/v1").rpartition(":")[2]
    assert seen["argv"][seen["argv"].index("--port") + 1] == port
    assert seen["environment"]["VLLM_API_KEY"] == "sesame"
    assert "OPENAI_API_KEY" not in seen["environment"]
    assert "sesame" not in " ".join(seen["argv"])


def test_a_server_that_ends_early_is_an_error_with_its_reason(model, fake, tmp_path):
    (tmp_path / "log").write_text("KeyError: of yesterday\n")
    with (
        pytest.raises(ServerError) as caught,
        run_server(model, fake("early"), log=tmp_path / "log"),
    ):
        pass
    message = str(caught.value)
    assert message.startswith("org/model: the server ended with exit code 3; its log ")
    assert message.endswith("says: ValueError: no org/model")


def test_without_vllm_the_setting_to_change_is_named(model, tmp_path):
    with (
        pytest.raises(ServerError, match=r"No module named 'vllm.*serve\.python names"),
        run_server(model, ServeConfig(), log=tmp_path / "log"),
    ):
        pass


def test_an_interpreter_that_cannot_be_run_is_named(model, tmp_path):
    broken = tmp_path / "python"
    broken.write_bytes(b"\x7fELF")
    broken.chmod(0o755)
    with (
        pytest.raises(ServerError, match=f"no server started: ServerError: {broken}: "),
        run_server(model, ServeConfig(python=str(broken)), log=tmp_path / "log"),
    ):
        pass


def test_a_server_that_never_answers_is_ended_at_the_deadline(model, fake, tmp_path, capsys, ends):
    with (
        pytest.raises(ServerError, match=r"did not answer within 0\.5 s \(serve\.ready_s\)"),
        run_server(model, fake("never", ready_s=0.5), log=tmp_path / "log"),
    ):
        pass
    pid = int(capsys.readouterr().err.split("pid ")[1].split(",")[0])
    assert session_members(pid) == []


def test_what_ignores_sigterm_is_killed_with_its_engine(model, fake, tmp_path):
    with run_server(model, fake("stubborn", stop_s=0.5), log=tmp_path / "log") as server:
        engine = engine_pid(tmp_path / "log")
        assert lives(engine)
    assert session_members(server.pid) == []
    assert not lives(engine)


def test_an_engine_does_not_outlive_a_server_that_ends_as_asked(model, fake, tmp_path):
    with run_server(model, fake("engine", stop_s=0.5), log=tmp_path / "log") as server:
        engine = engine_pid(tmp_path / "log")
    assert not lives(engine)
    assert session_members(server.pid) == []


def test_an_engine_does_not_outlive_a_server_that_is_killed(model, fake, tmp_path):
    with (
        pytest.raises(ServerError, match="ended with exit code 137"),
        run_server(model, fake("killed"), log=tmp_path / "log") as server,
    ):
        server.await_end()
    assert not lives(engine_pid(tmp_path / "log"))
    assert session_members(server.pid) == []


def test_a_server_error_inside_comes_out_with_what_the_log_says(model, fake, tmp_path):
    with (
        pytest.raises(ServerError, match=r"503 for the third time; its log .* says: engine \d+"),
        run_server(model, fake("engine", stop_s=0.5), log=tmp_path / "log"),
    ):
        raise ServerError("503 for the third time")


def test_any_other_error_inside_comes_out_as_it_is_and_the_server_ends(model, fake, tmp_path):
    with (
        pytest.raises(ConfigError, match=r"^something else$"),
        run_server(model, fake(), log=tmp_path / "log") as server,
    ):
        raise ConfigError("something else")
    assert session_members(server.pid) == []


def test_a_lost_port_is_made_up_for_by_another(model, fake, tmp_path):
    flag = tmp_path / "flag"
    serve = fake("loses its port once", FAKE_VLLM_FLAG=str(flag))
    with run_server(model, serve, log=tmp_path / "log") as server:
        assert server.alive
    assert flag.read_text()


def test_a_fixed_port_that_is_lost_is_an_error(model, fake, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
    serve = fake("loses its port once", FAKE_VLLM_FLAG=str(tmp_path / "flag"))
    with (
        pytest.raises(ServerError, match="address already in use"),
        run_server(model, serve, log=tmp_path / "log", port=port),
    ):
        pass


def test_a_taken_port_is_refused_before_anything_starts(model, fake, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with (
            pytest.raises(ServerError, match=f"port {port} is taken"),
            run_server(model, fake(), log=tmp_path / "log", port=port),
        ):
            pass
    assert not (tmp_path / "log").exists()


def test_what_cannot_be_started_is_refused_before_anything_starts(fake, tmp_path):
    absent = ModelConfig(id="a/b", folder=str(tmp_path / "none"))
    with pytest.raises(MissingInputError), run_server(absent, fake(), log=tmp_path / "log"):
        pass
    assert not (tmp_path / "log").exists()


def test_a_log_that_cannot_be_written_is_named(model, fake, tmp_path):
    (tmp_path / "file").write_text("")
    log = tmp_path / "file/log"
    with pytest.raises(OutputError, match=str(log)), run_server(model, fake(), log=log):
        pass


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_the_server_does_not_outlive_a_ragmend_that_is_killed(fake, tmp_path, ends, ending):
    code = """
import sys, time
from pathlib import Path
from ragmend.cli.serving.server import run_server
from ragmend.sections.models import ModelConfig, ServeConfig
serve = ServeConfig.model_validate_json(sys.argv[1])
with run_server(ModelConfig(id="a/b"), serve, log=Path(sys.argv[2])) as server:
    print(server.pid, flush=True)
    time.sleep(600)
"""
    serve, log = fake("engine", stop_s=0.5), tmp_path / "log"
    with subprocess.Popen(
        [sys.executable, "-c", code, serve.model_dump_json(), str(log)], stdout=subprocess.PIPE
    ) as owner:
        server = int(owner.stdout.readline())
        owner.send_signal(ending)
    assert ends(server)
    assert not lives(engine_pid(log))


def test_a_server_without_its_warden_is_ended_all_the_same(model, fake, tmp_path):
    with run_server(model, fake("engine"), log=tmp_path / "log") as server:
        os.kill(server.warden.pid, signal.SIGKILL)
        server.warden.wait()
        assert lives(server.pid)
    assert session_members(server.pid) == []


def test_a_signal_of_the_terminal_does_not_reach_the_server(model, fake, tmp_path):
    with run_server(model, fake(), log=tmp_path / "log") as server:
        own = os.getsid(0)
        assert os.getsid(server.pid) == server.pid != own
        assert os.getsid(server.warden.pid) == server.warden.pid != own


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8/v1"),
        ("0.0.0.0", "http://127.0.0.1:8/v1"),
        ("::", "http://127.0.0.1:8/v1"),
        ("::1", "http://[::1]:8/v1"),
        ("node7", "http://node7:8/v1"),
    ],
)
def test_a_server_is_asked_at_an_address_that_reaches_it(host, url):
    assert base_url(host, 8) == url


def test_a_proxy_of_the_environment_is_not_asked_about_a_server_here(
    model, fake, tmp_path, monkeypatch
):
    monkeypatch.setenv("http_proxy", "http://192.0.2.1:9")
    started = time.monotonic()
    with run_server(model, fake(ready_s=30.0), log=tmp_path / "log"):
        assert time.monotonic() >= started
