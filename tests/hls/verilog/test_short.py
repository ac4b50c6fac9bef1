"""Generated modules as a person would write them: what they compute stays the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hls.verilog.expression import Expression, parsed, substituted, width_of, written
from hls.verilog.module import read_module, text_of
from hls.verilog.short import shortened

WIDTHS = {"a": 1, "b": 1, "c": 4, "d": 4, "e": 7}
MODULE = """module m(clk, rst, a, b, c, o, q, s, low, same, taken);
  reg ndummy = 0;
  wire n1 ;
  wire [4:0] n2 ;
  reg [3:0] n3 ;
  wire n4 ;
  wire [4:0] n5 ;
  wire unread;
  wire [3:0] half;
  input wire clk;
  input wire rst;
  input wire a;
  input wire b;
  input wire [3:0] c;
  output reg [3:0] o = 4'h0;
  output reg [3:0] q;
  output wire [4:0] s;
  output wire [3:0] low;
  output wire [3:0] same;
  output reg [1:0] taken = 2'h0;
  reg [3:0] other = 4'h1;
  reg [1:0] n6 ;
  reg [3:0] n7 ;
  assign n1  = ~ a;
  assign n4  = n1  & b;
  assign n2  = o + 1'h1;
  assign n5  = c + 1'h1;
  assign s = n5 ;
  assign low = n2 [3:0];
  assign half[3:2] = c[1:0];
  assign half[1:0] = 2'h2;
  assign same = half;
  assign unread = c[0];
  always @(posedge clk)
    o <= n3 ;
  always @(posedge clk)
    taken <= n6 ;
  always @(posedge clk)
    other <= n7 ;
  always @* begin
    if (ndummy ) begin end
    n3  = o;
    if (n4 ) begin
      n3  = n2 [3:0];
    end else if (b) begin
      if (c[0]) begin
        n3  = c;
      end
    end
    if (rst) begin
      n3  = 4'h0;
    end
  end
  always @* begin
    if (ndummy ) begin end
    n6  = { a, b };
    if (rst) begin
      n6  = 2'h0;
    end
  end
  always @* begin
    if (ndummy ) begin end
    n7  = other;
    casez (c)
      4'h1:
          /* empty */;
      4'h2:
          n7  = c;
      4'h3:
        begin
          n7  = c;
          if (a) begin
            n7  = 4'h7;
          end
        end
      4'h4:
          n7  = c;
    endcase
  end
  always @* begin
    if (ndummy ) begin end
    q = other;
    if (a) begin
      q = c;
    end
  end
endmodule
"""
SHORT = """module m(
  input wire clk,
  input wire rst,
  input wire a,
  input wire b,
  input wire [3:0] c,
  output reg [3:0] o = 4'h0,
  output wire [3:0] q,
  output wire [4:0] s,
  output wire [3:0] low,
  output wire [3:0] same,
  output reg [1:0] taken = 2'h0
);
  reg [3:0] other = 4'h1;
  assign low = o + 1'h1;
  assign s = c + 1'h1;
  assign same = {c[1:0], 2'h2};
  always @(posedge clk) begin
    if (~a & b) o <= low;
    else if (b && c[0]) o <= c;
    if (rst) o <= 4'h0;
    taken <= rst ? 2'h0 : {a, b};
    casez (c)
      4'h2, 4'h4: other <= c;
      4'h3: begin
        other <= c;
        if (a) other <= 4'h7;
      end
    endcase
  end
  assign q = a ? c : other;
endmodule
"""


def test_a_module_as_a_person_would_write_it():
    assert shortened([MODULE], {"m"}) == [SHORT]


def test_what_is_not_known_stays():
    """Statements that are not read here, and what they name."""
    odd = MODULE.replace("    n7  = other;\n", "    n7  = other;\n    repeat (2) n7 = c;\n")
    text = shortened([odd], {"m"})[0]
    assert "repeat (2) n7 = c;" in text and "reg ndummy = 0;" in text and "reg [3:0] n7;" in text
    assert text_of(read_module(SHORT)).endswith("endmodule\n")


def test_ports_that_nobody_needs():
    """An input that is not read, and an output that equals another port: not of a module that other files may hold."""
    inner = "module u(a, x, y, z);\n  input wire a;\n  input wire x;\n  output wire y;\n  output wire z;\n"
    inner += "  assign y = ~ a;\n  assign z = a;\nendmodule\n"
    outer = "module m(a, b, c, d);\n  input wire a;\n  input wire b;\n  output wire c;\n  output wire d;\n"
    outer += "  u one (\n    .a(a),\n    .x(b),\n    .y(c),\n    .z(d)\n  );\nendmodule\n"
    top, held = shortened([outer, inner], {"m"})
    assert "    .a(a),\n    .y(c)\n  );\n  assign d = a;\n" in top
    assert "x" not in held and "z" not in held
    top, held = shortened([outer, inner], {"m", "u"})
    assert ".x(b)," in top and "input wire x," in held


@pytest.mark.parametrize("text", [
    "~(a & b) | c[3]", "c[3:0] == 4'ha", "{4{a}}", "{a, {2{b}}, 3'h1}", "a ? c : b ? d : 4'h0", "$signed(c) < $signed(d)",
    "(c + d) - e", "a & b & ~c", "(|c) ^ (&d)", "m[c]", "c << d[1:0]", "(a | b) && !c",
])  # fmt: skip
def test_text_of_an_expression_is_read_back(text):
    assert written(parsed(text)) == text


@pytest.mark.parametrize("text", ["a +", "a b", "(a", "a ? b", "a @ b", "{a, b", "c[1"])
def test_what_is_no_expression_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        parsed(text)


def value(e, env, context=0):
    """The value of an expression by the rules of Verilog, computed in ``context`` bits at least."""
    own = width_of(e, WIDTHS | env.widths, {})
    bits = max(own, context)
    mask = (1 << bits) - 1
    match e.kind:
        case "name":
            return env[e.text]
        case "number":
            return int(e.text.partition("'h")[2], 16)
        case "concat" | "repeat":
            found = 0
            for part in e.parts * (int(e.text) if e.kind == "repeat" else 1):
                found = found << width_of(part, WIDTHS | env.widths, {}) | value(part, env)
            return found
        case "choice":
            return value(e.parts[1 if value(e.parts[0], env) else 2], env, bits)
        case "unary":
            if e.text == "~":
                return ~value(e.parts[0], env, bits) & mask
            inner = value(e.parts[0], env)
            full = (1 << width_of(e.parts[0], WIDTHS | env.widths, {})) - 1
            return {"!": inner == 0, "|": inner != 0, "&": inner == full}[e.text]
    left, right = e.parts
    if e.text in ("==", "<"):
        both = max(width_of(part, WIDTHS | env.widths, {}) for part in e.parts)
        left, right = value(left, env, both), value(right, env, both)
        return left == right if e.text == "==" else left < right
    left, right = value(left, env, bits), value(right, env, bits)
    return {"+": left + right, "-": left - right, "&": left & right, "|": left | right}[e.text] & mask


class Env(dict):
    """Values of signals, with the widths of those that are not in WIDTHS."""

    widths: dict[str, int] = {}  # noqa: RUF012


def expressions(names):
    leaves = st.one_of(
        st.sampled_from([Expression("name", name) for name in names]),
        st.sampled_from([Expression("number", text) for text in ("1'h1", "4'h9", "3'h0")]),
    )
    return st.recursive(leaves, lambda inner: st.one_of(
        st.builds(lambda op, x: Expression("unary", op, (x,)), st.sampled_from("~!|&"), inner),
        st.builds(lambda op, x, y: Expression("binary", op, (x, y)),
                  st.sampled_from(["+", "-", "&", "|", "==", "<"]), inner, inner),
        st.builds(lambda x, y, z: Expression("choice", "?:", (x, y, z)), inner, inner, inner),
        st.builds(lambda x, y: Expression("concat", "{}", (x, y)), inner, inner),
    ), max_leaves=5)  # fmt: skip


@given(expressions(WIDTHS), expressions([*WIDTHS, "n1"]), st.integers(1, 9), st.integers(1, 9),
       st.lists(st.integers(0, 127), min_size=5, max_size=5))  # fmt: skip
def test_a_value_in_the_place_of_its_signal(inner, outer, bits, target, values):
    """Whatever the widths of a signal, of its value and of what it is used for: the result is the same, and so is the
    text that is read back."""
    Env.widths = {"n1": bits}
    env = Env({name: v & (1 << WIDTHS[name]) - 1 for name, v in zip(WIDTHS, values, strict=True)})
    env["n1"] = value(inner, env, bits) & (1 << bits) - 1
    found = substituted(outer, {"n1": inner}, WIDTHS | Env.widths, {}, target)
    mask = (1 << target) - 1
    assert value(found, env, target) & mask == value(outer, env, target) & mask
    assert value(parsed(written(found)), env, target) & mask == value(found, env, target) & mask
    alone = substituted(outer, {"n1": inner}, WIDTHS | Env.widths, {})
    assert value(alone, env) == value(outer, env)


def test_the_traps_of_widths():
    """An inverted bit among wider operands, and the carry of a sum."""
    widths = {"a": 1, "c": 4, "n1": 1, "n2": 5, "n3": 4}
    kept = {"n1 + c": "n1", "{n2, a}": "n2", "n3 + 5'h00": "n3"}
    values = {"n1": parsed("~a"), "n2": parsed("c + 1'h1"), "n3": parsed("~c")}
    for text, name in kept.items():
        assert written(substituted(parsed(text), values, widths, {}, 5)) == text, name
    assert written(substituted(parsed("n1 & a"), values, widths, {}, 1)) == "~a & a"
    assert written(substituted(parsed("n2"), values, widths, {}, 5)) == "c + 1'h1"
