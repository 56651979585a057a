"""Find copied source files: tokens, case and operators count."""

from __future__ import annotations

import neardup as nd

SORT = """def bubble_sort(items):
    for last in range(len(items) - 1, 0, -1):
        for i in range(last):
            if items[i] > items[i + 1]:
                items[i], items[i + 1] = items[i + 1], items[i]
    return items
"""
FILES = [
    nd.Document("sort.py", SORT),
    nd.Document("vendor/sort.py", "# copied from another project\n" + SORT),
    nd.Document(
        "reverse.py", SORT.replace(">", "<").replace("bubble_sort", "reverse_sort").replace("items", "values")
    ),
]


def main() -> None:
    result = nd.dedup(FILES, nd.preset("source"))
    for drop in result.dropped:
        print(
            f"{result.ids[drop.row]} is a copy of {result.ids[drop.keeper]}: similarity {drop.similarity:.2f}"
        )
    print("kept:", ", ".join(result.ids[row] for row in result.kept))


if __name__ == "__main__":
    main()
