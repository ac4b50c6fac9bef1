"""The Verilog of a design as it is written into files: names without escapes, comments that lead back to the source,
and the order of the files."""

import graphlib
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

__all__ = ["commented", "in_order", "module_names_in", "one_line", "plain_names", "renamed"]

#: an escaped identifier with the white space that ends it; strings, which can contain a backslash, are passed over
_ESCAPED = re.compile(r'"(?:[^"\\]|\\.)*"|\\(\S+)(\s)')
_WORD = re.compile(r"[A-Za-z_][\w$]*")
#: what is passed over (comments, strings, directives with their line, escaped identifiers), or the head of a module
_MODULE = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*"|`define(?:\\\n|[^\n])*|\\\S+'
    r"|(?<![\w$])(?:macro)?module\s+(?:(?:static|automatic)\s+)?(?P<name>\\\S+|[A-Za-z_][\w$]*)",
    re.DOTALL,
)
#: an instance begins a line with the name of its module, then has its own name
_INSTANCE = re.compile(r"^  (\\\S+|[\w$]+)(?= +(?:#\(|\\\S+ +\(|[\w$]+ +\())", re.MULTILINE)
#: the first line of a module, and of an instance: its name
_HEAD = re.compile(r"module ([\w$]+)")
_NAMED = re.compile(r"  [\w$]+ +([\w$]+) +\(\n$")
#: words that no identifier may be: Verilog 2005, and SystemVerilog 2017, whose readers take these files, too
_WORDS = """
accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before begin bind bins
binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking cmos config const
constraint context continue cover covergroup coverpoint cross deassign default defparam design disable dist do edge
else end endcase endchecker endclass endclocking endconfig endfunction endgenerate endgroup endinterface endmodule
endpackage endprimitive endprogram endproperty endsequence endspecify endtable endtask enum event eventually expect
export extends extern final first_match for force foreach forever fork forkjoin function generate genvar global
highz0 highz1 if iff ifnone ignore_bins illegal_bins implements implies import incdir include initial inout input
inside instance int integer interconnect interface intersect join join_any join_none large let liblist library local
localparam logic longint macromodule matches medium modport module nand negedge nettype new nexttime nmos nor
noshowcancelled not notif0 notif1 null or output package packed parameter pmos posedge primitive priority program
property protected pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase
randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0
rtranif1 s_always s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled
signed small soft solve specify specparam static string strong strong0 strong1 struct super supply0 supply1
sync_accept_on sync_reject_on table tagged task this throughout time timeprecision timeunit tran tranif0 tranif1 tri
tri0 tri1 triand trior trireg type typedef union unique unique0 unsigned until until_with untyped use uwire var
vectored virtual void wait wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor
"""
_RESERVED = frozenset(_WORDS.split())


def plain_names(verilog: Mapping[str, str]) -> dict[str, str]:
    """A name that needs no escape for each escaped identifier in the texts, without its backslash: one in all files,
    which no other identifier has. For :func:`renamed`.

    ``\\arg_a$118`` stays as it is (a ``$`` may be inside a name), ``\\sluice_system.vecadd`` becomes
    ``sluice_system_vecadd``, ``\\$12`` becomes ``n12``.
    """
    escaped = {match[1]: None for text in verilog.values() for match in _ESCAPED.finditer(text) if match[1]}
    taken = {word for text in verilog.values() for word in _WORD.findall(_ESCAPED.sub(" ", text))} | _RESERVED
    names: dict[str, str] = {}
    for name in escaped:
        found = _plain(name)
        while found in taken:
            found += "_"
        taken.add(found)
        names[name] = found
    return names


def renamed(verilog: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """The texts by file name, with the escaped identifiers replaced by their names in ``names``."""

    def name_of(match: re.Match[str]) -> str:
        return names[match[1]] + match[2] if match[1] else match[0]

    return {file: _ESCAPED.sub(name_of, text) for file, text in verilog.items()}


def module_names_in(text: str) -> list[str]:
    """Names of the modules that a text defines, in its order, without the backslash of escaped ones."""
    return [found["name"].removeprefix("\\") for found in _MODULE.finditer(text) if found["name"]]


def _plain(name: str) -> str:
    """A legal name near to an escaped one."""
    found = re.sub(r"[^\w$]", "_", name, flags=re.ASCII)
    if found.startswith("$"):
        found = f"n{found[1:]}"
    return found if _WORD.fullmatch(found) and found.isascii() else f"n_{found}"


def in_order(verilog: Mapping[str, str]) -> dict[str, str]:
    """The texts by file name, each file behind those whose modules it contains; otherwise in the order of names."""
    homes = {module: file for file in sorted(verilog) for module in _MODULE.findall(verilog[file])}
    needs = {
        file: {homes[name] for name in _INSTANCE.findall(verilog[file]) if name in homes} - {file}
        for file in sorted(verilog)
    }
    sorter = graphlib.TopologicalSorter({file: sorted(those) for file, those in needs.items()})
    return {file: verilog[file] for file in sorter.static_order()}


def one_line(text: str) -> str:
    """The text as a comment can hold it: control characters, such as the end of a line, are spelt out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def commented(
    verilog: Mapping[str, str],
    head: Iterable[str],
    about: Mapping[str, str],
    top_head: Iterable[str],
    top: str,
    instances: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> dict[str, str]:
    """The texts with the lines ``head`` at the top of each file, followed in file ``top`` by ``top_head``. Before a
    module whose name is in ``about`` there is a line with what that says, and likewise before an instance that
    ``instances`` has, by the names of the module that holds it and its own."""
    found = {}
    for file, text in verilog.items():
        lines = [*head, *(top_head if file == top else ())]
        above = "".join(f"// {one_line(line)}\n" for line in lines)
        inside = _with_instances(text, instances) if instances else text
        found[file] = above + _MODULE.sub(lambda match: _explained(match, about), inside)
    return found


def _with_instances(text: str, instances: Mapping[tuple[str, str], str]) -> str:
    """The text with a line before each of the instances."""
    holder, lines = "", []
    for line in text.splitlines(keepends=True):
        head = _HEAD.match(line)
        holder = head[1] if head else holder
        found = _NAMED.match(line)
        told = found and instances.get((holder, found[1]))
        lines += [f"  // {one_line(told)}\n", line] if told else [line]
    return "".join(lines)


def _explained(match: re.Match[str], about: Mapping[str, str]) -> str:
    return f"// {one_line(about[match[1]])}\n{match[0]}" if match[1] in about else match[0]
