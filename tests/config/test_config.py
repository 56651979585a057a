"""One config in code, TOML and JSON: every strategy comes back equal, and an error names the place of what is wrong."""

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.clusters.keepers import Keep
from neardup.config.config import Config, Templates
from neardup.config.filters import Filters
from neardup.errors import ConfigError

CONFIGS = {
    "usual": Config(),
    "simhash": Config.of("simhash", threshold=0.7, radius=5),
    "bits": Config.of("bits"),
    "exact": Config.of("exact"),
    "words": Config(nd.Words(normalize=nd.Normalize(digits="fold", accents="strip")), recall=0.9, short=0),
    "characters": Config(nd.Characters(7, select=nd.features.Modulo(4)), compare=nd.Shingles(3)),
    "sentences": Config(nd.features.Sentences(select=nd.features.Smallest(8)), verify=nd.Containment(0.9, of="left")),
    "winnow": Config(nd.Shingles(select=nd.features.Winnow(4), weights="log"), verify=nd.Cosine(0.9, 0.5)),
    "lsh": Config(fingerprint=nd.MinHash(64, permutations="independent"), search=nd.LSH(8, 8, cap=50, spread=5)),
    "murmur": Config(nd.Shingles(hash="murmur64a", seed=5)),
    "compact": Config(fingerprint=nd.Simhash(bits=128), search=nd.search.Compact(4)),
    "covering": Config(fingerprint=nd.Simhash(), search=nd.search.Covering(3)),
    "bphs": Config(fingerprint=nd.Simhash(), search=nd.BPHS(radius=3)),
    "psm": Config(search=nd.PSM(8)),
    "scan": Config(fingerprint=nd.BitMinHash(), search=nd.search.Scan(4)),
    "adjacent": Config(fingerprint=nd.Simhash(bits=64), search=nd.search.Adjacent(4)),
    "join": Config(fingerprint=nd.Simhash(), search=nd.search.Join(2)),
    "idf": Config(nd.Words(), idf="log", fingerprint=nd.Simhash(), search=nd.search.Join(3)),
    "keep": Config(keep=Keep("score", "quality", ("a.jsonl", 'b "\\\x7f\n\x01 é😀'), "host", 3, "across")),
    "filters": Config(filters=Filters(5, 100, ("en", "de"), True), html="none", clusters="components"),
    "templates": Config(templates=Templates(0.2, 5, 2, 50), near=False),
}  # fmt: skip


@pytest.mark.parametrize("name", CONFIGS)
def test_round_trip(tmp_path, name):
    config = CONFIGS[name]
    path = tmp_path / "a.toml"
    path.write_text(config.to_toml(), encoding="utf-8")
    assert Config.load(path) == config
    assert Config.from_plain(json.loads(json.dumps(config.to_plain()))) == config
    assert Config.load(path).to_toml() == config.to_toml()


def test_a_seed_comes_back_equal():
    for seed in (nd.Seed(5), nd.Seed(nd.fingerprints.DEFAULT_SEED), 5, 2**64 - 1):
        config = Config(nd.Shingles(seed=seed))
        again = Config.from_plain(tomllib.loads(config.to_toml()))
        assert again.features.scheme == config.features.scheme
    with pytest.raises(ConfigError, match="secret"):
        Config(nd.Shingles(seed=nd.Seed(5, secret=True))).to_toml()


def test_fitted_weights_are_not_written():
    idf = nd.Idf.fit(["a b", "b c"], nd.Words())
    with pytest.raises(ConfigError, match="cannot be written into a config"):
        Config(nd.Words(weights=idf), fingerprint=nd.Simhash(), search=nd.search.Join(3)).to_toml()


@given(st.text(st.characters(codec="utf-8"), max_size=20), st.floats(0.1, 1), st.integers(1, 10**18))
def test_any_text_and_number_comes_back(text, threshold, many):
    config = Config(keep=Keep("first", prefer=(text,), many=many)).with_threshold(threshold)
    assert Config.from_plain(tomllib.loads(config.to_toml())) == config


def load(tmp_path, text):
    path = tmp_path / "a.toml"
    path.write_text(text, encoding="utf-8")
    return Config.load(path)


def test_part_of_a_config_is_enough(tmp_path):
    assert load(tmp_path, "") == Config()
    assert load(tmp_path, "[verify]\nthreshold = 0.7") == Config().with_threshold(0.7)
    assert load(tmp_path, "[features]\nwidth = 3") == Config(nd.Shingles(3))
    assert load(tmp_path, '[verify]\nkind = "cosine"\nthreshold = 1') == Config(verify=nd.Cosine(1.0))
    assert load(tmp_path, '[keep]\nby = "last"\nprefer = []') == Config(keep=Keep("last"))
    assert load(tmp_path, "[templates]\n") == Config(templates=Templates())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("threshold = 0.7", "a.toml: there is no 'threshold'; there are: features, compare"),
        ('kind = "jaccard"', "there is no 'kind'"),
        ("[verify]\nat = 1", "a.toml: verify: there is no 'at'"),
        ("[verify]\nthreshold = 2", "verify: Jaccard: a threshold is above 0"),
        ("[verify]\nthreshold = nan", "threshold must be a finite number"),
        ("[verify]\nthreshold = true", "verify: threshold is True; it must be float"),
        ('[verify]\nthreshold = "x"', "verify: threshold is 'x'; it must be float"),
        ("[verify]\nfloor = [0.5]", "verify: floor is"),
        ('[verify]\nkind = "dice"', "there is no kind 'dice'; there are: words"),
        ('[verify]\nkind = "lsh"', "'lsh' does not fit here; these do: jaccard, containment, cosine"),
        ("[verify]\nkind = 5", "there is no kind 5"),
        ('[verify]\nkind = ["a"]', "there is no kind ['a']"),
        ("verify = 0.8", "verify is 0.8; it must be"),
        ("verify = [0.8]", "verify is [0.8]; it must be"),
        ("[compare]\nwidth = 3", 'compare: say which, with kind = "..."'),
        ("[search]\nbands = 3", 'search: say which, with kind = "..."'),
        ('[search]\nkind = "lsh"\nbands = 3', "search: 'rows' is missing"),
        ('[search]\nkind = "lsh"\nbands = 3.0\nrows = 2', "search: bands is 3.0; it must be int"),
        ('[search]\nkind = "lsh"\nbands = 0\nrows = 2', "search: LSH: bands must be"),
        ('[search]\nkind = "lsh"\nbands = 100\nrows = 2\n[fingerprint]\nkind = "minhash"\nvalues = 10', "need MinHash"),
        ('[search]\nkind = "join"\nradius = 2\n[fingerprint]\nkind = "minhash"', "MinHash with Join"),
        ("recall = 1", "a recall is between 0 and 1"),
        ("recall = {}", "recall is a table; it must be float"),
        ("short = -1", "short documents have"),
        ("short = 1.5", "short is 1.5; it must be int"),
        ("near = 1", "near is 1; it must be bool"),
        ('idf = "tf"', "idf is 'tf'; it must be 'constant' or 'count' or 'log'"),
        ('idf = "log"\n[features]\nweights = "log"', "leave the features' own weights out"),
        ('html = "all"', "html is 'all'; it must be 'main' or"),
        ('clusters = "chains"', "clusters is 'chains'"),
        ('[keep]\nby = "best"', "keep: by is 'best'; it must be 'longest' or"),
        ('[keep]\nprefer = "a"', "keep: prefer is 'a'; it must be a list"),
        ("[keep]\nprefer = [1]", "keep: prefer is [1]; it must be a list of str"),
        ("[keep]\nmany = 0", "keep: many, the number of documents kept in a cluster, must be 1 or more"),
        ("[filters]\nlanguages = [true]", "filters: languages is [True]; it must be a list of str"),
        ("[filters]\nmin_words = -1", "filters: a least length"),
        ("[templates]\nshare = 1", "templates: templates: a share" ),
        ("[features]\nseed = -1", "a seed is a whole number"),
        ("[features]\nseed = 18446744073709551616", "a seed is a whole number"),
        ('[features]\nkind = "shingles"\nwidth = 0', "features: width 0"),
        ("[features]\nphrases = 3", "features: phrases is 3"),
        ('[features.select]\nkind = "modulo"\nmodulus = 0', "features: select:"),
        ('[features.normalize]\nstem = 3', "features: normalize: stem is 3; it must be str"),
        ("[features", "a.toml: "),
        ("x = 1\nx = 2", "a.toml: "),
        ("short = " + "9" * 6000, "a.toml: "),
        ("x = " + "[" * 5000, "a.toml: "),
    ],
    ids=lambda part: part[:40],
)  # fmt: skip
def test_what_is_wrong_is_reported(tmp_path, text, message):
    with pytest.raises(ConfigError) as error:
        load(tmp_path, text)
    assert message in str(error.value) and "a.toml" in str(error.value) and len(str(error.value)) < 1000


def test_not_utf8(tmp_path):
    (tmp_path / "a.toml").write_bytes(b'html = "\xff"')
    with pytest.raises(ConfigError, match=r"a\.toml"):
        Config.load(tmp_path / "a.toml")
    with pytest.raises(ConfigError, match="expected a table"):
        Config.from_plain([])


def test_configs_with_earlier_names_are_read():
    made = Config.from_plain({"filters": {"words": 5, "bytes": 100}})
    assert made == Config(filters=Filters(min_words=5, min_bytes=100))
    assert made.to_plain()["filters"]["min_words"] == 5
    with pytest.raises(ConfigError, match="min_words"):
        Config.from_plain({"filters": {"word": 5}})


@pytest.mark.parametrize(
    "field", ["features", "fingerprint", "search", "verify", "keep", "filters", "templates"]
)
def test_wrong_types_in_code(field):
    with pytest.raises(ConfigError):
        Config(**{field: "minhash"})


def test_methods():
    with pytest.raises(
        ConfigError,
        match="a method is one of minhash, simhash, bits, exact, imatch, supers, buckets, sketch, not 'lsh'",
    ):
        Config.of("lsh")
    assert Config.of().bands.curve(0.8) >= 0.99 and Config.of(threshold=0.5).bands.curve(0.5) >= 0.99
    assert Config.of(threshold=0.8, floor=0.6).bands.curve(0.6) >= 0.99
    simhash = Config.of("simhash", features=nd.Shingles(3, normalize=nd.Normalize(digits="fold")), radius=4)
    assert simhash.compared == nd.Shingles(3, normalize=nd.Normalize(digits="fold"))
    assert simhash.features.normalize.digits == "fold" and simhash.method == nd.search.Join(radius=4)
    assert Config(search=nd.PSM(8)).prints == nd.Simhash(margins="bytes")
