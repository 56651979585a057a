"""What spark-submit runs: the arguments of `neardup spark`, as `scan INPUTS --out RUN` or `apply RUN --out FOLDER`."""

import sys

from neardup.cli import main

if __name__ == "__main__":
    main(["spark", *sys.argv[1:]])
