"""Files come whole and right, or not at all: against a real server that goes wrong."""

import hashlib
import http.client
import resource
import urllib.request
from contextlib import contextmanager

import pytest

from ragmend.cli.prefetching import download as downloading
from ragmend.cli.prefetching.download import MAX_TRIES, download
from ragmend.datasets.official import OfficialFile
from ragmend.errors import (
    DataError,
    MissingInputError,
    OutputError,
    RunStateError,
    ServerError,
)

BODY = bytes(range(256)) * 1000
SHA = hashlib.sha256(BODY).hexdigest()


@pytest.fixture
def file(server):
    server.files["a.bin"] = BODY
    return OfficialFile("a.bin", server.url("a.bin"), len(BODY), SHA)


@pytest.fixture
def target(tmp_path):
    return tmp_path / "set/a.bin"


@pytest.fixture
def partial(target):
    target.parent.mkdir()
    return target.with_name("a.bin.partial")


def fetch(file, target):
    counted = []
    found = download(file, target, counted.append)
    return found, sum(counted)


def only_target(target):
    return [path.name for path in target.parent.iterdir()] == [target.name]


def test_a_file_comes_whole_and_nothing_else_stays(file, target):
    assert fetch(file, target) == (SHA, len(BODY))
    assert target.read_bytes() == BODY
    assert only_target(target)


def test_a_torn_transfer_goes_on_where_it_ended(server, file, target):
    server.script = [("torn", 100_000), ("torn", 50_000)]
    assert fetch(file, target) == (SHA, len(BODY))
    assert [told for _, told in server.seen] == [None, "bytes=100000-", "bytes=150000-"]
    assert target.read_bytes() == BODY


def test_a_server_without_ranges_sends_all_of_it_again(server, file, target):
    server.ranges, server.script = False, [("torn", 100_000)]
    assert fetch(file, target)[0] == SHA
    assert target.read_bytes() == BODY


def test_an_earlier_half_is_gone_on_with(server, file, target, partial):
    partial.write_bytes(BODY[:1000])
    assert fetch(file, target) == (SHA, len(BODY) - 1000)
    assert server.seen == [("/a.bin", "bytes=1000-")]


def test_an_earlier_half_of_another_file_is_thrown_away(server, file, target, partial):
    partial.write_bytes(b"?" * 1000)
    assert fetch(file, target)[0] == SHA
    assert [told for _, told in server.seen] == ["bytes=1000-", None]
    assert target.read_bytes() == BODY


@pytest.mark.parametrize("n_extra", [0, 1, 5000])
def test_an_earlier_part_that_is_as_long_or_longer_is_no_trap(file, target, partial, n_extra):
    partial.write_bytes(b"?" * (len(BODY) + n_extra))
    assert fetch(file, target)[0] == SHA
    assert target.read_bytes() == BODY


def test_a_server_whose_file_ends_before_our_half_is_asked_for_all(server, file, target, partial):
    partial.write_bytes(b"?" * 10)
    server.script = [416]
    assert fetch(file, target)[0] == SHA


def test_a_file_of_unknown_hash_is_never_put_together_from_two(server, file, target, partial):
    partial.write_bytes(b"?" * 1000)
    server.script = [("torn", 100_000)]
    found, _ = fetch(file._replace(sha256=None, n_bytes=None), target)
    assert found == SHA
    assert [told for _, told in server.seen] == [None, None]


def test_errors_of_a_moment_are_tried_again(server, file, target):
    server.script = [500, 503, 429]
    assert fetch(file, target)[0] == SHA
    assert len(server.seen) == 4


def test_tries_end_and_what_came_stays_for_the_next_command(server, file, target):
    server.script = [("torn", 100_000), *[500] * MAX_TRIES]
    with pytest.raises(ServerError, match=rf"{MAX_TRIES} tries.*500.*run the same command again"):
        fetch(file, target)
    assert len(server.seen) == MAX_TRIES
    assert not target.exists()
    server.script = []
    assert fetch(file, target) == (SHA, len(BODY) - 100_000)


def test_a_transfer_that_brings_something_each_time_is_not_given_up(server, file, target):
    server.script = [("torn", 10_000)] * (2 * MAX_TRIES)
    assert fetch(file, target) == (SHA, len(BODY))


@pytest.mark.parametrize("status", [404, 410])
def test_a_file_that_is_gone_is_said_at_once(server, file, target, status):
    server.script = [status]
    with pytest.raises(MissingInputError, match=f"{file.url}: is not there any more"):
        fetch(file, target)
    assert len(server.seen) == 1


def test_a_server_that_refuses_is_not_pressed(server, file, target):
    server.script = [403]
    with pytest.raises(ServerError, match=r"refuses it .403"):
        fetch(file, target)
    assert len(server.seen) == 1


def test_a_wrong_file_is_not_kept_and_both_hashes_are_named(server, file, target):
    server.files["a.bin"] = wrong = b"!" * len(BODY)
    found = hashlib.sha256(wrong).hexdigest()
    with pytest.raises(DataError, match=f"has sha256 {found}, expected {SHA}"):
        fetch(file, target)
    assert list(target.parent.iterdir()) == []


def test_a_page_in_the_place_of_the_file_is_refused_by_its_size(server, file, target):
    server.files["a.bin"] = b"<html>log in first</html>"
    with pytest.raises(DataError, match="has 25 bytes there, expected 256,000"):
        fetch(file, target)
    assert not target.exists()


def test_an_endless_file_is_refused_before_it_is_read(server, file, target, monkeypatch):
    monkeypatch.setattr(downloading, "MAX_BYTES", 1000)
    with pytest.raises(DataError, match="more than 1,000 is refused"):
        fetch(file._replace(n_bytes=None), target)
    assert not target.exists()


@pytest.mark.parametrize(
    "headers", [{"Content-Length": None}, {"Content-Encoding": "gzip"}, {"Content-Length": "-1"}]
)
def test_a_server_that_does_not_say_how_long_is_refused(server, file, target, headers):
    server.headers = headers
    with pytest.raises(ServerError, match="does not say how many bytes"):
        fetch(file, target)
    assert not target.exists()


@pytest.mark.parametrize("place", ["http://127.0.0.1:9/a", "file:///etc/passwd", "ftp://h/a"])
def test_a_redirect_to_anything_but_https_is_refused(server, file, target, place):
    server.redirect = place
    with pytest.raises(ServerError, match=r"is redirected to .* not https|is not allowed"):
        fetch(file, target)
    assert list(target.parent.iterdir()) == []


def test_a_redirect_to_https_is_followed(server, file, target, monkeypatch):
    def open_plainly(handler, request):
        server.redirect = None
        return handler.do_open(http.client.HTTPConnection, request)

    monkeypatch.setattr(urllib.request.HTTPSHandler, "https_open", open_plainly)
    server.redirect = server.url("a.bin").replace("http:", "https:")
    assert fetch(file, target)[0] == SHA


def test_redirects_have_an_end(server, file, target, monkeypatch):
    def open_plainly(handler, request):
        return handler.do_open(http.client.HTTPConnection, request)

    monkeypatch.setattr(urllib.request.HTTPSHandler, "https_open", open_plainly)
    server.redirect = server.url("a.bin").replace("http:", "https:")
    with pytest.raises(ServerError, match=r"refuses it .302"):
        fetch(file, target)
    assert len(server.seen) <= 7


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://h/a", "data:,a"])
def test_only_http_is_fetched_from(target, url):
    with pytest.raises(ServerError, match="only http and https"):
        download(OfficialFile("a.bin", url), target, lambda n: None)
    assert not target.exists()


def test_a_network_that_is_not_there_is_one_error_with_what_to_do(server, file, target):
    away = file._replace(url="http://127.0.0.1:9/a.bin")
    with pytest.raises(ServerError, match=r"Connection refused.*machine with internet"):
        fetch(away, target)
    assert not target.exists()


def test_a_server_that_falls_silent_is_left(server, file, target, monkeypatch):
    import socket

    monkeypatch.setattr(downloading, "SILENCE_S", 0.05)
    monkeypatch.setattr(downloading, "MAX_TRIES", 2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/a.bin"
        with pytest.raises(ServerError, match="timed out"):
            fetch(file._replace(url=url), target)


@contextmanager
def files_up_to(n_bytes):
    """Let the system refuse every write past a size, as it does on a full disk."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


def test_a_full_disk_is_named_and_the_next_command_goes_on(server, file, target):
    with files_up_to(100_000), pytest.raises(OutputError, match=f"{target}: cannot be written"):
        fetch(file, target)
    assert not target.exists()
    assert fetch(file, target)[1] < len(BODY)
    assert target.read_bytes() == BODY


def test_a_folder_that_cannot_be_made_is_named(file, tmp_path):
    (tmp_path / "set").write_text("a file")
    with pytest.raises(OutputError, match=r"set/a\.bin: cannot be written"):
        fetch(file, tmp_path / "set/a.bin")


def test_two_at_once_do_not_write_into_each_other(file, target, partial):
    with (
        downloading._locked(partial),
        pytest.raises(RunStateError, match="another process is fetching it"),
    ):
        fetch(file, target)
    assert fetch(file, target)[0] == SHA
