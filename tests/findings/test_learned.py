"""What is learned from decisions: the order follows them, and precision is measured on what was left out."""

from __future__ import annotations

from support.reviewing import ferry, scanned

from neardup.findings import DecisionLog, Findings, decided_cut, read_decisions
from neardup.findings.cluster_table import cluster_table
from neardup.findings.decision_log import Asked
from neardup.findings.learned import FEWEST, learn


def pairs(folder, many: int = 60) -> Findings:
    """Pairs; every second one has a number that its keeper has not."""
    rows = []
    for n in range(many):
        end = " ends here" if n % 2 else f" ends {n}"
        rows += [(f"k{n}", ferry(n) + " ends here and now"), (f"r{n}", ferry(n) + end)]
    return scanned(folder, [{"id": id, "text": text, "site": "s"} for id, text in rows])


def decide(found: Findings, numbers: range, how: str = "one") -> None:
    asked = [
        Asked("accept" if n % 2 else "reject", found.row_of(f"k{n}"), found.row_of(f"r{n}"), how=how)  # type: ignore
        for n in numbers
    ]
    DecisionLog(found).add_all(asked)


def test_nothing_is_learned_from_few_or_from_lists(tmp_path) -> None:
    found = pairs(tmp_path, 40)
    decide(found, range(FEWEST - 1))
    decide(found, range(FEWEST - 1, 40), "bulk")
    said = read_decisions(found)
    assert len(said) == 40 and learn(found, decided_cut(found), said) is None


def test_the_order_follows_what_a_person_rejects(tmp_path) -> None:
    found = pairs(tmp_path)
    decide(found, range(40))
    said = read_decisions(found)
    cut = decided_cut(found)
    learned = learn(found, cut, said)
    assert learned is not None and (learned.examples, learned.wrong) == (40, 20)
    assert learned.accepted == learned.right or learned.precision is None or learned.precision[0] > 0.9
    before, after = cluster_table(found, cut), cluster_table(found, cut, learned.weights)
    for n in range(40, 60, 2):
        wrong, right = (before.removals.of(found.row_of(f"r{m}")) for m in (n, n + 1))
        assert wrong is not None and right is not None
        assert after.removal_doubt[wrong] > 0.5 > 0.2 > after.removal_doubt[right]
    again = learn(found, cut, said)
    assert again is not None and (again.weights == learned.weights).all()


def test_it_learns_again_after_ten_more(tmp_path) -> None:
    found = pairs(tmp_path)
    decide(found, range(29))
    cut = decided_cut(found)
    learned = learn(found, cut, read_decisions(found))
    assert learned is not None and learned.examples == 20
    assert "weights" not in learned.to_json()


def test_decisions_about_many_are_taken_back_as_one(tmp_path) -> None:
    found = pairs(tmp_path, 10)
    log = DecisionLog(found)
    k, r = found.row_of("k1"), found.row_of("r1")
    log.add("reject", k, r)
    made = log.add_all(
        [Asked("accept", found.row_of(f"k{n}"), found.row_of(f"r{n}"), how="bulk") for n in range(10)]
    )
    log.add("reject", found.row_of("k5"), found.row_of("r5"))  # decided again later: it remains
    assert len(read_decisions(found)) == 10
    log.take_back(made[0].sequence, made[-1].sequence)
    left = {decision.right: decision.decision for decision in read_decisions(found)}
    assert left == {"r1": "reject", "r5": "reject"}
