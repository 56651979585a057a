"""How much a test that draws its cases tries: a little each time, much more in `make soak`.

Both are decided by the profile of hypothesis, `--hypothesis-profile=soak`; conftest.py has the profiles.
"""

from __future__ import annotations

from hypothesis import settings

__all__ = ["SOAK", "budget"]

USUAL = 100  # examples of a property that does not say how many
SOAK = settings().max_examples > USUAL


def budget(usual: int, soak: int | None = None) -> int:
    """The number for this run; in a soak twenty times the usual one, if nothing else is given."""
    if not SOAK:
        return usual
    return 20 * usual if soak is None else soak
