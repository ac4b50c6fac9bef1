"""The frontend keeps up with large files."""

from speed import calls, seconds


def test_a_line_takes_few_calls():
    """1,034 calls of Python functions a line when this was written: no seconds, as machines differ."""
    calls(50)
    assert calls(1000) < 1_300 * 1000


def test_time_grows_as_the_file_does():
    seconds(50)
    short, long = min(seconds(300) for _ in range(3)), seconds(3000)
    assert long < 20 * short, f"{short:.2f} s for 300 lines, {long:.2f} s for 3,000"
