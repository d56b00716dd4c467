"""Modules beside these tests can be imported by them."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
