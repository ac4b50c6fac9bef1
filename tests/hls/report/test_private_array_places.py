"""The report on arrays: where each is, its name and line, and what is advised."""

import pytest
from planned import kernel, only

from hls.frontend import library
from hls.report.phrasing import at


@pytest.mark.parametrize(
    ("body", "name", "place"),
    [
        (
            (
                "int w[8];\nfor (int t = 0; t < 8; t++) w[t] = 0;\nfor (int i = 0; i < n; i++) {\n int s = 0;\n "
                "#pragma unroll\n"
                " for (int t = 7; t > 0; t--) w[t] = w[t - 1];\n w[0] = a[i];\n #pragma unroll\n for (int t = 0; t < "
                "8; t++) s += w[t];\n"
                " o[i] = s;\n}"
            ),
            "w",
            "shift register of 8 with 7 tap points: 7 registers of 32 bits",
        ),
        (
            (
                "__attribute__((register)) int h[4];\nfor (int t = 0; t < 4; t++) h[t] = 0;\nfor (int i = 0; i < n; "
                "i++) h[a[i] & 3]++;\n"
                "for (int t = 0; t < 4; t++) o[t] = h[t];"
            ),
            "h",
            "one wide register",
        ),
        (
            (
                "int h[16];\nfor (int t = 0; t < 16; t++) h[t] = 0;\nfor (int i = 0; i < n; i++) h[a[i] & 15]++;\n"
                "for (int t = 0; t < 16; t++) o[t] = h[t];"
            ),
            "h",
            "LUT RAM, 16 words of 32 bits; chosen because registers would limit the II of a loop",
        ),
        (
            (
                "int w[2]; w[0] = 1; w[1] = 2;\nfor (int i = 0; i < n; i++) { w[0] += a[i]; w[1] ^= a[i]; }\no[0] = w[0] "
                "- w[1];"
            ),
            "w",
            "2 registers of 32 bits",
        ),
        (
            (
                "bool w[512];\nfor (int i = 0; i < n; i++) w[i & 511] = a[i] > 3;\nfor (int i = 0; i < n; i++) o[i] = "
                "w[a[i] & 511];"
            ),
            "w",
            "block RAM, 512 words",
        ),
        (
            (
                "int w[256];\nfor (int i = 0; i < n; i++) w[i & 255] = a[i];\nfor (int i = 0; i < n; i++) o[i] = w[i * 3 "
                "& 255];"
            ),
            "w",
            "block RAM, 256 words of 32 bits",
        ),
        (
            (
                f"const int w[128] = {{{', '.join(map(str, range(1, 129)))}}};\nfor (int i = 0; i < n; i++) o[i] = "
                "w[a[i] & 127];"
            ),
            "w",
            "ROM in block RAM, 128 words of 32 bits",
        ),
        (
            "const int w[8] = {1, 2, 3, 5, 7, 11, 13, 17};\nfor (int i = 0; i < n; i++) o[i] = w[a[i] & 7];",
            "w",
            "a table in logic",
        ),
        (
            "int w[8] = {1, 2, 3, 5, 7, 11, 13, 17};\nfor (int i = 0; i < n; i++) o[i] = w[a[i] & 7];",
            "w",
            "a table in logic",
        ),
        (
            f"int w[128] = {{{', '.join(map(str, range(1, 99)))}}};\nfor (int i = 0; i < n; i++) o[i] = w[a[i] & 127];",
            "w",
            "ROM in block RAM, 128 words of 32 bits",
        ),
    ],
)
def test_where_private_arrays_are(body, name, place):
    (private,) = kernel(body).privates
    assert private.name == name and private.place.startswith(place)


def test_members_of_an_array_of_structs_are_one():
    text = (
        "struct { int x, y; } w[64];\nfor (int i = 0; i < n; i++) { w[i & 63].x = a[i]; w[i & 63].y = i; }\n"
        "for (int i = 0; i < n; i++) o[i] = w[a[i] & 63].x + w[a[i] & 63].y;"
    )
    (whole,) = kernel(text).privates
    assert whole.name == "w" and whole.place.startswith("each of 2 members: block RAM, 64 words")


@pytest.mark.parametrize(
    ("chosen", "place"),
    [
        ("a + i", "block RAM, 256 words of 64 bits"),
        ("a[i] & 1 ? a + i : o + i", "offset: block RAM, 256 words of 64 bits; which: block RAM, 256 words of 8 bits"),
    ],
)
def test_an_array_of_pointers_is_one(chosen, place):
    text = f"__global int *w[256];\nfor (int i = 0; i < n; i++) w[i & 255] = {chosen};\no[0] = *w[a[n] & 255];"
    (whole,) = kernel(text).privates
    assert whole.name == "w" and whole.place == place


def test_what_the_compiler_puts_into_a_memory_is_no_wish_of_the_source():
    text = (
        "int h[16];\nfor (int t = 0; t < 16; t++) h[t] = 0;\nfor (int i = 0; i < n; i++) h[a[i] & 15]++;\nfor "
        "(int t = 0; t < 16; t++) o[t] = h[t];"
    )
    assert only(kernel(text).memories).attributes == ()


def test_members_of_an_array_of_vectors_are_one_array():
    body = (
        "float2 w[256];\nfor (int i = 0; i < n; i++) w[i & 255] = (float2)(a[i], i);\nfor (int i = 0; i < n; i++) "
        "o[i] = w[i * 3 & 255].x{};"
    )
    (private,) = kernel(body.format(" + w[i * 3 & 255].y")).privates
    assert (private.name, private.bits, private.place) == (
        "w",
        16384,
        "each of 2 members: block RAM, 256 words of 32 bits",
    )
    (private,) = kernel(body.format("")).privates
    assert (private.name, private.place) == (
        "w",
        "x: block RAM, 256 words of 32 bits; y: no storage: every element is a constant or a value in the pipeline",
    )


def test_an_array_of_a_helper_is_not_taken_for_one_of_the_kernel():
    head = (
        "float last(float x) { float z[2]; z[0] = x; z[1] = x * 3; return z[(int)x & 1]; }\n"
        "__kernel void k(__global const float *restrict a, __global float *restrict o, int n)\n"
    )
    k = kernel(
        "float z[300];\nfor (int i = 0; i < n; i++)\n z[i] = last(a[i]);\nfor (int i = 0; i < n; i++)\n o[i] = z[i ^ "
        "1];",
        head,
    )
    assert [memory.requested for memory in k.memories if memory.name == "z"] == [1200]


def test_tables_of_mathematical_functions_have_no_line_of_the_program():
    head = "__kernel void k(__global const double *restrict a, __global double *restrict o, int n)\n"
    k = kernel("const int own[64] = {1, 2, 3};\nfor (int i = 0; i < n; i++)\n o[i] = exp(a[i]) * own[i & 63];", head)
    places = {private.name: at(private.span) for private in k.privates}
    (table,) = [memory for memory in k.memories if memory.name == "_powers"]
    assert places["own"] == " (line 3)" and places["_powers"] == at(table.span) == " (in a mathematical function)"
    assert [private.place[:12] for private in k.privates if private.name == "_powers"] == ["ROM in block"]


def test_names_of_headers_of_the_library_do_not_depend_on_the_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    library._compiled.cache_clear()
    head = "__kernel void k(__global const float *restrict a, __global float *restrict o, int n)\n"
    k = kernel("for (int i = 0; i < n; i++)\n o[i] = log(a[i]);", head)
    assert {at(private.span) for private in k.privates} == {" (in a mathematical function)"}


def test_advice_for_an_array_of_the_kernel():
    body = (
        "int h[2048];\nfor (int i = 0; i < 2048; i++) h[i] = 0;\nfor (int i = 0; i < n; i++) h[a[i] & 2047] = h[a[i] "
        "& 1023] * 3 / (i | 1);\n"
        "for (int i = 0; i < 2048; i++) o[i] = h[i];"
    )
    head = "__kernel void k(__global const int *restrict a, __global int *restrict o, int n)\n"
    loop = kernel(body, head).loops[1]
    assert loop.bottleneck.onchip and "private array" not in loop.advice and "first the integer divide" in loop.advice
