"""CPU time of starting the program, against importing click alone: ``python bench/startup.py [RUNS]``."""

from __future__ import annotations

import sys

from measure import cpu_seconds, print_table

CLICK = "import click"
COMMANDS = {
    "python": ["-c", "pass"],
    CLICK: ["-c", "import click"],
    "import nsight_insight": ["-c", "import nsight_insight"],
    "nsight-insight --help": ["-m", "nsight_insight", "--help"],
    "nsight-insight --version": ["-m", "nsight_insight", "--version"],
    "nsight-insight rules list": ["-m", "nsight_insight", "rules", "list"],
    "nsight-insight demo": ["-m", "nsight_insight", "demo"],
    "import pandas": ["-c", "import pandas"],
}


def main() -> None:
    """Print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    seconds = {name: cpu_seconds([sys.executable, *arguments], runs) for name, arguments in COMMANDS.items()}
    print_table(f"CPU time, best of {runs}", seconds, CLICK)


if __name__ == "__main__":
    main()
