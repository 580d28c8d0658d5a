"""Who may do what: accounts, logins and the audit log, and where they are stored. No web."""

from broker.files import PEOPLE_FILE
from broker.people.accounts import (
    DEVICE_LISTED,
    DEVICE_REVOKED,
    EMBARGO_READ,
    EVENT_CLOSED,
    FACES_SHOWN,
    HOUR_MS,
    ROLES,
    SHORTEST_PASSWORD,
    Account,
    Actor,
    AuditEntry,
    AuditLog,
    Right,
    audit_line,
    time_text,
)
from broker.people.copies import ClosedAccounts, copy_people
from broker.people.database import (
    KEYINGS,
    ORDERS,
    PeopleDatabase,
)
from broker.people.errors import (
    AuditBroken,
    BadOrder,
    BadWebhook,
    LinkSpent,
    OrderGivenBefore,
    OrderUnsent,
    PeopleError,
    PeopleStoreBroken,
    TablesUnheard,
    TokenUnknown,
)
from broker.people.login import (
    FIRST_LINK_FILE,
    Authentication,
    LoginSession,
    csrf_token,
    network_of,
)
from broker.people.programs import TOKEN_RIGHTS, Token, Webhook, is_loopback
