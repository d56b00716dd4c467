"""What the environment says of the way out: the proxy for an address, and whose certificates are believed."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from showandtell.errors import BadInput

#: Who names certificates, first come first served: OpenSSL's own names, then those of requests and curl.
BUNDLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def proxies_of(environ: Mapping[str, str]) -> dict[str, str]:
    """Proxies by scheme, as `HTTPS_PROXY` and its likes name them; lower-case names win. `no` holds the exceptions.

    In a CGI program `HTTP_PROXY` is what the visitor sent as a header, so it doesn't count there.
    """
    named = {name: value for name, value in sorted(environ.items()) if name.lower().endswith("_proxy") and value}
    if "REQUEST_METHOD" in environ:
        named.pop("HTTP_PROXY", None)
    return {name.lower().removesuffix("_proxy"): value for name, value in named.items()}


def proxy_for(url: str, environ: Mapping[str, str]) -> str | None:
    """The proxy's own URL, credentials included; None for a direct way. Raises `BadInput` for one that isn't HTTP."""
    parts, proxies = urlsplit(url), proxies_of(environ)
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or is_exempt(parts.netloc.lower(), proxies.get("no", "")):
        return None
    whole = proxy if "://" in proxy else f"http://{proxy}"
    try:
        ahead = urlsplit(whole)
        usable = ahead.scheme in {"http", "https"} and bool(ahead.hostname) and ahead.port != 0
    except ValueError:
        usable = False
    if not usable:
        name = parts.scheme if parts.scheme in proxies else "all"
        raise BadInput(f"{name.upper()}_PROXY names no HTTP proxy: write it as http://host:port")
    return whole


def is_exempt(host: str, exceptions: str) -> bool:
    """Whether `NO_PROXY` names a host, with or without its port, or a domain that it is in; `*` names all."""
    names = (f".{host}", f".{host.partition(':')[0]}")
    domains = (one.strip().lower().removeprefix("*").lstrip(".") for one in exceptions.split(","))
    return exceptions.strip() == "*" or any(name.endswith(f".{one}") for one in domains if one for name in names)


def trusted(environ: Mapping[str, str]) -> ssl.SSLContext:
    """Whose certificates are believed: the system's, or those that are named instead. Raises `BadInput`."""
    name = next((one for one in BUNDLES if environ.get(one)), None)
    path = Path(environ[name]) if name else None
    try:
        if path is not None and path.is_dir():
            return ssl.create_default_context(capath=path)
        return ssl.create_default_context(cafile=path, capath=environ.get("SSL_CERT_DIR") or None)
    except (OSError, ValueError) as error:
        raise BadInput(f"{name} names {path}, which holds no certificates: name a PEM file or a folder") from error
