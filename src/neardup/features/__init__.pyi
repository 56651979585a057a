# Listed once: `__init__.py` reads the names from here, and so do type checkers.
# ruff: isort: skip_file

# Names:
from neardup.features.features import Features as Features
from neardup.features.highlights import Highlights as Highlights
from neardup.features.normalize import Normalize as Normalize
from neardup.features.normalize import normalize as normalize
from neardup.features.normalize import tokens as tokens
from neardup.features.phrases import Phrases as Phrases
from neardup.features.select import Modulo as Modulo
from neardup.features.select import Smallest as Smallest
from neardup.features.select import Winnow as Winnow
from neardup.features.shingles import Characters as Characters
from neardup.features.shingles import Sentences as Sentences
from neardup.features.shingles import Shingles as Shingles
from neardup.features.shingles import TextFeatures as TextFeatures
from neardup.features.shingles import Words as Words
from neardup.features.vectors import Vectors as Vectors
from neardup.features.weights import Common as Common
from neardup.features.weights import Frequencies as Frequencies
from neardup.features.weights import Idf as Idf
from neardup.features.weights import weigh as weigh
