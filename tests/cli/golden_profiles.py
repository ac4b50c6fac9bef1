"""Golden profiles: what a run measured, every cycle of it, without what differs from run to run of one design.

A design and its memories are simulated cycle by cycle, so all figures are the same each time but the host's wall time.
`pytest --refresh` rewrites the files; look at the diff before committing it.
"""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "profiles"


def stable(profile: dict[str, Any]) -> dict[str, Any]:
    """The profile without wall times, sources, areas (which reports have) and samples (whose sums are the accounts);
    other tests check those."""
    return profile | {
        "command": profile["command"][1:],
        "programs": [
            {key: value for key, value in one.items() if key not in ("source", "areas")} for one in profile["programs"]
        ],
        "commands": [{key: value for key, value in one.items() if key != "host_s"} for one in profile["commands"]],
        "launches": [{key: value for key, value in one.items() if key != "samples"} for one in profile["launches"]],
    }


def text_of(profile: dict[str, Any]) -> str:
    """A line for each record, so that a diff shows which one changed."""
    lines = ["{"]
    for key, value in stable(profile).items():
        lines.append(f" {json.dumps(key)}:")
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines += [text for one in value for text in _record(one)]
        else:
            lines.append(f"  {json.dumps(value)}")
    return "\n".join([*lines, "}"]) + "\n"


def _record(record: dict[str, Any]) -> list[str]:
    """A record: its plain fields in one line, then each entry of its lists in one of its own."""
    lists = {key: value for key, value in record.items() if isinstance(value, list) and value != []}
    nested = {key: value for key, value in lists.items() if isinstance(value[0], dict)}
    lines = [f"  {json.dumps({key: value for key, value in record.items() if key not in nested})}"]
    return lines + [f"    {key}: {json.dumps(one)}" for key, entries in nested.items() for one in entries]


def check_sums(profile: dict[str, Any]) -> None:
    """That accounts sum to the cycles, in each launch, interval by interval and by kernel; and that the blame of waits
    for channels, and what is held up, sum to what was counted."""
    for one in profile["launches"]:
        assert sum(account["cycles"] for account in one["accounts"]) == one["cycles"]
        waits = sum(account["cycles"] for account in one["accounts"] if account["category"] == "channel")
        assert sum(blame["cycles"] for blame in one["blame"]) == waits or len(one["units"]) > 1
        for access in one["accesses"] if not one["units"] else ():
            held = sum(held["cycles"] for held in one["held"] if held["id"] == access["id"])
            assert held == round(access["stall"] * one["cycles"])
        for samples in one["samples"]:
            columns = {column["id"]: column["values"] for column in samples["columns"] if column["kind"] == "account"}
            assert sum(map(sum, columns.values())) == one["cycles"]
            accounts = one["units"][samples["unit"]]["accounts"] if one["units"] else one["accounts"]
            assert {key: sum(values) for key, values in columns.items()} == {
                account["id"]: account["cycles"] for account in accounts
            }
    launched = [one for one in profile["launches"] if not one["capture"] or one["of"] is not None]
    for kernel in profile["kernels"]:
        launches = [one for one in launched if one["kernel"] == kernel["name"]]
        assert kernel["cycles"] == sum(one["cycles"] for one in launches) and kernel["launches"] == len(launches)
        assert kernel["cycles"] == sum(account["cycles"] for account in kernel["accounts"])


def check_golden(name: str, profile: dict[str, Any], refresh: bool) -> None:
    """Compare with the golden file, or with ``refresh`` write it."""
    path, text = FOLDER / f"{name}.txt", text_of(profile)
    if refresh:
        FOLDER.mkdir(exist_ok=True)
        path.write_text(text)
    assert path.read_text() == text
