"""The people's database: accounts, the audit log, the desk's orders and keyed sheets."""

import random
import uuid
from contextlib import closing
from pathlib import Path

from broker.people import Account, Actor, Authentication, PeopleError
from broker.people.database import all_rows
from broker.web.paper.keying import Keying, Keyings
from broker.web.tables.orders import OrderGiven, Orders
from tests.power.subject import Cut, Outcome, Subject, Tell, digest

BY = Actor("helene")
PASSWORD = "four winds and a dragon"
NOW = 1_800_000_000_000
STEPS = 14


def contents(auth: Authentication) -> str:
    """Return a digest of the whole content."""
    with auth.store.commit() as sql:
        return digest({name: [repr(row) for row in rows] for name, rows in all_rows(sql).items()})


def write(disk: Path, seed: int, tell: Tell) -> None:
    """Add, disable and enable accounts, log in, give orders, key in sheets; promise the content after each step."""
    chance = random.Random(seed)
    with closing(Authentication(disk, lambda: NOW)) as auth:
        tell("people", rows=contents(auth))
        for step in range(STEPS):
            act(auth, step, chance)
            tell("people", rows=contents(auth))


def act(auth: Authentication, step: int, chance: random.Random) -> None:
    """Do one random step."""
    name, accounts = f"helper{uuid.uuid4().hex[:12]}", [one for one in auth.accounts.all() if not one.disabled]
    heads = [one for one in accounts if one.role == "head_arbiter"]
    match chance.randrange(5) if accounts else 0:
        case 0:
            auth.accounts.add(name, f"Somebody {step}", "head_arbiter", PASSWORD, BY)
        case 1 if len(heads) > 1:
            auth.accounts.disable(heads[0].name, BY)
        case 2:
            admitted: Account = chance.choice(accounts)
            auth.admit(admitted, agent="a browser", address="127.0.0.1")
        case 3:
            given = OrderGiven((1, 2), "pause", 0, "tiles fell", "Hélène Roy")
            Orders(auth.store).keep(name, given, "helene", NOW)
        case _:
            reading = Keying(
                number=0, at=NOW, who="helene", whose="helene", round=1, table=1, after="", body=name.encode()
            )
            Keyings(auth.store).keep(reading)


def check(cut: Cut, outcome: Outcome) -> None:
    """Open the database as the desk does."""
    allowed = [one["rows"] for one in cut.around("people")]
    seen = {one["rows"] for one in cut.all("people")}
    try:
        with closing(Authentication(cut.disk, lambda: NOW)) as auth:
            found = contents(auth)
            list(auth.audit.checked())
        with closing(Authentication(cut.disk, lambda: NOW)) as auth:
            outcome.must(contents(auth) == found, "a second opening changes something")
    except PeopleError as broken:
        outcome.must(cut.lie != "none", f"it does not open: {broken.code} {broken}")
        outcome.notes[broken.code] += 1
        return
    if cut.before("people"):
        if cut.lie == "none":
            outcome.must(found in allowed, "people are not as they were promised, nor as they were to be")
        else:
            outcome.notes["people as they were before"] += found not in allowed
            outcome.must(found in seen | {EMPTY}, "people as they never were")


EMPTY = digest({name: [] for name in ("accounts", "sessions", "audit", "orders", "keyings")})

PEOPLE = Subject("people", write, check)
