"""Why are these two texts similar? Every measure of one pair, and where they differ."""

from __future__ import annotations

import neardup as nd

LEFT = """The market hall closes for repairs on 3 May. Traders move to the car park behind the station until the
work is done. The council expects to reopen the hall in October, with a new roof and wider doors."""
RIGHT = """The market hall closes for repairs on 10 May. Traders move to the car park behind the station until the
work is done. The council expects to reopen the hall in November, with a new roof and wider doors."""


def main() -> None:
    found = nd.explain(LEFT, RIGHT, threshold=0.6, width=3)
    print(f"{found.verdict}: Jaccard {found.jaccard:.2f} of word {found.width}-shingles")
    print(f"cosine {found.cosine:.3f}, contained {found.containment[0]:.2f} and {found.containment[1]:.2f}")
    print(f"simhash: {found.simhash_distance} of 64 bits differ")
    for kind, words in found.diff or ():
        if kind != "same":
            print(f"  {'-' if kind == 'left' else '+'} {words}")

    folded = nd.explain(LEFT, RIGHT, width=3, normalize=nd.Normalize(digits="fold"))
    print(f"with digits folded: Jaccard {folded.jaccard:.2f}")


if __name__ == "__main__":
    main()
