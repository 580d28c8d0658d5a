"""Alerts in the reader's language, as the scorer raises them for real messages."""

import re
from collections.abc import Iterator
from inspect import getsource

import pytest
from msgspec.structs import replace

from broker.halls import centre
from broker.i18n import languages
from broker.protocol import Call, Deadline, Fine, LogMessage, Overridden, Ruled, Seated, Void, topics
from broker.protocol.play_sequence import SEQUENCE_CODES
from broker.scorer import AlertView, access, intake
from broker.scorer.alerts import ALERT_CODES
from broker.store.backup_worker import BackupReport
from broker.web import HtmlTranslator
from broker.web.alerts import APART, REFUSED_MESSAGE, TOLD_ACTIONS
from broker.web.i18n import translators
from broker.web.render import environment
from tests.broker.rulings.ruled import HEAD, correct, draft
from tests.broker.scorer.hall import NOW, make_hall, open_journal
from tests.broker.scorer.small import OTHER_FORM, OUTCOMES, event, fact, restored, result, state, whole_play

DAY = 86_400_000
HERE = event().bookings[1, 1]
SWAPPED = {**HERE.players, "east": HERE.players["west"], "west": HERE.players["east"]}
RULED = Ruled(round=1, deal=HERE.deal, decision=Void(), author="Tao <b>", role="table_arbiter", reason="tiles fell")
SAID: tuple[LogMessage, ...] = (
    fact(1, 1, restored(1, form=OTHER_FORM, verified=False)),
    fact(1, 2, Seated(round=1, deal=HERE.deal, players=SWAPPED)),
    fact(1, 3, Overridden(round=1, deal=HERE.deal, guards=("player_played_deal",), reason="short of players")),
    fact(1, 4, RULED),
    fact(1, 5, result(1)),
    fact(1, 9, Call(round=1, deal=HERE.deal, open=True)),
    fact(2, 1, replace(result(2), players={**result(2).players, "east": HERE.players["east"]})),
    *whole_play(3, 1, OUTCOMES[1], {"north": Fine(imp=8, reason="false hu", author="Tao")}),
    *whole_play(4),
)


@pytest.fixture(scope="module")
def alerts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[AlertView, ...]]:
    folder = tmp_path_factory.mktemp("alerts")
    with open_journal(folder) as journal:
        hall = make_hall(folder, journal)
        room = hall.scorer.rulings.room
        hall.scorer.rulings.give(draft(room, replace(correct(OUTCOMES[2], None), source="paper"), (3, 1)), HEAD)
        hall.scorer.rulings.give(draft(room, Void(), (4, 1)), HEAD)
        hall.scorer.rulings.give(draft(room, Deadline(at=NOW)), HEAD)
        hall.clock.read = lambda: NOW + 1
        hall.hear(*SAID)
        hall.hear(state(1), state(1, device="kiosk-0002"), state(1, lifecycle="lost", count=2))
        hall.hear(replace(state(2), health={"scanner": "device_forbidden"}))
        hall.hear(replace(state(2, count=2), health={}))
        for off in (DAY, -DAY, 0):
            hall.hear(replace(state(2, count=3), at=NOW + off, heard=NOW))
        for well in (False, True):
            hall.scorer.report_backup(BackupReport(well=well, text="no room on the stick"))
            hall.scorer.step(timeout=0)
        yield hall.scorer.feed.current.alerts


def told(_: HtmlTranslator, alert: AlertView) -> str:
    return environment().from_string("{{ alert|alert_text }}").render(_=_, alert=alert)


def test_every_alert_has_its_own_sentence_in_each_language(
    alerts: tuple[AlertView, ...],
) -> None:
    elsewhere = {
        "session_differs",
        "standings_unwritten",
        "player_repeats_deal",
        "table_silent",
        "device_waits",
        "event_key_changed",
        "pin_wrong",
    }
    elsewhere |= TOLD_ACTIONS
    # Alerts about halls are tested in tests/broker/halls/test_rows.py.
    elsewhere |= {code for code in ALERT_CODES if code.startswith(("scorer_disk_", "standby_", "centre_", "hall_"))}
    elsewhere |= {"node_lost", "node_back"}  # tests/broker/cli/test_halls_nodes.py
    elsewhere |= {"desk_port_taken", "desk_address_refused"}  # tests/broker/cli/test_server_ports.py
    # Alerts about faults of a store are tested in tests/broker/scorer/test_healing.py and test_homes.py.
    elsewhere |= {code for code in ALERT_CODES if code.startswith(("row_", "ruling_", "rulings_", "second_home_"))}
    elsewhere |= {"admissions_back", "kept_unproven", "link_altered", "store_older", "store_shrunk"}
    assert {alert.code for alert in alerts} == (ALERT_CODES.keys() - elsewhere) | {"wrong_players", "play_ruled"}
    for language in languages():
        assert len({told(translators()[language], alert) for alert in alerts}) == len(
            {(alert.code, alert.text) for alert in alerts}
        )


def test_a_ruling_at_a_table_is_described_and_escaped(
    alerts: tuple[AlertView, ...],
) -> None:
    (one,) = [alert for alert in alerts if alert.code == "ruled_at_table"]
    said = told(translators()["fr"], one)
    told_so = "Table 1 : Partie annulée, décision à la table sur la donne 1, ronde 1, par Tao &lt;b&gt; : tiles fell"
    assert said.replace("\N{NO-BREAK SPACE}", " ") == told_so


def test_a_refused_message_is_described_with_translated_details(
    alerts: tuple[AlertView, ...],
) -> None:
    (one,) = [alert for alert in alerts if alert.code == "wrong_players"]
    why = "选手与编排不符。"
    own = '<span class="detail">（此处应为 p04, p05, p06, p13，每座一人）</span>'
    assert told(translators()["zh"], one) == f"第 2 桌的一条消息被拒收：{why}{own}"
    assert told(translators()["fr"], replace(one, table=None)).startswith(
        "Un message a été refusé\N{NO-BREAK SPACE}: les joueurs"
    )


def test_every_code_of_a_refused_message_has_a_sentence() -> None:
    codes = {
        code
        for module in (intake, access, topics, centre)
        for code in re.findall(r'\bRefused\(\s*"(\w+)"', getsource(module))
    }
    assert REFUSED_MESSAGE.keys() == codes


def test_a_play_kept_apart_is_described_with_the_reason(
    alerts: tuple[AlertView, ...],
) -> None:
    (one,) = [alert for alert in alerts if alert.code == "play_ruled"]
    assert told(translators()["en"], one) == (
        "Table 1, round 1, deal 1 is kept apart: an arbiter has to decide. "
        "An arbiter at the table had already ended the play."
    )


def test_every_reason_to_keep_a_fact_apart_has_a_sentence() -> None:
    assert APART.keys() == SEQUENCE_CODES
