"""Reports of ten kernels against goldens, compared by field, and what holds for every report."""

import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from hls import Options, compile
from hls.report import json as report_json
from hls.report import schema, text
from hls.report.collect import collect

FOLDER = Path(__file__).with_name("goldens")
SOURCES = sorted(path.stem for path in FOLDER.glob("*.cl"))
#: fields that depend on more than the source: the time, the version, and figures that every change of a part moves
UNSTABLE = frozenset({"info", "sources", "area", "lines", "resources", "shared", "counters", "verdict"})


@pytest.fixture(scope="module", params=SOURCES)
def report(request):
    source = (FOLDER / f"{request.param}.cl").read_text()
    name = f"{request.param}.cl"
    return request.param, collect(compile(source, "de5net", Options(copy_bytes=0), name), name)


def stable(value):
    """The report without unstable fields."""
    if isinstance(value, list):
        return [stable(item) for item in value]
    if isinstance(value, dict):
        return {key: stable(item) for key, item in value.items() if key not in UNSTABLE}
    return value


def differences(golden, found, path: str = "") -> Iterator[str]:
    """Fields that differ, each with both values. A field that the golden lacks is new, and no difference."""
    if isinstance(golden, dict) and isinstance(found, dict):
        for key in golden:
            yield from differences(golden[key], found.get(key, "missing"), f"{path}.{key}")
    elif isinstance(golden, list) and isinstance(found, list) and len(golden) == len(found):
        for number, (one, other) in enumerate(zip(golden, found, strict=True)):
            yield from differences(one, other, f"{path}[{number}]")
    elif golden != found:
        yield f"{path}: {golden!r} was expected, not {found!r}"


def test_there_are_ten():
    assert len(SOURCES) == 10


def test_fields_are_those_of_the_golden(report, request):
    name, made = report
    golden, found = FOLDER / f"{name}.json", stable(report_json.plain(made))
    if request.config.getoption("--refresh"):
        golden.write_text("".join(report_json.written(found, "")) + "\n")
    assert not list(differences(json.loads(golden.read_text()), json.loads(json.dumps(found))))


def test_the_report_conforms_to_the_schema(report):
    jsonschema.validate(json.loads(report_json.render(report[1])), schema.schema())


def spans(value) -> Iterator[dict]:
    if isinstance(value, list):
        for item in value:
            yield from spans(item)
    elif isinstance(value, dict):
        if value.keys() == {"file", "line", "column", "length"}:
            yield value
        else:
            for key, item in value.items():
                yield from spans(item) if key != "sources" else ()


def test_spans_are_within_the_sources(report):
    data = report_json.plain(report[1])
    lines = {source["file"]: source["text"].splitlines() for source in data["sources"]}
    found = list(spans(data))
    assert found
    for span in found:
        assert 1 <= span["line"] <= len(lines[span["file"]])
        assert span["column"] <= len(lines[span["file"]][span["line"] - 1]) + 1


def loops_of(kernel) -> Iterator:
    left = list(kernel.loops)
    while left:
        loop = left.pop()
        yield loop
        left += loop.children


def test_ids_are_unique_and_those_that_are_named_exist(report):
    for kernel in report[1].kernels:
        loops = [loop.id for loop in loops_of(kernel)]
        accesses = [one.id for one in (*kernel.accesses, *kernel.local_accesses)]
        assert len(set(loops)) == len(loops) and len(set(accesses)) == len(accesses)
        named = [one.loop for one in (*kernel.accesses, *kernel.local_accesses) if one.loop is not None]
        named += [one.loop for one in (*kernel.variables, *kernel.schedule) if one.loop]
        named += [op.loop for region in kernel.schedule for op in region.operations if op.loop]
        assert set(named) <= set(loops)
        waited = [wait.access for one in kernel.accesses for wait in one.waits_for]
        waited += [id for memory in kernel.memories for port in memory.ports for id in port.accesses]
        waited += [op.access for region in kernel.schedule for op in region.operations if op.access]
        assert set(waited) <= set(accesses)
        for memory in kernel.memories:
            assert {port.bank for port in memory.ports} <= set(range(memory.banks)) and memory.ports
        for entry in report[1].bottlenecks:
            if entry.kernel == kernel.name:
                assert (entry.loop in loops) != (entry.access in accesses)


def test_schedules_are_consistent(report):
    for kernel in report[1].kernels:
        for region in kernel.schedule:
            by_id = {op.id: op for op in region.operations}
            assert len(by_id) == len(region.operations)
            for edge in region.edges:
                source, target = by_id[edge.source], by_id[edge.target]
                if edge.distance == 0 and edge.kind == "data":
                    assert (source.level, source.stage) <= (target.level, target.stage)
            assert set(region.critical) <= by_id.keys()
            assert all(op.stage < region.levels[op.level].depth for op in region.operations if not op.variable)


def test_sentences_of_the_data_are_those_of_the_text(report):
    shown = " ".join(text.render(report[1]).replace("|", " ").split())
    for kernel in report[1].kernels:
        for loop in loops_of(kernel):
            assert loop.sentence
            causes = [loop.bottleneck, *(region.cause for region in loop.serial), *loop.additional]
            for one in (*filter(None, causes), *loop.conflicts):
                assert one.sentence and one.sentence[1:] in shown
    unknown = [one for one in report[1].bottlenecks if one.cycles is None]
    said = "Where the trip count is known only at run time, the order assumes 1,000 iterations." in shown
    assert said == bool(unknown and len(report[1].bottlenecks) > 1)


def test_the_text_names_every_loop_and_begins_with_the_verdict(report):
    shown = text.render(report[1]).splitlines()
    for number, kernel in enumerate(report[1].kernels):
        assert kernel.verdict and f"kernel {kernel.name}" in shown[1 + number]
    assert len(text.render(report[1], brief=True)) < len(text.render(report[1]))
