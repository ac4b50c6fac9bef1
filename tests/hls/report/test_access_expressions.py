"""The text of an accessed element, found in the source at the place of its access."""

import pytest

from hls.diag import Span
from hls.report.accesses import expression_at


@pytest.mark.parametrize(
    ("line", "marked", "words"),
    [
        ("s += a[i * 16] + b[i];", "a[i", "a[i * 16]"),
        ("a[i + 1] = 3;", "= 3", "a[i + 1]"),
        ("x = *p + 1;", "*p", "*p"),
        ("t = b[i].tag * 3;", "tag", "b[i].tag"),
        ("b[i].tag = 3;", "= 3", "b[i].tag"),
        ("b[i].at[k].x += 3;", "+= 3", "b[i].at[k].x"),
        ("t = q[c[i]] [2] -> next . key[j];", "key", "q[c[i]] [2] -> next . key[j]"),
        ("p->sum[k & 3] ^= v;", "^= v", "p->sum[k & 3]"),
        ("t = f(p).x;", "x;", "x"),
        ("t = 2.f*a[i];", "a[i", "a[i]"),
    ],
)
def test_the_element_is_whole(line, marked, words):
    assert expression_at({"k.cl": line}, Span("k.cl", 1, line.index(marked) + 1)) == words
