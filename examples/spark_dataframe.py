"""Deduplicate a DataFrame of Spark. Needs the extra `spark` and Java 17 or newer."""

from __future__ import annotations

import neardup as nd
import neardup.spark

PAGES = [
    ("a", "The ferry leaves the north pier at eight and returns at noon, except on public holidays."),
    ("b", "THE FERRY leaves the north pier at eight, and returns at noon except on public holidays!"),
    ("c", "Whisk the eggs with the sugar until pale, then fold in the flour and the melted butter."),
]


def main() -> None:
    spark = neardup.spark.start("local[2]")
    pages = spark.createDataFrame(PAGES, "url string, body string")
    kept = neardup.spark.dedup(pages, nd.Config(), id="url", text="body")
    print("kept:", ", ".join(sorted(row.url for row in kept.collect())))
    spark.stop()


if __name__ == "__main__":
    main()
