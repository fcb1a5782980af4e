"""A player for tilecheck's line protocol: python3 examples/player.py

    tilecheck play "exec:python3 examples/player.py" --games 20 --seed 1

It makes the move that leaves the most empty cells, of equals the first of left, down, right, up.
docs/play.md, "External players", describes the lines.
"""

import sys


def slide(row):
    """Slides a row to the left; equal neighbours merge once."""
    tiles = [t for t in row if t]
    out = []
    while tiles:
        if len(tiles) > 1 and tiles[0] == tiles[1]:
            out.append(2 * tiles[0])
            tiles = tiles[2:]
        else:
            out.append(tiles[0])
            tiles = tiles[1:]
    return out + [0] * (len(row) - len(out))


def move(board, direction):
    """Returns the board after a move, before the new tile."""
    vertical = direction in ("up", "down")
    lines = [list(line) for line in (zip(*board) if vertical else board)]
    if direction in ("right", "down"):
        lines = [slide(line[::-1])[::-1] for line in lines]
    else:
        lines = [slide(line) for line in lines]
    return [list(line) for line in zip(*lines)] if vertical else lines


def choose(board):
    best, most = None, -1
    for direction in ("left", "down", "right", "up"):
        after = move(board, direction)
        empty = sum(row.count(0) for row in after)
        if after != board and empty > most:
            best, most = direction, empty
    return best


for line in sys.stdin:
    word, _, rest = line.strip().partition(" ")
    if word == "board":  # other lines need no answer
        rows = [[0 if t == "." else int(t) for t in row.split()] for row in rest.split("/")]
        print(choose(rows), flush=True)
