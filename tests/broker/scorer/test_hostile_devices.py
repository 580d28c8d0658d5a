"""Whatever an admitted device signs, the scorer goes on, and a restart leads to the same state."""

import json
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.protocol import encode, topics, with_sender
from tests.broker.scorer.hall import make_hall, open_journal
from tests.broker.scorer.small import DEVICES, KEY, NAME, beat, state, whole_log
from tests.examples import COSTLY

SAID: Final = [json.loads(encode(one)) for table in (1, 2, 3) for one in whole_log(table)]

OF_DEVICES: Final[list[dict[str, Any]]] = [
    json.loads(
        encode(replace(state(1), health={"camera": "dark"}, obeyed={1: "order-0001"}, at=5, heard=6, minutes=20))
    ),
    json.loads(encode(beat(2))),
]

HOSTILE: Final[tuple[Any, ...]] = (
    *(0, -1, 2**31, 2**63, 2**64, 10**30, 1.5, 1e308, None, True, "", "\x00", "\u202e", "=1+1", "<b>", "{table}", "%s"),
    *("x" * 501, "😀" * 50, [], {}, [None], {"east": 1}, "north", "draw", "void", "head_arbiter", "p01", "../etc"),
)

KEPT_AS_THEY_ARE: Final = frozenset({"schema", "event", "device", "before", "signature"})


def places(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the places in a message at which something may be changed."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [place for key, one in inside for place in places(one, (*path, key))]
    return [*found, path] if path and path[0] not in KEPT_AS_THEY_ARE else found


def altered(message: dict[str, Any], chance: Random) -> dict[str, Any]:
    """Return a message with something changed or removed at one place."""
    made = json.loads(json.dumps(message))
    *way, last = chance.choice(places(made))
    there = made
    for key in way:
        there = there[key]
    if chance.random() < 0.1:
        del there[last]
    else:
        there[last] = chance.choice(HOSTILE)
    return dict(made)


def signed(message: dict[str, Any]) -> bytes:
    """Return a fact signed by the table's device."""
    unsigned = {name: value for name, value in message.items() if name not in {"signature", "sender"}}
    content = json.dumps(unsigned).encode().removesuffix(b"}")
    return with_sender(b'%b,"signature":"%b"}' % (content, KEY.sign_bytes(content).encode()), DEVICES[0])


@COSTLY
@given(seed=st.integers(0, 2**32))
def test_whatever_a_device_signs_the_scorer_goes_on_and_a_restart_agrees(seed: int) -> None:
    chance = Random(seed)
    with TemporaryDirectory() as made, open_journal(folder := Path(made)) as journal:
        hall = make_hall(folder, journal)
        for at, message in enumerate(SAID):
            other = altered(chance.choice([message, message, *OF_DEVICES]), chance)
            if chance.random() < 0.5:
                other["id"] = f"hostile-{at:04}"
            for one in (other, message):
                table = one["table"] if isinstance(one.get("table"), int) and 0 < one["table"] < 10 else 1
                topic = topics.LOG if "fact" in one else topics.STATE if "lifecycle" in one else topics.BEAT
                body = signed(one) if topic is topics.LOG else json.dumps(one).encode()
                hall.arrive(topic.at(NAME, table=table), body)
        again = make_hall(folder, journal).scorer.state.snapshot()
        now = hall.scorer.state.snapshot()
        assert (again.standings, again.complete) == (now.standings, now.complete)
