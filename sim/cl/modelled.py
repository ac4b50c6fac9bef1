"""Programs on the model: kernels run on the emulator in their planned form, and the replay of their plans tells the
cycles."""

import json
import os
from collections.abc import Sequence
from typing import Any

from hls.analysis.channels.endpoints import is_call
from hls.diag import Code, CompileError, Diagnostic
from hls.ir import Attr, walk
from hls.ir.launch import OVERLAP
from hls.model.estimate import Planned
from hls.model.estimate_text import estimate_text
from hls.model.prediction import Prediction
from hls.model.replay import NotReplayed
from hls.model.replay.figures import AccessFigures, LoopFigures, Replayed, prediction_of
from hls.narrow import present
from hls.options import Options
from hls.records import plain
from hls.recursion import deep_recursion
from hls.signals import deferred
from hls.target.board import Board
from sim.emulator import Started
from sim.model import Launched, Replayer

from .arguments import Value
from .emulated import Emulated
from .interface import interface_of
from .memory import Buffer

__all__ = ["ReplayModel", "model_source"]


class ReplayModel:
    """Predicts the launches of one program on ``board``."""

    def __init__(self, replayer: Replayer, board: Board) -> None:
        self.replayer, self.board = replayer, board

    def check(self, kernel: str, values: Sequence[Value]) -> None:
        """Raises CompileError for a launch that the replay does not cover."""
        try:
            for name, other in self.replayer.kernels.items():
                if name == kernel or other.function.attrs.get(Attr.PART_OF) == kernel:
                    self.replayer.machine(name, {}, self._overlap(kernel, values))
                elif other.function.attrs.get(Attr.AUTORUN):
                    self.replayer.machine(name, {})
        except NotReplayed as error:
            raise CompileError(_refused(kernel, error)) from None

    def _overlap(self, kernel: str, values: Sequence[Value]) -> bool:
        """Whether buffers of a launch share bytes, and its kernel must know."""
        from .launch import overlap  # launches know programs

        names = (kernel, *self.replayer.kernels[kernel].function.attrs.get(Attr.PARTS, ()))
        functions = [self.replayer.kernels[name].function for name in names]
        return overlap(values) and any(OVERLAP in one.attrs.get(Attr.LAUNCH_ARGS, ()) for one in functions)

    def figures(
        self, launches: Sequence[tuple[Started, Sequence[Value]]], autorun: Sequence[Started], now_ns: float
    ) -> list[tuple[float, dict[str, Any]]]:
        """When each launch began, in ns after the first, and its statistics. Raises CompileError for what the replay
        does not cover."""
        period, starts, start = self.board.clock.period_ns, list[int](), 0
        for started, _ in launches:
            start += self.replayer.register_cycles(started.kernel) if starts else 0
            starts.append(start)
        given = [
            self._launched(started, values, start) for (started, values), start in zip(launches, starts, strict=True)
        ]
        try:
            found = self.replayer.replay(given, autorun=autorun)
        except NotReplayed as error:
            raise CompileError(_refused(launches[0][0].kernel, error)) from None
        return [
            (start * period, self._statistics(launched.started.kernel, one))
            for start, launched, one in zip(starts, given, found, strict=True)
        ]

    def reset(self) -> None:
        """Launches were given up: channels are empty."""
        self.replayer.empty_channels()

    def _launched(self, started: Started, values: Sequence[Value], start: int = 0) -> Launched:
        kernel = started.kernel
        return Launched(started, self._addresses(kernel, values), start, self._overlap(kernel, values))

    def _addresses(self, kernel: str, values: Sequence[Value]) -> dict[str, int]:
        names = [parameter.name for parameter in self.replayer.kernels[kernel].function.params]
        return {
            name: value.value.address
            for name, value in zip(names, values, strict=True)
            if isinstance(value.value, Buffer)
        }

    def _statistics(self, kernel: str, found: Replayed) -> dict[str, Any]:
        _show(prediction_of(self.replayer.kernels[kernel], self.board, found))
        names = self.replayer.kernels[kernel].function.attrs.get(Attr.PARTS, ())
        parts = [
            # as for the kernel itself, nothing is predicted of each channel
            {"kernel": name, "channels": []} | self._figures(name, one)
            for name, one in zip(names, found.parts, strict=True)
        ]
        return self._figures(kernel, found) | ({"parts": parts} if parts else {})

    def _figures(self, kernel: str, found: Replayed) -> dict[str, Any]:
        clock = self.board.clock
        return {
            "device": "model",
            "cycles": found.cycles,
            "clock_mhz": clock.kernel_mhz,
            "loops": [_loop(one) for one in found.loops],
            "memory": [self._access(one, kernel, found.cycles) for one in found.accesses],
            "accounts": plain(found.accounts),
        }

    def predict(self, started: Started, values: Sequence[Value], cycle: int) -> Prediction:
        """The prediction of a launch that has ended on the emulator, as if the host began to write its registers in
        that cycle of the board, alone. Raises NotReplayed."""
        kernel = started.kernel
        for other in self.replayer.kernels.values():
            if other.function.attrs.get(Attr.AUTORUN):
                raise NotReplayed(f"the autorun kernel {other.function.name} beside it", other.function.span)
        function = self.replayer.kernels[kernel].function
        call = next((op for op in walk(function.body) if is_call(op) and not op.attrs[Attr.BLOCKING]), None)
        if call is not None:  # what it did here, without the kernel at the other end, is not what it does on the board
            raise NotReplayed("calls that do not block, to kernels that are not beside it,", call.span)
        launch = self._launched(started, values)
        (found,) = self.replayer.replay([launch], cycle)
        return prediction_of(self.replayer.kernels[kernel], self.board, found)

    def outer_loops(self, kernel: str) -> frozenset[tuple[int, str]]:
        """The lines and labels of the kernel's loops that have loops inside."""
        return frozenset(
            (op.span.line if op.span else 0, str(op.attrs.get(Attr.LABEL, "")))
            for op, plan in self.replayer.kernels[kernel].plan.loops.items()
            if any(row.op.opcode == "loop" for level in plan.levels for row in level.row)
        )

    def _access(self, one: AccessFigures, kernel: str, cycles: int) -> dict[str, Any]:
        access, peak = self.replayer.kernels[kernel].memory.accesses[one.op], self.board.memory
        used, moved, ns = one.count * access.bytes, one.words * access.word_bytes, cycles * self.board.clock.period_ns
        per_ns = peak.shared_peak(self.board.clock.period_ns)
        return {
            "line": access.span.line if access.span else None,
            "buffer": access.memory,
            "kind": access.direction,
            "lsu": access.lsu,
            "memory": peak.name,
            "occupancy": None,
            "stall": None,
            "activity": one.count / cycles,
            "bytes_used": used,
            "bytes_moved": moved,
            "efficiency": min(1.0, used / moved) if moved else None,
            "reuse": max(1.0, used / moved) if moved else None,
            "bytes_per_ns": moved / ns,
            "peak_bytes_per_ns": per_ns,
            "bandwidth": moved / ns / per_ns if per_ns else None,
            "average_burst": one.words / one.bursts if one.bursts else None,
            "max_burst": None,
            "full_bursts": None,
            "unaligned": None,
            "cache_hit": max(one.count - one.words, 0) / one.count if access.cache_words and one.count else None,
            "in_vain": None,
        }


def _loop(one: LoopFigures) -> dict[str, Any]:
    loop, interleaving = present(one.plan.loop), one.interleaved
    label = str(loop.attrs.get(Attr.LABEL, ""))
    return {
        "line": loop.span.line if loop.span else None,
        "label": label,
        "name": label,
        "static_ii": one.plan.ii,
        "interleaving": interleaving,
        "scheduled_ii": one.plan.ii / interleaving,
        "measured_ii": one.measured_ii,
        "iterations": one.iterations,
        "invocations": one.invocations,
    }


def _show(prediction: Prediction) -> None:
    """Print what $SLUICE_PREDICT asks for: ``text``, or ``json``, a line for each launch."""
    wanted = os.environ.get("SLUICE_PREDICT")
    if wanted == "json":
        print(json.dumps(plain(prediction)), flush=True)
    elif wanted == "text":
        print(estimate_text(prediction), flush=True)


def _refused(kernel: str, error: NotReplayed) -> Diagnostic:
    return Diagnostic(
        f"kernel {kernel} has {error.what}, which the model's replay does not cover",
        error.span,
        hint="run it on the board (`sluice run`), which measures it",
        code=Code.NOT_MODELLED,
    )


def model_source(source: str, board: Board, options: Options, file: str) -> Emulated:
    """Plan the kernels of OpenCL C as for hardware, which is not made. Raises CompileError."""
    with deferred():
        from hls.driver import designed_module, network_channels, parsed, plan_module, with_ports
        from hls.passes.link.place_buffers import as_used
        from hls.passes.run_stages import link_program  # not needed by a host program that fails before

    front = parsed(source, options, file)
    try:
        with deep_recursion():
            module = designed_module(front.module, options, file)
            module = link_program(module, options.fpc, flush=options.denorms_are_zero, limits=options.limits)
            used = with_ports(as_used(module, board), options)
            kernels, warnings = plan_module(module, used, options)
            channels = network_channels(module, kernels, used, options)
        planned = [Planned(one.function, one.memory, one.plan, one.unrolled, one.merged, file) for one in kernels]
        inner = [channel for one in kernels for channel in one.inner]
        replayer = Replayer(planned, module, used, channels, options.const_cache_bytes, inner=inner)
        model = ReplayModel(replayer, used)
        interface = interface_of(module, board)
        return Emulated(module, replayer.emulator, interface, (*front.warnings, *warnings), model=model)
    except CompileError as error:
        error.sources = front.module.sources
        raise
