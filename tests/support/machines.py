"""A machine, as results of benchmarks describe theirs."""

MACHINE = {
    "cpu": "a processor",
    "cores": 2,
    "memory_gb": 16,
    "load": 0.1,
    "system": "Linux",
    "python": "3.11",
}
