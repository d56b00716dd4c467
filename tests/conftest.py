"""Tests know neither the settings of whoever runs them nor their keys, and leave nothing behind."""

import atexit
import os
import signal
from tempfile import TemporaryDirectory

own = TemporaryDirectory(prefix="showandtell-tests-", ignore_cleanup_errors=True)
atexit.register(own.cleanup)
os.environ["XDG_CONFIG_HOME"] = f"{own.name}/config"
os.environ["XDG_DATA_HOME"] = f"{own.name}/data"
for name in [name for name in os.environ if name.startswith("SHOWANDTELL_") or name.endswith("_API_KEY")]:
    del os.environ[name]

# Who starts the tests in the background, or by nohup, has them ignore these; programs that they start would, too.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
