"""The rendered dashboard, as a reader without JavaScript sees it."""

from html import unescape
from typing import get_args

import pytest
from msgspec.structs import fields, replace

from broker.people.login import FIRST_LINK_USER
from broker.protocol import AT_THE_TABLE, PublicState
from broker.scorer import DashboardView, HallContact, TableView
from broker.web.i18n import translators
from broker.web.labels import RECORD_TEXTS, STATE, account_text, recorded_text
from broker.web.render import SHOWN_PLAYS, SIGNS, CardState, card_state, datum, signed_number, time_tag
from broker.web.tables.dashboard import DashboardRenderer
from kiosk.input import REASONS
from tests.broker.web import sample


def page(view: DashboardView) -> str:
    return DashboardRenderer().whole(view, translators()["en"], now=sample.NOON)


def test_the_page_names_every_player_in_the_standings() -> None:
    html = unescape(page(sample.view()))
    assert [name for name in sample.NAMES.values() if f'<th scope="row">{name}</th>' not in html] == []


def test_a_script_in_a_name_is_escaped() -> None:
    name = "<script>alert('x')</script>"
    view = sample.view()
    standings = (replace(view.standings[0], name=name), *view.standings[1:])
    tables = (replace(view.tables[0], players={"east": name}, health={name: name}), *view.tables[1:])
    html = page(replace(view, standings=standings, tables=tables, title=name))
    assert (html.count("<script>"), html.count("&lt;script&gt;") >= 4) == (0, True)


def test_a_text_cannot_break_out_of_an_html_attribute() -> None:
    view = sample.view()
    alerts = (replace(view.alerts[0], text='"><img src=x onerror=alert(1)>'),)
    assert "<img" not in page(replace(view, alerts=alerts))


@pytest.mark.parametrize(("number", "text"), [(36, "+36"), (-8, "−8"), (0, "0")])
def test_totals_have_a_sign_and_a_true_minus(number: int, text: str) -> None:
    assert signed_number(number) == text


@pytest.mark.parametrize(("language", "text"), [("en", "−22.50"), ("fr", "−22,50"), ("zh", "−22.50")])
def test_a_datum_uses_the_languages_decimal_separator(language: str, text: str) -> None:
    assert datum("-45/2", translators()[language]) == text
    assert datum(-9, translators()[language]) == "−9"


def test_a_time_tag_has_its_time_in_utc() -> None:
    assert 'datetime="2020-10-31T11:00:00.000+00:00"' in time_tag(sample.NOON)


@pytest.mark.parametrize("state", get_args(PublicState))
@pytest.mark.parametrize("language", ["en", "fr", "zh"])
def test_each_state_shows_its_label_shape_and_tone(state: PublicState, language: str) -> None:
    words = next(catalogue for key, catalogue in translators().items() if key == language)
    view = replace(sample.view(), tables=(replace(sample.table(1), state=state),))
    html = DashboardRenderer().whole(view, words, now=sample.NOON)
    sign = SIGNS[state]
    assert [
        part
        for part in (str(words(STATE[state])), f'data-shape="{sign.shape}"', f"tone-{sign.tone}")
        if part not in html
    ] == []


@pytest.mark.parametrize(("hall", "state"), [("there", "hall_there"), ("away", "hall_away"), (None, "unheard")])
@pytest.mark.parametrize("language", ["en", "fr", "zh"])
def test_a_table_known_through_its_hall_shows_whether_the_hall_is_connected(
    hall: HallContact | None, state: CardState, language: str
) -> None:
    table = replace(sample.table(1), lifecycle=None, state=None, hall=hall)
    html = DashboardRenderer().whole(
        replace(sample.view(), tables=(table,)), words := translators()[language], now=sample.NOON
    )
    shown = (str(words(STATE[state])), f'data-shape="{SIGNS[state].shape}"')
    assert (card_state(table), [part for part in shown if part not in html]) == (state, [])


def test_no_two_states_share_a_sign() -> None:
    assert len({sign.shape for sign in SIGNS.values()}) == len(SIGNS)


def test_a_lost_table_does_not_show_its_last_state() -> None:
    assert card_state(replace(sample.table(1), lifecycle="lost", state="playing")) == "lost"


def test_a_table_without_messages_is_shown_as_unheard() -> None:
    assert card_state(replace(sample.table(1), lifecycle=None, state=None)) == "unheard"


def test_a_faulty_device_does_not_hide_its_tables_state() -> None:
    assert card_state(replace(sample.table(1), lifecycle="alert", state="confirming")) == "confirming"


def test_device_faults_are_translated() -> None:
    view = sample.view()
    unwell = replace(view.tables[0], health={"camera": "camera_unplugged"})
    html = DashboardRenderer().whole(
        replace(view, tables=(unwell, *view.tables[1:])), translators()["fr"], now=sample.NOON
    )
    assert "<span>Caméra\N{NO-BREAK SPACE}: débranchée <code>camera_unplugged</code></span>" in html


def test_the_table_view_has_no_field_for_button_presses() -> None:
    """Silence (MIL): whoever adds a field has to make sure that the page does not show presses."""
    assert {field.name for field in fields(TableView)} == {
        "table", "lifecycle", "state", "round", "deal", "unsent", "calling", "health", "gaps",
        "plays_in", "plays_expected", "ordered", "obeyed", "refused", "paused", "players", "extra_min", "arbiter",
        "pin",
        "calling_since", "attended", "playing_since", "pausing_since", "minutes", "stood_ms", "played_ms", "walls",
            "silent", "other_version", "hall",
    }  # fmt: skip


def test_a_playing_table_does_not_show_hu_declarations() -> None:
    view = replace(sample.empty(), tables=(sample.table(1, "p01", "p02", "p03", "p04"),))
    html = str(DashboardRenderer().rendering(view, translators()["en"]).whole).lower()
    assert [word for word in ("hu declared", "declared", "press", "claim") if word in html] == []


def test_an_empty_room_explains_what_will_appear() -> None:
    html = page(replace(sample.empty(), tables=()))
    texts = (
        "No plays yet. Each result appears here as soon as all four players have accepted it.",
        "No standings yet. They appear once the first plays can be compared.",
        "No tables are known yet.",
        "No calls, no alerts.",
    )
    assert [text for text in texts if text not in html] == []


def test_a_lost_broker_connection_shows_a_banner() -> None:
    banner = str(
        translators()["en"](
            "The scorer has no connection to the broker. Tables keep their messages and send them later."
        )
    )
    lost = replace(sample.view(), connected=False)
    assert (banner in page(sample.view()), banner in page(lost)) == (False, True)


def test_a_fine_is_shown_beside_the_imp_that_contains_it() -> None:
    assert "fine −8" in page(sample.view())


def test_the_page_shows_the_newest_plays_and_counts_the_rest() -> None:
    view = sample.view()
    many = tuple(replace(view.plays[0], deal=number) for number in range(1, SHOWN_PLAYS + 6))
    html = page(replace(view, plays=many))
    assert (html.count('class="play"'), f"Newest {SHOWN_PLAYS} of {SHOWN_PLAYS + 5}." in html) == (60, True)


def test_all_readers_of_a_view_share_one_rendering() -> None:
    pages, view, words = DashboardRenderer(), sample.view(), translators()["en"]
    assert pages.rendering(view, words).whole is pages.rendering(view, words).whole


def test_a_newer_view_is_rendered_again() -> None:
    pages, view, words = DashboardRenderer(), sample.view(), translators()["en"]
    before = pages.rendering(view, words).whole
    assert pages.rendering(sample.newer(view, title="Later"), words).whole != before


def test_recorded_texts_of_programs_are_translated_and_those_of_people_are_not() -> None:
    assert RECORD_TEXTS.keys() == {AT_THE_TABLE, FIRST_LINK_USER, *REASONS}
    french = translators()["fr"]
    assert recorded_text(french, "the hand was not valid") == "main non valable"
    assert (
        recorded_text(translators()["zh"], REASONS[-1]) == "其他原因，已告知裁判台"
    )  # a statement, not an instruction to the reader
    assert account_text(french, "table_arbiter: Anne <Roy>") == "Arbitre de table: Anne &lt;Roy&gt;"
    assert recorded_text(french, "pushed & pulled") == "pushed &amp; pulled"
