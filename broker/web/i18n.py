"""Choose the language of a page, and translate texts so that they are safe in HTML."""

from functools import cache
from typing import TYPE_CHECKING, Final

from babel import Locale
from markupsafe import Markup, escape

from broker.i18n import SOURCE, Translator, isolated, languages

TAGS: Final = {"zh": "zh-Hans"}
"""Values of `<html lang>` that say more than the language: Chinese is written in simplified characters."""


class HtmlTranslator(Translator):
    """Translates texts for HTML pages. Values filled into a text are escaped unless they are Markup."""

    if TYPE_CHECKING:  # these narrow the return type to Markup and change nothing else

        def __call__(self, text: str, /, **values: object) -> Markup:
            """Translate a text, or a message with its values, into this language."""

        def ngettext(self, one: str, many: str, /, *, count: int, **values: object) -> Markup:
            """Return the translation for a count, which is filled in, in its singular or plural form."""

        def pgettext(self, context: str, text: str, /, **values: object) -> Markup:
            """Return the translation of a text that has several, chosen by context."""

    def _prepared(self, text: str) -> Markup:
        return escape(text)  # formatting the Markup then escapes values that are not Markup

    def _value(self, value: object) -> object:
        value = super()._value(value)
        return isolated(value) if isinstance(value, str) else value

    @property
    def tag(self) -> str:
        """The value for `<html lang>`."""
        return TAGS.get(self.language, self.language)

    @property
    def own_name(self) -> str:
        """The language's name in that language."""
        return str(Locale.parse(self.language).get_display_name() or self.language).capitalize()


@cache
def translators() -> dict[str, HtmlTranslator]:
    """Return one translator per language."""
    return {language: HtmlTranslator(language) for language in languages()}


def choose_translator(requested: str | None, accept_language: str) -> HtmlTranslator:
    """Return the translator for `?lang=`, else for the browser's preferred language, else for English."""
    for tag in (requested or "", *_by_preference(accept_language)):
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
