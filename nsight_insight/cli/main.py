"""The entry point: errors and exit codes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from nsight_insight.errors import NsightInsightError

INTERNAL: Final = 4
"""Exit code of a fault of ours; Python's own 1 would be taken for findings."""
INTERRUPTED: Final = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code; the only place where errors end."""
    args = sys.argv[1:] if argv is None else argv
    try:
        from nsight_insight.cli._program import invoke

        code = invoke(args)
        sys.stdout.flush()
    except BrokenPipeError:
        from nsight_insight.cli._output import silence_stdout

        silence_stdout()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        return _tell(error, debug="--debug" in args)
    return code


def _tell(error: Exception, *, debug: bool) -> int:
    """What went wrong, on standard error; the exit code."""
    if debug:
        import traceback

        traceback.print_exception(error)
    if isinstance(error, NsightInsightError):
        for line in str(error).splitlines():
            print(f"error: {line}", file=sys.stderr)  # noqa: T201
        return error.exit_code
    hint = "" if debug else "; --debug shows where"
    print(f"internal error, sorry: {type(error).__name__}: {error}{hint}", file=sys.stderr)  # noqa: T201
    return INTERNAL
