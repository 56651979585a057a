"""Find the documents that contain a passage, exactly or nearly."""

from __future__ import annotations

import neardup as nd

DOCUMENTS = [
    nd.Document("a", "He said: the ferry leaves the north pier, at eight, and returns at noon."),
    nd.Document("b", "As we know, the ferry leaves the north pier at nine and returns at noon."),
    nd.Document("c", "Whisk the eggs with the sugar until pale."),
]
PASSAGE = "the ferry leaves the NORTH pier at eight and returns at noon"


def main() -> None:
    found = nd.passages.find_passage(PASSAGE, DOCUMENTS, threshold=0.5, width=3)
    print(f"{found.exact} exact and {found.near} near of {found.documents} documents")
    for hit in found.hits:
        print(f"{hit.id}  {hit.share:.0%}  {hit.text}")


if __name__ == "__main__":
    main()
