"""Writes the page of a table's settings from the settings themselves: `python -m kiosk.settings_page`."""

from collections.abc import Iterator
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from kiosk.config import Config, UnpairedConfig

HEAD: Final = """# The settings of a table

Generated from `kiosk/config.py` by `make docs`; a test fails when it is stale.

The file is `/etc/homologue/table.toml`, or `/etc/homologue/table-3.toml` of a table that is not
[paired](installer.md#pairing). Paths of `folder`, `paired`, `password_file`, `ca_file`, `certificate_file` and `people`
are relative to it; others must be absolute.
"""


def page() -> str:
    """Return the page: the settings before any section, then those of each section."""
    told: dict[str, dict[str, str]] = {}
    for struct in (UnpairedConfig, Config):
        for section, rows in _sections(struct):
            told.setdefault(section, {}).update(rows)
    return HEAD + "".join(
        (f"\n## [{section}]\n" if section else "")
        + "\n| setting | default | meaning |\n|---|---|---|\n"
        + "".join(rows.values())
        for section, rows in sorted(told.items())
    )


def _sections(struct: type[Struct], name: str = "") -> Iterator[tuple[str, dict[str, str]]]:
    """Return the rows of a section by their settings, and those of the sections in it."""
    hints, rows = get_type_hints(struct, include_extras=True), {}
    for field in msgspec.structs.fields(struct):
        hint = hints[field.name]
        if isinstance(hint, type) and issubclass(hint, Struct):
            yield from _sections(hint, field.name)
        else:
            rows[field.name] = f"| `{field.name}` | {_default(field.default)} | {_meaning(hint)} |\n"
    yield name, rows


def _default(value: Any) -> str:  # noqa: ANN401 - a default is of any type
    if value is msgspec.NODEFAULT:
        return "needed"
    return "none" if value is None else f"`{msgspec.json.encode(value).decode()}`"


def _meaning(hint: Any) -> str:  # noqa: ANN401 - an annotation may be anything
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next(note.description for note in reversed(notes) if isinstance(note, Meta) and note.description)


if __name__ == "__main__":
    print(page(), end="")
