"""What annotations say is checked, also where some of their names are imported by type checkers alone."""

from __future__ import annotations

import pytest

from neardup import ConfigError
from neardup.values.checks import checked


@checked
def known_in_part(of: Missing, some: list[Other[int]] | None, count: int, name: str = "") -> int:  # type: ignore[name-defined]  # noqa: F821
    return count


def test_a_name_that_does_not_exist_here_is_anything():
    assert known_in_part(object(), None, 3) == 3
    assert known_in_part(None, [1], 3, name="a") == 3


def test_the_other_arguments_are_checked():
    with pytest.raises(ConfigError, match="count must be a whole number, not 'three'"):
        known_in_part(object(), None, "three")
    with pytest.raises(ConfigError, match="name must be a text, not 3"):
        known_in_part(object(), None, 3, name=3)
