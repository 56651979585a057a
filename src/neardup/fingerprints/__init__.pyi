# Listed once: `__init__.py` reads the names from here, and so do type checkers.
# ruff: isort: skip_file

# Names:
from neardup.fingerprints.bucket_checksums import BucketChecksums as BucketChecksums
from neardup.fingerprints.exact import Exact as Exact
from neardup.fingerprints.exact import digest_texts as digest_texts
from neardup.fingerprints.exact import expected_false_merges as expected_false_merges
from neardup.fingerprints.fingerprints import Codes as Codes
from neardup.fingerprints.fingerprints import Digests as Digests
from neardup.fingerprints.fingerprints import Fingerprints as Fingerprints
from neardup.fingerprints.fingerprints import PackedSketches as PackedSketches
from neardup.fingerprints.fingerprints import Sketches as Sketches
from neardup.fingerprints.fingerprints import concatenate as concatenate
from neardup.fingerprints.fingerprints import same_scheme as same_scheme
from neardup.fingerprints.identical import Identical as Identical
from neardup.fingerprints.identical import identical as identical
from neardup.fingerprints.imatch import IMatch as IMatch
from neardup.fingerprints.keyed import Keys as Keys
from neardup.fingerprints.minhash import BitMinHash as BitMinHash
from neardup.fingerprints.minhash import MinHash as MinHash
from neardup.fingerprints.one_pass import digest as digest
from neardup.fingerprints.one_pass import fingerprint as fingerprint
from neardup.fingerprints.printer import Printer as Printer
from neardup.fingerprints.simhash import Simhash as Simhash
from neardup.fingerprints.super_fingerprints import SuperFingerprints as SuperFingerprints
from neardup.values.seeds import DEFAULT_SEED as DEFAULT_SEED
from neardup.values.seeds import Seed as Seed
