"""What can go wrong, each with a stable code; texts may change. docs/codes.md lists the codes.

Rooms on a table, people and web have an `errors.py` of their own.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, Final, TypeVar

T = TypeVar("T")
A = TypeVar("A")


class CodedError(Exception):
    """An error whose kind has a stable code, and the status with which a page or an API answers; texts may change."""

    code: ClassVar[str]
    status: ClassVar[int] = 400
    wait_s: int = 0
    """Seconds after which to ask again, where that helps."""

    def __init_subclass__(cls, code: str = "", status: int = 0) -> None:
        """Take the code and the status from the class statement; without, the base's hold."""
        super().__init_subclass__()
        cls.code = code or cls.code
        cls.status = status or cls.status


KINDS: Final[Mapping[str, str]] = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "null": "nothing",
    "object": "an object",
    "str": "text",
}
"""How msgspec names what it found, and how people do."""

OTHERS: Final[Mapping[str, str]] = {
    "Object missing required field `(.*)`": r"\1 is missing",
    "Object contains unknown field `(.*)`": r"\1 is not known here",
    "Invalid (?:enum )?value (.*)": r"\1 is not allowed here",
}
"""What else msgspec says of a value, and what people do."""

LIMITS: Final[Mapping[str, str]] = {">=": "of at least", "<=": "of at most", "matching regex": "of the form"}


def reason(error: BaseException) -> str:
    """Return why something could not be read or written, in words for those who do not program."""
    if isinstance(error, OSError):
        return re.sub(r"^\[.*\] | \(_ssl\.c:\d+\)$", "", error.strerror or str(error))  # OpenSSL says where it failed
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    said, at, place = str(error).partition(" - at `$")
    return f"{_place(place)}{_said(said)}" if at else _said(said)


def _place(path: str) -> str:
    """Return where in a file a value is, with a colon; nothing for the whole."""
    items = re.sub(r"\[(\d+)\]", lambda item: f", item {int(item[1]) + 1}, ", path.rstrip("`").replace("[...]", ""))
    where = re.sub(r"(^|, )[., ]+", r"\1", items).strip(", ")
    return f"{where}: " if where else ""


def _said(text: str) -> str:
    for internal, words in OTHERS.items():
        text = re.sub(f"^{internal}$", words, text)
    return re.sub(r"^Expected `(.*?)`(.*?)(?:, got `(.*?)`)?$", _of_a_kind, text)


def _of_a_kind(found: re.Match[str]) -> str:
    kind, limit, got = found.groups(default="")
    for sign, words in LIMITS.items():
        limit = limit.replace(sign, words)
    return f"{_kinds(kind)}{limit} is needed{f', not {_kinds(got)}' if got else ''}"


def _kinds(names: str) -> str:
    return " or ".join(KINDS.get(name, name) for name in names.split(" | "))


class RuleError(ValueError):
    """Input that the rules refuse. `code` is stable and listed in docs/codes.md."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


def refuse_if(wrong: bool, code: str, text: str) -> None:  # noqa: FBT001 - reads as a sentence
    """Raise RuleError of this code where something is wrong."""
    if wrong:
        raise RuleError(code, text)


def collect_errors(ask: Callable[[A], T], asked: Iterable[A]) -> list[T]:
    """Ask about each; raise an ExceptionGroup of all RuleErrors if there is one."""
    answers: list[T] = []
    problems: list[RuleError] = []
    for one in asked:
        try:
            answers.append(ask(one))
        except RuleError as problem:
            problems.append(problem)
        except ExceptionGroup as several:
            problems += flatten_errors(several)
    raise_errors(problems)
    return answers


def raise_errors(problems: Iterable[RuleError]) -> None:
    """Raise all of them at once, if there is one."""
    if found := list(problems):
        raise ExceptionGroup("refused", found)


def flatten_errors(several: BaseExceptionGroup[BaseException]) -> list[RuleError]:
    """Return the refusals in a group; groups may lie in groups."""
    found: list[RuleError] = []
    for one in several.exceptions:
        found += (
            flatten_errors(one) if isinstance(one, BaseExceptionGroup) else [one] if isinstance(one, RuleError) else []
        )
    return found


class BrokerError(CodedError, code="broker_error"):
    """Base of all errors of this room's brokers."""


class ProgramMissing(BrokerError, FileNotFoundError, code="broker_program_missing"):
    """A program that the broker needs is not installed."""


class BrokerPortTaken(BrokerError, OSError, code="broker_port_taken"):
    """Something else listens on the port that the broker was to take."""


class StoreLocked(BrokerError, BlockingIOError, code="broker_store_locked"):
    """Another broker runs on the same folder."""


class BrokerStartFailed(BrokerError, RuntimeError, code="broker_start_failed"):
    """The broker ended by itself before it was ready; the text has the last lines of its log."""


class BrokerDied(BrokerError, RuntimeError, code="broker_died"):
    """The broker ended while it was needed."""


class NotReady(BrokerError, TimeoutError, code="broker_not_ready"):
    """The broker runs but takes no connection within the time; the text has the last lines of its log."""


class SettingRefused(BrokerError, ValueError, code="broker_setting_refused"):
    """An event name, a number of tables or a path cannot be used."""


class CredentialsMalformed(BrokerError, ValueError, code="broker_credentials_malformed"):
    """The file of credentials is not what `Credentials.save` writes."""


class CredentialsMissing(BrokerError, FileNotFoundError, code="broker_credentials_missing"):
    """There is no file of credentials that we may read."""


class CredentialsExposed(BrokerError, PermissionError, code="broker_credentials_exposed"):
    """Others than the owner may read the file of credentials."""


class UserUnknown(BrokerError, LookupError, code="broker_user_unknown"):
    """Nobody of that name has credentials."""


class CertificatesMissing(BrokerError, FileNotFoundError, code="certificates_missing"):
    """The event has no authority of its own, or its authority's key is elsewhere."""


class CertificatesBroken(BrokerError, ValueError, code="certificates_broken"):
    """A file of the event's certificates is not what it should be."""


class CertificateUnknown(BrokerError, LookupError, code="certificate_unknown"):
    """No certificate was given to that table, or to that device of it."""


class StoreError(CodedError, code="store_error"):
    """Base; `code` is stable and listed in docs/codes.md."""


class StoreInUse(StoreError, OSError, code="store_in_use"):
    """Another scorer has this event's store open."""


class StoreBroken(StoreError, OSError, code="store_broken"):
    """The store is damaged, full, of another event or of a newer version."""


class StoreMissing(StoreError, FileNotFoundError, code="store_missing"):
    """Nothing has been recorded for this event."""


class StoreUnreachable(StoreError, ConnectionError, code="store_unreachable"):
    """No server answers at the store's address, or it lets us not in."""


class StoreLost(StoreError, ConnectionError, code="store_lost"):
    """A scorer that was active has lost the store: it must not write any more, since another may be active by now."""


class ScorerReplaced(StoreLost, code="scorer_replaced"):
    """Another scorer has become active on the event while this one was away."""


class StoreAddressRefused(StoreError, ValueError, code="store_address_refused"):
    """The address of a store, or the file of its password, cannot be used."""


class StoreDiffers(StoreError, ValueError, code="store_differs"):
    """The event's journal is in another store than the one that was named."""


class NoEvent(StoreError, ValueError, code="no_event"):
    """The folder is no event's."""


class BackupFailed(StoreError, OSError, code="backup_failed"):
    """A copy could not be made, or does not read back as it was written. Older copies are as they were."""


class AnchorMistyped(StoreError, ValueError, code="anchor_mistyped"):
    """A text that is no anchor: a letter was read or typed wrong."""


class AnchorChanged(StoreError, code="anchor_changed"):
    """Something that was stored when an anchor was made is not there any more as it was."""


class AnchorElsewhere(StoreError, ValueError, code="anchor_of_another_event"):
    """An anchor of another event."""


class BackupBroken(StoreError, ValueError, code="backup_broken"):
    """A copy is damaged, or is none."""


class BackupMissing(StoreError, FileNotFoundError, code="backup_missing"):
    """There is no copy in that folder that could be restored."""


class RestoreTaken(StoreError, FileExistsError, code="restore_taken"):
    """Something is there already where a copy was to be restored. It was left as it is."""


class ScorerError(CodedError, code="scorer_error"):
    """Base; `code` is stable and listed in docs/codes.md."""


class BadEvent(ScorerError, ValueError, code="bad_event"):
    """The event's folder does not hold an event that can be played; `found`: each problem of its plan by itself."""

    def __init__(self, text: str, found: Iterable[RuleError] = ()) -> None:
        super().__init__(text)
        self.found = tuple(found)


class EventKeyBroken(ScorerError, OSError, code="event_key_broken"):
    """The event's key cannot be read or written."""


class NoDeviceWaits(ScorerError, LookupError, code="no_device_waits", status=409):
    """A table is to be handed over, and no second device has asked to serve it."""


class CallAttended(ScorerError, ValueError, code="call_attended", status=409):
    """An arbiter wants to go to a call, or not to go, and another one has said so first."""


class ScorerActive(ScorerError, BlockingIOError, code="scorer_active"):
    """Another scorer is active on this event, from another folder: end it first, or stand by."""


class FollowedDiffers(StoreError, code="followed_differs"):
    """A copy of the event holds what the active scorer's store does not, or was sent what does not follow."""


class StandbyRefused(ScorerError, PermissionError, code="standby_refused"):
    """The scorer that is to be followed does not take this machine for its standby."""


class StandbyBehind(ScorerError, ValueError, code="standby_behind", status=409):
    """The scorer cannot hand over: its standby is not there, or lacks something."""


class ScorerBusy(ScorerError, TimeoutError, code="scorer_busy", status=503):
    """The scorer has not answered in time; whether it did what was asked is seen when it answers again."""
