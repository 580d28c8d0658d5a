"""Which rows of a hall the centre accepts and refuses, and the alerts for its arbiters."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from broker.errors import BadEvent
from broker.event import HALL, HallsFile, read_halls, write_halls
from broker.event import HALLS as HALLS_FILE
from broker.halls.centre import MOST_ATTEMPTS, HallPosition
from broker.protocol import (
    AnyDecision,
    Award,
    Deadline,
    DeviceAdmitted,
    HallReceipt,
    HallRow,
    HallState,
    LogMessage,
    NextRow,
    PlanChanged,
    Player,
    Ruling,
    SeatedAnew,
    Undo,
    Void,
    encode,
    topics,
)
from broker.protocol.link import Incoming
from broker.rulings import RulingAuthor, RulingDraft
from broker.store import link_after
from broker.web.embargo import PublicViews
from tests.broker.halls.places import CENTRE, HALLS, Place, Places, places, plan_apart
from tests.broker.halls.test_link import said_in
from tests.broker.scorer.hall import NOW
from tests.broker.scorer.small import event, whole_log

HEAD = RulingAuthor("Hélène Roy", "helene", "head_arbiter")


def rule(place: Place, decision: AnyDecision, key: tuple[int, int] | None = None, id_: str = "ruling-0001") -> str:
    """Let the head arbiter of a place give a ruling, with or without a play; return its id."""
    rulings = place.scorer.rulings
    after = place.scorer.state.last_word(key) if key else None
    if isinstance(decision, Undo):
        after = decision.ruling
    table, round_ = key or (None, None)
    draft = RulingDraft(id=id_, after=after, table=table, round=round_, decision=decision, reason="as I saw it")
    rulings.give(draft, HEAD)
    place.step()
    return id_


def rulings_at(made: Places) -> list[tuple[int, str]]:
    journal = made.centre.scorer._journal
    return [(one.number, one.id) for one in journal.messages() if isinstance(one, Ruling)]


def codes(place: Place) -> list[str]:
    """Return the codes of the alerts of a place, oldest first."""
    return [alert.code for alert in reversed(place.scorer.feed.current.alerts)]


def test_rulings_of_halls_count_at_the_centre_under_the_centres_numbers(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        for name, hall in made.halls.items():
            hall.hear(*said_in(name))
        rule(made.centre, Deadline(at=2_000_000_000_000), id_="of-the-centre")
        rule(made.halls["paris"], Void(), (1, 1), "void-paris")
        rule(made.halls["osaka"], Void(), (3, 2), "void-osaka")
        rule(made.halls["osaka"], Undo(ruling="void-osaka"), id_="undo-osaka")
        rule(made.halls["osaka"], Deadline(at=1_900_000_000_000), id_="of-osaka-alone")
        made.carry()
        assert sorted(rulings_at(made)) == [
            (1, "of-the-centre"),
            (2, "void-paris"),
            (3, "void-osaka"),
            (4, "undo-osaka"),
        ]
        state = made.centre.scorer.state
        assert (state.play((1, 1)).points, state.play((3, 2)).points is not None) == (None, True)
        assert "hall_ruling_refused" not in codes(made.centre)


def test_a_ruling_without_a_play_can_be_undone_after_a_restart_of_the_centre(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        paris = made.halls["paris"]
        rule(paris, Award(gives={"p01": 8}), id_="award-paris")
        made.carry()
        for id_, of in (("undo-paris", "award-paris"), ("redo-paris", "undo-paris")):
            made.restart(CENTRE)
            rule(paris, Undo(ruling=of), id_=id_)
            made.carry()
        assert rulings_at(made) == [(1, "award-paris"), (2, "undo-paris"), (3, "redo-paris")]


def forged(
    made: Places,
    hall: str,
    body: bytes,
    *,
    height: int | None = None,
    again: bytes | None = None,
    attempt: int | None = None,
) -> bytes:
    """Return a row forged with a hall's credentials, after the last one that the centre has.

    With `again`, the message has another row with this body. With `attempt`, it is the first row of that attempt.
    """
    at = made.at_centre._positions[hall] if attempt is None else HallPosition(store="another-store", attempt=attempt)
    number = at.upto + 1 if height is None else height
    link = link_after(bytes.fromhex(at.link), number, 1, body)
    then = (NextRow(link_after(link, number + 1, 1, again).hex(), 1, again.decode()),) if again else ()
    return encode(
        HallRow(
            id=f"forged-{number:04}",
            event="cup",
            hall=hall,
            store=at.store,
            attempt=at.attempt,
            height=number,
            before=at.link,
            link=link.hex(),
            at=1,
            body=body.decode(),
            then=then,
        )
    )


def arrive(made: Places, hall: str, payload: bytes, acknowledge: Callable[[], None] = lambda: None) -> None:
    topic = topics.HALL_ROW.at("cup", hall=hall)
    made.centre.scorer._inbox.put(Incoming(topic, payload, acknowledge))
    made.centre.step()


def test_a_stolen_hall_can_speak_for_its_own_tables_only(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        for name, hall in made.halls.items():
            hall.hear(*said_in(name)[:6])
        made.carry()
        height = made.centre.scorer._journal.height
        arrive(made, "paris", forged(made, "paris", encode(whole_log(3)[-1])))
        ruling = Ruling(
            id="forged-ruling",
            event="cup",
            number=1,
            after=None,
            table=4,
            round=1,
            deal=event().bookings[4, 1].deal,
            decision=Void(),
            author="X",
            account="x",
            role="head_arbiter",
            reason="?",
            at=1,
        )  # fmt: skip - a line each
        arrive(made, "paris", forged(made, "paris", encode(ruling)))
        admitted = DeviceAdmitted(
            id="forged-device", event="cup", number=9, table=3, device="thief-0001", key=None, at=1
        )
        arrive(made, "paris", forged(made, "paris", encode(admitted)))
        arrive(made, "paris", forged(made, "paris", encode(replace(ruling, table=1, round=1, after="nothing-there"))))
        unsigned = replace(whole_log(1)[8], signature=None, device=None)
        arrive(made, "paris", forged(made, "paris", encode(unsigned)))
        assert made.centre.scorer._journal.height == height
        assert codes(made.centre).count("not_of_hall") >= 1
        assert {"not_of_hall", "hall_ruling_refused", "unsigned"} <= set(codes(made.centre))
        assert made.centre.scorer.state.play((4, 1)).rulings == ()


def test_devices_that_a_hall_has_admitted_are_stored_once_and_in_one_commit(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        scorer, commits = made.centre.scorer, list[list[tuple[int, str]]]()
        scorer._journal.follow(
            lambda decided, _: commits.append([(one.message.number, one.message.id) for one in decided])
        )
        made.carry()
        own = [one.device for name in made.halls for one in made.halls[name].scorer.live.devices.admissions.all()]
        assert [len(one) for one in commits if one] == [2, 2]
        commits.clear()
        admitted = DeviceAdmitted(
            id="forged-device", event="cup", number=9, table=1, device="thief-0001", key=None, at=1
        )
        arrive(made, "paris", forged(made, "paris", encode(admitted), again=encode(admitted)))
        assert [one for one in commits if one] == [[(len(own) + 1, "forged-device")]]
        made.restart(CENTRE)
        devices = made.centre.scorer.live.devices.admissions.all()
        assert sorted(one.device for one in devices) == sorted([*own, "thief-0001"])
        assert made.at_centre._positions["paris"].upto == made.halls["paris"].scorer._journal.height + 2


@pytest.mark.parametrize(
    "decision",
    [
        PlanChanged(left=("p09",)),
        PlanChanged(plays=(SeatedAnew(2, 1, "p09", "p02", "p03", "p04"),)),
        PlanChanged(plays=(SeatedAnew(2, 3, "p09", "p10", "p12", "p11"),)),
        Award(gives={"p09": 8}),
    ],
)
def test_a_stolen_hall_cannot_change_players_elsewhere(tmp_path: Path, decision: AnyDecision) -> None:
    with places(tmp_path, plan_apart()) as made:
        made.carry()
        height = made.centre.scorer._journal.height
        arrive(made, "paris", forged(made, "paris", encode(given_by_thief(decision))))
        assert made.centre.scorer._journal.height == height
        assert "not_of_hall" in codes(made.centre)


def given_by_thief(decision: AnyDecision) -> Ruling:
    return Ruling(
        id="forged-ruling",
        event="cup",
        number=1,
        after=None,
        decision=decision,
        author="X",
        account="x",
        role="organiser",
        reason="?",
        at=1,
    )


def test_a_hall_can_rule_on_a_player_who_entered_there(tmp_path: Path) -> None:
    with places(tmp_path, plan_apart()) as made:
        paris, four = made.halls["paris"], ("p99", "p02", "p03", "p04")
        entered = PlanChanged(
            entered=(Player(id="p99", name="Ida"),),
            left=("p01",),
            plays=tuple(SeatedAnew(round_, 1, *four) for round_ in (1, 2)),
        )
        rule(paris, entered, id_="of-paris-0")
        rule(paris, Award(gives={"p99": 8}), id_="of-paris-1")
        made.carry()
        made.restart(CENTRE)
        rule(paris, Award(gives={"p99": 2}), id_="of-paris-2")
        made.carry()
        assert [id_ for _, id_ in rulings_at(made)] == ["of-paris-0", "of-paris-1", "of-paris-2"]


def three_rows(made: Places) -> tuple[list[LogMessage], HallRow]:
    """Return all messages of Paris's tables, and the message with rows five to seven; the centre has the first four."""
    paris, said = made.halls["paris"], said_in("paris")
    paris.hear(*said[:4])
    made.carry()
    paris.line.forget()
    paris.hear(*said[4:7])
    (three,) = [one for one in paris.line.heard("/row") if isinstance(one, HallRow)]
    return said, three


def test_a_row_changed_in_transit_is_refused_and_the_next_one_is_accepted(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        said, three = three_rows(made)
        altered = replace(three.then[0], body=three.then[0].body.replace("1000", "1001"))
        before, acknowledged = made.centre.scorer._journal.height, list[int]()
        arrive(
            made,
            "paris",
            encode(replace(three, then=(altered, *three.then[1:]))),
            lambda: acknowledged.append(made.centre.scorer._journal.height),
        )
        assert codes(made.centre).count("hall_row_altered") == 1
        stored = {one.id for one in made.centre.scorer._journal.messages() if isinstance(one, LogMessage)}
        assert stored == {one.id for one in (*said[:5], said[6])}
        assert acknowledged == [before + 2]


@pytest.mark.parametrize("between", ["nothing", "a message", "a start"])
def test_a_row_with_a_wrong_link_is_accepted_if_the_next_row_proves_it(tmp_path: Path, between: str) -> None:
    """The next row proves it unchanged. If that comes in a later message, there is an alert and the row is retained."""
    with places(tmp_path) as made:
        said, three = three_rows(made)
        first, middle, last = (replace(one, then=()) for one in three.each())
        wrong = replace(middle, link="ab" * 32)
        after = replace(last, before=wrong.link)
        if between == "nothing":
            then = NextRow(wrong.link, wrong.at, wrong.body), NextRow(after.link, after.at, after.body)
            arrive(made, "paris", encode(replace(first, then=then)))
        else:
            arrive(made, "paris", encode(first))
            arrive(made, "paris", encode(wrong))
            assert codes(made.centre).count("hall_row_altered") == 1
            if between == "a start":
                made.restart(CENTRE)
            arrive(made, "paris", encode(after))
        stored = {one.id for one in made.centre.scorer._journal.messages() if isinstance(one, LogMessage)}
        assert stored == {one.id for one in said[:7]}
        assert codes(made.centre).count("hall_row_altered") == (between == "a message")


def test_a_row_that_the_next_message_does_not_prove_stays_refused(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        said, three = three_rows(made)
        first, middle, last = (replace(one, then=()) for one in three.each())
        acknowledged = list[int]()
        for row in (first, replace(middle, body=middle.body.replace("1000", "1001")), last):
            arrive(made, "paris", encode(row), lambda: acknowledged.append(made.centre.scorer._journal.height))
        stored = {one.id for one in made.centre.scorer._journal.messages() if isinstance(one, LogMessage)}
        assert stored == {one.id for one in (*said[:5], said[6])}
        assert (codes(made.centre).count("hall_row_altered"), len(acknowledged)) == (1, 3)


def test_a_hall_removed_from_the_list_gets_no_receipts(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        made.centre.ear.there = False
        for hall in made.halls:
            made.halls[hall].hear(*said_in(hall)[:2])
            made.carry_up(hall)
        made.centre.ear.forget()
        write_halls(made.folder / "centre", [one for one in HALLS if one.name != "osaka"])
        made.centre.step()
        made.centre.ear.there = True
        made.centre.step()
        assert {one.hall for one in made.centre.ear.heard("") if isinstance(one, HallReceipt)} == {"paris"}


def test_a_centre_without_its_list_of_halls_keeps_running_but_does_not_start(
    tmp_path: Path,
) -> None:
    with places(tmp_path) as made:
        for name, hall in made.halls.items():
            hall.hear(*said_in(name)[:6])
        made.carry()
        (made.folder / CENTRE / HALLS_FILE).unlink()
        for name, hall in made.halls.items():
            hall.hear(*said_in(name)[6:])
        made.carry()
        assert (made.centre.scorer.state.plays_in, [*made.at_centre.halls]) == (16, ["paris", "osaka"])
        with pytest.raises(BadEvent) as refused:
            made.restart(CENTRE)
        assert [one.code for one in refused.value.found] == ["hall_file_missing"]


def test_a_hall_without_its_centre_file_does_not_start(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        made.halls["paris"].hear(*said_in("paris"))
        (made.folder / "paris" / HALL).unlink()
        with pytest.raises(BadEvent) as refused:
            made.restart("paris")
        assert [one.code for one in refused.value.found] == ["hall_file_missing"]


def test_a_revoked_hall_is_ignored_until_it_is_admitted_again(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        write_halls(made.folder / "centre", [replace(one, revoked=one.name == "osaka") for one in HALLS])
        made.centre.step()
        for name, hall in made.halls.items():
            hall.hear(*said_in(name))
        made.carry()
        tables = {one.table for one in made.centre.scorer._journal.messages() if isinstance(one, LogMessage)}
        assert tables == {1, 2}
        assert "hall_revoked" in codes(made.halls["osaka"])
        assert made.halls["osaka"].scorer.feed.current.centre.revoked  # type: ignore[union-attr]  # a hall has it
        write_halls(made.folder / "centre", HALLS)
        made.centre.step()
        made.carry()
        assert made.centre.scorer.state.plays_in == 16


def test_a_hall_stays_revoked_even_if_another_machines_file_says_otherwise(tmp_path: Path) -> None:
    """Two machines with one database each have a file; possibly only one of them was changed."""
    with places(tmp_path) as made:
        made.carry()
        write_halls(made.folder / "centre", [replace(one, revoked=one.name == "osaka") for one in HALLS])
        made.centre.step()
        write_halls(made.folder / "centre", HALLS)
        before = NOW / 1000 - 60
        os.utime(made.folder / "centre" / HALLS_FILE, (before, before))
        made.restart(CENTRE)
        assert {one.name: one.revoked for one in made.at_centre.views()} == {"paris": False, "osaka": True}
        arrive(made, "osaka", forged(made, "osaka", encode(whole_log(3)[0])))
        assert "hall_cut_off" in codes(made.centre)
        write_halls(made.folder / "centre", HALLS)
        made.centre.step()
        assert not any(one.revoked for one in made.at_centre.views())
        os.utime(made.folder / "centre" / HALLS_FILE, (before, before))
        made.restart(CENTRE)
        assert not any(one.revoked for one in made.at_centre.views())


def test_a_hall_admitted_while_the_centre_was_stopped_is_accepted(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        write_halls(made.folder / "centre", [replace(one, revoked=one.name == "osaka") for one in HALLS])
        made.centre.step()
        write_halls(made.folder / "centre", HALLS)
        after = NOW / 1000 + 60
        os.utime(made.folder / "centre" / HALLS_FILE, (after, after))
        made.restart(CENTRE)
        assert not any(one.revoked for one in made.at_centre.views())


def test_messages_of_a_revoked_hall_are_refused(tmp_path: Path) -> None:
    """A node that does not know of the revocation yet may still admit it."""
    with places(tmp_path) as made:
        made.carry()
        write_halls(made.folder / "centre", [replace(one, revoked=one.name == "osaka") for one in HALLS])
        made.centre.step()
        before = made.centre.scorer._journal.height, made.at_centre._positions["osaka"]
        arrive(made, "osaka", forged(made, "osaka", encode(whole_log(3)[0])))
        assert (made.centre.scorer._journal.height, made.at_centre._positions["osaka"]) == before
        assert "hall_cut_off" in codes(made.centre)


def test_a_revoked_halls_state_is_ignored(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        first, _, third, *_ = whole_log(3)
        made.halls["osaka"].hear(first, third)
        made.carry()
        gaps = [one.gaps for one in made.centre.scorer.feed.current.tables]
        write_halls(made.folder / "centre", [replace(one, revoked=one.name == "osaka") for one in HALLS])
        made.centre.step()
        said = HallState(
            id="state-0001", event="cup", hall="osaka", lifecycle="there", height=2, version="1", passed_over=((3, 2),)
        )
        topic = topics.HALL_STATE.at("cup", hall="osaka")
        made.centre.scorer._inbox.put(Incoming(topic, encode(said), lambda: None))
        made.centre.step()
        made.centre.scorer.dashboard.changed()
        made.centre.scorer.dashboard.show()
        assert gaps[2] == (2,)
        assert [one.gaps for one in made.centre.scorer.feed.current.tables] == gaps


@pytest.mark.parametrize("attempt", [MOST_ATTEMPTS + 1, 2**63 - 1])
def test_no_hall_can_use_up_the_attempt_numbers(tmp_path: Path, attempt: int) -> None:
    """Otherwise nobody could replace a stolen hall: a new machine begins again with its first row."""
    with places(tmp_path) as made:
        made.carry()
        arrive(made, "osaka", forged(made, "osaka", encode(whole_log(3)[0]), attempt=attempt))
        assert made.at_centre._positions["osaka"].attempt == 0
        arrive(made, "osaka", forged(made, "osaka", encode(whole_log(3)[0]), attempt=MOST_ATTEMPTS))
        assert made.at_centre._positions["osaka"].attempt == MOST_ATTEMPTS


def test_a_hall_restored_from_an_older_copy_has_no_row_stored_twice(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        paris = made.halls["paris"]
        paris.hear(*said_in("paris")[:10])
        made.carry()
        at = made.at_centre._positions["paris"]
        made.at_centre._positions["paris"] = replace(at, link="e" * 64)  # another row
        made.at_centre.resend_all()
        made.centre.step()
        paris.hear(*said_in("paris")[10:])
        made.carry()
        assert "centre_has_more" in codes(paris)
        (upto,) = [one.upto for one in made.centre.scorer.feed.current.halls if one.name == "paris"]
        assert upto == paris.scorer._journal.height
        ids = [one.id for one in made.centre.scorer._journal.messages()]
        assert len(ids) == len(set(ids))
        assert made.centre.scorer.state.plays_in == 8


def test_the_centre_does_not_wait_for_facts_that_a_hall_has_refused(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        paris = made.halls["paris"]
        paris.scorer.live.intake.books[1].passed_over.add(3)
        paris.hear(*[one for one in said_in("paris") if (one.table, one.seq) != (1, 3)])
        made.clock[0] += 20
        paris.step()
        made.carry()
        assert made.centre.scorer.live.intake.books[1].gaps() == ()
        refused = [(one.table, one.seq, one.code) for one in made.centre.scorer._journal.refused()]
        assert refused == [(1, 3, "too_many_facts")]


def test_a_hall_publishes_only_deals_complete_in_all_halls(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        made.halls["paris"].hear(*said_in("paris"))
        made.carry()
        view = made.halls["paris"].scorer.feed.current
        assert view.plays_in == view.plays_expected == 8
        public = PublicViews().of(view)
        assert (list(public.plays), public.centre, public.halls) == ([], None, ())
        assert {one.plays for one in public.standings} <= {0}


def test_a_hall_trusts_a_restored_centre_that_has_less(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        made.halls["paris"].hear(*said_in("paris"))
        made.halls["osaka"].hear(*said_in("osaka")[:-1])
        made.carry()
        made.copy(CENTRE)
        rule(made.centre, Award(gives={"p01": 8}), id_="lost-award")
        rule(made.centre, Undo(ruling="lost-award"), id_="lost-undo")
        rule(made.centre, Undo(ruling="lost-undo"), id_="lost-redo")
        made.restart(CENTRE)
        made.carry()
        made.restore(CENTRE)
        made.halls["osaka"].hear(said_in("osaka")[-1])
        made.carry()
        assert made.halls["paris"].scorer.snapshot.complete == frozenset(event().expected)


def test_a_hall_restarted_without_a_link_knows_the_complete_deals(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        for name, hall in made.halls.items():
            hall.hear(*said_in(name))
        made.carry()
        made.restart("paris")
        assert made.halls["paris"].scorer.snapshot.complete == frozenset(event().expected)


@pytest.mark.parametrize(
    ("halls", "code"),
    [
        ((("paris", "1-2"), ("osaka", "2")), "hall_tables_wrong"),
        ((("paris", "1"), ("paris", "2")), "hall_twice"),
        ((("paris", "one"),), "hall_tables_wrong"),
        ((("Paris", "1"),), "malformed"),
    ],
)
def test_an_invalid_list_of_halls_is_refused(tmp_path: Path, halls: tuple[tuple[str, str], ...], code: str) -> None:
    written = [f'[[halls]]\nname = "{name}"\ntitle = "T"\ntables = "{tables}"\n' for name, tables in halls]
    (tmp_path / HALLS_FILE).write_text("".join(written), encoding="utf-8")
    with pytest.raises(BadEvent) as refused:
        read_halls(tmp_path)
    assert [one.code for one in refused.value.found] == [code]


def test_the_list_of_halls_is_reloaded_unless_it_cannot_be_read(tmp_path: Path) -> None:
    write_halls(tmp_path, HALLS)
    file = HallsFile(tmp_path)
    assert file.connecting() == ("paris", "osaka")
    (tmp_path / HALLS_FILE).write_text("halls = 1", encoding="utf-8")
    assert file.connecting() == ("paris", "osaka")
    write_halls(tmp_path, [replace(HALLS[0], revoked=True)])
    assert file.connecting() == ()
    assert HallsFile(tmp_path / "elsewhere").connecting() is None
