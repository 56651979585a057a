"""Naive twins of the pipeline: documents one by one, every pair compared, the rules as they are written."""

from __future__ import annotations

from itertools import combinations
from math import isnan, nan


def rank(by, lengths, sources, scores, prefer):
    """Each row's rank by a keep policy."""

    def place(row):
        first = prefer.index(sources[row]) if sources[row] in prefer else len(prefer)
        if by == "longest":
            return first, -lengths[row], row
        if by == "score":
            return first, isnan(scores[row]), 0 if isnan(scores[row]) else -scores[row], row
        return first, row if by == "first" else -row

    order = sorted(range(len(lengths)), key=place)
    return [order.index(row) for row in range(len(lengths))]


def similar(words, near, sources, among, reference):
    """The similarity of every pair of documents that count as duplicates; `near` is that of different words."""
    found = {}
    for a, b in combinations(range(len(words)), 2):
        same = words[a] == words[b]
        similarity = 1.0 if same else near.get(frozenset((words[a], words[b])))
        fits = among == "all" or (sources[a] == sources[b]) == (among == "within")
        if similarity is not None and fits and b >= reference:
            found[a, b] = similarity
    return found


def keepers(pairs, rows, rank, reference):
    """The keeper of each row and its similarity to it: one document after another, reference documents first."""
    neighbours = {row: {} for row in range(rows)}
    for (a, b), similarity in pairs.items():
        neighbours[a][b] = neighbours[b][a] = similarity
    keeper, similarity = {}, {}
    for row in sorted(range(rows), key=lambda row: (row >= reference, rank[row])):
        if row in keeper:
            continue
        keeper[row], similarity[row] = row, 1.0
        for other, how in neighbours[row].items():
            if other not in keeper and other >= reference:
                keeper[other], similarity[other] = row, how
    return [keeper[row] for row in range(rows)], [similarity[row] for row in range(rows)]


def components(pairs, rows, rank, reference):
    """The same where any chain of pairs makes a cluster; NaN where only a chain ties a row to its keeper."""
    label = list(range(rows))
    for a, b in pairs:
        low, high = sorted((label[a], label[b]))
        label = [low if one == high else one for one in label]
    keeper, similarity = [], []
    for row in range(rows):
        together = [other for other in range(rows) if label[other] == label[row]]
        best = min(together, key=lambda other: (other >= reference, rank[other]))
        keeper.append(row if row < reference else best)
        tie = pairs.get((min(row, best), max(row, best)), nan)
        similarity.append(1.0 if keeper[-1] == row else tie)
    return keeper, similarity


def kept(keeper, rank, many):
    """Which rows are kept: the keeper of each cluster, and the best of the others until there are `many`."""
    remains = set(keeper)
    for head in set(keeper):
        members = sorted(
            (row for row in range(len(keeper)) if keeper[row] == head != row), key=rank.__getitem__
        )
        remains.update(members[: many - 1])
    return sorted(remains)


def crowds(keys, least, sample, mixed):
    """Key, size and sampled rows of each bucket of more than `least` rows; `mixed(row)` orders the rows."""
    buckets = {}
    for row, key in enumerate(keys):
        buckets.setdefault(key, []).append(row)
    large = sorted((key, rows) for key, rows in buckets.items() if len(rows) > max(least, 1))
    return [(key, len(rows), sorted(sorted(rows, key=mixed)[:sample])) for key, rows in large]


def key_pairs(keys, then, rank, cap, thin=()):
    """Pairs of rows with equal keys, capped buckets, and how many of their pairs were left out."""
    buckets, found, capped, skipped = {}, set(), 0, 0
    for row, key in enumerate(keys):
        buckets.setdefault(key, []).append(row)
    for bucket in buckets.values():
        every = {tuple(sorted(pair)) for pair in combinations(bucket, 2)}
        if len(bucket) > 1 and (len(bucket) > cap or keys[bucket[0]] in thin):
            stars, neighbours = (0, 1) if keys[bucket[0]] in thin else (4, 8)
            bucket.sort(key=lambda row: rank[row] if rank is not None else row)
            some = {tuple(sorted(pair)) for pair in every if set(pair) & set(bucket[:stars])}
            rest = sorted(bucket[stars:], key=lambda row: (then[row] if then is not None else 0, row))
            for i, row in enumerate(rest):
                some.update(tuple(sorted((row, other))) for other in rest[i + 1 : i + 1 + neighbours])
            capped, skipped = capped + 1, skipped + len(every) - len(some)
            every = some
        found |= every
    return sorted(found), capped, skipped


def jaccard_pairs(sets, least):
    """All pairs of sets of this Jaccard similarity or more."""
    return {
        (i, j): len(a & b) / len(a | b)
        for (i, a), (j, b) in combinations(enumerate(sets), 2)
        if a and b and len(a & b) / len(a | b) >= least
    }
