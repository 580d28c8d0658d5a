"""The cost of hashing passwords."""

from argon2 import PasswordHasher, extract_parameters
from argon2.profiles import RFC_9106_LOW_MEMORY

from broker.people.accounts import ARGON2_SETTING


def test_passwords_are_hashed_with_the_settings_of_rfc_9106() -> None:
    assert ARGON2_SETTING == RFC_9106_LOW_MEMORY
    assert extract_parameters(PasswordHasher.from_parameters(ARGON2_SETTING).hash("x")) == ARGON2_SETTING
