"""Errors, each with a stable code that docs/codes.md lists; their texts may change.

The packages that run on a table, `people` and `web` each have an `errors.py` of their own.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import ClassVar, Final, TypeVar

from broker.i18n import N_, Message

T = TypeVar("T")
A = TypeVar("A")


class CodedError(Exception):
    """An error whose class has a stable code, and the HTTP status of pages and APIs. Its text may change."""

    code: ClassVar[str]
    status: ClassVar[int] = 400
    wait_s: int = 0
    """Seconds after which to try again; 0 if that would not help."""

    def __init_subclass__(cls, code: str = "", status: int = 0) -> None:
        """Take the code and the status from the class statement; by default, those of the base class are inherited."""
        super().__init_subclass__()
        cls.code = code or cls.code
        cls.status = status or cls.status


class RuleError(ValueError):
    """Input that the rules refuse. `code` is stable and listed in docs/codes.md."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


KINDS: Final[Mapping[str, Message]] = {
    "array": N_("a list"),
    "bool": N_("true or false"),
    "float": N_("a number"),
    "int": N_("a whole number"),
    "null": N_("nothing"),
    "object": N_("an object"),
    "str": N_("text"),
}
"""What msgspec calls each type, and what people call it."""

LETTERS_ALLOWED: Final = re.compile(r"\^(\[\S*?\])?\[(\S*?)\]\{(?:\d+,)?(\d+)\}\$\S*")
"""A pattern that lists the allowed characters, perhaps others for the first one, and their maximum number."""

Sentence = Callable[[re.Match[str]], str]

SENTENCES: Final[Sequence[tuple[str, Sentence]]] = (
    ("Object missing required field `(.*)`", lambda found: N_("{field} is missing", field=found[1])),
    ("Object contains unknown field `(.*)`", lambda found: N_("{field} is not known here", field=found[1])),
    (r"Invalid (?:enum )?value ('.*'|-?\d+)", lambda found: N_("{value} is not allowed here", value=found[1])),
    ("Expected `str` matching regex '(.*)'", lambda found: _pattern_sentence(found[1])),
    (r"Expected `\w+` of length >= 1", lambda _: N_("it is empty")),
    (r"Expected `str` of length >= (\d+)", lambda found: N_("fewer than {least} characters", least=found[1])),
    (r"Expected `str` of length <= (\d+)", lambda found: N_("more than {most} characters", most=found[1])),
    (r"Expected `\w+` of length >= (\d+)", lambda found: N_("fewer than {least} entries", least=found[1])),
    (r"Expected `\w+` of length <= (\d+)", lambda found: N_("more than {most} entries", most=found[1])),
    (
        r"Expected `array` of length (\d+), got (\d+)",
        lambda found: N_("{wanted} entries are needed, not {count}", wanted=found[1], count=found[2]),
    ),
    (
        r"Expected `(\w+)` >=? (.*)",
        lambda found: N_("{wanted} of at least {least} is needed", wanted=_type_names(found[1]), least=found[2]),
    ),
    (
        r"Expected `(\w+)` <=? (.*)",
        lambda found: N_("{wanted} of at most {most} is needed", wanted=_type_names(found[1]), most=found[2]),
    ),
    (
        "Expected `(.*)`, got `(.*)`",
        lambda found: N_("{wanted} is needed, not {found}", wanted=_type_names(found[1]), found=_type_names(found[2])),
    ),
    ("Expected `(.*)`", lambda found: N_("{wanted} is needed", wanted=_type_names(found[1]))),
    ("Input data was truncated", lambda _: N_("it ends too early: a bracket or a quotation mark is not closed")),
    (
        r"JSON is malformed: .*\(byte (\d+)\)",
        lambda found: N_("it is not valid JSON from byte {byte} on", byte=found[1]),
    ),
    (
        r".*\(at line (\d+), column (\d+)\)",
        lambda found: N_("line {line}, column {column}: it is not valid TOML", line=found[1], column=found[2]),
    ),
    (r".*\(at end of document\)", lambda _: N_("it is not valid TOML: the last line is not complete")),
)
"""Error messages of msgspec and of its JSON and TOML parsers, and the sentences for people that replace them."""


def reason(error: BaseException) -> str:
    """Return why something could not be read or written, in words for people who do not program."""
    if isinstance(error, RuleError):
        return error.text
    if isinstance(error, OSError):
        return re.sub(r"^\[.*\] | \(_ssl\.c:\d+\)$", "", error.strerror or str(error))  # OpenSSL adds where it failed
    if isinstance(error, UnicodeDecodeError):
        return N_("it is not UTF-8 text")
    if isinstance(error, RecursionError):
        return N_("it is nested too deeply")
    if isinstance(error, KeyError):
        return N_("{field} is missing", field=error.args[0])
    message, _, path = str(error).partition(" - at `$")
    matches = ((re.fullmatch(pattern, message, re.DOTALL), sentence) for pattern, sentence in SENTENCES)
    problem = next((sentence(found) for found, sentence in matches if found), message)
    return N_("{where}: {problem}", where=where, problem=problem) if (where := _place(path)) else problem


def _place(path: str) -> str:
    """Return where in a file a value is; "" stands for the whole file."""
    where = ""
    for names, number in re.findall(r"\.(\w+(?:\.\w+)*)|\[(\d+)\]", path):
        part = names or N_("item {number}", number=int(number) + 1)
        where = N_("{first}, {second}", first=where, second=part) if where else part
    return where


def _pattern_sentence(pattern: str) -> str:
    if (found := LETTERS_ALLOWED.fullmatch(pattern)) is None:
        return N_("it does not have the required form")
    letters, most = " ".join(re.findall(r".-.|.", found[2])), int(found[3]) + bool(found[1])
    return N_("use only {letters}, at most {most} characters", letters=letters, most=most)


def _type_names(names: str) -> str:
    found: list[str] = [KINDS.get(name, name) for name in names.split(" | ")]
    return reduce(lambda first, second: N_("{first} or {second}", first=first, second=second), found)


def refuse_if(wrong: bool, code: str, text: str) -> None:  # noqa: FBT001 - reads as a sentence
    """Raise RuleError with this code if something is wrong."""
    if wrong:
        raise RuleError(code, text)


def collect_errors(function: Callable[[A], T], items: Iterable[A]) -> list[T]:
    """Return `function` of each item, or raise an ExceptionGroup of all the RuleErrors that were raised."""
    results: list[T] = []
    problems: list[RuleError] = []
    for item in items:
        try:
            results.append(function(item))
        except RuleError as problem:
            problems.append(problem)
        except ExceptionGroup as several:
            problems += flatten_errors(several)
    raise_errors(problems)
    return results


def raise_errors(problems: Iterable[RuleError]) -> None:
    """Raise all problems in one ExceptionGroup, if there are any."""
    if found := list(problems):
        raise ExceptionGroup("refused", found)


def flatten_errors(several: BaseExceptionGroup[BaseException]) -> list[RuleError]:
    """Return the RuleErrors in an exception group and in the groups nested in it."""
    found: list[RuleError] = []
    for error in several.exceptions:
        if isinstance(error, BaseExceptionGroup):
            found += flatten_errors(error)
        elif isinstance(error, RuleError):
            found.append(error)
    return found


class BrokerError(CodedError, code="broker_error"):
    """Base class of the errors of MQTT brokers."""


class ProgramMissing(BrokerError, FileNotFoundError, code="broker_program_missing"):
    """A program that the broker needs is not installed."""


class BrokerPortTaken(BrokerError, OSError, code="broker_port_taken"):
    """Another program listens on the port that was meant for the broker."""


class StoreLocked(BrokerError, BlockingIOError, code="broker_store_locked"):
    """Another broker runs on the same folder."""


class BrokerStartFailed(BrokerError, RuntimeError, code="broker_start_failed"):
    """The broker exited before it was ready; the text has the last lines of its log."""


class BrokerDied(BrokerError, RuntimeError, code="broker_died"):
    """The broker exited while it was needed."""


class NotReady(BrokerError, TimeoutError, code="broker_not_ready"):
    """The broker runs but accepted no connection in time; the text has the last lines of its log."""


class SettingRefused(BrokerError, ValueError, code="broker_setting_refused"):
    """An event name, a number of tables or a path cannot be used."""


class CredentialsMalformed(BrokerError, ValueError, code="broker_credentials_malformed"):
    """The file of credentials does not have the form in which `Credentials.save` writes it."""


class CredentialsMissing(BrokerError, FileNotFoundError, code="broker_credentials_missing"):
    """The file of credentials is missing, or we may not read it."""


class CredentialsExposed(BrokerError, PermissionError, code="broker_credentials_exposed"):
    """Users other than its owner may read the file of credentials."""


class UserUnknown(BrokerError, LookupError, code="broker_user_unknown"):
    """There are no credentials for that name."""


class CertificatesMissing(BrokerError, FileNotFoundError, code="certificates_missing"):
    """The event has no certificate authority of its own, or the authority's key is elsewhere."""


class CertificatesBroken(BrokerError, ValueError, code="certificates_broken"):
    """One of the files of the event's certificates is invalid."""


class CertificateUnknown(BrokerError, LookupError, code="certificate_unknown"):
    """No certificate was issued to that table, or to that device of the table."""


class StoreError(CodedError, code="store_error"):
    """Base class of the store's errors; `code` is stable and listed in docs/codes.md."""


class StoreInUse(StoreError, OSError, code="store_in_use"):
    """Another scorer has this event's store open."""


class StoreBroken(StoreError, OSError, code="store_broken"):
    """The store is damaged or full, or belongs to another event or to a newer version."""


class StoreMissing(StoreError, FileNotFoundError, code="store_missing"):
    """Nothing has been recorded for this event."""


class StoreUnreachable(StoreError, ConnectionError, code="store_unreachable"):
    """No server answers at the store's address, or the server denies access."""


class StoreLost(StoreError, ConnectionError, code="store_lost"):
    """An active scorer has lost the store. It must stop writing, because another scorer may have become active."""


class ScorerReplaced(StoreLost, code="scorer_replaced"):
    """Another scorer has become active on the event while this one was away."""


class StoreAddressRefused(StoreError, ValueError, code="store_address_refused"):
    """The address of a store, or the file of its password, cannot be used."""


class StoreDiffers(StoreError, ValueError, code="store_differs"):
    """The event's journal is in a different store from the one that was named."""


class NoEvent(StoreError, ValueError, code="no_event"):
    """The folder is not the folder of an event."""


class BackupFailed(StoreError, OSError, code="backup_failed"):
    """A backup could not be made, or does not read back as it was written. Older backups are unchanged."""


class AnchorMistyped(StoreError, ValueError, code="anchor_mistyped"):
    """The text is not an anchor: a letter was misread or mistyped."""


class AnchorChanged(StoreError, code="anchor_changed"):
    """Something that was stored when an anchor was made has since been changed or removed."""


class AnchorElsewhere(StoreError, ValueError, code="anchor_of_another_event"):
    """The anchor belongs to another event."""


class BackupBroken(StoreError, ValueError, code="backup_broken"):
    """The backup is damaged, or the file is not a backup."""


class BackupMissing(StoreError, FileNotFoundError, code="backup_missing"):
    """The folder contains no backup that could be restored."""


class RestoreTaken(StoreError, FileExistsError, code="restore_taken"):
    """Something already exists where a backup was to be restored. It was left unchanged."""


class ScorerError(CodedError, code="scorer_error"):
    """Base class of the scorer's errors; `code` is stable and listed in docs/codes.md."""


class BadEvent(ScorerError, ValueError, code="bad_event"):
    """The folder does not hold an event that can be played. `found` lists the individual problems of its plan."""

    def __init__(self, text: str, found: Iterable[RuleError] = ()) -> None:
        super().__init__(text)
        self.found = tuple(found)

    @classmethod
    def of(cls, *found: RuleError) -> "BadEvent":
        """Return an error for these problems. A single problem keeps its text, so that it can be translated."""
        return cls(found[0].text if len(found) == 1 else "; ".join(str(one.text) for one in found), found)


class EventKeyBroken(ScorerError, OSError, code="event_key_broken"):
    """The event's key cannot be read or written."""


class NoDeviceWaits(ScorerError, LookupError, code="no_device_waits", status=409):
    """A table cannot be handed over: no second device has asked to serve it."""


class CallAttended(ScorerError, ValueError, code="call_attended", status=409):
    """An arbiter attends a call, or stops attending it, after another one has just done so."""


class ScorerActive(ScorerError, BlockingIOError, code="scorer_active"):
    """Another scorer is active on this event, from another folder: end it first, or stand by."""


class FollowedDiffers(StoreError, code="followed_differs"):
    """A standby's copy has rows that the active scorer's store lacks, or received rows that do not follow its own."""


class StandbyRefused(ScorerError, PermissionError, code="standby_refused"):
    """The scorer that is to be followed does not accept this machine as its standby."""


class StandbyBehind(ScorerError, ValueError, code="standby_behind", status=409):
    """The scorer cannot hand over: its standby is not connected, or lacks some rows."""


class ScorerBusy(ScorerError, TimeoutError, code="scorer_busy", status=503):
    """The scorer has not answered in time. Whether it did what was asked will show when it answers again."""
