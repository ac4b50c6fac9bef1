"""The frontend keeps up with large files."""

import gc

from speed import calls, seconds

from hls.frontend import rarely_collected


def test_a_line_takes_few_calls():
    """1,034 calls of Python functions a line when this was written: no seconds, as machines differ."""
    calls(50)
    assert calls(1000) < 1_300 * 1000


def test_time_grows_as_the_file_does():
    seconds(50)
    short, long = min(seconds(300) for _ in range(3)), seconds(3000)
    assert long < 20 * short, f"{short:.2f} s for 300 lines, {long:.2f} s for 3,000"


def test_sections_that_rarely_collect_garbage_may_overlap():
    before = gc.isenabled(), gc.get_threshold()
    one, other = rarely_collected(), rarely_collected()
    one.__enter__()
    inside = gc.get_threshold()
    other.__enter__()
    one.__exit__(None, None, None)
    assert gc.isenabled() and gc.get_threshold() == inside != before[1]
    other.__exit__(None, None, None)
    assert (gc.isenabled(), gc.get_threshold()) == before
