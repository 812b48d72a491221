"""At most one server at a time, and the same one as long as it serves what is asked for."""

import asyncio
import os
import signal

import pytest

from ragmend.cli.serving.keeper import ServerKeeper
from ragmend.cli.serving.warden import session_members
from ragmend.errors import ServerError


@pytest.fixture
def other(model):
    return model.model_copy(update={"id": "org/other"})


def pids(capsys):
    said = capsys.readouterr().err
    return [int(part.split(",")[0]) for part in said.split("pid ")[1:]]


def test_the_same_model_is_started_once_and_another_takes_its_place(
    model, other, fake, tmp_path, capsys
):
    with ServerKeeper(fake(), tmp_path) as keeper:
        first = keeper.url_of(model, role="verifier")
        again = model.model_copy(update={"api_key_env": None, "threads": 4})
        assert keeper.url_of(again, role="judge") == first
        (running,) = pids(capsys)
        keeper.url_of(other, role="judge a/b")
        (taking,) = pids(capsys)
        assert session_members(running) == []
        assert session_members(taking) != []
    assert session_members(taking) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["judge-a-b.log", "verifier.log"]


def test_without_a_role_the_log_has_the_models_name(model, fake, tmp_path):
    with ServerKeeper(fake(), tmp_path / "servers") as keeper:
        keeper.url_of(model)
    assert (tmp_path / "servers/org-model.log").exists()


def test_nothing_is_started_before_it_is_asked_for(fake, tmp_path):
    with ServerKeeper(fake(), tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_an_event_loop_goes_on_while_a_server_starts(model, fake, tmp_path):
    ticks = []

    async def tick():
        while True:
            ticks.append(1)
            await asyncio.sleep(0)

    async def ask(keeper):
        ticking = asyncio.create_task(tick())
        url = await keeper.url_in_loop(model)
        ticking.cancel()
        return url

    with ServerKeeper(fake(), tmp_path) as keeper:
        assert asyncio.run(ask(keeper)) == keeper.url_of(model)
    assert len(ticks) > 1


def test_a_start_that_is_cancelled_leaves_no_process(model, fake, tmp_path, capsys):
    async def ask(keeper):
        async with asyncio.timeout(1.0):
            await keeper.url_in_loop(model)

    with ServerKeeper(fake("never"), tmp_path) as keeper:
        with pytest.raises(TimeoutError):
            asyncio.run(ask(keeper))
        (pid,) = pids(capsys)
        assert session_members(pid) == []


def test_a_server_that_has_ended_is_started_again(model, fake, tmp_path, capsys, ends):
    with ServerKeeper(fake(), tmp_path) as keeper:
        keeper.url_of(model)
        (first,) = pids(capsys)
        os.kill(first, signal.SIGKILL)
        assert ends(first)
        keeper.url_of(model)
        (second,) = pids(capsys)
        assert session_members(second) != []


def test_a_server_that_does_not_come_up_leaves_the_keeper_empty(model, fake, tmp_path):
    with ServerKeeper(fake("early"), tmp_path) as keeper:
        for _ in range(2):
            with pytest.raises(ServerError, match="ended with exit code 3"):
                keeper.url_of(model)


def test_a_server_error_inside_comes_out_with_what_the_log_says(model, fake, tmp_path, capsys):
    def ask():
        with ServerKeeper(fake("engine", stop_s=0.5), tmp_path) as keeper:
            keeper.url_of(model)
            raise ServerError("gone")

    with pytest.raises(ServerError, match=r"gone; .*says: engine"):
        ask()
    (pid,) = pids(capsys)
    assert session_members(pid) == []
