"""Writes the page of a table's settings from the settings themselves: `python -m kiosk.settings_page`."""

from collections.abc import Iterator
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from kiosk.config import Config, UnpairedConfig

HEAD: Final = """# The settings of a table

Generated from `kiosk/config.py` by `make docs`; a test fails when it is stale.

The file is `/etc/homologue/table.toml`, or `/etc/homologue/table-3.toml` of a table that is not
[paired](installer.md#pairing). Paths of `folder`, `paired`, `broker.password_file`, `broker.ca_file`,
`broker.certificate_file` and `devices.people` are relative to it; others must be absolute.

| setting | default | meaning |
|---|---|---|
"""

NEEDED: Final = "needed"


def page() -> str:
    """Return the page."""
    rows = dict.fromkeys((*_rows(UnpairedConfig), *_rows(Config)))
    return HEAD + "".join(f"| `{name}` | {default} | {meaning} |\n" for name, default, meaning in rows)


def _rows(struct: type[Struct], within: str = "") -> Iterator[tuple[str, str, str]]:
    """Return each setting with its default and what it means, sections as `section.setting`."""
    hints = get_type_hints(struct, include_extras=True)
    for field in msgspec.structs.fields(struct):
        name, hint = f"{within}{field.name}", hints[field.name]
        if isinstance(hint, type) and issubclass(hint, Struct):
            yield from _rows(hint, f"{name}.")
        else:
            yield name, _default(field.default), _meaning(hint)


def _default(value: Any) -> str:  # noqa: ANN401 - a default is of any type
    if value is msgspec.NODEFAULT:
        return NEEDED
    return "none" if value is None else f"`{msgspec.json.encode(value).decode()}`"


def _meaning(hint: Any) -> str:  # noqa: ANN401 - so is a type
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next(note.description for note in reversed(notes) if isinstance(note, Meta) and note.description)


if __name__ == "__main__":
    print(page(), end="")
