"""`ragmend serve`: one role's server, asked once, then there until a signal."""

import os
import re
import shlex
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import NamedTuple

import pytest

from ragmend.cli.serving.warden import session_members

FAKE = Path(__file__).parent / "fake"
CONFIG = """
name = "served"
[data]
kind = "demo"
[detector]
kind = "lexical"
[verifier]
backend = "openai"
[verifier.model]
id = "org/model"
max_model_len = 2048
[rewriter]
backend = "transformers"
[rewriter.model]
id = "org/own"
[judges]
primary = "overlap"
[[judges.panel]]
name = "overlap"
[[judges.panel]]
name = "judge b"
backend = "openai"
[judges.panel.model]
id = "org/judge"
api_key_env = "JUDGE_KEY"
[serve]
stop_s = 20.0
[serve.environment]
PYTHONPATH = "FAKE"
"""


class Served(NamedTuple):
    """A `ragmend serve` that runs, what it printed until it stayed, and its standard error."""

    process: subprocess.Popen
    lines: list[str]
    stderr: Path

    @property
    def pid(self):
        return pid_in(self.stderr.read_text())


def pid_in(said):
    """The server's process, as standard error names it."""
    return int(re.search(r"pid (\d+)", said)[1])


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "served.toml"
    path.write_text(CONFIG.replace("FAKE", str(FAKE)))
    return path


@pytest.fixture
def serve(config, tmp_path):
    """Start it and wait until it serves, as a function of its words; all of them end."""
    started = []

    def start(*words, **variables):
        stderr = tmp_path / "stderr"
        with stderr.open("w") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "ragmend", "serve", *map(str, words)],
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
                cwd=tmp_path,
                env={**os.environ, **variables},
            )
        started.append(process)
        lines = []
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if line.startswith("serving"):
                break
        return Served(process, lines, stderr)

    yield start
    for process in started:
        process.terminate()
        process.communicate(timeout=60)


def assert_one_line(done, *parts):
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ragmend: ")
    for part in parts:
        assert part in last
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("ending", "code"), [(signal.SIGTERM, 128 + 15), (signal.SIGINT, 128 + 2)])
def test_it_serves_until_a_signal_and_leaves_no_process(serve, config, ending, code):
    served = serve("verifier", config)
    model, tested, use, _ = served.lines
    assert model == "model     org/model, vLLM 0.32.0, context 2,048 tokens"
    assert tested == "self-test P(Yes) 0.9836, candidate mass 0.6100"  # .6 / (.6 + .01)
    words = shlex.split(use.removeprefix("use       "))
    assert words[:4] == ["ragmend", "run", str(config), "--set"]
    key, url = words[4].split("=")
    assert key == "servers.verifier"
    with urllib.request.urlopen(f"{url}/models") as answer:
        assert answer.status == 200
    assert session_members(served.pid)
    served.process.send_signal(ending)
    served.process.communicate(timeout=60)
    assert served.process.returncode == code
    starting, ready, ended = served.stderr.read_text().splitlines()
    assert "starting" in starting
    assert url in ready
    assert ended.startswith("ragmend: ")
    assert session_members(served.pid) == []


@pytest.mark.slow
def test_a_judges_server_is_asked_for_a_text_and_its_name_is_quoted(serve, config, tmp_path):
    served = serve("judge b", config, "--log", tmp_path / "here.log", JUDGE_KEY="sesame")
    assert served.lines[0] == "model     org/judge, vLLM 0.32.0, context 2,048 tokens"
    assert served.lines[1] == "self-test answered 'Yes.'"
    assert re.search(r"--set 'servers\.\"judge b\"=http://127\.0\.0\.1:\d+/v1'", served.lines[2])
    assert (tmp_path / "here.log").exists()


@pytest.mark.slow
def test_a_fixed_port_and_settings_stand_in_the_line_to_use(serve, config):
    from ragmend.cli.serving.ports import hold_port

    with hold_port("127.0.0.1", None) as port:
        pass
    settings = ("--set", "verifier.model.max_model_len=")
    served = serve("verifier", config, "--port", port, *settings)
    line = served.lines[2]
    assert line.endswith(f"--set servers.verifier=http://127.0.0.1:{port}/v1")
    assert "--set verifier.model.max_model_len= " in line


@pytest.mark.slow
def test_little_mass_on_yes_and_no_is_said(serve, config):
    served = serve("verifier", config, "--set", "verifier.min_candidate_mass=0.9")
    assert served.lines[1].endswith("candidate mass 0.6100, under the floor of 0.9")


@pytest.mark.slow
def test_a_server_of_another_context_is_refused_and_ended(ragmend, config, tmp_path):
    done = ragmend(
        *("serve", "verifier", config, "--set", "verifier.model.max_model_len=4096"), cwd=tmp_path
    )
    assert_one_line(done, "context of 2048 tokens", "says 4096", "serve-verifier.log")
    assert session_members(pid_in(done.stderr)) == []


@pytest.mark.slow
def test_an_empty_answer_fails_the_self_test(ragmend, config, tmp_path):
    env = {"JUDGE_KEY": "sesame"}
    silent = ("--set", 'serve.environment.FAKE_VLLM_ANSWER=""')
    done = ragmend("serve", "judge b", config, *silent, cwd=tmp_path, env=env)
    assert_one_line(done, "self-test failed, org/judge: an empty answer")


@pytest.mark.slow
def test_a_server_that_dies_while_it_serves_is_an_error(ragmend, config, tmp_path):
    dying = ("FAKE_VLLM=killed", 'FAKE_VLLM_AFTER_S="5"')
    settings = [w for each in dying for w in ("--set", f"serve.environment.{each}")]
    done = ragmend("serve", "verifier", config, *settings, cwd=tmp_path)
    assert_one_line(done, "the server ended with exit code 137", "serve-verifier.log")


def test_a_dry_run_prints_command_and_variables_and_starts_nothing(command, config, monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", "sesame")
    done = command("serve", "judge b", config, "--dry-run")
    assert done.returncode == 0
    *variables, line = done.stdout.splitlines()
    assert variables == [f"PYTHONPATH={FAKE}", "VLLM_API_KEY=(hidden)", "VLLM_NO_USAGE_STATS=1"]
    assert shlex.split(line)[1:5] == [
        "-m",
        "vllm.entrypoints.openai.api_server",
        "--model",
        "org/judge",
    ]
    assert "sesame" not in done.stdout + done.stderr


def test_what_has_no_server_says_why(command, config):
    for words, parts in (
        (("x",), ("no role 'x'", "verifier, rewriter, overlap, judge b")),
        (("overlap",), ("backend 'lexical'", "no language model")),
        (("rewriter",), ("backend 'transformers'", "in the process of `ragmend run`")),
    ):
        assert_one_line(command("serve", *words, config), *parts)


def test_a_key_that_is_not_set_is_named(command, config, monkeypatch):
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    assert_one_line(command("serve", "judge b", config, "--dry-run"), "JUDGE_KEY is not set")


@pytest.mark.parametrize(
    ("role", "who"), [("verifier", "answers everybody who"), ("judge b", "with the key in JUDGE_")]
)
def test_an_open_address_is_warned_about(command, config, monkeypatch, role, who):
    monkeypatch.setenv("JUDGE_KEY", "sesame")
    done = command("serve", role, config, "--dry-run", "--host", "0.0.0.0")
    assert "open to other machines" in done.stderr
    assert who in done.stderr
    assert "--host 0.0.0.0" in done.stdout


def test_loopback_is_not_warned_about(command, config):
    assert command("serve", "verifier", config, "--dry-run").stderr == ""
