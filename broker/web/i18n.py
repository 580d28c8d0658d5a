"""The page's language: which one a reader gets, and texts in it that are safe for HTML."""

from functools import cache
from typing import TYPE_CHECKING, Final

from babel import Locale
from markupsafe import Markup, escape

from broker.i18n import SOURCE, Translator, isolated, languages

TAGS: Final = {"zh": "zh-Hans"}
"""What `<html lang>` says where it is more than the language; Chinese is written in simplified characters."""


class HtmlTranslator(Translator):
    """Translates for pages: what is put into a text is escaped unless it is Markup."""

    if TYPE_CHECKING:  # the same, but that all is Markup

        def __call__(self, text: str, /, **values: object) -> Markup:
            """Return a text, or a message with its values, in this language."""

        def ngettext(self, one: str, many: str, /, *, count: int, **values: object) -> Markup:
            """Return the form of a text that belongs to a count, which is filled in."""

        def pgettext(self, context: str, text: str, /, **values: object) -> Markup:
            """Return a text that has several translations, by its context."""

    def _prepared(self, text: str) -> Markup:
        return escape(text)  # filling in escapes what is no Markup

    def _value(self, value: object) -> object:
        value = super()._value(value)
        return isolated(value) if isinstance(value, str) else value

    @property
    def tag(self) -> str:
        """The language as `<html lang>` names it."""
        return TAGS.get(self.language, self.language)

    @property
    def own_name(self) -> str:
        """The language's name in itself."""
        return str(Locale.parse(self.language).get_display_name() or self.language).capitalize()


@cache
def translators() -> dict[str, HtmlTranslator]:
    """Return a translator for each language."""
    return {language: HtmlTranslator(language) for language in languages()}


def choose_translator(wish: str | None, accept_language: str) -> HtmlTranslator:
    """Return the language asked for by `?lang=`, else the browser's best, else English."""
    for tag in (wish or "", *_by_preference(accept_language)):
        if (language := tag.lower().split("-")[0]) in translators():
            return translators()[language]
    return translators()[SOURCE]


def _by_preference(accept_language: str) -> list[str]:
    entries = (entry.partition(";") for entry in accept_language.split(","))
    weighed = [(_weight(parameter), tag.strip()) for tag, _, parameter in entries]
    return [tag for weight, tag in sorted(weighed, key=lambda pair: -pair[0]) if weight > 0]


def _weight(parameter: str) -> float:
    name, _, number = parameter.partition("=")
    try:
        return float(number) if name.strip() == "q" else 1.0
    except ValueError:
        return 0.0
