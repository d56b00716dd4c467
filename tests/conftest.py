"""Tests know neither the settings of whoever runs them nor their keys."""

import os
import tempfile

os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp(prefix="showandtell-tests-")
os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="showandtell-tests-")
for name in [name for name in os.environ if name.startswith("SHOWANDTELL_") or name.endswith("_API_KEY")]:
    del os.environ[name]
