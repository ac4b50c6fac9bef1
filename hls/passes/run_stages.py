"""The stages of the pipeline, run on whole programs and on kernels."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import replace

from ..diag import Diagnostic, Span
from ..ir import Function, Module, Op
from ..ir.launch import is_part
from ..limits import DEFAULT_LIMITS, Limits
from ..recursion import deep_recursion
from ..target.board import Board
from .early_stages import EarlyStages
from .inspection import Inspection
from .link.similar_parts import alike, renumbered
from .loops.marked_loops import check_kept
from .manager import Form, PassManager, each_kernel
from .memory.storage_attributes import in_memory
from .pipeline import (
    copy_stages,
    decouple_stage,
    inline_stage,
    kernel_stages,
    legalize_stage,
    link_stage,
    stages_around_split,
    target_stage,
    units_stage,
)
from .pipeline_options import DEFAULTS, PipelineOptions

__all__ = [
    "copies",
    "fit_to_target",
    "has_arrays",
    "legalize",
    "link_program",
    "lowered",
    "optimize",
    "split",
    "uncopied",
    "without_stream_bounds",
]


def link_program(
    module: Module,
    fpc: bool = False,
    tell: Callable[[Diagnostic], None] | None = None,
    flush: bool = False,
    inspection: Inspection | None = None,
    limits: Limits = DEFAULT_LIMITS,
    prints: bool = False,
) -> Module:
    """The program as hardware and emulator see it. With ``fpc`` sums are contracted, and ``tell`` receives a note for
    each; with ``flush`` subnormal numbers count as zeros; with ``prints`` hardware prints. Raises CompileError for
    pipes and kernels that do not fit together."""
    with deep_recursion():
        return PassManager(inspection).run((link_stage(fpc, tell, flush, limits, prints),), module)


def legalize(module: Module, board: Board, options: PipelineOptions) -> Module:
    """A linked program in the form that hardware can compute. Raises CompileError for what the target does not
    support."""
    with deep_recursion():
        return PassManager(options.inspection, forms=(Form.LINKED,)).run((legalize_stage(board, options.warn),), module)


def optimize(module: Module, options: PipelineOptions = DEFAULTS, early: EarlyStages | None = None) -> Module:
    """Kernels ready for scheduling: no calls, `if`, pointers or private memories; only loops are control flow.

    ``early`` has the kernels after the early stages, if they have passed them before; where passes are inspected, all
    of them run. Raises CompileError for a kernel that cannot be built.
    """
    with deep_recursion():
        inlined = PassManager(options.inspection, options.check).run((inline_stage(options),), module)
        if early is not None:
            early.note_copies(inlined)
        functions = each_kernel(inlined.kernels, lambda function: _optimized(function, options, module, early))
    return Module({f.name: f for f in functions}, inlined.sources, inlined.channels)


def has_arrays(module: Module, options: PipelineOptions) -> bool:
    """Whether ``options.in_memory`` names an array of a kernel of the program. Others are made by passes, such as those
    of the stores in flight: no kernel changes by naming them."""
    quiet = replace(options, warn=None, record=None)
    with deep_recursion():
        kernels = PassManager(None, options.check).run((inline_stage(quiet),), module).kernels
    return any(in_memory(one, _kept(one, options)).memories != one.memories for one in kernels)


def _kept(function: Function, options: PipelineOptions) -> list[str]:
    return [array for kernel, array in sorted(options.in_memory) if kernel == function.name]


def lowered(module: Module, options: PipelineOptions = DEFAULTS) -> Module:
    """The kernels of :func:`optimize` after the first of their stages, in which nests change."""
    with deep_recursion():
        inlined = PassManager(options.inspection, options.check).run((inline_stage(options),), module)
        manager = PassManager(options.inspection, options.check, frozenset({Form.LINKED, Form.INLINED}))
        functions = [manager.run_function(kernel_stages(options)[:1], function) for function in inlined.kernels]
    return Module({f.name: f for f in functions}, inlined.sources, inlined.channels)


def _optimized(function: Function, options: PipelineOptions, module: Module, early: EarlyStages | None) -> Function:
    names = _kept(function, options)
    function = in_memory(function, names) if names else function
    if names and options.inspection:
        options.inspection.again(function)
    before, after = stages_around_split(options)
    # what comes before was done to the whole kernel
    stages, forms = after if is_part(function) else (*before, *after), _forms_of(function)
    if early is not None and not (is_part(function) or names or options.inspection):
        return early.whole(module, function, forms, options)[0]
    return PassManager(options.inspection, options.check, forms).run_function(stages, function)


def _forms_of(function: Function) -> frozenset[Form]:
    return frozenset(Form) - {Form.ORDERED} if is_part(function) else frozenset({Form.LINKED, Form.INLINED})


def split(
    name: str,
    module: Module,
    options: PipelineOptions,
    early: EarlyStages,
    depth: int,
    required: bool,
    turning: frozenset[Span] = frozenset(),
    count: int = 1,
) -> Module:
    """The parts of one kernel of a program that is legal for the board, with the program's channels and those between
    the parts, which hold ``depth`` values at least; the parts pass the other stages each for itself. In loops at the
    places ``turning``, whose invocations take turns while the kernel is whole, nothing is received. ``early`` has the
    kernel in the form in which it is divided, if it has been planned before. With ``count``
    above 1, of so many copies that share the iterations of its outermost loop. If the kernel is not split, it is left
    alone in the module as it was, and ``options.warn`` has received the reason; with ``required`` CompileError is
    raised then."""
    with deep_recursion():
        function, alone = _flat(name, module, options, early)
        taken = frozenset(module.functions) - {name}
        if count > 1:
            alone = _shared(alone, options, count, taken)
        stage = decouple_stage(options, depth=depth, required=required, taken=taken, turning=turning)
        after = _behind_flat(options).run((stage,), alone)
    if len(after.functions) == 1:
        return Module({name: function}, module.sources, module.channels)
    return after


def copies(name: str, module: Module, options: PipelineOptions, early: EarlyStages, count: int) -> Module:
    """``count`` copies of one kernel of a program that is legal for the board, which share the iterations of its
    outermost loop, with the program's channels; ``early`` as in :func:`split`. Raises CompileError for a kernel that
    cannot be copied."""
    with deep_recursion():
        _, alone = _flat(name, module, options, early)
        return _shared(alone, options, count, frozenset(module.functions) - {name})


def uncopied(name: str, module: Module, options: PipelineOptions, early: EarlyStages) -> Function:
    """One kernel of a program that is legal for the board, in the form in which buffers are copied. Of the passes
    nothing is shown."""
    options = replace(options, inspection=None)
    with deep_recursion():
        function = PassManager(options.inspection, options.check).run((inline_stage(options),), module).functions[name]
        return early.uncopied(module, function, _forms_of(function), options)


def _behind_flat(options: PipelineOptions) -> PassManager:
    """What runs the stages that divide kernels into parts."""
    return PassManager(options.inspection, options.check, frozenset(Form) - {Form.ORDERED})


def _shared(alone: Module, options: PipelineOptions, count: int, taken: frozenset[str]) -> Module:
    """``count`` copies of the only kernel of a module, whose names are not ``taken``. Of copies that differ in their
    number only, one passes the stage behind; where passes are inspected, all do."""
    copy, borders = copy_stages(options, count=count, taken=taken)
    copied = _behind_flat(options).run((copy,), alone)
    between, done = copied.channels.keys() - alone.channels.keys(), dict[str, Function]()
    for part in copied.functions.values():
        before = [] if options.inspection else [(one, alike(copied.functions[one], part, between)) for one in done]
        like = next(((one, channels) for one, channels in before if channels is not None), None)
        if like is None:
            done[part.name] = _behind_flat(options).run_function((borders,), part)
        else:
            done[part.name] = renumbered(done[like[0]], part, like[1])
    return Module(done, copied.sources, copied.channels)


def _flat(name: str, module: Module, options: PipelineOptions, early: EarlyStages) -> tuple[Function, Module]:
    """(the kernel as it is, a module of it alone in the form in which kernels are divided into parts)."""
    function = PassManager(options.inspection, options.check).run((inline_stage(options),), module).functions[name]
    if options.inspection is None:
        flat, _ = early.flat(module, function, _forms_of(function), options)
    else:
        manager = PassManager(options.inspection, options.check, _forms_of(function))
        flat = manager.run_function(stages_around_split(options)[0], function)
    check_kept(function, flat)
    return function, Module({name: flat}, module.sources, module.channels)


def fit_to_target(function: Function, options: PipelineOptions) -> Function:
    """An optimized kernel after the passes that depend on the delays of the target."""
    return PassManager(options.inspection, options.check, Form).run_function((target_stage(options),), function)


def without_stream_bounds(function: Function, loads: AbstractSet[Op], options: PipelineOptions) -> Function:
    """The kernel without stream bounds on ``loads``."""
    return PassManager(options.inspection, options.check, Form).run_function((units_stage(loads),), function)
