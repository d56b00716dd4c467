"""Torture knows neither the settings of whoever runs it nor their keys, as the tests don't, and leaves nothing behind."""

import atexit
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.append(str(Path(__file__).parent))
own = TemporaryDirectory(prefix="showandtell-torture-", ignore_cleanup_errors=True)
atexit.register(own.cleanup)
os.environ["XDG_CONFIG_HOME"] = f"{own.name}/config"
os.environ["XDG_DATA_HOME"] = f"{own.name}/data"
for name in [name for name in os.environ if name.startswith("SHOWANDTELL_") or name.endswith("_API_KEY")]:
    del os.environ[name]
