"""Where the tests find the project, its fixtures, and the files that do not ship with it.

``NSIGHT_INSIGHT_LAB`` names the folder of captures and published files when it does not lie beside the checkout;
tests that need it skip where it does not exist.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
FIXTURES: Final = ROOT / "fixtures"
LAB: Final = Path(os.environ.get("NSIGHT_INSIGHT_LAB") or ROOT.parent / "shared")
CAPTURES: Final = LAB / "captures"
CORPUS: Final = LAB / "corpus"
