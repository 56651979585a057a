"""What is learnt from the corpus: the same as from its texts, and the same for any shards and threads."""

import numpy as np
import pytest

import neardup as nd
from neardup.config.filters import Filters
from neardup.pipeline import fit as preparing
from neardup.pipeline.batches import DocumentBatch
from neardup.pipeline.corpus import Corpus
from neardup.pipeline.fit import FrequencyCount, Prepared, needs_corpus, prepare
from neardup.pipeline.sharder import Sharder

MENU = (
    "home products prices support contact about imprint login search basket news careers press terms privacy"
)


def body(i, words=60):
    rng = np.random.default_rng(i)
    return " ".join(f"w{word}" for word in rng.integers(0, 2000, words))


def corpus_of(texts, config, sources=None, size=2000, folder=None, count=None, threads=1):
    documents = [nd.Document(f"{i}", text) for i, text in enumerate(texts)]
    sources = sources or ["s"] * len(texts)

    def batches():
        for start in range(0, len(documents), 7):
            part = slice(start, start + 7)
            yield DocumentBatch(
                documents[part], sources[part], list(range(start, start + len(documents[part])))
            )

    sharder = Sharder(
        config, Prepared.untaught(config), size=size, folder=folder, count=count, threads=threads
    )
    return Corpus(sharder.shards(batches())), sharder


def simhash(**others):
    return nd.Config.of("simhash", **others)


def test_idf_of_a_corpus_is_that_of_its_texts():
    texts = [body(i, 20) for i in range(60)] + ["", "w1 w1 w1"]
    config = simhash()
    learnt = prepare(config, corpus_of(texts, config)[0]).features
    fitted = nd.Idf.fit([text for text in texts if text], config.features, tf="count")
    assert learnt.weights.scheme == fitted.scheme
    assert learnt.scheme == nd.Words(weights=fitted).scheme
    assert np.array_equal(learnt.extract(texts).weights, nd.Words(weights=fitted).extract(texts).weights)


def test_filtered_documents_teach_nothing():
    config = simhash(filters=Filters(min_words=5))
    texts = [body(i, 20) for i in range(30)]
    with_others = prepare(config, corpus_of([*texts, "w1", "w1 w2"], config)[0])
    assert with_others.scheme == prepare(config, corpus_of(texts, config)[0]).scheme


def test_a_sample_is_enough_for_large_corpora(monkeypatch):
    monkeypatch.setattr(preparing, "IDF_SAMPLE", 10)
    config = simhash()
    learnt = prepare(config, corpus_of([body(i, 20) for i in range(60)], config)[0]).features.weights
    assert learnt.frequencies.documents == 10


@pytest.mark.parametrize("threads", [1, 3])
def test_a_count_on_the_way_teaches_the_same(threads):
    texts = [body(i, 20) for i in range(60)] + ["", "w1 w1 w1"]
    config = simhash()
    count = FrequencyCount.of(config)
    corpus, _ = corpus_of(texts, config, count=count, threads=threads)
    again, _ = corpus_of(texts, config)
    assert np.array_equal(corpus.digests, again.digests) and np.array_equal(corpus.tokens, again.tokens)
    counted, wanted = count.frequencies(corpus), prepare(config, again).features.weights.frequencies
    assert counted.documents == wanted.documents == 61
    assert np.array_equal(counted.hashes, wanted.hashes) and np.array_equal(counted.counts, wanted.counts)
    assert prepare(config, corpus, count=count).scheme == prepare(config, again).scheme


def test_a_count_of_other_documents_is_not_used(tmp_path, monkeypatch):
    texts = [body(i, 20) for i in range(60)]
    config = simhash()
    corpus_of(texts, config, folder=tmp_path)
    resumed = FrequencyCount.of(config)
    corpus, sharder = corpus_of(texts, config, folder=tmp_path, count=resumed)
    assert sharder.resumed and resumed.frequencies(corpus) is None
    assert prepare(config, corpus, count=resumed).scheme == prepare(config, corpus).scheme
    monkeypatch.setattr(preparing, "IDF_SAMPLE", 10)
    large = FrequencyCount.of(config)
    corpus, _ = corpus_of(texts, config, count=large)
    assert large.frequencies(corpus) is None
    assert prepare(config, corpus, count=large).features.weights.frequencies.documents == 10


def test_no_count_where_other_texts_are_learnt_from():
    assert FrequencyCount.of(nd.Config()) is None
    assert FrequencyCount.of(simhash(filters=Filters(min_words=5))) is None


@pytest.mark.parametrize("kind", ["idf", "templates", "both"])
def test_shards_and_threads_do_not_matter(tmp_path, kind):
    texts = [f"{MENU} {body(i, 30)}" for i in range(80)]
    sources = ["a" if i % 3 else "b" for i in range(80)]
    config = nd.Config() if kind == "templates" else simhash()
    if kind != "idf":
        config = nd.Config.from_plain({**config.to_plain(), "templates": {"share": 0.5, "least": 10}})
    assert needs_corpus(config)
    found = []
    for size, threads, folder in ((1 << 30, 1, None), (700, 2, None), (700, 1, tmp_path)):
        corpus, sharder = corpus_of(texts, config, sources, size, folder)
        prepared = prepare(config, corpus, threads=threads)
        assert sum(sharder.fingerprint(corpus.shards, prepared)) == 80
        name = "keys" if kind == "templates" else "codes"
        axis = 1 if name == "keys" else 0
        prints = np.concatenate([shard.prints(name) for shard in corpus.shards], axis=axis)
        rows = np.arange(80)
        features = corpus.features(rows, prepared.extract)
        found.append(
            (prepared.scheme, prints.tobytes(), features.hashes.tobytes(), features.offsets.tobytes())
        )
    assert found[0] == found[1] == found[2]


def test_templates_leave_menus_out_source_by_source():
    """One source has a menu on every page; in the other the same words are what a page is about."""
    texts = [f"{MENU} {body(i)}" for i in range(40)] + [body(100 + i) for i in range(39)] + [MENU]
    sources = ["menus"] * 40 + ["none"] * 40
    config = nd.Config(nd.Shingles(3), templates=nd.Templates(0.5, least=10))
    corpus, _ = corpus_of(texts, config, sources)
    prepared = prepare(config, corpus)
    features = corpus.features(np.arange(80), prepared.extract)
    plain = nd.Shingles(3).extract(texts)
    menu = set(nd.Shingles(3).extract([MENU]).hashes.tolist())
    for row in range(80):
        left = set(plain.row(row)[0].tolist()) - (menu if row < 40 else set())
        assert set(features.row(row)[0].tolist()) == left
        if row < 40:
            assert len(menu & set(plain.row(row)[0].tolist())) == len(menu)


def test_small_sources_have_no_templates():
    config = nd.Config(templates=nd.Templates(0.5, least=10))
    texts = [f"{MENU} {body(i)}" for i in range(9)]
    assert prepare(config, corpus_of(texts, config)[0]).templates == {}
    assert len(prepare(config, corpus_of([*texts, MENU], config)[0]).templates) == 1


def test_a_page_that_is_all_menu_keeps_something():
    config = nd.Config(templates=nd.Templates(0.5, least=10, floor=2))
    texts = [f"{MENU} {body(i)}" for i in range(20)] + [MENU]
    corpus, _ = corpus_of(texts, config)
    features = corpus.features(np.arange(21), prepare(config, corpus).extract)
    assert features.sizes[20] == 2


@pytest.mark.parametrize("method", ["minhash", "simhash", "bits"])
def test_pages_of_one_site_are_no_duplicates_for_their_menu(method):
    """Short bodies under one long menu: without templates they are all similar, with them only two are."""
    menu = " ".join(f"m{i}" for i in range(300))
    texts = [f"{menu} {body(i, 60)}" for i in range(30)]
    texts.append(texts[3] + " end")
    if method != "simhash":  # whose weights make little of a menu by themselves
        assert len(nd.dedup(texts, nd.Config.of(method, threshold=0.6, seed=4)).kept) == 1
    config = nd.Config.of(method, threshold=0.6, templates=nd.Templates(0.5, least=10), short=0)
    result = nd.dedup(texts, config)
    assert [d.row for d in result.dropped] == [3]
