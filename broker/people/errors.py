"""Errors about accounts. Codes are stable (docs/codes.md), texts are not. No text reveals a secret."""

from broker.errors import CodedError


class PeopleError(CodedError, code="people_error"):
    """Base class of errors about accounts."""


class BadAccount(PeopleError, ValueError, code="bad_account"):
    """The login name, full name or role is not valid."""


class AccountTaken(PeopleError, ValueError, code="account_taken"):
    """There is already an account of this name; names are never reused, because the audit log refers to them."""


class AccountUnknown(PeopleError, LookupError, code="account_unknown"):
    """There is no account of this name."""


class LastHeadArbiter(PeopleError, ValueError, code="last_head_arbiter"):
    """The only head arbiter cannot be disabled, because then nobody could manage accounts."""


class WeakPassword(PeopleError, ValueError, code="weak_password"):
    """The password is too short, too long, too simple, or the login name itself."""


class LoginRefused(PeopleError, PermissionError, code="login_refused", status=401):
    """The name or the password is wrong; which of them is never disclosed."""


class LoginDelayed(PeopleError, PermissionError, code="login_delayed", status=429):
    """Too many attempts to log in; another is accepted after `wait_s` seconds."""

    def __init__(self, wait_s: int) -> None:
        super().__init__(f"too many attempts; try again in {wait_s} s")
        self.wait_s = wait_s


class LinkSpent(PeopleError, PermissionError, code="link_spent"):
    """The link of the first start was used, has expired or is not valid."""


class BadToken(PeopleError, ValueError, code="bad_token"):
    """The token's name or role is not valid."""


class TokenTaken(PeopleError, ValueError, code="token_taken"):
    """There is already a token of this name; names are never reused, because the audit log refers to them."""


class TokenUnknown(PeopleError, LookupError, code="token_unknown", status=401):
    """There is no such token, or it was revoked."""


class BadWebhook(PeopleError, ValueError, code="bad_webhook"):
    """The webhook's name or address is not valid, or there are too many webhooks."""


class WebhookTaken(PeopleError, ValueError, code="webhook_taken"):
    """There is already a webhook of this name."""


class WebhookUnknown(PeopleError, LookupError, code="webhook_unknown"):
    """There is no webhook of this name."""


class BadOrder(PeopleError, ValueError, code="bad_order"):
    """The order cannot be given: it has no table, no reason or an unknown kind."""


class OrderGivenBefore(PeopleError, ValueError, code="order_given_before", status=409):
    """The form of this order was already submitted. `same` tells whether it contained the same order."""

    def __init__(self, *, same: bool) -> None:
        super().__init__("this form has already been submitted; its order was not given again")
        self.same = same


class OrderUnsent(PeopleError, ConnectionError, code="order_unsent", status=503):
    """The desk is not connected to the broker, so the order was not sent and will not be sent later."""


class TablesUnheard(PeopleError, ConnectionError, code="tables_unheard", status=503):
    """None of the order's tables has sent a message since the scorer started, so the next order number is unknown."""


class PeopleStoreBroken(PeopleError, OSError, code="people_store_broken"):
    """`people.sqlite`, or the tables of people in PostgreSQL, cannot be read or written, or have another version."""


class AuditBroken(PeopleError, ValueError, code="audit_broken"):
    """The audit log's chain of digests is broken: an entry was changed, removed or inserted."""
