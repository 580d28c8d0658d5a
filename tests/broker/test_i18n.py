"""Texts are translated into the reader's language, and the catalogues agree with the code."""

import ast
import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from markupsafe import Markup

from broker import i18n
from broker.i18n import N_, NP_, Message, Translator, UnknownLanguage, languages, search_key
from broker.locale import catalogues
from broker.web.i18n import HtmlTranslator

HOME = Path(__file__).parents[2]


def test_english_french_and_chinese_are_available() -> None:
    assert {"en", "fr", "zh"} <= set(languages())


def test_the_refusal_of_an_unknown_language_lists_the_known_ones() -> None:
    with pytest.raises(UnknownLanguage, match="language de: there are en, fr, zh"):
        Translator("de")


def test_a_text_that_a_catalogue_lacks_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    found = catalogues.read("en")  # `make lint` has checked that it agrees with the code
    monkeypatch.setattr(catalogues, "extracted", lambda: found)
    assert [*catalogues.problems()] == []
    found.add("A text that nobody has translated")
    assert [*catalogues.problems()] == [
        "not in homologue.pot: 'A text that nobody has translated'",
        *(f"{language}: not translated: 'A text that nobody has translated'" for language in languages()[1:]),
    ]


def test_no_text_to_translate_is_hidden_in_an_f_string() -> None:
    hidden = [
        f"{path.relative_to(HOME)}:{call.lineno}"
        for room in catalogues.ROOMS
        for path in (HOME / room).rglob("*.py")
        if re.search(r"\bN?_\(", source := path.read_text(encoding="utf-8"))
        for string in ast.walk(ast.parse(source))
        if isinstance(string, ast.JoinedStr)
        for call in ast.walk(string)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ("_", "N_")
        if isinstance(call.args[0], ast.Constant)
    ]
    assert hidden == []


def test_a_plural_follows_its_count() -> None:
    told = [
        Translator(language).ngettext("and {count} more", "and {count} more", count=count)
        for language in ("en", "fr", "zh")
        for count in (1, 2)
    ]
    assert told == ["and 1 more", "and 2 more", "et 1 autre", "et 2 autres", "另有 1 项", "另有 2 项"]


def test_a_context_tells_translations_of_one_text_apart() -> None:
    _ = Translator("fr")
    assert (_.pgettext("button", "Continue"), _("Continue")) == ("Reprendre", "Continuer")
    assert (_(NP_("button", "Continue")), NP_("button", "Continue")) == ("Reprendre", "Continue")


def test_a_message_is_its_english_sentence_and_can_be_translated_with_its_values() -> None:
    refusal = N_("table {table} does not play deal {deal} in round {round}", table=3, deal=7, round=2)
    assert (refusal, refusal.values) == ("table 3 does not play deal 7 in round 2", {"table": 3, "deal": 7, "round": 2})
    assert Translator("fr")(refusal) == "la table 3 n’a pas la donne 7 dans la ronde 2"
    nested = Message("({text})", text=N_("East"))
    assert (str(nested), Translator("zh")(nested)) == ("(East)", "（东）")


def test_values_put_into_a_page_are_escaped_unless_they_are_markup() -> None:
    _ = HtmlTranslator("en")
    assert _("Deal {deal}", deal="<b>") == "Deal &lt;b&gt;"
    assert _("Deal {deal}", deal=Markup("<b>3</b>")) == "Deal <b>3</b>"
    assert _(N_("Deal {deal}", deal="<b>")) == "Deal &lt;b&gt;"


def test_no_french_line_begins_with_a_colon_or_ends_with_an_opening_quotation_mark() -> None:
    assert i18n.typeset("fr", "« Oui » : non") == "«~Oui~»~: non".replace("~", "\N{NO-BREAK SPACE}")
    assert i18n.typeset("fr", "entre {low} et 80 %") == "entre {low} et 80~%".replace("~", "\N{NO-BREAK SPACE}")
    assert i18n.typeset("en", "a : b") == "a : b"


def test_numbers_follow_the_conventions_of_the_language() -> None:
    assert [Translator(language).decimal(-1234.5, "#,##0.0") for language in ("en", "zh")] == ["-1,234.5", "-1,234.5"]
    assert Translator("fr").decimal(1.5, "+0.0;-0.0") == "+1,5"


def test_a_compiled_catalogue_does_not_record_when_it_was_compiled() -> None:
    source = (i18n.FOLDER / "fr" / "LC_MESSAGES" / "homologue.po").read_bytes()
    dates = re.findall(rb"-Date: (\d+)-", i18n.compiled("fr", source))
    assert set(dates) == {b"1970"}


def test_a_compiled_catalogue_is_read_only_if_it_was_made_of_this_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "fr" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    source = catalogues.catalogue_path("fr").read_bytes()
    monkeypatch.setattr(i18n, "FOLDER", tmp_path)
    (folder / "homologue.po").write_bytes(source)
    made = i18n.compiled("fr", source)
    assert made.endswith(hashlib.sha256(source).digest())
    (folder / "homologue.mo").write_bytes(made)
    assert i18n._compiled("fr") == made
    newer = source.replace(b'msgstr "Est"', b'msgstr "Levant"')
    (folder / "homologue.po").write_bytes(newer)
    i18n.catalogue.cache_clear()
    try:
        assert Translator("fr")("East") == "Levant"
    finally:
        i18n.catalogue.cache_clear()


def test_a_tables_screen_starts_without_babel() -> None:
    _compile()
    program = "import sys; from kiosk.screens.texts import translator; translator('fr'); print('babel' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=HOME)
    assert told.stdout == "False\n"


def _compile() -> None:
    """Compile the catalogues that `make setup` compiles, where they are stale."""
    for language in languages()[1:]:
        source = catalogues.catalogue_path(language).read_bytes()
        path = catalogues.catalogue_path(language).with_suffix(".mo")
        if not path.is_file() or not path.read_bytes().endswith(hashlib.sha256(source).digest()):
            path.write_bytes(i18n.compiled(language, source))


@pytest.mark.parametrize(
    ("typed", "name"), [("lefevre", "Ève Lefèvre"), ("nunez", "Núñez"), ("李", "李伟"), ("STRASSE", "Straße")]
)
def test_a_name_is_found_without_accents_and_capitals(typed: str, name: str) -> None:
    assert search_key(typed) in search_key(name)
