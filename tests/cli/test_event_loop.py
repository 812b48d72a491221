"""Signals end what waits for answers: all is closed first, then the process's handler decides."""

import asyncio
import os
import signal

import pytest

from ragmend.cli.event_loop import run_to_end


class Ended(BaseException):
    """What the handler of this process raises."""


@pytest.fixture
def handler():
    """Handle SIGTERM by raising, as the command line does."""

    def end(number, frame):
        raise Ended(number)

    before = signal.signal(signal.SIGTERM, end)
    yield end
    signal.signal(signal.SIGTERM, before)


def test_a_result_comes_back_and_handlers_are_as_they_were(handler):
    async def work():
        assert signal.getsignal(signal.SIGTERM) is not handler
        await asyncio.sleep(0)
        return 3

    assert run_to_end(work) == 3
    assert signal.getsignal(signal.SIGTERM) is handler


def test_an_error_comes_out_as_it_is(handler):
    async def work():
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        run_to_end(work)
    assert signal.getsignal(signal.SIGTERM) is handler


def test_a_signal_closes_everything_before_the_handler_has_its_turn(handler):
    closed = []

    async def part(name):
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            closed.append(name)

    async def work():
        asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGTERM)
        await asyncio.gather(part("a"), part("b"))

    with pytest.raises(Ended):
        run_to_end(work)
    assert sorted(closed) == ["a", "b"]
    assert signal.getsignal(signal.SIGTERM) is handler


def test_a_signal_that_comes_with_the_result_is_not_lost(handler):
    async def work():
        os.kill(os.getpid(), signal.SIGTERM)
        return 3

    with pytest.raises(Ended):
        run_to_end(work)


def test_work_that_cancels_itself_is_no_signal(handler):
    async def work():
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        run_to_end(work)


def test_signals_that_nobody_handles_are_left_alone():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:

        async def work():
            return signal.getsignal(signal.SIGTERM)

        assert run_to_end(work) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
