#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""upward.py ROOT [TABLE]: no forward declaration and no friend names a class of a room that may not be included.

The rooms and what each may include stand in rooms.txt."""
import collections
import pathlib
import re
import sys

DEFINITION = re.compile(
    r"^\s*(?:class|struct|union|enum(?: class)?)\s+(?:\[\[[^\]]*\]\]\s+|EDDY_API\s+)*"
    r"(?:\w+::)*(\w+)(?:\s+final)?(?:\s*:[^;{]*)?\s*\{",
    re.MULTILINE)
DECLARATION = re.compile(
    r"^\s*(friend\s+)?(?:class|struct|enum(?: class)?)\s+(?:[\w:]+::)?(\w+)(?:<[^;]*>)?(?:\s*:\s*[\w:]+)?;", re.MULTILINE)


def read_table(path):
    """The rooms that each room may include, and those that a single file may include besides."""
    allowed = collections.defaultdict(set)
    for line in path.read_text().splitlines():
        key, colon, names = line.partition(":")
        if colon and key.startswith(("room ", "file ")):
            allowed[key.split()[1]].update(names.split())
    return allowed


def sources(root):
    """(file, path in its room, room, text) of each source file."""
    for top in (root / "include" / "eddy", root / "src"):
        for file in sorted(top.rglob("*")):
            path = file.relative_to(top)
            if file.suffix in (".hpp", ".cpp") and len(path.parts) > 1:
                yield file.relative_to(root), str(path), path.parts[0], file.read_text()


def main():
    root = pathlib.Path(sys.argv[1])
    table = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).with_name("rooms.txt")
    allowed = read_table(table)
    all_sources = list(sources(root))
    homes = collections.defaultdict(set)
    for _, _, room, text in all_sources:
        for name in DEFINITION.findall(text):
            homes[name].add(room)
    bad = False
    for file, path, room, text in all_sources:
        may = {room} | allowed[room] | allowed[path]
        for found in DECLARATION.finditer(text):
            befriends, name = found.groups()
            if homes[name] and not homes[name] & may:
                line = text.count("\n", 0, found.start(2)) + 1
                what = "befriends" if befriends else "declares"
                print(f"{file}:{line}: {what} {name} of {'/'.join(sorted(homes[name]))}, which {room} may not include")
                bad = True
    return 1 if bad else 0


sys.exit(main())
