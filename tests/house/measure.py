#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""measure.py ROOT [LIMITS]: counts what limits.txt limits, and fails if something is over its limit.

It needs ctags (Debian: universal-ctags); without it there is no verdict (exit 77: skipped)."""
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys

SUBJECTLESS = re.compile(r"^ *///? *(What|Who|Whoever|Whom|The same|Whether|Such|It) ")
TEST_NAME = re.compile(r"^TEST(?:_F|_P)?\([^,]+, *(\w+)\)", re.MULTILINE)


def read_limits(path):
    """The limits of the file, by name."""
    limits = {}
    for line in path.read_text().splitlines():
        words = line.partition("#")[0].split()
        if words:
            limits[words[0]] = int(words[1])
    return limits


def files(root, folders, *endings):
    """The files below these folders with one of the endings."""
    return sorted(
        file
        for folder in folders
        for file in (root / folder).rglob("*")
        if file.is_file() and file.name.endswith(endings) and "build" not in file.relative_to(root).parts
    )


def functions_of(sources):
    """(lines, file, name) of each function, and the member functions that each class declares."""
    command = ["ctags", "--languages=C++", "--map-C++=+.in", "--kinds-C++=fp", "--fields=+neSsK",
               "--extras=-F", "--output-format=json", "-o", "-", "-L", "-"]
    tags = subprocess.run(command, input="\n".join(map(str, sources)), text=True, check=True,
                          capture_output=True).stdout
    bodies = []
    members = collections.defaultdict(set)
    for line in tags.splitlines():
        tag = json.loads(line)
        if tag["kind"] == "function" and "end" in tag:
            bodies.append((tag["end"] - tag["line"] + 1, tag["path"], tag["name"]))
        if tag.get("scopeKind") in ("class", "struct"):
            members[tag["scope"]].add((tag["name"], tag.get("signature", "")))
    return sorted(bodies), members


def long_markdown_lines(file):
    """(line number, columns) of each line of prose."""
    fenced = False
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        if not fenced and not line.startswith(("|", "    ")) and "](" not in line and "http" not in line:
            yield number, len(line)


class Verdict:
    """Collects what is over its limit."""

    def __init__(self, root, limits):
        self.root = root
        self.limits = limits
        self.over = []

    def check(self, name, value, what):
        if name in self.limits and value > self.limits[name]:
            what = str(what).removeprefix(f"{self.root}/")
            self.over.append(f"{what}: {name} is {value}, and may be {self.limits[name]}")


def check_code(verdict, root):
    sources = files(root, ["include", "src"], ".hpp", ".cpp", ".hpp.in")
    bodies, members = functions_of(sources)
    for lines, path, name in bodies:
        verdict.check("function_lines", lines, f"{path} {name}")
    for scope, declared in members.items():
        verdict.check("class_functions", len(declared), scope)
    if bodies:
        verdict.check("function_median", bodies[len(bodies) // 2][0], "include and src")
        verdict.check("function_p90", bodies[len(bodies) * 9 // 10][0], "include and src")
    total = bare = 0
    for file in sources:
        lines = [line for line in file.read_text().splitlines() if "SPDX-License-Identifier" not in line]
        verdict.check("file_lines", len(lines), file)
        total += len(lines)
        bare += sum(bool(SUBJECTLESS.match(line)) for line in lines)
    verdict.check("library_lines", total, "include and src")
    verdict.check("bare_comments", bare, "include and src")


def check_texts(verdict, root):
    pages = [*root.glob("*.md"), *files(root, ["docs", "benchmarks", "adapters", "examples", "tests"], ".md")]
    for page in pages:
        for number, columns in long_markdown_lines(page):
            verdict.check("markdown_columns", columns, f"{page}:{number}")
    for file in files(root, ["tests"], "_test.cpp"):
        for name in TEST_NAME.findall(file.read_text()):
            verdict.check("test_name_length", len(name), f"{file} {name}")


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    default = pathlib.Path(__file__).with_name("limits.txt")
    limits = read_limits(pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else default)
    if not shutil.which("ctags"):
        print("skipped: no ctags here (Debian: universal-ctags)")
        return 77
    verdict = Verdict(root, limits)
    check_code(verdict, root)
    check_texts(verdict, root)
    print("\n".join(verdict.over[:40]))
    if len(verdict.over) > 40:
        print(f"... and {len(verdict.over) - 40} more")
    return 1 if verdict.over else 0


sys.exit(main())
