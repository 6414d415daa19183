"""Every error a user can meet, in one hierarchy, each with its exit code.

::

    NsightInsightError            4  a fault of ours
    ├── UsageError                2  options that do not fit together
    │   ├── ConfigError           2  configuration file
    │   └── RuleError             2  rule file; one per fault, several are raised as RuleErrors
    ├── InputError                3  an input file
    │   ├── MissingInput          3  no such file
    │   ├── UnrecognizedInput     3  no reader understands it
    │   └── EmptyInput            3  understood, but nothing to analyse
    ├── OutputError               2  the report cannot be written where it was asked for
    └── CheckFailed               1  findings at or above the limit of ``Report.check``

The command line has one ``except`` for the root; the library lets them pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nsight_insight.model.finding import Finding


class NsightInsightError(Exception):
    """Root of the hierarchy; ``exit_code`` is what the command line returns for it."""

    exit_code = 4

    def __reduce__(self) -> tuple[object, ...]:
        """Errors keep text and place when they come from another process."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[NsightInsightError], args: tuple[object, ...], state: dict[str, object]) -> NsightInsightError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class UsageError(NsightInsightError):
    """Options or arguments that do not fit together."""

    exit_code = 2


class ConfigError(UsageError):
    """A configuration file that cannot be used."""


class OutputError(NsightInsightError):
    """A report that cannot be written where it was asked for."""

    exit_code = 2


class CheckFailed(NsightInsightError):
    """Findings at or above a limit; ``findings`` holds them."""

    exit_code = 1

    def __init__(self, text: str, *, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__(text)


class RuleError(UsageError):
    """One fault of one rule file, with its place.

    Printed as ``file:line:column: path: text``.
    """

    def __init__(self, text: str, *, file: str = "<rule>", line: int = 0, column: int = 0, path: str = "") -> None:
        self.text, self.file, self.line, self.column, self.path = text, file, line, column, path
        where = f"{file}:{line}:{column}: " if line else f"{file}: "
        super().__init__(where + (f"{path}: " if path else "") + text)


class RuleErrors(UsageError):
    """All faults of all rule files of one load."""

    def __init__(self, errors: Sequence[RuleError]) -> None:
        self.errors = tuple(errors)
        super().__init__("\n".join(str(error) for error in self.errors))


class InputError(NsightInsightError):
    """An input that cannot be analysed; ``path`` and ``line`` say where."""

    exit_code = 3

    def __init__(self, text: str, *, path: str, line: int | None = None) -> None:
        self.text, self.path, self.line = text, path, line
        super().__init__(f"{path}:{line}: {text}" if line else f"{path}: {text}")


class MissingInput(InputError):
    """No such file or directory, or not readable."""


class UnrecognizedInput(InputError):
    """No reader understands the content."""


class EmptyInput(InputError):
    """The format is known, but there is nothing in it."""
