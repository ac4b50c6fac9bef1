"""The frontend keeps up with large files."""

from speed import seconds


def test_a_thousand_lines_take_less_than_a_second_and_a_half():
    seconds(50)
    assert seconds(1000) < 1.5


def test_time_grows_as_the_file_does():
    seconds(50)
    short, long = min(seconds(300) for _ in range(3)), seconds(3000)
    assert long < 20 * short, f"{short:.2f} s for 300 lines, {long:.2f} s for 3,000"
