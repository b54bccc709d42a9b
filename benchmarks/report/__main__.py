# SPDX-License-Identifier: Apache-2.0
"""./bench after the build: measures or reads results, writes and checks them."""
import pathlib
import sys

import check
import measuring
import options
import results
import targets

EXIT_MISSED = 3


def write_all(found, chosen):
    """Writes the files that were asked for."""
    if chosen.json:
        import overview  # matplotlib takes a while to load
        picture = pathlib.Path(chosen.json).with_suffix(".svg")
        results.write(found, chosen.json)
        overview.draw(found, picture)
        print(f"written: {chosen.json}, {picture}")
    if chosen.report:
        import page
        print(f"written: {', '.join(page.write(found, measuring.ROOT / 'docs'))}")


def refuse_unwritable(file):
    """Raises Misuse for a mistake that would only be noticed at the end otherwise."""
    try:
        with open(file, "a", encoding="utf-8"):
            pass
    except OSError as error:
        raise options.Misuse(f"cannot write '{file}'") from error


def run(chosen):
    if chosen.help:
        print(options.USAGE, end="")
        return 0
    if chosen.json:
        refuse_unwritable(chosen.json)
    found = results.read(chosen.read) if chosen.read else measuring.measure(chosen)
    write_all(found, chosen)
    if chosen.check and not check.show(check.judge(found, targets.load())):
        return EXIT_MISSED
    return 0


def main():
    try:
        return run(options.parse(sys.argv[1:]))
    except options.Misuse as error:
        print(f"./bench: {error}\n\n{options.USAGE}", end="", file=sys.stderr)
        return 2
    except (results.NoResults, measuring.Failed, OSError) as error:
        print(f"./bench: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\n./bench: interrupted", file=sys.stderr)
        return 130


sys.exit(main())
