# SPDX-License-Identifier: Apache-2.0
"""The picture next to the file of --json: every ratio to the reference, growth and sharing, below each other."""
import math

from matplotlib import ticker

import pictures
import tables
from drawing import INK, PALE, colour, page, save

AGAIN = "#d97706"
NOISE = "#fde68a"
PANELS_PER_ROW = 3
SMALL = 7.5


def _usable(ratio):
    return ratio.valid() and ratio.median > 0


def _bars(results, table, column):
    """The costs relative to the reference: below 1 is better."""
    return [(m.subject, m.ratio.inverse() if column.more_is_better and _usable(m.ratio) else m.ratio)
            for m in results.rows(table.suite, column.case, column.metric)]


def _draw_bar(axes, y, subject, ratio):
    label = {"textcoords": "offset points", "va": "center", "size": SMALL}
    if not _usable(ratio):
        axes.annotate("n/a", (1, y), (4, 0), color=PALE, **label)
        return
    again = subject.endswith("_again")
    if again and ratio.q1 > 0:
        noise = math.exp(max(abs(math.log(ratio.q1)), abs(math.log(ratio.q3))))
        axes.axvspan(1 / noise, noise, color=NOISE, linewidth=0, zorder=0)
    axes.barh(y, ratio.median - 1, left=1, height=0.65, color=AGAIN if again else colour(subject))
    axes.plot([ratio.q1, ratio.q3], [y, y], color=INK, linewidth=1.2)
    axes.annotate(f"{ratio.median:.3g}", (max(ratio.q3, 1), y), (4, 0), **label)


def _draw_panel(axes, title, bars):
    """A bar per subject. Logarithmic: half the cost is as far from 1 as twice the cost."""
    costs = [ratio.median for _, ratio in bars if _usable(ratio)]
    low, high = min([0.85, *costs]) / 1.05, max([1.2, *costs])
    axes.set_title(title)
    axes.set_xscale("log")
    axes.set_xlim(low, high * (high / low) ** 0.2)
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.set_yticks(range(len(bars)), [subject for subject, _ in bars])
    axes.grid(axis="y", visible=False)
    axes.axvline(1, color=PALE, linewidth=1)
    for y, (subject, ratio) in enumerate(bars):
        _draw_bar(axes, y, subject, ratio)
    fine = [0.8, 0.9, 1, 1.1, 1.2, 1.5, 2]
    coarse = [step * 10.0 ** decade for decade in range(-3, 4) for step in (1, 2, 5)]
    axes.set_xticks([tick for tick in (coarse if high / low > 3 else fine) if low <= tick <= high])
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.tick_params(length=0, labelsize=SMALL)


def _sections(results):
    """For each table the panels that were measured, in rows, with the title of the table above the first row."""
    for table in tables.TABLES:
        panels = [(column.panel, bars) for column in table.columns
                  if column.panel and (bars := _bars(results, table, column))]
        for first in range(0, len(panels), PANELS_PER_ROW):
            yield table.title if first == 0 else "", panels[first:first + PANELS_PER_ROW]


class _Section:
    """A row of panels."""

    def __init__(self, title, panels):
        self.title = title
        self.panels = panels
        self.height = 85 + 17 * max(len(bars) for _, bars in panels)

    def draw(self, figure):
        figure.text(0.02, 1 - 4 / self.height, self.title, size=12, weight="bold", va="top")
        for number, (title, bars) in enumerate(self.panels):
            height = 17 * len(bars) / self.height
            axes = figure.add_axes((0.115 + 0.33 * number, 1 - 50 / self.height - height, 0.21, height))
            _draw_panel(axes, title, bars)


class _Part:
    """Something else with a height in pixels."""

    def __init__(self, height, draw):
        self.height = height
        self.draw = draw


def _draw_head(figure):
    figure.text(0.02, 0.75, "Cost relative to the bare kernel interface", size=16, weight="bold", va="center")
    figure.text(0.02, 0.25, "left is better; logarithmic; lines: quartiles of the rounds; yellow: noise, the quartiles "
                "of the reference measured a second time", size=9, color=PALE, va="center")


def draw(results, file):
    parts = [_Section(title, panels) for title, panels in _sections(results)]
    parts = [_Part(70, _draw_head), *parts] if parts else []
    if growth := list(pictures.growth_panels(results)):
        parts.append(_Part(360, lambda figure: pictures.draw_growth_panels(figure, growth)))
    if curves := pictures.share_curves(results):
        parts.append(_Part(260, lambda figure: pictures.draw_share_panels(figure, curves)))
    parts = parts or [_Part(70, _draw_head)]
    whole = page(1300, sum(part.height for part in parts))
    figures = whole.subfigures(len(parts), 1, height_ratios=[part.height for part in parts], squeeze=False)[:, 0]
    for part, figure in zip(parts, figures):
        part.draw(figure)
    save(whole, file)
