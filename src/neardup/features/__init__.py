"""Turns text into features. This package does not use fingerprints."""

from neardup.features.features import Features
from neardup.features.normalize import Normalize, normalize, tokens
from neardup.features.phrases import Phrases
from neardup.features.select import Modulo, Smallest, Winnow
from neardup.features.shingles import Characters, Sentences, Shingles, TextFeatures, Words
from neardup.features.weights import Common, Frequencies, Idf, weigh

__all__ = [
    "Characters",
    "Common",
    "Features",
    "Frequencies",
    "Idf",
    "Modulo",
    "Normalize",
    "Phrases",
    "Sentences",
    "Shingles",
    "Smallest",
    "TextFeatures",
    "Winnow",
    "Words",
    "normalize",
    "tokens",
    "weigh",
]
