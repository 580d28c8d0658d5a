"""Access control: accounts, logins and the audit log, and their storage. No HTTP."""

from broker.people.accounts import ROLES, Account, Actor, AuditEntry, Right
from broker.people.errors import PeopleError, PeopleStoreBroken
from broker.people.login import Authentication
from broker.people.programs import is_loopback
