# SPDX-License-Identifier: Apache-2.0
"""Prints tables: a row per subject, aligned."""
import collections

VALUE = 9
RATIO = 7
SPREAD = 6


def format_value(value):
    """A number with as many digits as it deserves."""
    size = abs(value)
    return f"{value:.0f}" if size >= 100 else f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def _format_ratio(value):
    return f"{value:.3f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def _right(text, width):
    """At least one blank in front: a cell that is too long must not touch its neighbour."""
    return text.rjust(max(width, len(text) + 1))


def _width(column):
    return VALUE + (RATIO + SPREAD if column.ratios else 0)


def _cells(m, column):
    if not m or not m.value.valid():
        return "n/a".rjust(VALUE).ljust(_width(column))
    text = _right(format_value(m.value.median), VALUE)
    if column.ratios:
        ratio, spread = ((_format_ratio(m.ratio.median), _format_ratio(m.ratio.spread())) if m.ratio.valid()
                         else ("-", "-"))
        text += _right(ratio, RATIO) + _right(spread, SPREAD)
    return text


def _heads(column):
    ratios = "ratio".rjust(RATIO) + "±".rjust(SPREAD) if column.ratios else ""
    return _right(column.unit, VALUE) + ratios


def _subjects(results, table, columns):
    return list(dict.fromkeys(m.subject for c in columns for m in results.rows(table.suite, c.case, c.metric)))


def show(results, table):
    """Prints the columns that were measured, and below them why some subjects have no value. False: none was."""
    columns = [c for c in table.columns if results.rows(table.suite, c.case, c.metric)]
    if not columns:
        return False
    subjects = _subjects(results, table, columns)
    names = max(map(len, subjects))
    titles, begin = "", names
    for c in columns:
        if c.title:  # it may reach over the columns to its right that have none
            titles = titles.ljust(begin + 3) + c.title
        begin += _width(c)
    print(f"\n{table.title}\n{titles}\n{' ' * names}{''.join(map(_heads, columns))}")
    reasons = collections.defaultdict(list)
    for subject in subjects:
        found = [results.find(table.suite, c.case, subject, c.metric) for c in columns]
        print((subject.ljust(names) + "".join(map(_cells, found, columns))).rstrip())
        missing = [m.missing for m in found if m and m.missing]
        if missing:
            reasons[missing[-1]].append(subject)
    for why, who in sorted(reasons.items()):
        print(f"n/a: {', '.join(who)} ({why})")
    _show_notes(results, table, columns[0].case)
    return True


def _show_notes(results, table, case):
    notes = results.rows(table.suite, case, table.note) if table.note else []
    if notes:
        print(table.note_title)
    for m in notes:
        print(f"  {m.subject}: {m.text}")
