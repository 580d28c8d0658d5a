"""What is refused to people. `code` is stable (docs/codes.md), texts are not; no text tells a secret."""

from typing import ClassVar


class PeopleError(Exception):
    """Base of the refusals to people."""

    code: ClassVar[str] = "people_error"


class BadAccount(PeopleError, ValueError):
    """A login name, a full name or a role that there cannot be."""

    code = "bad_account"


class AccountTaken(PeopleError, ValueError):
    """There is an account of this name; names are never used again, or the audit log would speak of two people."""

    code = "account_taken"


class AccountUnknown(PeopleError, LookupError):
    """There is no account of this name."""

    code = "account_unknown"


class LastHeadArbiter(PeopleError, ValueError):
    """Without a head arbiter nobody could let anybody in again."""

    code = "last_head_arbiter"


class WeakPassword(PeopleError, ValueError):
    """A password that is too short, too long, or the name itself."""

    code = "weak_password"


class LoginRefused(PeopleError, PermissionError):
    """Name and password do not belong together; it is never said which of them is wrong."""

    code = "login_refused"
    status = 401


class LoginDelayed(PeopleError, PermissionError):
    """Too many tries; `wait_s` says after how many seconds another is heard."""

    code = "login_delayed"
    status = 429

    def __init__(self, wait_s: int) -> None:
        super().__init__(f"too many tries; the next is heard in {wait_s} s")
        self.wait_s = wait_s


class LinkSpent(PeopleError, PermissionError):
    """The link of the first start was used, has run out, or was never one."""

    code = "link_spent"


class BadToken(PeopleError, ValueError):
    """A name or a role that a token cannot have."""

    code = "bad_token"


class TokenTaken(PeopleError, ValueError):
    """There is a token of this name; names are never used again, as the audit log names them."""

    code = "token_taken"


class TokenUnknown(PeopleError, LookupError):
    """There is no such token, or it was revoked."""

    code = "token_unknown"
    status = 401


class BadWebhook(PeopleError, ValueError):
    """A name that a webhook cannot have, or an address to which nothing is sent."""

    code = "bad_webhook"


class WebhookTaken(PeopleError, ValueError):
    """There is a webhook of this name."""

    code = "webhook_taken"


class WebhookUnknown(PeopleError, LookupError):
    """There is no webhook of this name."""

    code = "webhook_unknown"


class BadOrder(PeopleError, ValueError):
    """An order that cannot be given: to no table, without a reason, or of a kind that there is not."""

    code = "bad_order"


class OrderGivenBefore(PeopleError, ValueError):
    """The form of an order was sent before. `same`: with the same order in it."""

    code = "order_given_before"
    status = 409

    def __init__(self, *, same: bool) -> None:
        super().__init__("this form has given its order already; nothing was given again")
        self.same = same


class OrderUnsent(PeopleError, ConnectionError):
    """The desk is not connected with the broker: no table can hear the order, and none will later."""

    code = "order_unsent"
    status = 503


class TablesUnheard(PeopleError, ConnectionError):
    """None of an order's tables has said anything since this scorer began: what it would obey is not known."""

    code = "tables_unheard"
    status = 503


class PeopleStoreBroken(PeopleError, OSError):
    """`people.sqlite`, or the tables of people in PostgreSQL, cannot be read or written, or are of another version."""

    code = "people_store_broken"


class AuditBroken(PeopleError, ValueError):
    """The chain of the audit log does not hold: an entry was changed, taken out or put in."""

    code = "audit_broken"
