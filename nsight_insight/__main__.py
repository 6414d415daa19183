"""``python -m nsight_insight``."""

import sys

from nsight_insight.cli.main import main

sys.exit(main())
