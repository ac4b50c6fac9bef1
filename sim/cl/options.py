"""Build options of a program: OpenCL's, the compiler's own, and those of a simulation in the environment."""

import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hls.design import DesignError, read_design
from hls.diag import CompileError, render
from hls.options import AXI_ADDRESS_BITS, FEED_FORWARDS, MOST_CACHE_BYTES, Options
from hls.predefined import STANDARDS
from hls.rtl_library import RtlFunction, load_library
from sim.emulator.channel_depths import DEPTH_MODELS, HARDWARE
from sim.loaded import ALL_CYCLES, TraceRequest
from sim.tracing import TRACES

from .constants import status_code
from .errors import LogicError, RuntimeError

__all__ = ["depth_model", "parse_options", "split_options", "stall_seed", "trace_request", "with_design"]

#: Those of the log, which :mod:`sim.cl.build_log` reads, and options that only permit transformations.
NOT_OF_THE_COMPILER = {
    "-w",
    "-Werror",
    "-cl-mad-enable",
    "-cl-opt-disable",
    "-cl-no-signed-zeros",
    "-cl-finite-math-only",
    "-cl-kernel-arg-info",
    "-cl-fp32-correctly-rounded-divide-sqrt",
    "-cl-strict-aliasing",
    "-cl-uniform-work-group-size",
    "-cl-no-subgroup-ifp",
}
#: options with a number -> their internal names, and the greatest number; the last two are for kernels that do not say
SIZES = {
    "private-cache-bytes": ("cache_bytes", MOST_CACHE_BYTES),
    "const-cache-bytes": ("const_cache_bytes", MOST_CACHE_BYTES),
    "copy-bytes": ("copy_bytes", MOST_CACHE_BYTES),
    "axi-masters": ("axi_masters", 64),
    "max-work-group-size": ("group_items", 4096),
    "local-mem-size": ("local_bytes", 1 << 30),
}
#: more build options, for hosts that cannot be changed
MORE_OPTIONS = "SLUICE_BUILD_OPTIONS"
#: of the vendor's emulator
DEPTH_OPTION = "emulator-channel-depth-model="
RELAXED = {"-fp-relaxed", "-cl-fast-relaxed-math", "-cl-unsafe-math-optimizations"}


def parse_options(options: str | Iterable[str], folder: Path) -> Options:
    """The compiler's options from a list or a command line. Raises cl.RuntimeError for an unknown one.

    ``folder`` is searched by ``#include`` before the folders given.
    """
    words = split_options(options, "options") if isinstance(options, str) else [str(word).strip() for word in options]
    words += split_options(os.environ.get(MORE_OPTIONS) or "", MORE_OPTIONS)
    defines, include_dirs, roots, relaxed, once, flush, by_hand = {}, [folder], [], False, False, False, []
    sizes: dict[str, Any] = {}  # by the name of the field
    libraries: list[RtlFunction] = []
    feed_forward, single, standard = Options.feed_forward, False, "CL1.2"
    left = iter(word for word in words if word)
    for word in left:
        if word in RELAXED:
            relaxed = True
        elif word.lstrip("-").startswith("library="):
            libraries += _library(word.partition("=")[2])
        elif word.lstrip("-").startswith("feed-forward="):
            feed_forward = _choice(word, FEED_FORWARDS)
        elif word.lstrip("-").startswith("axi-address-bits="):
            sizes["axi_address_bits"] = int(_choice(word, tuple(map(str, AXI_ADDRESS_BITS))))
        elif word == "-fpc":
            once = True
        elif word == "-cl-denorms-are-zero":
            flush = True
        elif word == "-cl-single-precision-constant":
            single = True
        elif word.startswith("-cl-std="):
            standard = _choice(word, tuple(STANDARDS))
        elif word.lstrip("-").startswith("no-interleaving="):
            by_hand.append(word.partition("=")[2])
        elif word.lstrip("-").startswith("include-root="):
            roots.append(Path(word.partition("=")[2]))
        elif word.lstrip("-").partition("=")[0] in SIZES and "=" in word:
            name, most = SIZES[word.lstrip("-").partition("=")[0]]
            sizes[name] = _number(word, most)
        elif word[:2] in ("-D", "-I"):
            value = word[2:].strip() or next(left, None)
            if value is None:
                raise RuntimeError("clBuildProgram", status_code.INVALID_BUILD_OPTIONS, f"{word} needs a value")
            if word[1] == "I":
                include_dirs.append(Path(value))
            else:
                macro, given, text = value.partition("=")
                defines[macro] = text if given else "1"  # -DNAME= is empty
        elif word not in NOT_OF_THE_COMPILER and not word.lstrip("-").startswith(DEPTH_OPTION):
            raise RuntimeError(
                "clBuildProgram",
                status_code.INVALID_BUILD_OPTIONS,
                f"unknown option {word}; known are -D, -I, -fpc, -cl-std={'|'.join(STANDARDS)}, -cl-denorms-are-zero, "
                f"-cl-single-precision-constant, -no-interleaving=MEMORY, "
                f"-include-root=DIR, -library=FILE, -feed-forward={'|'.join(FEED_FORWARDS)}, "
                f"-axi-address-bits={'|'.join(map(str, AXI_ADDRESS_BITS))}, -{'=N, -'.join(SIZES)}=N, "
                f"{', '.join(sorted(RELAXED))}",
            )
    return Options(
        STANDARDS[standard] | defines,
        tuple(include_dirs),
        relaxed,
        once,
        random_stalls=stall_seed() != 0,
        ram_faults=True,
        no_interleaving=tuple(by_hand),
        denorms_are_zero=flush,
        single_precision=single,
        include_roots=tuple(roots),
        libraries=tuple(libraries),
        feed_forward=feed_forward,
        **sizes,
    )


def _library(file: str) -> tuple[RtlFunction, ...]:
    """The functions of a library. Raises cl.RuntimeError for a description that is malformed."""
    try:
        return load_library(Path(file))
    except CompileError as error:
        text = "\n".join(render(each, {}) for each in error.diagnostics)
        raise RuntimeError("clBuildProgram", status_code.INVALID_BUILD_OPTIONS, text) from None


def depth_model(words: Iterable[str]) -> str:
    """How deep channels are on the emulator: by the last build option of that name, else by $SLUICE_CHANNEL_DEPTHS.
    Raises cl.RuntimeError for an unknown model."""
    named = [word.partition("=")[2] for word in words if word.lstrip("-").startswith(DEPTH_OPTION)]
    model = named[-1] if named else os.environ.get("SLUICE_CHANNEL_DEPTHS") or HARDWARE
    if model not in DEPTH_MODELS:
        raise RuntimeError(
            "clBuildProgram",
            status_code.INVALID_BUILD_OPTIONS,
            f"channels can be as deep as {', '.join(DEPTH_MODELS)} on the emulator, not {model!r}",
        )
    return model


def with_design(options: Options) -> Options:
    """The options with the design in the file that $SLUICE_DESIGN names, if it is set. Raises cl.RuntimeError."""
    path = os.environ.get("SLUICE_DESIGN")
    if not path:
        return options
    try:
        return options.with_design(read_design(Path(path)))
    except DesignError as error:
        raise RuntimeError("clBuildProgram", status_code.INVALID_BUILD_OPTIONS, str(error)) from None


def _choice(word: str, known: Sequence[str]) -> str:
    """The value in ``-NAME=VALUE``. Raises cl.RuntimeError for one that is not known."""
    value = word.partition("=")[2]
    if value not in known:
        raise RuntimeError(
            "clBuildProgram", status_code.INVALID_BUILD_OPTIONS, f"{word}: the value is one of {', '.join(known)}"
        )
    return value


def _number(word: str, most: int) -> int:
    """The number in ``-NAME=N``."""
    text = word.partition("=")[2]
    if not text.isdecimal() or len(text) > 12 or int(text) > most:
        raise RuntimeError(
            "clBuildProgram", status_code.INVALID_BUILD_OPTIONS, f"{word}: numbers from 0 to {most} are possible"
        )
    return int(text)


def split_options(text: str, what: str) -> list[str]:
    """The words of options as a shell splits them. Raises cl.RuntimeError where a quote does not end."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise RuntimeError(
            "clBuildProgram", status_code.INVALID_BUILD_OPTIONS, f"{what} {text!r}: {error}; end each quote"
        ) from None


def stall_seed() -> int:
    """The seed of random stalls, from $SLUICE_STALL_SEED; 0 is none."""
    text = os.environ.get("SLUICE_STALL_SEED") or "0"
    if not text.isdecimal() or int(text) >= 1 << 32:
        raise RuntimeError(
            "clBuildProgram", status_code.INVALID_VALUE, f"SLUICE_STALL_SEED must be a number of 32 bits, not {text!r}"
        )
    return int(text)


def trace_request(source: str) -> TraceRequest | None:
    """From $SLUICE_TRACE (the file), $SLUICE_TRACE_WINDOW (START:CYCLES) and $SLUICE_TRACE_SIGNALS; None without
    the first. Raises cl.LogicError for values that are none."""
    path = os.environ.get("SLUICE_TRACE")
    if not path:
        return None
    window = os.environ.get("SLUICE_TRACE_WINDOW") or f"0:{ALL_CYCLES}"
    start, colon, cycles = window.partition(":")
    signals = os.environ.get("SLUICE_TRACE_SIGNALS") or "handshakes"
    if not (start.isdecimal() and colon and cycles.isdecimal()):
        raise LogicError("trace", status_code.INVALID_VALUE, f"SLUICE_TRACE_WINDOW is START:CYCLES, not {window!r}")
    if signals not in TRACES[1:]:
        text = f"SLUICE_TRACE_SIGNALS is one of {', '.join(TRACES[1:])}, not {signals!r}"
        raise LogicError("trace", status_code.INVALID_VALUE, text)
    return TraceRequest(Path(path), int(start), int(cycles), signals, source)
