"""The engines a benchmark can run, one module each, all with the same few names:

PACKAGES      the distributions whose versions a result records
INCLUDES      work -> what the measured time holds, in a few words; "work option" where an option changes it
prepare       (work, texts, threads, **options) -> a callable without arguments, which is what gets measured
              and returns the fingerprints
shape         (fingerprints) -> (documents, values each), to see that the work was done
similarities  (texts, pairs, **options) -> the engine's own estimate of Jaccard for each pair of rows; texts
              are words joined by single spaces, so that every engine sees the same tokens
angles        the same for simhash: the angle between two documents as a share of a half turn
"""
