"""Encrypts what a copy of the database must not show: keys of providers, and refresh tokens of accounts.

The key derives from the server's secret, which is not in the database. AES-256-GCM with a random nonce is safe for
2^32 texts of one key (NIST SP 800-38D). Each text is bound to its purpose, so that none can take the place of another.
"""

from __future__ import annotations

import base64
import hashlib
import os
from typing import TYPE_CHECKING, Final

from showandtell.errors import ShowAndTellError
from showandtell.lazy import LazyModule
from showandtell.server.auth.keys import derive_key

if TYPE_CHECKING:
    from cryptography import exceptions
    from cryptography.hazmat.primitives.ciphers import aead
else:  # most servers encrypt nothing
    exceptions = LazyModule("cryptography.exceptions")
    aead = LazyModule("cryptography.hazmat.primitives.ciphers.aead")

LABEL: Final = "stored secrets"
NONCE_BYTES: Final = 12


class WrongSecret(ShowAndTellError):
    """A text was encrypted with another secret, or for another purpose, or it is damaged."""


class StoredSecrets:
    """Encrypts with the current secret, and decrypts what it or a previous one encrypted."""

    def __init__(self, secret: bytes, *previous: bytes) -> None:
        keys = [derive_key(each, LABEL) for each in (secret, *previous)]
        self._keys = {key_id(key): key for key in reversed(keys)}
        self._current = key_id(keys[0])

    def encrypt(self, text: str, purpose: str) -> str:
        """Encrypt a text. `purpose` names its place in the database."""
        nonce = os.urandom(NONCE_BYTES)
        data = aead.AESGCM(self._keys[self._current]).encrypt(nonce, text.encode(), purpose.encode())
        return f"{self._current}.{base64.urlsafe_b64encode(nonce + data).decode()}"

    def decrypt(self, encrypted: str, purpose: str) -> str:
        """Return the text that was encrypted for a purpose. Raises `WrongSecret`."""
        name, _, text = encrypted.partition(".")
        try:
            data = base64.urlsafe_b64decode(text)
            cipher = aead.AESGCM(self._keys[name])
            return cipher.decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], purpose.encode()).decode()
        except (KeyError, ValueError, exceptions.InvalidTag):
            raise WrongSecret("it was stored with another secret of the server") from None

    @property
    def has_previous(self) -> bool:
        """Whether there are previous secrets."""
        return len(self._keys) > 1

    def is_current(self, encrypted: str) -> bool:
        """Whether a text was encrypted with the current secret."""
        return encrypted.startswith(f"{self._current}.")


def key_id(key: bytes) -> str:
    """A short name of a key, which says nothing about it."""
    return hashlib.sha256(b"key id " + key).hexdigest()[:8]
