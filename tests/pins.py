"""Two arbiters' PINs, their hashes and their comparison: as slow as Argon2 is meant to be, so each is made once."""

from functools import cache
from typing import Final

from broker.protocol.arbiter_session import pin_matches

PIN: Final = "4711"
HASHED: Final = "$argon2id$v=19$m=65536,t=3,p=4$ytxyZHnUuaNXdiDw4zZgrQ$m/Jdu6fpnm1STZwJCY+FMDBAIuXF5ktg68XGt/QYEA8"
"""What `hash_pin` made of it."""

OTHER_HASH: Final = "$argon2id$v=19$m=65536,t=3,p=4$1bLlYgtyQrBWbIx4wnkI5g$smTmbkrxDKz0FoDYZ+n8uXQc2Os3RzjZftEIam+rIeM"
"""What `hash_pin` made of 9999."""

known_match = cache(pin_matches)
"""Compare as the scorer does, each PIN with each hash once."""
