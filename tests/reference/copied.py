"""Naive twin of core/passages/copied.cpp."""


def passages(part, whole, width):
    """(place in part, place in whole, length) of the passages, ascending."""
    found = []
    for begin in range(len(part)):
        best, place = 0, -1
        for start in range(len(whole)):
            length = 0
            while (
                begin + length < len(part)
                and start + length < len(whole)
                and part[begin + length] == whole[start + length]
            ):
                length += 1
            if length > best:
                best, place = length, start
        # One that ends no later than the one before is inside it.
        if best >= width and (not found or begin + best > found[-1][0] + found[-1][2]):
            found.append((begin, place, best))
    kept = []
    for begin, place, length in found:
        owned = [
            at
            for at in range(begin, begin + length)
            if max(
                (other for other in found if other[0] <= at < other[0] + other[2]),
                key=lambda other: (other[2], -other[0]),
            )[0]
            == begin
        ]
        if owned:
            assert owned == list(range(owned[0], owned[-1] + 1))
            kept.append((owned[0], place + owned[0] - begin, len(owned)))
    return kept
