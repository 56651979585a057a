"""Find copied passages between documents that are otherwise different, the largest share first."""

from __future__ import annotations

import neardup as nd
from neardup import sample


def main() -> None:
    pages = list(nd.read(sample.path()).documents())
    book = nd.Document("book", pages[0].text)
    essay = nd.Document(
        "essay", "My own words. " + " ".join(pages[0].text.split()[20:60]) + " More words of mine."
    )
    other = nd.Document("other", pages[100].text)
    for copied in nd.passages.find_copies([book, essay, other], words=12):
        print(
            f"{copied.share:.0%} of {copied.part} is in {copied.whole}, the longest passage has {copied.longest} words"
        )


if __name__ == "__main__":
    main()
