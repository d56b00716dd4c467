"""The databases that tests of stores run on, without the import of their clients."""

DATABASES = ("sqlite", "postgresql")
