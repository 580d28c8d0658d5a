"""The catalogues: texts are collected from the code, merged into each language and compiled for programs."""

import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from string import Formatter
from typing import Any, BinaryIO, Final

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po
from jinja2 import Environment, nodes

from broker.i18n import DOMAIN, SOURCE, compiled, languages

HERE: Final = Path(__file__).parent
HOME: Final = HERE.parents[1]
ROOMS: Final = ("broker", "kiosk", "vision", "firmware")

METHODS: Final = [("**.py", "python"), ("**.html", "broker.locale.catalogues:templates")]
KEYWORDS: Final = {"_": None, "N_": None, "NP_": ((1, "c"), 2), "ngettext": (1, 2), "pgettext": ((1, "c"), 2)}
"""For each function, which arguments are texts; `c` marks the context."""

HEADER: Final = """\
# Homologue: texts for people.
# `make messages` collects them from the code. {names} are replaced by values: keep them."""

Key = tuple[str | None, str]


def templates(
    file: BinaryIO,
    keywords: Iterable[str],
    comment_tags: object,  # noqa: ARG001 - Babel calls it with these
    options: object,  # noqa: ARG001
) -> Iterator[tuple[int, str, Any, list[str]]]:
    """Find texts in a template: `_("…")` and its methods, which Jinja's own extraction does not know."""
    tree = Environment(autoescape=True).parse(file.read().decode("utf-8"))
    for call in tree.find_all(nodes.Call):
        name = call.node.attr if isinstance(call.node, nodes.Getattr) else getattr(call.node, "name", "")
        if name in keywords:
            texts = [one.value if isinstance(one, nodes.Const) else None for one in call.args]
            yield call.lineno, name, tuple(texts) if len(texts) > 1 else texts[0] if texts else None, []


def extracted() -> Catalog:
    """Collect all texts of the code."""
    found = Catalog(domain=DOMAIN, project="Homologue", fuzzy=False, header_comment=HEADER)
    for room in ROOMS:
        found_here = extract_from_dir(
            str(HOME / room), METHODS, keywords=KEYWORDS, comment_tags=("Translators:",), strip_comment_tags=True
        )
        for file, _line, text, comments, context in found_here:
            where = [(f"{room}/{file}", 0)]
            found.add(text, None, where, auto_comments=comments, context=context)
    return found


def catalogue_path(language: str) -> Path:
    """Return the path of a language's catalogue; that of the source language is the template of all others."""
    return HERE / f"{DOMAIN}.pot" if language == SOURCE else HERE / language / "LC_MESSAGES" / f"{DOMAIN}.po"


def read(language: str) -> Catalog:
    """Read a catalogue."""
    return read_po(io.BytesIO(catalogue_path(language).read_bytes()), locale=None if language == SOURCE else language)


def serialized(catalogue: Catalog) -> bytes:
    """Return the contents of a catalogue's file, without dates, so that it changes only when a text does."""
    for message in catalogue:
        message.flags.discard("python-format")  # Babel takes `100 %: actual size` for a format; ours use braces
    file = io.BytesIO()
    write_po(
        file, catalogue, width=120, sort_by_file=True, include_lineno=False, omit_header=False, ignore_obsolete=True
    )
    lines = file.getvalue().split(b"\n")
    return b"\n".join(
        line
        for line in lines
        if not line.startswith(
            (
                b'"POT-Creation-Date',
                b'"PO-Revision-Date',
                b'"Generated-By',
                b'"Report-Msgid',
                b'"Last-Translator',
                b'"Language-Team',
                b'"Project-Id',
            )
        )
    )


def keys(catalogue: Catalog) -> dict[Key, Message]:
    """Return the texts of a catalogue by context and English text."""
    return {(one.context, one.id if isinstance(one.id, str) else one.id[0]): one for one in catalogue if one.id}


def update() -> None:
    """Merge the texts of the code into the template and into all catalogues."""
    found = extracted()
    catalogue_path(SOURCE).write_bytes(serialized(found))
    for language in languages()[1:]:
        catalogue = read(language)
        catalogue.update(found, no_fuzzy_matching=True, update_header_comment=False)
        catalogue_path(language).write_bytes(serialized(catalogue))


def problems() -> Iterator[str]:
    """Return a line for each text that is stale, missing or wrong in a catalogue."""
    found = keys(extracted())
    template = keys(read(SOURCE))
    for key in sorted(found.keys() ^ template.keys(), key=str):
        yield f"{'not in' if key in found else 'only in'} {catalogue_path(SOURCE).name}: {key[1]!r}"
    for language in languages()[1:]:
        known = keys(read(language))
        for key in found:
            text = known.get(key)
            if text is None or text.fuzzy or not all(texts(text)):
                yield f"{language}: not translated: {key[1]!r}"
            elif any(_names(one) != _names(key[1]) for one in texts(text)):
                yield f"{language}: different {{names}}: {key[1]!r}"
        yield from (f"{language}: not in the code: {key[1]!r}" for key in known.keys() - found.keys())


def texts(message: Message) -> tuple[str, ...]:
    """Return the translation, or each of its plural forms."""
    string = message.string or ""
    return (string,) if isinstance(string, str) else tuple(string)


def _names(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def compile_all() -> None:
    """Write the compiled catalogues, which programs read."""
    for language in languages()[1:]:
        path = catalogue_path(language)
        path.with_suffix(".mo").write_bytes(compiled(language, path.read_bytes()))
