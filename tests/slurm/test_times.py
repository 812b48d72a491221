"""Time limits: SLURM's own forms, and nothing that it would take for something else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.errors import ConfigError
from ragmend.slurm.times import format_time, parse_limit, parse_time

DAY = 86_400


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30", 1_800),
        ("30:00", 1_800),
        ("0:30", 30),
        ("90:15", 5_415),
        ("00:30:00", 1_800),
        ("48:00:00", 2 * DAY),
        ("1-0", DAY),
        ("1-12", DAY + 43_200),
        ("1-12:30", DAY + 45_000),
        ("1-12:30:15", DAY + 45_015),
        (" 10 ", 600),
    ],
)
def test_slurms_forms_are_read_as_slurm_reads_them(text, seconds):
    assert parse_time(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "90m", "2h", "1d", "1:2:3:4", "-5", "1.5", "1-", "-1:00", "1-2-3", "1:2:", ":30",
        "ten", "1 h 30", "UNLIMITED", "infinite", "1e3", "١٢", "0x10", "1_000", "10 20", "1;2",
    ],
)  # fmt: skip
def test_what_slurm_would_not_take_is_refused(text):
    with pytest.raises(ConfigError, match="is no time of SLURM's"):
        parse_time(text)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("90m", "01:30:00"),
        ("2h", "02:00:00"),
        ("1 day", "1-00:00:00"),
        ("90 seconds", "00:01:30"),
        ("2 hr", "02:00:00"),
    ],
)
def test_a_unit_is_answered_with_what_was_meant(text, advice):
    with pytest.raises(ConfigError, match=f"write '{advice}'"):
        parse_time(text)


@pytest.mark.parametrize("text", ["0", "00:00", "00:00:00", "0-0"])
def test_no_time_at_all_is_refused(text):
    with pytest.raises(ConfigError, match="ends before it begins"):
        parse_time(text)


@given(st.integers(min_value=1, max_value=9_999 * DAY))
def test_what_is_written_is_read_back(seconds):
    assert parse_time(format_time(seconds)) == seconds


@given(st.text(alphabet="0123456789:- dhm", max_size=12))
def test_any_text_is_a_time_or_an_error_of_ours(text):
    try:
        seconds = parse_time(text)
    except ConfigError:
        return
    assert seconds > 0
    assert parse_time(format_time(seconds)) == seconds


@given(st.integers(0, 9_999), st.integers(0, 99), st.integers(0, 99), st.integers(0, 99))
def test_days_hours_minutes_and_seconds_add_up(days, hours, minutes, seconds):
    total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    text = f"{days}-{hours}:{minutes}:{seconds}"
    if total:
        assert parse_time(text) == total
    else:
        with pytest.raises(ConfigError):
            parse_time(text)


@pytest.mark.parametrize("text", ["UNLIMITED", "unlimited", "INFINITE"])
def test_no_limit_is_none_where_slurm_says_so(text):
    assert parse_limit(text) is None


@pytest.mark.parametrize("text", ["", "(null)", "N/A", "n/a", "Partition_Limit"])
def test_what_is_no_limit_of_slurms_is_not_taken_for_none(text):
    with pytest.raises(ConfigError):
        parse_limit(text)
