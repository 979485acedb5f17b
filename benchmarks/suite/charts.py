"""Charts: horizontal bars on a logarithmic scale, drawn twice from one list of shapes, as SVG and as PNG.

SVG is written by hand. PNG needs matplotlib, which brings its own fonts; without it there is none, and the run says so.
"""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import msgspec

from benchmarks.suite.results import Report
from benchmarks.suite.rivals import RIVALS

_WIDTH, _LEFT, _RIGHT, _TOP = 900, 190, 110, 64  # pixels
_BAR, _GAP, _GROUP = 18, 5, 30
_INK, _PALE, _BACK = "#1f2937", "#6b7280", "#ffffff"
_DOTS = 150  # per inch, of PNG


class Box(msgspec.Struct, frozen=True):
    """A filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    colour: str


class Text(msgspec.Struct, frozen=True):
    """A line of text; y is its middle."""

    x: float
    y: float
    text: str
    size: int = 12
    colour: str = _INK
    anchor: str = "start"
    bold: bool = False


class Chart(msgspec.Struct, frozen=True):
    """What one chart shows.

    Args:
        name: of the files.
        title: above it.
        note: below the title.
        bars: (transport, workload, figure, heading of the group).
        digits: of the values.
    """

    name: str
    title: str
    note: str
    bars: tuple[tuple[str, str, str, str], ...]
    digits: int = 0


_BOTH = (("http", "HTTP"), ("stdio", "stdio"))


def _both(workload: str, figure: str, heading: str) -> tuple[tuple[str, str, str, str], ...]:
    return tuple((transport, workload, figure, f"{heading}, {place}") for transport, place in _BOTH)


CHARTS = (
    Chart("calls", "Calls per second", "one server core; more is better", _both("echo", "calls_per_s", "echo")),
    Chart(
        "cpu",
        "Server CPU per call, microseconds",
        "user and system; less is better",
        (*_both("echo", "cpu_us", "echo"), *_both("nested", "cpu_us", "nested arguments, structured output")),
        1,
    ),
    Chart(
        "latency",
        "Latency at half of each server's own saturation, microseconds",
        "open loop, counted from when a call was due; less is better",
        tuple(
            ("http", "open-half", figure, f"{title}, HTTP")
            for figure, title in (("p50_us", "p50"), ("p99_us", "p99"), ("p99.9_us", "p99.9"))
        ),
    ),
    Chart(
        "memory",
        "Resident memory, megabytes",
        "behind the echo run; less is better",
        _both("echo", "memory_mb", "echo"),
        1,
    ),
    Chart(
        "start",
        "Start to first answer, milliseconds",
        "less is better",
        (
            *_both("start", "start_ms", "start"),
            ("process", "import", "import_ms", "import alone (floor: asyncio, msgspec, orjson)"),
        ),
    ),
)


def draw(report: Report, folder: Path) -> list[Path]:
    """Write all charts that there are figures for; return the files."""
    written = []
    drawable = png_reason() == ""
    for chart in CHARTS:
        shapes, height = _shapes(chart, report)
        if height == 0:
            continue
        path = folder / f"{chart.name}.svg"
        path.write_text(svg(shapes, height))
        written.append(path)
        if drawable:
            _png(shapes, height, path.with_suffix(".png"))
            written.append(path.with_suffix(".png"))
    return written


def png_reason() -> str:
    """Return why there are no PNG files, "" where there are."""
    return "" if importlib.util.find_spec("matplotlib") else "matplotlib is not installed: pip install -e '.[bench]'"


def _shapes(chart: Chart, report: Report) -> tuple[list[Box | Text], float]:
    groups = []
    for transport, workload, figure, heading in chart.bars:
        bars = []
        for rival in RIVALS:
            row = report.row(rival.name, transport, workload)
            if row is not None and figure in row.figures and row.figures[figure].median > 0:
                bars.append((rival.name, row.figures[figure].median, rival.colour))
        if bars:
            groups.append((heading, bars))
    if not groups:
        return [], 0
    values = [value for _, bars in groups for _, value, _ in bars]
    low = 10 ** math.floor(math.log10(min(values)) - 0.3)
    high = max(max(values), low * 10)
    shapes: list[Box | Text] = [
        Text(20, 24, chart.title, 17, bold=True),
        Text(20, 46, f"{chart.note}; logarithmic scale", 12, _PALE),
    ]
    y = float(_TOP)
    for heading, bars in groups:
        shapes.append(Text(20, y + _GROUP / 2, heading, 13, bold=True))
        y += _GROUP
        for name, value, colour in bars:
            width = (_WIDTH - _LEFT - _RIGHT) * math.log(value / low) / math.log(high / low)
            shapes.append(Text(_LEFT - 10, y + _BAR / 2, name, anchor="end"))
            shapes.append(Box(_LEFT, y, width, _BAR, colour))
            shapes.append(Text(_LEFT + width + 7, y + _BAR / 2, f"{value:,.{chart.digits}f}"))
            y += _BAR + _GAP
    footer = f"{report.environment.get('cpu', '')}; {report.environment.get('date', '')}"
    shapes.append(Text(20, y + 16, footer, 10, _PALE))
    return shapes, y + 32


def svg(shapes: list[Box | Text], height: float) -> str:
    """Return a drawing as SVG."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height:.0f}" '
        f'viewBox="0 0 {_WIDTH} {height:.0f}" font-family="system-ui, DejaVu Sans, sans-serif">',
        f'<rect width="100%" height="100%" fill="{_BACK}"/>',
    ]
    for shape in shapes:
        if isinstance(shape, Box):
            parts.append(
                f'<rect x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}" height="{shape.height:.1f}" '
                f'rx="2" fill="{shape.colour}"/>'
            )
            continue
        weight = ' font-weight="bold"' if shape.bold else ""
        parts.append(
            f'<text x="{shape.x:.1f}" y="{shape.y + shape.size * 0.36:.1f}" font-size="{shape.size}" '
            f'fill="{shape.colour}" text-anchor="{shape.anchor}"{weight}>{escape(shape.text)}</text>'
        )
    return "\n".join((*parts, "</svg>", ""))


def _png(shapes: list[Box | Text], height: float, path: Path) -> None:
    # Here, because it is large and may be absent.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    scale = 100  # pixels of the drawing to an inch
    figure: Any = Figure(figsize=(_WIDTH / scale, height / scale), dpi=_DOTS, facecolor=_BACK)
    FigureCanvasAgg(figure)
    axes: Any = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, _WIDTH)
    axes.set_ylim(height, 0)
    axes.axis("off")
    for shape in shapes:
        if isinstance(shape, Box):
            axes.add_patch(
                Rectangle((shape.x, shape.y), shape.width, shape.height, facecolor=shape.colour, linewidth=0)
            )
            continue
        axes.text(
            shape.x,
            shape.y,
            shape.text,
            fontsize=shape.size * 72 / scale,
            color=shape.colour,
            ha="right" if shape.anchor == "end" else "left",
            va="center",
            fontweight="bold" if shape.bold else "normal",
        )
    figure.savefig(path)
