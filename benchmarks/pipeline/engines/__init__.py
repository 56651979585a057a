"""The engines, one script each: `python -m benchmarks.pipeline.engines.NAME CORPUS OUT THREADS`.

Each reads a JSONL file and writes OUT, the cluster of every row as a numpy array of int64. That is all that is timed;
which packages an engine needs and what its time holds is said in cases.toml. Ours is a command and needs no script.
"""
