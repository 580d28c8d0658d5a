"""Shares of an event's key for sealed deals, in words that people can write down (SLIP-39, Shamir's secret sharing).

So many of the people together recover the key where the scorer's machine is lost; fewer learn nothing of it.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct
from shamir_mnemonic import MnemonicError, Share, combine_mnemonics, generate_mnemonics

from broker.event.deals.sealing import DEALS_KEY, DealsKey, read_key, write_key
from broker.event.file_io import PUBLIC_MODE, read_json
from broker.files import write_file
from broker.i18n import N_
from broker.protocol import Hash
from broker.rules import RuleError

SHARES: Final = "shares.json"
MOST_SHARES: Final = 16
"""As SLIP-39 has it."""

FEWEST_NEEDED: Final = 2


class SharesFile(Struct, frozen=True, forbid_unknown_fields=True):
    """`shares.json`: that there are shares, how many, and of which key (its public half). No secret."""

    schema: Literal[1]
    people: Annotated[int, Meta(ge=2, le=MOST_SHARES)]
    needed: Annotated[int, Meta(ge=FEWEST_NEEDED, le=MOST_SHARES)]
    public: Hash


def make_shares(folder: Path, people: int, needed: int) -> list[str]:
    """Return the words of each person's share. Whoever has shares from before still has good ones, of their own kind.

    Raises RuleError `shares_wrong`, `deals_key_missing`; OSError.
    """
    if not FEWEST_NEEDED <= needed <= people <= MOST_SHARES:
        raise RuleError(
            "shares_wrong",
            N_("from {fewest} to {most} people have a share, and at least {fewest} of them are needed",
               fewest=FEWEST_NEEDED, most=MOST_SHARES),
        )  # fmt: skip
    key = read_key(folder)
    words: list[str]
    (words,) = generate_mnemonics(1, [(needed, people)], key.to_bytes(), iteration_exponent=0)
    noted = msgspec.json.encode(SharesFile(1, people, needed, key.public))
    write_file(folder / SHARES, msgspec.json.format(noted, indent=1) + b"\n", PUBLIC_MODE, exactly=True)
    return words


def read_shares(folder: Path) -> SharesFile | None:
    """Return what is known of the shares; None where none were made. Raises RuleError `malformed`, OSError."""
    return read_json(folder / SHARES, SharesFile) if (folder / SHARES).exists() else None


def check_share(typed: str, before: Sequence[str] = ()) -> int:
    """Return how many shares are needed, by what one says itself. Raises RuleError `share_wrong`, `share_of_another`.

    Raises `share_twice` too. `before`: those that were given already.
    """
    share = _share(typed)
    for other in map(_share, before):
        if other.common_parameters() != share.common_parameters():
            raise RuleError("share_of_another", N_("this share is not of the same key as the one before"))
        if other.index == share.index:
            raise RuleError("share_twice", N_("this share was given already"))
    return int(share.member_threshold)


def _share(typed: str) -> Share:
    try:
        return Share.from_mnemonic(" ".join(typed.lower().split()))
    except MnemonicError:  # never quoted: it is secret
        raise RuleError("share_wrong", N_("this is no share: a word is wrong, or one is missing")) from None


def recover_key(folder: Path, shares: Iterable[str]) -> DealsKey:
    """Recover the key of a folder from shares, and write it.

    Raises RuleError `share_wrong`, `shares_too_few`, `share_of_another`, `key_of_another`, `key_exists`; OSError.
    """
    words = [" ".join(share.lower().split()) for share in shares]
    for at, share in enumerate(words):
        needed = check_share(share, words[:at])
    if not words or len(words) < needed:
        raise RuleError("shares_too_few", N_("{count} shares are needed", count=needed if words else FEWEST_NEEDED))
    try:
        key = DealsKey.from_bytes(combine_mnemonics(words[:needed]))
    except (MnemonicError, ValueError):
        raise RuleError("share_wrong", N_("this is no share: a word is wrong, or one is missing")) from None
    known = read_shares(folder)
    if known and known.public != key.public:
        raise RuleError("key_of_another", N_("these are shares of the key of another event"))
    if (folder / DEALS_KEY).exists() and read_key(folder).public != key.public:
        raise RuleError("key_exists", N_("{folder} has another key; it was not changed", folder=folder))
    write_key(folder, key)
    return key
