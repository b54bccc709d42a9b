# SPDX-License-Identifier: Apache-2.0
"""The pictures of the documents: the headline, growth and sharing."""
import math

from matplotlib import ticker

import tables
from drawing import EDDY, INK, PALE, colour, kind, page, save, weight

# The rows of the headline, in words that need no explanation.
HEADLINE = {
    "raw_epoll": "bare epoll loop",
    "raw_uring": "bare io_uring loop",
    "libuv": "libuv",
    "libevent": "libevent",
    "libev": "libev",
    "asio": "asio",
    "asio_coro": "asio, coroutines",
    "eddy_epoll": "eddy on epoll, operations",
    "eddy_sender_epoll": "eddy on epoll, senders",
    "eddy_coro_epoll": "eddy on epoll, coroutines",
    "eddy_uring": "eddy on io_uring, operations",
    "eddy_coro_ahead_uring": "eddy on io_uring, coroutines",
}
HEADLINE_CASE = "50x64Bx1"


def draw_headline(results, file):
    """Bars of the CPU time per echoed request, the cheapest on top. False: it was not measured."""
    found = [m for m in results.rows("echo", HEADLINE_CASE, tables.ECHO_CPU)
             if m.subject in HEADLINE and m.ratio.valid()]
    if not found:
        return False
    found.sort(key=lambda m: m.ratio.median, reverse=True)
    top, bottom, row = 40, 50, 27
    height = top + bottom + row * len(found)
    figure = page(800, height)
    figure.text(0.012, 1 - 10 / height, "Server CPU time per echoed request: 50 connections, 64 bytes", size=12.5,
                weight="bold", va="top")
    axes = figure.add_axes((0.305, bottom / height, 0.62, row * len(found) / height))
    for y, m in enumerate(found):
        axes.barh(y, m.ratio.median, height=0.72, color="#93c5fd" if kind(m.subject) == "peer" else colour(m.subject))
        axes.plot([m.ratio.q1, m.ratio.q3], [y, y], color=INK, linewidth=1.6, solid_capstyle="butt")
        axes.plot([m.ratio.q1, m.ratio.q3], [y, y], color=INK, linestyle="", marker="|", markersize=7)
        axes.annotate(f"{m.ratio.median:.2f}", (1, y), (40, 0), xycoords=("axes fraction", "data"),
                      textcoords="offset points", va="center", ha="right", weight=weight(m.subject))
    axes.axvline(1, color=INK, linewidth=1, linestyle=(0, (4, 3)))
    axes.set_yticks(range(len(found)), [HEADLINE[m.subject] for m in found])
    for label, m in zip(axes.get_yticklabels(), found):
        label.set_weight(weight(m.subject))
    axes.set_xlim(0, max(m.ratio.q3 for m in found) * 1.03)
    axes.set_ylim(-0.6, len(found) - 0.4)
    axes.grid(axis="y", visible=False)
    axes.tick_params(length=0)
    axes.set_xlabel("ratio to the bare epoll loop; shorter is better; thin lines: quartiles of the rounds")
    save(figure, file)
    return True


def growth_panels(results):
    """Pairs of what grows and its lines: the points (count, value) of each subject."""
    for growth in (tables.CONNECTIONS, tables.TIMERS):
        lines = {}
        for words, count in growth.counts.items():
            for m in results.rows("growth", growth.case(words), growth.metric):
                if m.value.valid() and m.value.median > 0 and not m.subject.endswith(("_again", "_before")):
                    lines.setdefault(m.subject, []).append((count, m.value.median))
        if lines:
            yield growth, lines


def _spread_out(places, distance, highest):
    """Moves ascending places so far apart that labels do not lie on each other, and none lies above the highest."""
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + distance)
    limit = highest
    for i in reversed(range(len(places))):
        places[i] = min(places[i], limit)
        limit = places[i] - distance
    return places


def _draw_growth_panel(axes, growth, lines):
    """Lines over what grows, both axes logarithmic, with the names at the ends of the lines."""
    axes.set_title(growth.axis)
    axes.set_xscale("log")
    axes.set_yscale("log")
    by_end = sorted(lines.items(), key=lambda line: line[1][-1][1])
    colours, numbers = {}, {"eddy": 0, "raw": 0, "peer": 0}
    for subject, points in by_end:
        colours[subject] = colour(subject, numbers[kind(subject)])
        numbers[kind(subject)] += 1
        axes.plot(*zip(*points), color=colours[subject], linewidth=2, marker="o", markersize=3)
    values = [value for points in lines.values() for _, value in points]
    low, high = min(values) / 1.15, max(values) * 1.15
    axes.set_ylim(low, high)
    axes.set_xticks(list(growth.counts.values()), list(growth.counts))
    axes.minorticks_off()
    steps = (1, 2, 5) if high / low > 12 else (1, 1.5, 2, 3, 4, 5, 6, 8)
    ticks = [step * 10 ** decade for decade in range(9) for step in steps]
    axes.set_yticks([tick for tick in ticks if low <= tick <= high])
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_xlabel(growth.of)
    axes.tick_params(length=0, labelcolor=PALE)
    height = axes.get_window_extent().height
    ends = [math.log(points[-1][1] / low) / math.log(high / low) * height for _, points in by_end]
    for (subject, _), place in zip(by_end, _spread_out(ends, 14, height)):
        axes.annotate(subject, (1, place / height), (6, 0), xycoords="axes fraction", textcoords="offset points",
                      va="center", size=8.5, color=colours[subject], weight=weight(subject))


def draw_growth_panels(figure, panels):
    figure.subplots_adjust(left=0.07, right=0.87, top=0.89, bottom=0.15, wspace=0.6)
    for number, (growth, lines) in enumerate(panels):
        _draw_growth_panel(figure.add_subplot(1, len(panels), number + 1), growth, lines)


def draw_growth(results, file):
    """The cost of a request and of a timer while there are more and more of them. False: it was not measured."""
    panels = list(growth_panels(results))
    if not panels:
        return False
    figure = page(800, 360)
    draw_growth_panels(figure, panels)
    save(figure, file)
    return True


SHARES = {"watches": ("watches in a group, weights 3:1", EDDY[0], 4.5),
          "streams": ("streams in a group, weights 3:1", "#2563eb", 1.8),
          "no_group": ("without a group", "#94a3b8", 1.8)}


def share_curves(results):
    """The curves of each subject."""
    by_subject = {}
    for m in results:
        if m.suite == "share" and m.curve:
            by_subject.setdefault(m.subject, []).append(m)
    return by_subject


def draw_share_panels(figure, curves):
    figure.text(0.01, 0.985, "Sharing a loop: what the first of two streams moves, in %", size=12, weight="bold",
                va="top")
    for number, (subject, lines) in enumerate(curves.items()):
        axes = figure.add_subplot(1, len(curves), number + 1)
        axes.set_title(subject)
        axes.axhspan(73, 77, color="#bbf7d0", linewidth=0, label="75 %, within 2 points")
        for m in lines:
            words, stroke, width = SHARES[m.case]
            axes.plot(m.curve, color=stroke, linewidth=width, label=words)
        axes.set_ylim(0, 100)
        axes.set_yticks(range(0, 101, 25))
        axes.set_xticks([])
        axes.set_xlabel("bytes moved by both")
        axes.tick_params(length=0, labelcolor=PALE)
    figure.legend(*axes.get_legend_handles_labels(), loc="upper left", ncols=4, frameon=False,
                  bbox_to_anchor=(0, 0.93), fontsize=8.5, columnspacing=1.2)
    figure.subplots_adjust(left=0.05, right=0.98, top=0.72, bottom=0.1, wspace=0.15)


def draw_shares(results, file):
    """How streams with weights of 3 and 1 share a loop. False: it was not measured."""
    curves = share_curves(results)
    if not curves:
        return False
    figure = page(800, 260)
    draw_share_panels(figure, curves)
    save(figure, file)
    return True
