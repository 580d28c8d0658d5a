"""An attacker with a table's password but without its device's key: forgeries, replays, session takeovers."""

import itertools
import random
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

from broker.protocol import topics
from broker.sim.demo_audit import facts
from broker.sim.demo_event import NAME
from tests.attack.ledger import Ledger
from tests.attack.target import HONEST, STOLEN, USERS, Target
from tests.chaos.intruder import Intruder

FORGED: Final = "scorer: forged facts"
REPLAYED: Final = "scorer: replays"
TAKEOVERS: Final = "broker: takeovers"

REPLAYS: Final = 3

CLAIMS: Final = 2
"""On a busy machine a connection may be lost by itself; only a client cut off at each of these claims counts."""


def forge(target: Target, ledger: Ledger, chance: random.Random) -> None:
    """Send rubbish, forged results and rulings, and endless calls: none of it may be stored."""
    tls = None if target.plain else target.context(target.identity(f"table-{HONEST}"))
    intruder = Intruder(target.where.port, target.credentials, HONEST, chance, tls)
    for name, attack in (
        ("rubbish on topics of all kinds", intruder.rubbish),
        ("results and rulings without a signature, and with that of another key", intruder.forge),
        ("calls without end", intruder.toggle_calls),
    ):
        attack()
        wrong = target.unwell() or _foreign(target)
        ledger.tried(FORGED, name, held=not wrong, why=wrong)


def _foreign(target: Target) -> str:
    """Return what the journal holds that the honest table has not sent."""
    told = [
        fact for fact in facts(target.folder / "scorer.sqlite") if fact["table"] != HONEST or fact["type"] != "call"
    ]
    ours = len(target.honest.sent)
    stored = sum(fact["table"] == HONEST for fact in facts(target.folder / "scorer.sqlite"))
    if told:
        return f"stored: {told[:2]}"
    return "" if stored == ours else f"{stored} facts stored of the {ours} that the table has told"


def replay(target: Target, ledger: Ledger) -> None:
    """Replay the honest table's messages, unchanged and slightly changed, with its own password and another's."""
    sent = target.honest.sent[-20:]
    changes: dict[str, Callable[[bytes], bytes]] = {
        "as it was": lambda body: body,
        "with another number": lambda body: body.replace(b'"seq":', b'"seq":9'),
        "for another table": lambda body: body.replace(b'"table":%d' % HONEST, b'"table":%d' % STOLEN),
        "of another event": lambda body: body.replace(f'"event":"{NAME}"'.encode(), b'"event":"other"'),
        "with a field twice": lambda body: b'{"at":1,' + body[1:],
        "with something behind it": lambda body: body[:-1] + b',"note":1}',
        "under another sender": lambda body: body[:-1] + b',"sender":"' + b"0" * 32 + b'"}',
    }
    for user, table in ((f"table-{HONEST}", HONEST), (f"table-{STOLEN}", STOLEN)):
        with target.client(user) as intruder:
            intruder.connect()
            for name, change in changes.items():
                for body in itertools.chain.from_iterable(itertools.repeat(sent, REPLAYS)):
                    intruder.say(topics.LOG.at(NAME, table=table), change(body))
                wrong = target.pulse() or _foreign(target)
                ledger.tried(REPLAYED, f"{user}, {name}", held=not wrong, why=wrong)


def take_over(target: Target, ledger: Ledger) -> None:
    """Connect with the client ids of others' sessions, as far as they can be known: nobody may be cut off."""
    names = ("scorer", "desk", "arbiter", "display", f"table-{HONEST}", f"table-{STOLEN}")
    for user in USERS:
        for name in names:
            claimed = f"homologue-{NAME}-{name}"
            wrong = [*itertools.takewhile(bool, (_claim(target, user, claimed) for _ in range(CLAIMS)))]
            why = wrong[-1] if len(wrong) == CLAIMS else ""
            ledger.tried(TAKEOVERS, f"{user} claims {claimed}", held=not why, why=why)


def _claim(target: Target, user: str, session: str) -> str:
    """Connect with a session's client id; return who was cut off meanwhile."""
    before, cut_off = target.all_lines(), target.honest.cut_off
    with ExitStack() as leaving:
        # Without this, a second nats-server refuses a client that claims the same id again.
        while not leaving.enter_context(target.client(user, session=session)).connect():
            before, cut_off = target.all_lines(), target.honest.cut_off
        wrong = target.pulse()  # by then a client that was cut off has noticed it
        if before - target.lines():
            wrong = "the scorer or the desk was cut off"
        if target.honest.cut_off > cut_off:
            wrong = "the table was cut off"
    return wrong
