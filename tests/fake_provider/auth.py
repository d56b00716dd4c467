"""Keys as each house checks them, and its answer to one that is missing or wrong.

The words of these answers are from memory unless a line says more; their forms are those of the inspector's houses.
"""

from __future__ import annotations

import hmac
import re
from datetime import UTC, datetime, timedelta
from functools import cache

import msgspec

from showandtell.inspector.request import Host, IncomingRequest, Refusal

#: The one key that each house takes, by the header that it travels in. Servers on one's own machine take none.
KEYS = {
    house: (header, f"{house}-standin-key")
    for house, header in (
        ("anthropic", "x-api-key"),
        ("google", "x-goog-api-key"),
        ("azure", "api-key"),
        *((house, "authorization") for house in ("openai", "xai", "groq", "openrouter", "mistral", "cohere")),
    )
}
#: What the token endpoint gives, and Vertex takes.
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

#: A refusal for a key that is missing, and for one that is wrong, by house.
MISSING_KEY = {
    "anthropic": Refusal("x-api-key header is required", status=401, kind="authentication_error"),
    "google": Refusal(
        "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other "
        "form of API consumer identity to call this API.",
        status=403,
    ),
    "openai": Refusal(
        "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth "
        "(i.e. Authorization: Bearer YOUR_KEY).",
        status=401,
    ),
    "openrouter": Refusal("No auth credentials found", status=401),
}
WRONG_KEY = {
    "anthropic": Refusal("invalid x-api-key", status=401, kind="authentication_error"),
    "azure": Refusal(
        "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an "
        "active subscription and use a correct regional API endpoint for your resource.",
        status=401,
        code="401",
    ),
    "cohere": Refusal("invalid api token", status=401),
    "google": Refusal("API key not valid. Please pass a valid API key.", status=400),
    "groq": Refusal("Invalid API Key", status=401, code="invalid_api_key"),
    "mistral": Refusal("Unauthorized", status=401, kind="unauthorized"),
    "openai": Refusal("Incorrect API key provided: ***.", status=401, code="invalid_api_key"),
    "openrouter": Refusal("User not found.", status=401),
    "xai": Refusal("Incorrect API key provided: ***.", status=400),
}
BAD_TOKEN = Refusal(
    "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid "
    "authentication credential.",
    status=401,
    kind="authentication_error",
)
KEY_IN_ADDRESS = Refusal("The stand-in takes a key in the header x-goog-api-key, not in the address.", status=400)
NO_VERSION = Refusal("anthropic-version: header is required")


#: Keys and accounts by the variables that our client reads.
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
}


def check_key(house: Host, sent: IncomingRequest, now: datetime) -> None:
    """Let a request in, or raise `Refusal` as its house would."""
    if house.base in ON_AWS:
        check_aws(sent, now)
    elif house.base in ON_VERTEX:
        if sent.headers.get("authorization") != f"Bearer {TOKEN}":
            raise BAD_TOKEN
    elif house.base in KEYS:
        check_header(house.base, sent)


def check_header(base: str, sent: IncomingRequest) -> None:
    """One header with one key; Anthropic wants its version besides, and Google's key may not be in the address."""
    header, key = KEYS[base]
    said = sent.headers.get(header, "")
    if base == "anthropic" and not said:  # anthropic 2.12 sends a key as a bearer's
        said = sent.headers.get("authorization", "").removeprefix("Bearer ")
    if base == "google" and "key=" in sent.query:
        raise KEY_IN_ADDRESS
    if not said and base in MISSING_KEY:
        raise MISSING_KEY[base]
    if said != (f"Bearer {key}" if header == "authorization" else key):
        raise WRONG_KEY[base]
    if base == "anthropic" and not sent.headers.get("anthropic-version"):
        raise NO_VERSION


def check_aws(sent: IncomingRequest, now: datetime) -> None:
    """A bearer key of Bedrock's, or a signature that holds and was made within five minutes of `now`."""
    said = sent.headers.get("authorization", "")
    if not said:
        raise _denied("Missing Authentication Token", "MissingAuthenticationTokenException")
    if said.startswith("Bearer "):
        if said != f"Bearer {AWS_BEARER}":
            words = "Authentication failed: Please make sure your API Key is valid."
            raise _denied(words, "AccessDeniedException")
        return
    found = SIGNED.fullmatch(said)
    if found is None:
        raise _denied("Authorization header requires a valid signature.", "IncompleteSignatureException")
    if found["key"] != AWS_KEY:
        raise _denied("The security token included in the request is invalid.", "UnrecognizedClientException")
    check_clock(sent.headers.get("x-amz-date", ""), now)
    if not hmac.compare_digest(sign_again(sent, found["region"], found["names"].split(";")), found["signature"]):
        words = "The request signature we calculated does not match the signature you provided."
        raise _denied(f"{words} Check your AWS Secret Access Key and signing method.", "InvalidSignatureException")


def check_clock(stamp: str, now: datetime) -> None:
    """A signature's time and ours differ by five minutes at most."""
    try:
        made = datetime.strptime(stamp, STAMP).replace(tzinfo=UTC)
    except ValueError:
        raise _denied("Date in X-Amz-Date is not valid.", "IncompleteSignatureException") from None
    early, late, here = now - SKEW, now + SKEW, f"{now:{STAMP}}"
    if made < early:
        words = f"Signature expired: {stamp} is now earlier than {early:{STAMP}} ({here} - 5 min.)"
        raise _denied(words, "InvalidSignatureException")
    if made > late:
        words = f"Signature not yet current: {stamp} is still later than {late:{STAMP}} ({here} + 5 min.)"
        raise _denied(words, "InvalidSignatureException")


def sign_again(sent: IncomingRequest, region: str, names: list[str]) -> str:
    """The signature that botocore makes over the headers that were sent."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    host = sent.headers.get("host", "")
    url = f"http://{host}{sent.path}" + (f"?{sent.query}" if sent.query else "")
    headers = {name: sent.headers.get(name, "") for name in names}
    request = AWSRequest(method="POST", url=url, headers=headers, data=sent.body)
    signer = SigV4Auth(Credentials(AWS_KEY, AWS_SECRET), "bedrock", region)
    request.context["timestamp"] = sent.headers["x-amz-date"]
    return str(signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request))


def _denied(words: str, kind: str) -> Refusal:
    return Refusal(words, status=403, kind=kind)


def make_account(token_uri: str) -> bytes:
    """A service account's file, whose key opens nothing but the stand-in."""
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
