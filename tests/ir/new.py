"""Makes a golden file of a small kernel: ``python -m tests.ir.new PASS/NAME KERNEL.cl SHOWN [--run n=0..9]``.

The input is the IR right before the first run of the pass that changes something, without source locations. Read the
output, reduce the input to what matters, and say in the first line what it shows; ``--refresh`` then writes the output
of the pass for the shorter input.
"""

import argparse
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hls.diag import CompileError
from hls.frontend import parse_source
from hls.ir import Module, print_module, walk
from hls.ir.clone import clone_module
from hls.ir.optable import has
from hls.ir.same import same_function
from hls.opt import run_passes
from hls.options import Options
from hls.passes.all_stages import all_stages
from hls.passes.link.place_buffers import as_used
from hls.passes.manager import ModulePass, Pass, Repeat
from hls.planning import Compilation
from hls.recursion import deep_recursion
from tests.ir.case import ANALYSES, ROOT, answered, board, read_case, transformed
from tests.ir.printers import PRINTERS

__all__ = ["Request", "input_of", "make"]

#: passes that an option of the compiler asks for: the others are shown without them
OPTIONAL = {
    "flush-denormals",
    "contract-float-trees",
    "sink-select-into-addend",
    "reassociate-float-sums",
    "expand-float-reductions",
    "copy-buffers",
    "copy-kernel",
    "decouple",
    "link-printf",
}
#: the optional pass that runs before a pass nevertheless
BEFORE = {"lower-printf": "link-printf", "vectorize-work-items": "link-printf"}


def input_of(text: str, name: str, kernel: str | None = None, first: bool = False) -> Module:
    """The module right before the pass where it first changes it, else (or with ``first``) where it first runs. Raises
    ValueError for a pass that does not run."""
    found = None
    for one, before, after in _steps(text, name, kernel):
        if one.name == name:
            if first or print_module(before) != print_module(after):
                return before
            found = found or before
    if found is None:
        raise ValueError(f"there is no pass {name}")
    return found


def _steps(text: str, name: str, kernel: str | None) -> Iterator[tuple[Pass, Module, Module]]:
    module = parse_source(text, "k.cl", {}, []).module
    used = as_used(module, board())
    passes = Compilation(used, Options(fp_relaxed=True)).passes()
    for stage in all_stages(passes, used):
        for each in stage.passes:
            for one in each.passes * 3 if isinstance(each, Repeat) else (each,):
                if one.name in OPTIONAL - {name, BEFORE.get(name)}:
                    continue
                if not isinstance(one, ModulePass):
                    module = _only(module, kernel)
                try:
                    after = _after(one, module)
                except CompileError:  # a golden file may show how a pass refuses what is wrong
                    after = Module()
                yield one, module, after
                module = after


def _after(one: Pass, module: Module) -> Module:
    if isinstance(one, ModulePass):
        return one.run(module)
    found = {f.name: one.run(f) for f in module.kernels}
    if all(same_function(f, found[f.name]) and f.attrs == found[f.name].attrs for f in module.kernels):
        return module
    return Module(found, {}, module.channels)


def _only(module: Module, kernel: str | None) -> Module:
    """The first kernel, the one of that name, or with ``*`` all of them."""
    if kernel == "*":
        return module
    functions = [f for f in module.kernels if kernel in (None, f.name)]
    return Module({functions[0].name: functions[0]}, {}, module.channels)


def without_places(module: Module) -> Module:
    """A copy without places in the source, and without what the host knows of buffers."""
    module = clone_module(module)
    for function in module.functions.values():
        function.span = None
        function.memories = {name: _bare(memory) for name, memory in function.memories.items()}
        function.params = [dataclasses.replace(p, span=None) for p in function.params if p.kind == "scalar"]
        for op in walk(function.body):
            op.span = None
    module.channels = {name: _bare(memory) for name, memory in module.channels.items()}
    return module


#: what says nothing to most passes, by the operation that has it
NOISE = {"loop": {"label": None, "form": "for", "unroll": 0}, "function": {"reason": None, "ndrange": False}}
CLEAN = ("common-subexpression-elimination", "dead-code-elimination")


def shorter(module: Module, name: str | None) -> Module:
    """The module without dead code, copies of constants and attributes that say nothing, as far as the pass still does
    something where it did, and nothing where it did not."""
    for one in () if name in CLEAN else CLEAN:
        tried = run_passes(clone_module(module), one, board())
        if not name or _fires(tried, name) == _fires(module, name):
            module = tried
    tried = _without_noise(clone_module(module))
    return tried if not name or _result(tried, name) == _result(module, name) else module


def _fires(module: Module, name: str) -> bool:
    return _result(module, name) != print_module(_without_noise(clone_module(module)))


def _result(module: Module, name: str) -> str:
    """What the pass leaves, without what says nothing; or the message with which it ends."""
    try:
        return print_module(_without_noise(clone_module(run_passes(module, name, board()))))
    except CompileError as error:
        return str(error)


def _without_noise(module: Module) -> Module:
    for function in module.functions.values():
        _drop(function.attrs, NOISE["function"])
        for op in walk(function.body):
            if op.opcode == "loop":
                _drop(op.attrs, NOISE["loop"])
    return module


def _drop(attrs: dict, noise: dict) -> None:
    for key, value in noise.items():
        if key in attrs and value in (None, attrs[key]):
            del attrs[key]


def with_few_places(module: Module) -> Module:
    """A copy with the places of what messages name: functions, memories, loops and operations with an effect."""
    module = clone_module(module)
    for function in module.functions.values():
        function.params = [p for p in function.params if p.kind == "scalar"]
        for op in walk(function.body):
            if not (has(op, "effect") or op.regions or op.opcode == "load") or op.opcode == "store":
                op.span = None
    return module


def _bare(memory):
    return dataclasses.replace(memory, span=None, attr_spans=())


@dataclass(frozen=True)
class Request:
    """A case to be made. ``subject`` is PASS/NAME, or ANALYSIS/NAME with ``before``, the pass before which the analysis
    is shown; ``run``, ``passes`` and ``unchecked`` are lines of the header. ``places``: keep those that messages name;
    ``first``: show the first run of the pass, although it changes something later only; ``kernel``: one of several
    (``*``: all)."""

    subject: str
    text: str
    shown: str
    run: str = ""
    before: str = ""
    kernel: str | None = None
    passes: str = ""
    unchecked: str = ""
    places: bool = False
    first: bool = False

    def header(self) -> str:
        """The comments in front of the IR."""
        keys = {"passes": self.passes, "run": self.run, "unchecked": self.unchecked}
        source = "".join(f";   {line}\n" for line in self.text.strip().splitlines())
        return f"; {self.shown}\n{source}" + "".join(f"; {key}: {value}\n" for key, value in keys.items() if value)


def make(request: Request) -> Path:
    """Write the file. Raises ValueError where the pass changes what is computed: then the file has no expected part."""
    folder, _, name = request.subject.partition("/")
    path = (ANALYSES if folder in PRINTERS else ROOT) / folder / f"{name or 'case'}.ir"
    with deep_recursion():
        module = input_of(request.text, request.before or folder, request.kernel, request.first)
    module = with_few_places(module) if request.places else without_places(module)
    module = shorter(module, None if folder in PRINTERS else request.passes or folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(request.header() + print_module(module))
    case = read_case(path)
    result, wrong = answered(case) if case.is_analysis else transformed(case)
    if wrong:
        raise ValueError(f"{path}: {wrong}")
    case.write(result)
    return path


def _request(arguments: argparse.Namespace) -> Request:
    given = vars(arguments)
    return Request(text=given.pop("source").read_text(), **given)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.ir.new", description=__doc__)
    parser.add_argument("subject", metavar="PASS/NAME")
    parser.add_argument("source", metavar="KERNEL.cl", type=Path)
    parser.add_argument("shown", nargs="?", default="TODO: say what this shows")
    parser.add_argument("--run", default="", help="what the runs get, as in n=0..9")
    parser.add_argument("--passes", default="", help="passes with options, where they are not the subject alone")
    parser.add_argument("--before", default="", help="for an analysis: the pass before which it is asked")
    parser.add_argument("--kernel", help="one of several kernels; *: all of them")
    parser.add_argument("--unchecked", default="", metavar="WHY", help="do not run input and output, and say why")
    parser.add_argument("--places", action="store_true", help="keep the places that messages name")
    parser.add_argument("--first", action="store_true", help="the first run of the pass, also if it changes nothing")
    return parser


def main() -> None:
    """Make a file and print it."""
    parser = _parser()
    arguments = parser.parse_args()
    try:
        print(make(_request(arguments)).read_text())
    except (OSError, ValueError, CompileError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
