"""Torture knows neither the settings of whoever runs it nor their keys, as the tests don't."""

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp(prefix="showandtell-torture-")
for name in [name for name in os.environ if name.startswith("SHOWANDTELL_") or name.endswith("_API_KEY")]:
    del os.environ[name]
