"""A corpus on its way through the pipeline: its documents' columns in shards, in memory or in files."""

from neardup.corpus.corpus import Corpus
from neardup.corpus.shard import FileShard, MemoryShard, Shard, ShardColumns

__all__ = ["Corpus", "FileShard", "MemoryShard", "Shard", "ShardColumns"]
