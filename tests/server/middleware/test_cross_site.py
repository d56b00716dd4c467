"""Only a bearer token exempts a request from the cross-site check, and every `Origin` is compared: properties."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from showandtell.server.middleware.origin_guard import OriginGuard
from support.middleware_app import OWN, send

ALLOWED = "https://app.example.com"
#: Schemes of the registry of IANA, and of servers of Microsoft: browsers send credentials of some by themselves.
SCHEMES = ["Basic", "Digest", "Negotiate", "NTLM", "HOBA", "Mutual", "DPoP", "vapid", "SCRAM-SHA-256", "Kerberos"]
TOKEN = st.from_regex(r"[A-Za-z0-9._~+/-]{1,20}={0,2}", fullmatch=True)


@st.composite
def spellings(draw, schemes):
    """A header of a scheme, in any case, spacing and form of its value."""
    scheme = "".join(draw(st.sampled_from([letter.lower(), letter.upper()])) for letter in draw(schemes))
    gap = draw(st.sampled_from([" ", "  ", "\t", "", ", ", "=", " \t"]))
    value = draw(TOKEN | st.sampled_from(["", 'username="a", realm="b"', "a b", "a,b", "Bearer abc", "bearer"]))
    return scheme + gap + value


#: Credentials that are no token by RFC 6750: other schemes, repeated headers, and values that only begin like one.
NO_TOKENS = st.one_of(
    spellings(st.sampled_from(SCHEMES)).map(lambda value: [value]),
    st.lists(spellings(st.sampled_from([*SCHEMES, "Bearer"])), min_size=2, max_size=3),
    st.sampled_from(["Bearer", "Bearer ", "Bearer\tabc", "Bearer=abc", "Bearer a b", "Bearer a, Basic b", "\xa0Bearer a"])
    .map(lambda value: [value]),
    st.sampled_from(["BearerToken abc", "Basic Bearer abc", "XBearer abc", "", "abc"]).map(lambda value: [value]),
)  # fmt: skip
ORIGINS = st.lists(
    st.sampled_from([OWN, OWN.upper(), ALLOWED, "https://evil.example", "null", "", f"{ALLOWED}.evil.example"]),
    max_size=2,
)


def passes(authorization, origins, *, cookie=False, site=None):
    """Whether a request gets to the application, which may be one that knows all of these credentials."""
    reached = []

    async def app(_, __, respond):
        reached.append(True)
        await respond({"type": "http.response.start", "status": 200, "headers": []})
        await respond({"type": "http.response.body"})

    headers = [("authorization", value) for value in authorization] + [("origin", origin) for origin in origins]
    headers += ([("cookie", "a=b")] if cookie else []) + ([("sec-fetch-site", site)] if site else [])
    response = asyncio.run(send(OriginGuard(app, origins=[ALLOWED]), "POST", "/api/chat", headers))
    assert (response.status == 200) == bool(reached)
    return bool(reached)


@given(NO_TOKENS, ORIGINS, st.booleans(), st.sampled_from([None, "same-origin", "same-site", "cross-site", "none"]))
def test_credentials_that_are_no_token_prove_nothing(credentials, origins, cookie, site):
    is_own_page = [origin.lower() for origin in origins] == [OWN] or (not origins and site == "same-origin")
    assert passes(credentials, origins, cookie=cookie, site=site) == is_own_page


@given(TOKEN, ORIGINS, st.booleans())
def test_a_token_passes_from_no_page_or_from_a_page_of_an_origin_that_is_known(token, origins, cookie):
    is_known = not origins or (
        len(origins) == 1 and (origins[0].lower() == OWN or (origins[0] == ALLOWED and not cookie))
    )
    for scheme in ("Bearer ", "bearer ", "BEARER  "):
        assert passes([scheme + token], origins, cookie=cookie) == is_known


@given(NO_TOKENS)
def test_a_page_of_an_allowed_origin_reads_nothing_with_credentials_that_are_no_token(credentials):
    async def app(_, __, respond):
        await respond({"type": "http.response.start", "status": 200, "headers": []})
        await respond({"type": "http.response.body"})

    headers = [("origin", ALLOWED), *(("authorization", value) for value in credentials)]
    response = asyncio.run(send(OriginGuard(app, origins=[ALLOWED]), "GET", "/api/me", headers))
    assert response["access-control-allow-origin"] is None
