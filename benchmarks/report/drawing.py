# SPDX-License-Identifier: Apache-2.0
"""How all pictures look: matplotlib without a display, colours, and pages of so many pixels."""
import io
import pathlib

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402 (the backend comes first)

INK = "#1e293b"
PALE = "#64748b"
GRID = "#e2e8f0"
EDDY = ["#dc2626", "#f472b6", "#7c3aed"]
PEERS = ["#60a5fa", "#0d9488", "#65a30d", "#ca8a04", "#0369a1"]
RAW = ["#475569", "#94a3b8", "#0f172a"]

plt.rcParams.update({
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "eddy",  # the same results give the same file
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Helvetica", "Arial"],
    "font.size": 10,
    "text.color": INK, "axes.labelcolor": PALE, "xtick.color": PALE, "ytick.color": INK,
    "axes.edgecolor": GRID, "axes.grid": True, "axes.axisbelow": True, "grid.color": GRID,
    "axes.spines.top": False, "axes.spines.right": False,
    "axes.titlelocation": "left", "axes.titleweight": "bold", "axes.titlesize": 10,
})


def page(width, height):
    """An empty white page of so many pixels."""
    return plt.figure(figsize=(width / 100, height / 100), dpi=100, facecolor="white")


def save(figure, file):
    """Writes an SVG without a date and without white space at the ends of lines, so that it fits into a repository."""
    with io.StringIO() as text:
        figure.savefig(text, format="svg", metadata={"Date": None}, facecolor="white")
        lines = [line.rstrip() for line in text.getvalue().splitlines()]
    pathlib.Path(file).write_text("\n".join(lines) + "\n", encoding="utf-8")
    plt.close(figure)


def kind(subject):
    return "eddy" if subject.startswith("eddy") else "raw" if subject.startswith("raw") else "peer"


def colour(subject, number=0):
    """The colour of a subject, of which there may be several kinds of their own."""
    colours = {"eddy": EDDY, "raw": RAW, "peer": PEERS}[kind(subject)]
    return colours[number % len(colours)]


def weight(subject):
    return "bold" if kind(subject) == "eddy" else "normal"
