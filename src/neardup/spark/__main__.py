"""What spark-submit runs: the arguments of `neardup spark`, as `scan INPUTS --out RUN` or `apply RUN --out FOLDER`."""

import runpy
import sys

if __name__ == "__main__":
    sys.argv[1:1] = ["spark"]
    runpy.run_module("neardup", run_name="__main__")
