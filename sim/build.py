"""Builds a simulator from Verilog: Verilator, then our own compile and link, all cached by content.

The parts that every design shares (Verilator's runtime, the memory model, the server) are compiled once into a
library, so that only a design's own model is compiled for it. The design's top module is Verilator's top as well: the
runtime drives clock, memories and registers through its ports.
"""

import contextlib
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from hls.diag import machine_trouble

from .binding import write_binding
from .build_time import estimate, in_words, remember
from .cache import cache_folder, cached, content_key
from .errors import BuildError
from .programs import Programs
from .settings import number, switch
from .toolchain import Tools, find_tools
from .tracing import TRACES, marked

__all__ = ["Simulator", "build"]

HERE = Path(__file__).parent
RUNTIME_SOURCES = tuple(sorted([*HERE.glob("dram/*.cpp"), *HERE.glob("runtime/*.cpp")]))
RUNTIME_HEADERS = tuple(sorted([*HERE.glob("dram/*.h"), *HERE.glob("runtime/**/*.h")]))
VERILATED = ("verilated.cpp", "verilated_threads.cpp")
VERILATED_TRACE = ("verilated_fst_c.cpp",)

PREFIX = "Vdesign"
STANDARD = ["-std=c++17", "-pthread"]
#: In the long functions that Verilator writes, g++ searches up to a thousand earlier statements, for each access to a
#: field, for one that it repeats: an eighth to a quarter of the time of a compilation with -Og, 7 % with -O1. With ten
#: the code is no larger.
FEW_SEARCHES = ["--param", "sccvn-max-alias-queries-per-access=10"]
#: For code that is compiled once, and for a design, where -O2 takes half as long again and runs no faster.
OPTIMIZED, QUICK = ["-O2"], ["-O1", *FEW_SEARCHES]
#: g++ looks for garbage whenever its heap has grown by a part, and finds little, as it keeps what it has parsed: a
#: sixth of the time of a compilation with -Og. Below a gibibyte (10 MB of C++ take 0.9) it does not look.
KEEP_GARBAGE = ["--param", "ggc-min-heapsize=1048576"]
#: For a design that runs only some ten thousand cycles: compiles in two thirds of the time, and runs a fifth slower.
#: -O0 compiles in less than half of the time, but the result runs five times slower.
HASTY = ["-Og", *FEW_SEARCHES, *KEEP_GARBAGE]
#: For code that runs once.
STARTUP = ["-O0"]
#: Bytes of C++ compiled in parallel: two gigabytes of memory are enough for these.
MOST_TOGETHER = 16 << 20
#: For such a design, too: the common code of a module's instances is generated once, which leaves a fifth less to
#: compile.
HASTY_VERILATE = ["--inline-mult", "1"]
VERILATE = [
    "--cc",
    "--prefix",
    PREFIX,
    "--x-assign",
    "fast",
    "--x-initial",
    "fast",
    "-O3",
    "--no-timing",
    "--no-assert",
    "-Wno-fatal",
    "-Wno-lint",
    "-Wno-style",
    "--output-split",
    "20000",
]
#: Verilator marks by this name code that runs only at the start: optimizing it would only cost time.
SLOW = "__Slow"
#: Verilator allocates and frees millions of small nodes. With the C library's defaults a third of its time goes into
#: keeping its memory compact and into pages of 4 KiB; for a tenth more memory these settings save it. A C library that
#: does not know one of them ignores it.
ALLOCATE = {
    "glibc.malloc.tcache_count": 65535,
    "glibc.malloc.hugetlb": 1,
    "glibc.malloc.trim_threshold": 1 << 32,
    "glibc.malloc.top_pad": 64 << 20,
}


@dataclass(frozen=True)
class Simulator:
    """A finished build."""

    executable: Path
    trace: str  #: one of sim.tracing.TRACES


def build(
    verilog: Mapping[str, str],
    top: str,
    trace: str = "none",
    progress: Callable[[str], None] = lambda step: None,
    hasty: bool = False,
) -> Simulator:
    """Build a simulator of module ``top``, or find it in the cache.

    ``verilog`` maps file names to texts. ``trace`` selects the contents of a waveform: "none" (the fast build),
    "accounts", "handshakes" or "all"; of files ``.sv`` everything is in it. ``progress`` is called with the name
    of each long step, and without arguments at the end.
    ``hasty``, or SLUICE_SHORT_RUNS=1, is for runs of some ten thousand cycles: it compiles faster, and runs slower.
    Raises BuildError with Verilator's or the compiler's output, ToolMissing, BadSetting, ValueError for a wrong
    ``trace``.
    """
    if trace not in TRACES:
        raise ValueError(f"trace must be one of {', '.join(TRACES)}, not {trace!r}")
    tools, hasty = find_tools(), hasty or switch("SLUICE_SHORT_RUNS")
    verilog = {name: marked(text, trace) for name, text in verilog.items() if not name.endswith(".sv")} | {
        name: text for name, text in verilog.items() if name.endswith(".sv")
    }
    library = _runtime_library(tools, trace != "none", progress)
    flags = HASTY if hasty else QUICK
    verilate = [*VERILATE, *HASTY_VERILATE] if hasty else VERILATE
    parts = [tools.identity, library.parent.name, top, trace, *verilate, *flags, (HERE / "binding.py").read_text()]
    for name in sorted(verilog):
        parts += [name, verilog[name]]

    def make(folder: Path) -> None:
        with (
            Programs() as programs,
            _timed(
                f"{'' if trace == 'none' else 'traced '}{'hasty' if hasty else 'quick'}",
                verilog.values(),
                f"the simulation of {top}",
                progress,
            ),
        ):
            _build_design(programs, tools, verilog, top, trace != "none", library, folder, progress, verilate, flags)

    return Simulator(cached("design", content_key(parts), "simulator", make), trace)


def _build_design(
    programs: Programs,
    tools: Tools,
    verilog: Mapping[str, str],
    top: str,
    traced: bool,
    library: Path,
    folder: Path,
    progress: Callable[[str], None],
    verilate: list[str],
    flags: list[str],
) -> None:
    generated = folder / "generated"
    generated.mkdir()
    for name, text in verilog.items():
        (folder / name).write_text(text)
    sources = [name for name in sorted(verilog) if name.endswith((".v", ".sv"))]
    progress(f"verilating {top}")
    options = [*verilate, *(["--trace-fst"] if traced else []), "--top-module", top, "-Mdir", str(generated)]
    environment = os.environ | {"VERILATOR_ROOT": str(tools.verilator_root), "GLIBC_TUNABLES": _tunables()}
    _run(programs, [str(tools.verilator), *options, *sources], "Verilator refused the design", folder, environment)

    binding = write_binding(PREFIX, (generated / f"{PREFIX}.h").read_text(), str(HERE / "runtime"))
    (generated / "binding.cpp").write_text(binding)
    progress(f"compiling the simulation of {top}")
    header = _precompiled_header(tools, traced) if flags == HASTY else ()
    objects = _compile(programs, tools, _units(generated, flags), traced, progress, header)
    _run(
        programs,
        [
            tools.cxx,
            *STANDARD,
            "-o",
            str(folder / "simulator"),
            *map(str, objects),
            str(library),
            *(_compression_libraries(programs, tools) if traced else []),
        ],
        "linking the simulation failed",
        folder,
    )
    for built in objects:
        built.unlink()


def _units(generated: Path, flags: list[str]) -> dict[Path, list[str]]:
    """Combine many small files into few large ones: parsing Verilator's headers is most of the compilation time."""
    files = sorted(path for path in generated.glob("*.cpp"))
    slow = [path for path in files if flags != HASTY and (SLOW in path.name or path.name == "binding.cpp")]
    fast = sorted((path for path in files if path not in slow), key=lambda path: -path.stat().st_size)
    size = sum(path.stat().st_size for path in fast)
    bins: list[list[Path]] = [[] for _ in range(min(max(_jobs(), -(-size // MOST_TOGETHER)), len(fast)))]
    for path in fast:
        min(bins, key=lambda one: sum(other.stat().st_size for other in one)).append(path)
    units = {}
    for index, (group, chosen) in enumerate([*([(slow, STARTUP)] if slow else []), *((one, flags) for one in bins)]):
        unit = generated / f"unit{index}.cc"
        unit.write_text("".join(f'#include "{path.name}"\n' for path in group))
        units[unit] = chosen
    return units


def _runtime_library(tools: Tools, traced: bool, progress: Callable[[str], None]) -> Path:
    """The static library of the code that all designs share."""
    texts = [path.read_text() for path in (*RUNTIME_SOURCES, *RUNTIME_HEADERS)]
    key = content_key([tools.identity, str(traced), *STANDARD, *OPTIMIZED, *texts])

    def make(folder: Path) -> None:
        units = {}
        verilated = [tools.include / name for name in VERILATED + (VERILATED_TRACE if traced else ())]
        for source in (*RUNTIME_SOURCES, *verilated):
            unit = folder / f"{source.stem}.cc"
            unit.write_text(f'#include "{source}"\n')
            units[unit] = OPTIMIZED
        with (
            Programs() as programs,
            _timed("traced runtime" if traced else "runtime", texts, "what all simulations share", progress),
        ):
            objects = _compile(programs, tools, units, traced, progress)
            _run(
                programs,
                ["ar", "rcs", str(folder / "libruntime.a"), *map(str, objects)],
                "making the runtime library failed",
                folder,
            )

    return cached("runtime", key, "libruntime.a", make)


def _tunables() -> str:
    """The user's tunables of the C library, and ours for those that the user has not set."""
    chosen = os.environ.get("GLIBC_TUNABLES", "")
    ours = (f"{name}={value}" for name, value in ALLOCATE.items() if name not in chosen)
    return ":".join(filter(None, [chosen, *ours]))


def _precompiled_header(tools: Tools, traced: bool) -> Sequence[str]:
    """Options that include Verilator's header precompiled: parsing it takes a third of the time of a hasty
    compilation."""
    header = tools.include / "verilated.h"
    command = [tools.cxx, *STANDARD, *HASTY, *_defines(traced), "-x", "c++-header", str(header)]

    def make(folder: Path) -> None:
        # The compiler reads this header if it rejects the precompiled one.
        (folder / "verilated.h").write_text(f'#include "{header}"\n')
        with Programs() as programs:
            _run(
                programs,
                [*command, "-o", str(folder / "verilated.h.gch")],
                "compiling Verilator's header failed",
                folder,
            )

    key = content_key([tools.identity, *command, header.read_text()])
    return ["-include", str(cached("header", key, "verilated.h.gch", make).with_suffix(""))]


def _defines(traced: bool) -> list[str]:
    return [
        "-DVERILATOR=1",
        "-DVM_COVERAGE=0",
        "-DVM_SC=0",
        "-DVM_TIMING=0",
        "-DVL_TIME_CONTEXT",
        f"-DVM_TRACE={int(traced)}",
        f"-DVM_TRACE_FST={int(traced)}",
        "-DVM_TRACE_VCD=0",
        "-DVM_TRACE_SAIF=0",
        f"-DSLUICE_TRACE={int(traced)}",
    ]


def _compile(
    programs: Programs,
    tools: Tools,
    units: Mapping[Path, list[str]],
    traced: bool,
    progress: Callable[[str], None],
    header: Sequence[str] = (),
) -> list[Path]:
    """Compile each unit with its flags into an object file next to it; ``header`` is included before all others."""
    include = [f"-I{tools.include}", f"-I{tools.include / 'vltstd'}"]
    if traced:
        include += [f"-I{tools.include / 'fstcpp'}", *_compression_headers(programs, tools)]

    finished: list[Path] = []

    def one(item: tuple[Path, list[str]]) -> Path:
        unit, flags = item
        target = unit.with_suffix(".o")
        _run(
            programs,
            [
                tools.cxx,
                *STANDARD,
                *flags,
                *_defines(traced),
                *header,
                f"-I{unit.parent}",
                *include,
                "-c",
                str(unit),
                "-o",
                str(target),
            ],
            f"compiling {unit.name} failed",
            unit.parent,
        )
        finished.append(target)
        progress(f"compiled {len(finished)} of {len(units)} files")
        return target

    with ThreadPoolExecutor(_jobs()) as pool:
        try:
            return list(pool.map(one, units.items()))
        except BaseException:  # one failed, or a signal came: the other compilations are no longer needed
            programs.end()
            raise


@contextlib.contextmanager
def _timed(kind: str, texts: Collection[str], what: str, progress: Callable[[str], None]) -> Iterator[None]:
    """Report how long a build may take, and record how long it took."""
    bytes, began = sum(map(len, texts)), time.monotonic()
    progress(f"building {what}: about {in_words(estimate(kind, bytes))}, once; it is kept in {cache_folder()}")
    try:
        yield
    finally:
        progress("")
    seconds = time.monotonic() - began
    remember(kind, bytes, seconds)


def _has_compression(programs: Programs, tools: Tools) -> bool:
    """Whether the headers of zlib and LZ4 are installed, which compress waveforms."""
    probe = programs.run([tools.cxx, "-E", "-x", "c++", "-"], input="#include <zlib.h>\n#include <lz4.h>\n")
    return probe.returncode == 0


def _compression_headers(programs: Programs, tools: Tools) -> list[str]:
    return [] if _has_compression(programs, tools) else [f"-I{HERE / 'runtime' / 'compat'}"]


def _compression_libraries(programs: Programs, tools: Tools) -> list[str]:
    return ["-llz4", "-lz"] if _has_compression(programs, tools) else []


def _jobs() -> int:
    """Compilers in parallel: ``$SLUICE_JOBS`` or the number of processors."""
    return number("SLUICE_JOBS", os.cpu_count() or 1, 4096)


def _run(
    programs: Programs, command: list[str], message: str, folder: Path, environment: Mapping[str, str] | None = None
) -> None:
    """Run a program in ``folder``, which also holds its temporary files: they are removed with the folder when the
    program is killed."""
    result = programs.run(command, folder, {**(environment or os.environ), "TMPDIR": str(folder)})
    if result.returncode != 0:
        log = (result.stdout + result.stderr).strip()
        errors = [line for line in log.splitlines() if "rror" in line]
        error = BuildError(f"{message}: {errors[0] if errors else log[-300:]}", log)
        if machine_trouble(BuildError(log)) is not None:
            error.args = (f"{error}; there is not enough memory: SLUICE_JOBS=1 takes less",)
        raise error
