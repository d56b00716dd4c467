"""Network settings from the environment: proxies and trusted certificates."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from showandtell.errors import BadInput

#: Variables that name CA certificates, in order of precedence: OpenSSL's, then those of requests and curl.
CA_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def proxies_from(environ: Mapping[str, str]) -> dict[str, str]:
    """Proxies by scheme from `HTTPS_PROXY` and the like; lower-case names win. `no` holds the exceptions.

    In a CGI program `HTTP_PROXY` is ignored, since it holds a request header of the client.
    """
    found: dict[str, str] = {}
    for scheme in ("http", "https", "all", "no"):
        value = environ.get(f"{scheme}_proxy")
        if not value and not (scheme == "http" and "REQUEST_METHOD" in environ):
            value = environ.get(f"{scheme.upper()}_PROXY")
        if value:
            found[scheme] = value
    return found


def proxy_for(url: str, environ: Mapping[str, str]) -> str | None:
    """The proxy URL for `url`, credentials included, or None. Raises `BadInput` for an invalid proxy."""
    parts, proxies = urlsplit(url), proxies_from(environ)
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or is_exempt(parts.netloc.lower(), proxies.get("no", "")):
        return None
    proxy_url = proxy if "://" in proxy else f"http://{proxy}"
    try:
        proxy_parts = urlsplit(proxy_url)
        is_valid = proxy_parts.scheme in {"http", "https"} and bool(proxy_parts.hostname) and proxy_parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        name = parts.scheme if parts.scheme in proxies else "all"
        raise BadInput(f"{name.upper()}_PROXY is not an HTTP proxy: use the form http://host:port")
    return proxy_url


def is_exempt(host: str, exceptions: str) -> bool:
    """Whether `NO_PROXY` lists the host (with or without port) or one of its parent domains; `*` matches all."""
    names = (f".{host}", f".{host.partition(':')[0]}")
    domains = (domain.strip().lower().removeprefix("*").lstrip(".") for domain in exceptions.split(","))
    return exceptions.strip() == "*" or any(
        name.endswith(f".{domain}") for domain in domains if domain for name in names
    )


def tls_context(environ: Mapping[str, str]) -> ssl.SSLContext:
    """A TLS context with the system's CA certificates, or those the environment names. Raises `BadInput`."""
    name = next((variable for variable in CA_VARIABLES if environ.get(variable)), None)
    path = Path(environ[name]) if name else None
    try:
        if path is not None and path.is_dir():
            return ssl.create_default_context(capath=path)
        return ssl.create_default_context(cafile=path, capath=environ.get("SSL_CERT_DIR") or None)
    except (OSError, ValueError) as error:
        raise BadInput(f"{name} names {path}, which has no certificates: use a PEM file or a folder") from error
