"""Writes the documentation page of a table's settings and addresses from the code: `python -m kiosk.settings_page`."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from firmware.button_addresses import BOX_SETTINGS, BUTTON_SETTINGS
from firmware.scanners import SCANNER_SETTINGS
from kiosk.config import Config, UnpairedConfig
from vision.cameras.camera import CameraSettings
from vision.cameras.lens import MEANING, SETTING
from vision.sim.camera import SimulatedOptics

HEAD: Final = """# The settings of a table

Generated from the code by `make docs`; a test fails when it is stale.

The file is `/etc/homologue/table.toml`, or `/etc/homologue/table-3.toml` of a table that is not
[paired](installer.md#pairing). Paths of `folder`, `paired`, `password_file`, `ca_file`, `certificate_file` and `people`
are relative to it; others must be absolute. Settings of [addresses](#settings-of-addresses) are below.
"""

ADDRESSES: Final = """
## Settings of addresses

They follow a question mark, with `&` between them: `v4l2:/dev/video0?width=1280&height=720`. Write `%5B` for `[`, `%5D`
for `]`, `%26` for `&`, `%2B` for `+`, `%25` for `%`, `%20` for a space. Seats are `east`, `south`, `west`, `north`,
with commas between them. Where the default is none, nothing is done, or the device's own setting stays.
"""

TABLE: Final = "\n| setting | default | meaning |\n|---|---|---|\n"


def page() -> str:
    """Return the page: the settings outside any section, then those of each section."""
    rows_by_section: dict[str, dict[str, str]] = {}
    for struct in (UnpairedConfig, Config):
        for section, rows in _sections(struct):
            rows_by_section.setdefault(section, {}).update(rows)
    return (
        HEAD
        + "".join(
            (f"\n## [{section}]\n" if section else "") + TABLE + "".join(rows.values())
            for section, rows in sorted(rows_by_section.items())
        )
        + ADDRESSES
        + "".join(f"\n### {title}\n{TABLE}{''.join(rows)}" for title, rows in _addresses().items())
    )


def _addresses() -> dict[str, Iterator[str]]:
    """Return the rows of address settings, by title."""
    every = set.intersection(*map(set, SCANNER_SETTINGS.values()))
    kinds = {"Scanners": every} | {
        name: known.keys() - every
        for name, known in zip(("`serial:`", "`evdev:`", "`sim://scanner`"), SCANNER_SETTINGS.values(), strict=True)
    }
    scanners = {name: (one.default, one.meaning) for known in SCANNER_SETTINGS.values() for name, one in known.items()}
    return {
        "Cameras: `v4l2:` and `picamera:`": _rows(_annotated(CameraSettings) | {SETTING: (None, MEANING)}),
        "`sim://tray`": _rows(_annotated(SimulatedOptics)),
        **{
            title: _rows({name: value for name, value in scanners.items() if name in names})
            for title, names in kinds.items()
        },
        "`sim://buttons`": _rows(BUTTON_SETTINGS),
        "`sim://box`": _rows(BOX_SETTINGS),
    }


def _rows(settings: Mapping[str, tuple[Any, str]]) -> Iterator[str]:
    for name, (usual, meaning) in settings.items():
        yield f"| `{name}` | {'none' if usual in ('', None, range(0)) else f'`{usual}`'} | {meaning} |\n"


def _annotated(settings: type) -> dict[str, tuple[Any, str]]:
    """Return the defaults and meanings of a data class, from its annotations."""
    hints = get_type_hints(settings, include_extras=True)
    return {field.name: (field.default, hints[field.name].__metadata__[0]) for field in dataclasses.fields(settings)}


def _sections(struct: type[Struct], name: str = "") -> Iterator[tuple[str, dict[str, str]]]:
    """Yield a section's name and the rows of its settings, own ones first; before it, the sections nested in it."""
    hints, rows = get_type_hints(struct, include_extras=True), {}
    for field in sorted(msgspec.structs.fields(struct), key=lambda field: field.name not in struct.__annotations__):
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
