"""All groups of attacks, one after the other, against one running target."""

import random
from collections.abc import Callable, Collection

from tests.attack import floods, packets, routes, topics, wire
from tests.attack.ledger import Ledger
from tests.attack.target import Target

Attack = Callable[[Target, Ledger], None]


def attacks(seed: int) -> dict[str, Attack]:
    """Return all attacks by their short names; each call draws the same random values again."""

    def drawn(attack: Callable[[Target, Ledger, random.Random], None], name: str) -> Attack:
        return lambda target, ledger: attack(target, ledger, random.Random(f"{seed} {name}"))

    return {
        "strangers": topics.strangers,
        "publish": topics.publish,
        "subscribe": topics.subscribe,
        "takeovers": wire.take_over,
        "packets": drawn(packets.at_broker, "packets"),
        "routes": routes.reach,
        "forms": routes.forge,
        "rubbish": routes.rubbish,
        "requests": drawn(packets.at_desk, "requests"),
        "facts": drawn(wire.forge, "facts"),
        "replays": wire.replay,
        "connections": floods.hold,
        "floods": floods.ask,
    }


def run(
    target: Target, ledger: Ledger, seed: int, only: Collection[str] = (), said: Callable[[str], None] = lambda _: None
) -> None:
    """Run all attacks, or those that are named."""
    for name, attack in attacks(seed).items():
        if not only or name in only:
            said(name)
            attack(target, ledger)
            wrong = target.unwell()
            ledger.tried("scoring goes on afterwards", name, held=not wrong, why=wrong)
