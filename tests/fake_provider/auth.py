"""Check API keys like each host does, with its errors for a missing or wrong key.

The messages are from memory unless a comment says more. Their format is that of the inspector's hosts.
"""

from __future__ import annotations

import hmac
import re
from datetime import UTC, datetime, timedelta
from functools import cache

import msgspec

from showandtell.inspector.request import ApiError, Host, IncomingRequest
from showandtell.providers.hosts import ROWS

from .urls import OTHERS

#: The header and the key of each host. Local servers need no key.
KEYS = {
    host: (header, f"{host}-standin-key")
    for host, header in (
        ("anthropic", "x-api-key"),
        ("google", "x-goog-api-key"),
        ("azure", "api-key"),
        *((host, "authorization") for host in ("openai", "xai", "groq", "openrouter", "mistral", "cohere")),
    )
}
KEYED = [name for name in OTHERS if ROWS[name].keys and ROWS[name].needs_key]
KEYS |= {name: (ROWS[name].key_header.replace("bearer", "authorization"), f"{name}-standin-key") for name in KEYED}
#: The token that the token endpoint issues and Vertex accepts.
TOKEN = "ya29.standin"  # noqa: S105 - it opens nothing
AWS_KEY, AWS_SECRET, AWS_BEARER = "AKIDSTANDIN", "standin-secret", "bedrock-api-key-standin"
ON_AWS = frozenset({"bedrock", "anthropic-bedrock"})
ON_VERTEX = frozenset({"vertex", "anthropic-vertex"})
SKEW = timedelta(minutes=5)
STAMP = "%Y%m%dT%H%M%SZ"
SIGNED = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/(?P<date>\d{8})/(?P<region>[a-z0-9-]+)/bedrock/aws4_request, ?"
    r"SignedHeaders=(?P<names>[a-z0-9;-]+), ?Signature=(?P<signature>[0-9a-f]{64})"
)

#: The errors for a missing and for a wrong key, by host.
MISSING_KEY = {
    "anthropic": ApiError("x-api-key header is required", status=401, kind="authentication_error"),
    "google": ApiError(
        "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other "
        "form of API consumer identity to call this API.",
        status=403,
    ),
    "openai": ApiError(
        "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth "
        "(i.e. Authorization: Bearer YOUR_KEY).",
        status=401,
    ),
    "openrouter": ApiError("No auth credentials found", status=401),
}
WRONG_KEY = {
    "anthropic": ApiError("invalid x-api-key", status=401, kind="authentication_error"),
    "azure": ApiError(
        "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an "
        "active subscription and use a correct regional API endpoint for your resource.",
        status=401,
        code="401",
    ),
    "cohere": ApiError("invalid api token", status=401),
    "google": ApiError("API key not valid. Please pass a valid API key.", status=400),
    "groq": ApiError("Invalid API Key", status=401, code="invalid_api_key"),
    "mistral": ApiError("Unauthorized", status=401, kind="unauthorized"),
    "openai": ApiError("Incorrect API key provided: ***.", status=401, code="invalid_api_key"),
    "openrouter": ApiError("User not found.", status=401),
    "xai": ApiError("Incorrect API key provided: ***.", status=400),
}
BAD_TOKEN = ApiError(
    "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid "
    "authentication credential.",
    status=401,
    kind="authentication_error",
)
KEY_IN_ADDRESS = ApiError("The fake provider accepts a key in the header x-goog-api-key, not in the URL.", status=400)
NO_VERSION = ApiError("anthropic-version: header is required")


#: Keys and accounts by the environment variables that the client reads.
KEY_VARIABLES = {
    "ANTHROPIC_API_KEY": KEYS["anthropic"][1],
    "OPENAI_API_KEY": KEYS["openai"][1],
    "AZURE_OPENAI_API_KEY": KEYS["azure"][1],
    "GEMINI_API_KEY": KEYS["google"][1],
    "XAI_API_KEY": KEYS["xai"][1],
    "GROQ_API_KEY": KEYS["groq"][1],
    "OPENROUTER_API_KEY": KEYS["openrouter"][1],
    "MISTRAL_API_KEY": KEYS["mistral"][1],
    "CO_API_KEY": KEYS["cohere"][1],
    "AWS_ACCESS_KEY_ID": AWS_KEY,
    "AWS_SECRET_ACCESS_KEY": AWS_SECRET,
    "AWS_REGION": "us-east-1",
    "GOOGLE_CLOUD_PROJECT": "standin",
    "GOOGLE_CLOUD_LOCATION": "global",
    **{ROWS[name].keys[0][0]: KEYS[name][1] for name in KEYED},
}


def check_key(host: Host, request: IncomingRequest, now: datetime) -> None:
    """Raise `ApiError` if the request lacks valid credentials."""
    if host.base in ON_AWS:
        check_aws(request, now)
    elif host.base in ON_VERTEX:
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            raise BAD_TOKEN
    elif host.base in KEYS:
        check_header(host.base, request)


def check_header(base: str, request: IncomingRequest) -> None:
    """Check a key in a header. Anthropic also requires a version, and Google's key may not be in the URL."""
    header, key = KEYS[base]
    sent_key = request.headers.get(header, "")
    if base == "anthropic" and not sent_key:  # anthropic 2.12 sends a key as a bearer token
        sent_key = request.headers.get("authorization", "").removeprefix("Bearer ")
    if base == "google" and "key=" in request.query:
        raise KEY_IN_ADDRESS
    if not sent_key and base in MISSING_KEY:
        raise MISSING_KEY[base]
    if sent_key != (f"Bearer {key}" if header == "authorization" else key):
        raise WRONG_KEY.get(base, WRONG_KEY["openai"])
    if base == "anthropic" and not request.headers.get("anthropic-version"):
        raise NO_VERSION


def check_aws(request: IncomingRequest, now: datetime) -> None:
    """Check a Bedrock bearer key, or a valid signature made within five minutes of `now`."""
    sent_key = request.headers.get("authorization", "")
    if not sent_key:
        raise _denied("Missing Authentication Token", "MissingAuthenticationTokenException")
    if sent_key.startswith("Bearer "):
        if sent_key != f"Bearer {AWS_BEARER}":
            message = "Authentication failed: Please make sure your API Key is valid."
            raise _denied(message, "AccessDeniedException")
        return
    match = SIGNED.fullmatch(sent_key)
    if match is None:
        raise _denied("Authorization header requires a valid signature.", "IncompleteSignatureException")
    if match["key"] != AWS_KEY:
        raise _denied("The security token included in the request is invalid.", "UnrecognizedClientException")
    check_clock(request.headers.get("x-amz-date", ""), now)
    if not hmac.compare_digest(sign_again(request, match["region"], match["names"].split(";")), match["signature"]):
        message = "The request signature we calculated does not match the signature you provided."
        raise _denied(f"{message} Check your AWS Secret Access Key and signing method.", "InvalidSignatureException")


def check_clock(stamp: str, now: datetime) -> None:
    """Check that the time of a signature is within five minutes of `now`."""
    try:
        signed_at = datetime.strptime(stamp, STAMP).replace(tzinfo=UTC)
    except ValueError:
        raise _denied("Date in X-Amz-Date is not valid.", "IncompleteSignatureException") from None
    early, late, current = now - SKEW, now + SKEW, f"{now:{STAMP}}"
    if signed_at < early:
        message = f"Signature expired: {stamp} is now earlier than {early:{STAMP}} ({current} - 5 min.)"
        raise _denied(message, "InvalidSignatureException")
    if signed_at > late:
        message = f"Signature not yet current: {stamp} is still later than {late:{STAMP}} ({current} + 5 min.)"
        raise _denied(message, "InvalidSignatureException")


def sign_again(request: IncomingRequest, region: str, names: list[str]) -> str:
    """The signature that botocore computes for a request."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    host = request.headers.get("host", "")
    url = f"http://{host}{request.path}" + (f"?{request.query}" if request.query else "")
    headers = {name: request.headers.get(name, "") for name in names}
    signed = AWSRequest(method="POST", url=url, headers=headers, data=request.body)
    signer = SigV4Auth(Credentials(AWS_KEY, AWS_SECRET), "bedrock", region)
    signed.context["timestamp"] = request.headers["x-amz-date"]
    return str(signer.signature(signer.string_to_sign(signed, signer.canonical_request(signed)), signed))


def _denied(message: str, kind: str) -> ApiError:
    return ApiError(message, status=403, kind=kind)


def make_account(token_uri: str) -> bytes:
    """A service account file for the fake provider."""
    account = {
        "type": "service_account",
        "project_id": "standin",
        "private_key_id": "standin",
        "private_key": _make_private_key(),
        "client_email": "standin@standin.iam.gserviceaccount.com",
        "client_id": "1",
        "token_uri": token_uri,
    }
    return msgspec.json.encode(account)


@cache
def _make_private_key() -> str:
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
