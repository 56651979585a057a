"""Seeds of hashes: public by default, secret if strangers may add documents."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from neardup.errors import ConfigError
from neardup.values.checks import check_fields, checked_methods

__all__ = ["DEFAULT_SEED", "Seed"]

# The ASCII bytes of "neardup." as one big-endian number. It never changes, so that fingerprints made on two machines
# can be compared.
DEFAULT_SEED = 0x6E6561726475702E


@checked_methods
@dataclass(frozen=True, repr=False)
class Seed:
    """A 64-bit seed. A secret seed is never shown, because a person who knows it can create documents that collide.

    Schemes contain only the `identifier`: the number itself for a public seed, a one-way digest for a secret one.

    value   the seed as a number, 0 to 2**64 - 1
    secret  whether it must not be shown

    >>> import neardup as nd
    >>> print(nd.Seed(7).identifier)
    0000000000000007
    """

    value: int
    secret: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        if not 0 <= self.value < 1 << 64:
            raise ConfigError("a seed is a whole number from 0 to 2**64 - 1")

    @classmethod
    def of(cls, seed: int | Seed) -> Seed:
        """A plain number is a public seed."""
        return seed if isinstance(seed, Seed) else cls(seed)

    @classmethod
    def secret_random(cls) -> Seed:
        """A fresh secret seed from the operating system."""
        import secrets  # costs 10 ms to import, and few need it

        return cls(secrets.randbits(64), secret=True)

    @property
    def identifier(self) -> str:
        """The name of this seed in a scheme: equal for equal seeds."""
        if not self.secret:
            return f"{self.value:016x}"
        digest = hashlib.blake2b(self.value.to_bytes(8, "little"), digest_size=8, person=b"neardup seed id")
        return f"secret-{digest.hexdigest()}"

    def __repr__(self) -> str:
        return f"Seed({self.identifier})"
