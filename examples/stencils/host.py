"""Heat in a chip, the cheapest path through a grid, and speckles in an image: tiles with halos."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Board, Launch, check, options

F = np.float32
TILE, WIDTH = 16, 256
HEAT_STEPS, PATH_STEPS = 2, 8
#: conductance to the sides, to above and below, ambient temperature, conductance to it, heat of a unit of power
CHIP = tuple(map(F, (0.1, 0.05, 80.0, 0.001, 0.2)))


def around(grid):
    """The neighbours above, below, left and right; beyond the border the border's values are repeated."""
    wide = np.pad(grid, 1, mode="edge")
    return wide[:-2, 1:-1], wide[2:, 1:-1], wide[1:-1, :-2], wide[1:-1, 2:]


def hotspot_golden(heat, power):
    to_side, to_above, outside, to_outside, heats = CHIP
    for _ in range(HEAT_STEPS):
        north, south, west, east = around(heat)
        heat = heat + heats * (
            power
            + (south + north - F(2) * heat) * to_above
            + (east + west - F(2) * heat) * to_side
            + (outside - heat) * to_outside
        )
    return heat


def path_golden(walls):
    cost = walls[0]
    for row in walls[1:]:
        wide = np.pad(cost, 1, mode="edge")
        cost = np.minimum(cost, np.minimum(wide[:-2], wide[2:])) + row
    return cost


def srad_golden(image, variance, rate):
    """The diffusion coefficient of each point, and its new value."""
    north, south, west, east = (part - image for part in around(image))
    slope = (north * north + south * south + west * west + east * east) / (image * image)
    curve = (north + south + west + east) / image
    across = F(1) + F(0.25) * curve
    q = (F(0.5) * slope - F(0.0625) * curve * curve) / (across * across)
    weights = np.clip(F(1) / (F(1) + (q - variance) / (variance * (F(1) + variance))), F(0), F(1))
    _, below, _, behind = around(weights)
    return weights, image + rate * (weights * north + below * south + weights * west + behind * east)


def hotspot(board, side, rng):
    power, heat = rng.random((2, side, side), dtype=F)
    heat = heat * F(40) + F(300)
    devices = [board.buffer(values) for values in (power, heat, np.zeros_like(heat))]
    useful = TILE - 2 * HEAT_STEPS
    tiles = -(-side // useful)
    event = board.run(
        "hotspot",
        (tiles * TILE, tiles * TILE),
        (TILE, TILE),
        *devices,
        np.int32(side),
        np.int32(side),
        np.int32(HEAT_STEPS),
        *CHIP,
    )
    check("hotspot", board.fetch(devices[2], heat), hotspot_golden(heat, power))
    return Launch("hotspot", event, trips=(tiles * TILE) ** 2 * HEAT_STEPS, bytes=3 * heat.nbytes)


def pathfinder(board, columns, rng):
    walls = rng.integers(0, 10, (2 * PATH_STEPS + 1, columns), dtype=np.int32)
    walls_dev, here, there = board.buffer(walls), board.buffer(walls[0]), board.buffer(np.zeros_like(walls[0]))
    tiles = -(-columns // (WIDTH - 2 * PATH_STEPS))
    for first in (1, 1 + PATH_STEPS):
        event = board.run(
            "pathfinder",
            (tiles * WIDTH,),
            (WIDTH,),
            walls_dev,
            here,
            there,
            np.int32(columns),
            np.int32(first),
            np.int32(PATH_STEPS),
        )
        here, there = there, here
    check("pathfinder", board.fetch(here, walls[0]), path_golden(walls))
    return Launch("pathfinder", event, trips=tiles * WIDTH * PATH_STEPS, bytes=(PATH_STEPS + 2) * walls[0].nbytes)


def srad(board, side, rng):
    side = -(-side // TILE) * TILE
    image = np.exp(rng.random((side, side), dtype=F))
    variance, rate = F(0.05), F(0.125)
    image_dev, weights = board.buffer(image), board.buffer(np.zeros_like(image))
    gradients = board.buffer(np.zeros((*image.shape, 4), F))
    size, group, sides = (side, side), (TILE, TILE), (np.int32(side), np.int32(side))
    first = board.run("srad_weights", size, group, image_dev, gradients, weights, *sides, variance)
    second = board.run("srad_update", size, group, image_dev, gradients, weights, *sides, rate)
    expected = srad_golden(image, variance, rate)
    for name, device, values in zip(("srad_weights", "srad_update"), (weights, image_dev), expected, strict=True):
        check(name, board.fetch(device, image), values)
    return [
        Launch("srad_weights", first, trips=side * side, bytes=6 * image.nbytes),
        Launch("srad_update", second, trips=side * side, bytes=7 * image.nbytes),
    ]


def main(argv=None):
    args = options(__doc__, argv, chip=96, columns=3840, image=128)
    board, rng = Board(cl, HERE / "kernel.cl"), np.random.default_rng(16)
    return [hotspot(board, args.chip, rng), pathfinder(board, args.columns, rng), *srad(board, args.image, rng)]


if __name__ == "__main__":
    main()
