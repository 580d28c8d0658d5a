"""Errors about accounts. Codes are stable (docs/codes.md), texts are not. No text reveals a secret."""

from broker.errors import CodedError


class PeopleError(CodedError, code="people_error"):
    """Base class of errors about accounts."""


class BadAccount(PeopleError, ValueError, code="bad_account"):
    """A login name, a full name or a role that there cannot be."""


class AccountTaken(PeopleError, ValueError, code="account_taken"):
    """There is an account of this name; names are never used again, or the audit log would speak of two people."""


class AccountUnknown(PeopleError, LookupError, code="account_unknown"):
    """There is no account of this name."""


class LastHeadArbiter(PeopleError, ValueError, code="last_head_arbiter"):
    """Without a head arbiter nobody could let anybody in again."""


class WeakPassword(PeopleError, ValueError, code="weak_password"):
    """A password that is too short, too long, or the name itself."""


class LoginRefused(PeopleError, PermissionError, code="login_refused", status=401):
    """Name and password do not belong together; it is never said which of them is wrong."""


class LoginDelayed(PeopleError, PermissionError, code="login_delayed", status=429):
    """Too many tries; `wait_s` says after how many seconds another is heard."""

    def __init__(self, wait_s: int) -> None:
        super().__init__(f"too many tries; the next is heard in {wait_s} s")
        self.wait_s = wait_s


class LinkSpent(PeopleError, PermissionError, code="link_spent"):
    """The link of the first start was used, has run out, or was never one."""


class BadToken(PeopleError, ValueError, code="bad_token"):
    """A name or a role that a token cannot have."""


class TokenTaken(PeopleError, ValueError, code="token_taken"):
    """There is a token of this name; names are never used again, as the audit log names them."""


class TokenUnknown(PeopleError, LookupError, code="token_unknown", status=401):
    """There is no such token, or it was revoked."""


class BadWebhook(PeopleError, ValueError, code="bad_webhook"):
    """A name that a webhook cannot have, or an address to which nothing is sent."""


class WebhookTaken(PeopleError, ValueError, code="webhook_taken"):
    """There is a webhook of this name."""


class WebhookUnknown(PeopleError, LookupError, code="webhook_unknown"):
    """There is no webhook of this name."""


class BadOrder(PeopleError, ValueError, code="bad_order"):
    """An order that cannot be given: to no table, without a reason, or of a kind that does not exist."""


class OrderGivenBefore(PeopleError, ValueError, code="order_given_before", status=409):
    """The form of an order was sent before. `same`: whether it contained the same order."""

    def __init__(self, *, same: bool) -> None:
        super().__init__("this form has given its order already; nothing was given again")
        self.same = same


class OrderUnsent(PeopleError, ConnectionError, code="order_unsent", status=503):
    """The desk is not connected with the broker: no table can hear the order, and none will later."""


class TablesUnheard(PeopleError, ConnectionError, code="tables_unheard", status=503):
    """None of an order's tables has said anything since this scorer began: what it would obey is not known."""


class PeopleStoreBroken(PeopleError, OSError, code="people_store_broken"):
    """`people.sqlite`, or the tables of people in PostgreSQL, cannot be read or written, or are of another version."""


class AuditBroken(PeopleError, ValueError, code="audit_broken"):
    """The chain of the audit log does not hold: an entry was changed, taken out or put in."""
