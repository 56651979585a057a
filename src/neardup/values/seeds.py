"""Seeds of the hashes: public by default, secret where strangers may add documents."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from neardup.errors import ConfigError

__all__ = ["DEFAULT_SEED", "Seed"]

# The ASCII bytes of "neardup." read as one big-endian number. Fixed for ever, so that fingerprints saved on
# two machines can meet.
DEFAULT_SEED = 0x6E6561726475702E


@dataclass(frozen=True, repr=False)
class Seed:
    """A 64-bit seed; a secret one is never shown, because whoever knows it can craft documents that look
    alike.

    Schemes carry the `identifier` only: the number itself for a public seed, a one-way digest for a secret
    one.
    """

    value: int
    secret: bool = False

    def __post_init__(self) -> None:
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
        """What a scheme may say of this seed: equal for equal seeds."""
        if not self.secret:
            return f"{self.value:016x}"
        digest = hashlib.blake2b(self.value.to_bytes(8, "little"), digest_size=8, person=b"neardup seed id")
        return f"secret-{digest.hexdigest()}"

    def __repr__(self) -> str:
        return f"Seed({self.identifier})"
