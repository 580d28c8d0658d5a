"""A rendering in parts: what a reader has already is named to it, and not sent again.

A hall's page is a quarter of a megabyte, of which a result changes a few lines. A macro draws each line or card, and
`part` in a template keeps what it drew until the thing that it drew has changed. `desk.js` leaves an element as it is
where an empty one with its key and `data-same` stands in its place.
"""

import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Mapping
from functools import cached_property
from itertools import count
from typing import Any, Final, NamedTuple

from jinja2 import Template
from markupsafe import Markup

MARK: Final = re.compile(r"<part (\d+)>")
"""Where a part stands. Whatever a person has written is escaped and has no `<`, so that nobody can write one."""

OPENING: Final = re.compile(r'<(?P<tag>[a-z]+)\b[^>]*?\bdata-key="(?P<key>[^"]*)"')

AUDIENCES: Final = 24
"""Of so many the parts are kept: languages, rights and pages that are being looked at."""

_numbers = count(1)


class Part(NamedTuple):
    """One element with a key. `same` stands for it where the reader has it."""

    thing: object
    html: str
    same: str


class Rendering:
    """What everybody of one audience sees at one moment."""

    def __init__(self, skeleton: str, parts: list[Part]) -> None:
        """`skeleton`: the page with a mark for each of its parts, by number."""
        pieces = MARK.split(skeleton)
        self.between, self.parts = pieces[::2], [parts[int(number)] for number in pieces[1::2]]
        found = Counter(part.same for part in self.parts)
        # Of two elements with one key nobody could say which one stays.
        self.known = {part.same: part for part in self.parts if found[part.same] == 1}
        self.number = next(_numbers)
        self._after: tuple[int, str | None] = (0, None)

    @cached_property
    def whole(self) -> Markup:
        """All of it."""
        return Markup(self._filled([part.html for part in self.parts]))  # noqa: S704 - templates' own escaped output

    def after(self, before: "Rendering | None") -> str | None:
        """Give it to a reader who was given another one `before`; None where that is the same."""
        if before is None:
            return self.whole
        # Nearly all readers had the same one before. Its number is kept, not itself: each would keep the one before it.
        if self._after[0] != before.number:
            self._after = before.number, self._beside(before)
        return self._after[1]

    def _beside(self, before: "Rendering") -> str | None:
        if self.between == before.between and self.parts == before.parts:
            return None
        had, now = before.known.get, self.known.get
        stays = (had(part.same) is part is now(part.same) for part in self.parts)
        return self._filled(
            [part.same if same else part.html for part, same in zip(self.parts, stays, strict=True)],
        )

    def _filled(self, filling: list[str]) -> str:
        texts = [text for pair in zip(self.between, [*filling, ""], strict=True) for text in pair]
        return "".join(texts)


class Renderings:
    """Makes renderings, one after the other; for one thread alone."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, dict[str, Part]] = OrderedDict()

    def render(self, audience: Hashable, template: Template, values: Mapping[str, Any]) -> Rendering:
        """Render a template that says `part(key, thing, macro)` where it has a part.

        What a macro draws may depend on the `audience` and the thing alone: while the thing is equal it is not drawn
        anew. The key is what the element has as `data-key`.
        """
        had, now, parts = self._kept.pop(audience, {}), dict[str, Part](), list[Part]()

        def part(key: str, thing: object, draw: Callable[[Any], str]) -> Markup:
            old = had.get(key)
            now[key] = old if old and (old.thing is thing or old.thing == thing) else _drawn(thing, draw)
            parts.append(now[key])
            return Markup("<part {}>").format(len(parts) - 1)

        rendering = Rendering(template.render(values, part=part), parts)
        self._kept[audience] = now
        while len(self._kept) > AUDIENCES:
            self._kept.popitem(last=False)
        return rendering


def _drawn(thing: object, draw: Callable[[Any], str]) -> Part:
    html = str(draw(thing)).strip()
    opening = OPENING.match(html)
    if opening is None:
        raise ValueError(f"a part is one element with a key, not {html[:60]!r}")
    tag, key = opening["tag"], opening["key"]
    return Part(thing, html, f'<{tag} data-key="{key}" data-same></{tag}>')
