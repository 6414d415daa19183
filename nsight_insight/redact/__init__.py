"""Clean copies of captures for sharing: the work stays, what tells who ran it and where does not."""

from __future__ import annotations

from nsight_insight.redact.files import CleanFile, NotClean, Summary, redact

__all__ = ["CleanFile", "NotClean", "Summary", "redact"]
