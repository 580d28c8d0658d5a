"""Two arbiters' PINs with their hashes, computed once because Argon2 is slow on purpose."""

from functools import cache
from typing import Final

from broker.protocol.arbiter_session import pin_matches

PIN: Final = "4711"
HASHED: Final = "$argon2id$v=19$m=65536,t=3,p=4$ytxyZHnUuaNXdiDw4zZgrQ$m/Jdu6fpnm1STZwJCY+FMDBAIuXF5ktg68XGt/QYEA8"
"""The result of `hash_pin` for the right PIN."""

OTHER_HASH: Final = "$argon2id$v=19$m=65536,t=3,p=4$1bLlYgtyQrBWbIx4wnkI5g$smTmbkrxDKz0FoDYZ+n8uXQc2Os3RzjZftEIam+rIeM"
"""The result of `hash_pin` for 9999."""

known_match = cache(pin_matches)
"""Compare as the scorer does, caching the results."""
