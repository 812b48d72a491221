"""Of a long log, the lines that say why."""

from ragmend.cli.serving.server_log import says_port_taken, telling_lines

LOG = """\
(APIServer pid=7) INFO 11-30 17:30:35 [api_utils.py:347] version 0.32.0
(EngineCore pid=9) ERROR 11-30 17:30:44 [core.py:1] EngineCore failed to start.
(EngineCore pid=9) ERROR 11-30 17:30:44 [core.py:1] Traceback (most recent call last):
(EngineCore pid=9) ERROR 11-30 17:30:44 [core.py:1]   File "core.py", line 1, in x
(EngineCore pid=9) ERROR 11-30 17:30:44 [core.py:1] torch.OutOfMemoryError: CUDA out of memory.
(EngineCore pid=9) torch.OutOfMemoryError: CUDA out of memory.
(APIServer pid=7)     raise RuntimeError("See root cause above")
(APIServer pid=7) RuntimeError: Engine core initialization failed. See root cause above.
"""


def test_the_root_cause_is_told_once_and_without_its_prefix(tmp_path):
    (tmp_path / "log").write_text(LOG)
    assert telling_lines(tmp_path / "log") == "torch.OutOfMemoryError: CUDA out of memory."


def test_without_an_error_the_last_lines_are_told(tmp_path):
    (tmp_path / "log").write_text("a\nb\n\nc\n\x1b[31md\x1b[0m\n")
    assert telling_lines(tmp_path / "log") == "b | c | d"


def test_what_an_earlier_server_said_is_not_told(tmp_path):
    log = tmp_path / "log"
    log.write_text("ValueError: earlier, address already in use\n")
    start = log.stat().st_size
    assert telling_lines(log, start=start) == ""
    assert says_port_taken(log)
    assert not says_port_taken(log, start=start)


def test_a_log_that_is_gone_or_binary_breaks_nothing(tmp_path):
    assert telling_lines(tmp_path / "no.log") == ""
    (tmp_path / "log").write_bytes(b"\xff\xfe\x00OSError\x07: x\n" * 3)
    assert "\x07" not in telling_lines(tmp_path / "log")


def test_what_a_setting_should_have_been_is_told_too(tmp_path):
    (tmp_path / "log").write_text(
        "pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig\n"
        "  Value error, Unknown quantization method: bitsandbytes. Must be one of ['awq']\n"
        "    For further information visit a page\n"
    )
    assert "Unknown quantization method: bitsandbytes" in telling_lines(tmp_path / "log")
