"""Pictures: SVG that notebooks show, and the layout of small state graphs."""

from __future__ import annotations

import base64
import html
import os
from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence, Union


@dataclass(frozen=True)
class Picture:
    """A picture as SVG. Notebooks show it."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        # nbconvert of Debian 12 removes everything but the texts of an SVG when it writes HTML, and leaves images alone.
        return f'<img alt="picture" src="data:image/svg+xml;base64,{base64.b64encode(self.svg.encode()).decode()}">'

    def __repr__(self) -> str:
        return f"<Picture, {len(self.svg)} bytes of SVG>"

    def save(self, file: Union[str, os.PathLike[str]]) -> None:
        """Writes the picture to a file."""
        with open(file, "w", encoding="utf-8") as out:
            out.write(self.svg)


_HEIGHT = 36  # of the box of a node
_ROW = 90  # distance of rows
_LETTER = 7  # width of a letter at most


@dataclass(frozen=True)
class _Layout:
    """Where the boxes are. corners are the upper left ones; column is the distance of columns."""

    corners: list[tuple[int, int]]
    width: int
    column: int


def draw_graph(boxes: Sequence[Sequence[str]], edges: Mapping[tuple[int, int], str], initial: Iterable[int]) -> Picture:
    """Draws a graph from left to right: each column has the nodes with the same distance from the initial ones.

    boxes has the one or two lines of text of each node; edges has the text of each arrow.
    """
    first = set(initial)
    longest = max((len(line) for lines in boxes for line in lines), default=0)
    width = min(260, _LETTER * longest + 16)
    column = width + 30 + min(200, _LETTER * max(map(len, edges.values()), default=0))
    layout = _Layout(_corners(len(boxes), edges, sorted(first), column), width, column)
    right = max((x for x, _ in layout.corners), default=0) + width + 20
    below = max((y for _, y in layout.corners), default=0) + _HEIGHT + 80
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -50 {right} {below}" width="{right}" font-family="sans-serif" font-size="11" text-anchor="middle">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>',
    ]
    parts += [_arrow(layout, source, target, text) for (source, target), text in edges.items()]
    parts += [_box(layout, node, lines, node in first) for node, lines in enumerate(boxes)]
    return Picture("\n".join([*parts, "</svg>"]))


def _corners(count: int, edges: Iterable[tuple[int, int]], initial: Iterable[int], column: int) -> list[tuple[int, int]]:
    """Returns the upper left corner of each node's box. Nodes that no initial one reaches are in the first column."""
    successors: dict[int, list[int]] = {}
    for source, target in edges:
        successors.setdefault(source, []).append(target)
    layer = dict.fromkeys(initial, 0)
    queue = list(layer)
    for node in queue:
        for target in successors.get(node, ()):
            if target not in layer:
                layer[target] = layer[node] + 1
                queue.append(target)
    rows: dict[int, int] = {}
    corners = [(0, 0)] * count
    for node in [*queue, *(node for node in range(count) if node not in layer)]:
        at = layer.get(node, 0)
        row = rows.get(at, 0)
        rows[at] = row + 1
        corners[node] = (at * column, row * _ROW)
    return corners


def _box(layout: _Layout, node: int, lines: Sequence[str], initial: bool) -> str:
    """Returns the box of a node. An initial one has a thick frame."""
    x, y = layout.corners[node]
    top = y + _HEIGHT // 2 + 10 - 6 * len(lines)
    texts = "".join(f'<text x="{x + layout.width // 2}" y="{top + 13 * i}">{html.escape(line)}</text>' for i, line in enumerate(lines))
    frame = f'x="{x}" y="{y}" width="{layout.width}" height="{_HEIGHT}" rx="6" fill="#fff" stroke="#246" stroke-width="{3 if initial else 1}"'
    return f"<g><rect {frame}/>{texts}</g>"


def _arrow(layout: _Layout, source: int, target: int, text: str) -> str:
    """Returns the arrow between two boxes: a line into the next column, otherwise a curve above or below what is between."""
    (x1, y1), (x2, y2), width = layout.corners[source], layout.corners[target], layout.width
    if source == target:
        middle = x1 + width // 2
        path = f"M{middle - 15} {y1}C{middle - 25} {y1 - 35} {middle + 25} {y1 - 35} {middle + 15} {y1}"
        return _labelled(path, middle, y1 - 29, text)
    if x2 == x1 + layout.column:
        begin, end = (x1 + width, y1 + _HEIGHT // 2), (x2, y2 + _HEIGHT // 2)
        bend = (begin[0] + end[0]) // 2, (begin[1] + end[1]) // 2
    elif x2 > x1:
        begin, end = (x1 + width // 2 + 15, y1), (x2 + width // 2 - 15, y2)
        bend = (begin[0] + end[0]) // 2, min(y1, y2) - 60
    else:
        begin, end = (x1 + width // 2 - 15, y1 + _HEIGHT), (x2 + width // 2 + 15, y2 + _HEIGHT)
        bend = (begin[0] + end[0]) // 2, max(y1, y2) + _HEIGHT + 50
    x, y = (begin[0] + 2 * bend[0] + end[0]) // 4, (begin[1] + 2 * bend[1] + end[1]) // 4
    return _labelled(f"M{begin[0]} {begin[1]}Q{bend[0]} {bend[1]} {end[0]} {end[1]}", x, y - 3, text)


def _labelled(path: str, x: int, y: int, text: str) -> str:
    """Returns an arrow with a text at a point."""
    return (
        f'<path d="{path}" fill="none" stroke="#555" marker-end="url(#tip)"/>'
        f'<text x="{x}" y="{y}" stroke="#fff" stroke-width="3" paint-order="stroke">{html.escape(text)}</text>'
    )


def join(values: Mapping[str, Any]) -> str:
    """Returns values of variables as a text."""
    return ", ".join(f"{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in values.items())
