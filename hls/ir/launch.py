"""The index space of a launch, and the hidden arguments that pass it to a kernel."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from .attributes import Attr
from .nodes import Function, Value

__all__ = [
    "BYTES_BITS",
    "BYTES_OF",
    "DEFAULT_GROUP",
    "OVERLAP",
    "PER_GROUP",
    "PER_UNIT",
    "IndexSpace",
    "bytes_argument",
    "compute_units",
    "copied_buffers",
    "hidden_arguments",
    "host_arguments",
    "is_part",
    "lanes_of",
    "launch_value",
    "may_be_offset",
    "most_dims",
    "most_tokens",
    "most_work_items",
    "per_group",
    "units_of",
    "whole_of",
]

#: the hidden argument (1 bit) that says whether two buffer arguments of this launch may share bytes; 1 is always safe
OVERLAP = "overlap"
#: prefix of the hidden arguments that say how many bytes a buffer argument of this launch has, in so many bits; 0, for
#: a size that is not known, is always safe
BYTES_OF, BYTES_BITS = "bytes_of_", 32
#: most work-items of a group where they synchronize at barriers and the program does not say how many they are
DEFAULT_GROUP = 256
#: prefixes of the hidden arguments that differ between compute units, and between groups
PER_UNIT, PER_GROUP = "compute_id", ("group_start", "group_id", "group_turn")


def bytes_argument(buffer: str) -> str:
    """The name of the hidden argument that has the bytes of a buffer."""
    return BYTES_OF + buffer


def copied_buffers(function: Function) -> tuple[str, ...]:
    """The buffers that a kernel works on copies of, in launches in which each of them is small enough."""
    return tuple(name.removeprefix(BYTES_OF) for name in hidden_arguments(function) if name.startswith(BYTES_OF))


def launch_value(name: str, space: "IndexSpace", overlap: bool, sizes: Mapping[str, int]) -> int:
    """The value of a hidden argument that the host sets, in a launch whose buffers have ``sizes`` in bytes, by name,
    and ``overlap`` or not. A size that does not fit the argument is the largest that does."""
    if name == OVERLAP:
        return int(overlap)
    if name.startswith(BYTES_OF):
        return min(sizes.get(name.removeprefix(BYTES_OF), 0), (1 << BYTES_BITS) - 1)
    return space.argument(name)


def lanes_of(function: Function) -> int:
    """The number of work-items, adjacent in dimension 0, that one run of the body executes."""
    return function.attrs.get(Attr.LANES, 1)


def most_dims(function: Function) -> int:
    """The most dimensions of a launch: 1 to 3."""
    return function.attrs.get(Attr.MAX_GLOBAL_WORK_DIM, 3) or 1


def may_be_offset(function: Function) -> bool:
    """Whether the first global id of a launch may be another one than 0."""
    return bool(function.attrs.get(Attr.USES_GLOBAL_WORK_OFFSET, 1))


def units_of(function: Function) -> int:
    """The number of compute units that share the groups of a launch. With more than one, the function runs once per
    group."""
    return function.attrs.get(Attr.UNITS, 1)


def compute_units(function: Function) -> tuple[int, ...]:
    """The number of copies, or of compute units, in each of one to three dimensions; the last one counts fastest."""
    units = function.attrs.get(Attr.NUM_COMPUTE_UNITS, 1)
    return units if isinstance(units, tuple) else (units,)


def is_part(function: Function) -> bool:
    """Whether the function is one of several parts of a split kernel, all of which one launch starts."""
    return Attr.PARTS in function.attrs or Attr.PART_OF in function.attrs


def whole_of(function: Function) -> str:
    """The name of the kernel in the source: of a part of a split kernel, that of the whole."""
    return str(function.attrs.get(Attr.PART_OF, function.name))


def hidden_arguments(function: Function) -> dict[str, Value]:
    """The hidden arguments by name, in order."""
    names = function.attrs.get(Attr.LAUNCH_ARGS, ())
    return dict(zip(names, function.args[len(function.args) - len(names) :], strict=True))


def host_arguments(function: Function) -> tuple[str, ...]:
    """Names of the hidden arguments that the host sets."""
    return tuple(name for name in hidden_arguments(function) if not name.startswith((PER_UNIT, *PER_GROUP)))


def per_group(function: Function) -> dict[str, Value]:
    """The hidden arguments that come with each group: ``group_start_D``, the first global id of the group in dimension
    D, ``group_id_D``, and ``group_turn``, the number of groups that the unit took before."""
    return {name: value for name, value in hidden_arguments(function).items() if name.startswith(PER_GROUP)}


def most_tokens(function: Function) -> int:
    """The most runs of the body for one group, in a kernel with barriers."""
    return max(1, most_work_items(function) // lanes_of(function))


def most_work_items(function: Function) -> int:
    """The largest group that a kernel with barriers is built for."""
    sizes = function.attrs.get(Attr.WORK_GROUP_SIZE) or function.attrs.get(Attr.MAX_WORK_GROUP_SIZE) or DEFAULT_GROUP
    return sizes if isinstance(sizes, int) else prod(sizes)


def group_limit(function: Function, meets: bool) -> int | None:
    """The largest group that fits where work-items synchronize at barriers, or that the program allows; None for
    any."""
    return most_work_items(function) if meets or Attr.MAX_WORK_GROUP_SIZE in function.attrs else None


@dataclass(frozen=True)
class IndexSpace:
    """Sizes and offset of a launch, three dimensions each; constructed by :meth:`of`."""

    global_size: tuple[int, int, int]
    local_size: tuple[int, int, int]
    offset: tuple[int, int, int]
    work_dim: int

    @classmethod
    def of(
        cls, global_size: Sequence[int], local_size: Sequence[int] | None = None, offset: Sequence[int] | None = None
    ) -> "IndexSpace":
        """Missing dimensions have size 1 and offset 0; a missing local size is 1 everywhere.

        Raises ValueError for sizes below 1 and for a global size that is not a multiple of the local one.
        """
        whole, group = _three(global_size, 1), _three(local_size or (1,), 1)
        if any(g < 1 or size < 1 or g % size for g, size in zip(whole, group)):
            raise ValueError(f"global size {whole} is not a positive multiple of {group}")
        return cls(whole, group, _three(offset or (), 0), len(global_size))

    @property
    def groups(self) -> tuple[int, ...]:
        """The number of groups in each dimension."""
        return tuple(g // size for g, size in zip(self.global_size, self.local_size))

    def argument(self, name: str) -> int:
        """The value of a hidden kernel argument (a name in the kernel's ``launch_args``).

        ``work_dim``; ``global_size_D``, ``local_size_D``, ``num_groups_D`` and ``global_offset_D`` for dimension D;
        ``global_count_DE``, ``local_count_DE``, ``group_count_DE``: the product over the dimensions D, E... of the
        global sizes, of the local sizes, of the numbers of groups.
        """
        if name == "work_dim":
            return self.work_dim
        stem, _, dims = name.rpartition("_")
        if stem in self._counted():
            return prod(self._counted()[stem][int(d)] for d in dims)
        return self._sizes()[stem][int(dims)]

    def _counted(self) -> dict[str, tuple[int, ...]]:
        return {"global_count": self.global_size, "local_count": self.local_size, "group_count": self.groups}

    def _sizes(self) -> dict[str, tuple[int, ...]]:
        return {
            "compute_id": (0, 0, 0),
            "global_size": self.global_size,
            "local_size": self.local_size,
            "num_groups": self.groups,
            "global_offset": self.offset,
        }

    def group_arguments(self) -> Iterator[dict[str, int]]:
        """The arguments of every group (see :func:`per_group`) if one unit takes all of them; x fastest."""
        for turn, group in enumerate(_places(self.groups)):
            given = {"group_turn": turn}
            for d in range(3):
                given |= {f"group_id_{d}": group[d], f"group_start_{d}": group[d] * self.local_size[d] + self.offset[d]}
            yield given

    def work_groups(self, lanes: int = 1) -> Iterator[list[dict[tuple[str, int], int]]]:
        """For every work-item of each group the result of each (query, dimension); x fastest. With ``lanes``, only for
        the first of so many adjacent work-items. Raises ValueError if ``lanes`` does not divide the group."""
        self.check_lanes(lanes)
        same = {("work_dim", 0): self.work_dim}
        same |= {(fn, d): sizes[d] for fn, sizes in self._sizes().items() for d in range(3)}
        for group in _places(self.groups):
            yield [same | self._ids(group, local) for local in _places(self.local_size) if local[0] % lanes == 0]

    def check_lanes(self, lanes: int) -> None:
        """Raise ValueError if so many adjacent work-items in dimension 0 do not divide the group."""
        if self.local_size[0] % lanes:
            raise ValueError(f"the group size {self.local_size[0]} is not a multiple of {lanes} lanes")

    def _ids(self, group, local) -> dict[tuple[str, int], int]:
        ids = {}
        for d in range(3):
            ids["group_id", d], ids["local_id", d] = group[d], local[d]
            ids["global_id", d] = group[d] * self.local_size[d] + local[d] + self.offset[d]
        return ids


def _three(numbers: Sequence[int], missing: int) -> tuple[int, int, int]:
    x, y, z = tuple(numbers) + (missing,) * (3 - len(numbers))
    return x, y, z


def _places(sizes) -> Iterator[tuple[int, ...]]:
    for place in itertools.product(*(range(n) for n in reversed(sizes))):
        yield place[::-1]
