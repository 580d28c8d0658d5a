"""`python -m broker.locale update | check | compile`.

`update` collects all texts in the code into `homologue.pot` and merges them into each language's catalogue. `check`
reports what is stale, missing or wrong there. `compile` makes the `.mo` files that programs read. Translators edit the
`.po` files, with Poedit or Weblate.
"""

import argparse
import sys

from broker.locale.catalogues import compile_all, problems, update


def main() -> None:
    """Run the action given on the command line."""
    parser = argparse.ArgumentParser(prog="python -m broker.locale", description="Maintain the catalogues of texts.")
    parser.add_argument("action", choices=("update", "check", "compile"))
    match parser.parse_args().action:
        case "update":
            update()
        case "compile":
            compile_all()
        case _:
            found = [*problems()]
            sys.exit("\n".join([*found, "Run `make messages`, and translate what is missing."]) if found else 0)


if __name__ == "__main__":
    main()
