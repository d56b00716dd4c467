"""Names that have broken other programs: paths, ends of lines, directions, nothing at all, what others would run."""

# ruff: noqa: RUF001, Q003 - that is what they are for

UNIX = "../../../../etc/passwd"
PATHS = [
    UNIX, "/etc/passwd", "..", ".", "./", "../", "..\\..\\windows\\system32", "C:\\con", "file:///etc/passwd", "~root/x",
    "a/../../b", "....//....//x", "%2e%2e%2fx", "..%2fx", "..%c0%afx", "\\\\server\\share", "CON", "NUL.txt", "aux.png",
    "spool", "showandtell.db", "showandtell.db-wal", ".htaccess", "-rf", "--", "$HOME", "%APPDATA%", "a b ", " a", "a.",
]  # fmt: skip
LINES = [
    "a\r\nSet-Cookie: a=1", "a\nb", "a\rb", "a\u2028b", "a\u2029b", "a\x85b", "a\x0bb", "a\x0cb", "a\tb", "a\0b", "\0",
    'a"; filename="b', "a;b=c", "a%0d%0ab", "a'b", 'a"b', "a\\", "a`id`", "$(id)", "| id", "; id", "&& id", "a\x1b[31mb",
]  # fmt: skip
CHARACTERS = [
    "", " ", "\u00a0", "\u200b", "\ufeff", "\u202egnp.exe", "\u2066x\u2069", "\u200fx", "e\u0301", "\u00e9", "Z\u0351\u036b\u0343",
    "\ufdfd", "\U0001f469\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "\ud800", "\udfff", "a\ud83db", "\uffff", "\ufffd",
    "\U0010ffff", "\ue000", "\u0000\u0001\u0002", "\x7f", "\x80\x9f", "田中さん", "사회과학원", "פֿאָלק", "ﷺ", "ﬀ", "ß", "İ", "ı", "ſ",
    "\u1d43\u1d47", "𝕋𝕙𝕖", "⁰⁴⁵", "٣", "\u2fff", "\u034f", "\u3164", "\U000e0041",
]  # fmt: skip
CODE = [
    "<script>alert(1)</script>", "'\"><img src=x onerror=alert(1)>", "javascript:alert(1)", "<svg/onload=alert(1)>", "{{7*7}}",
    "${7*7}", "#{7*7}", "%s%s%n", "%x%d", "{0}", "{}", "{a.__class__}", "1;DROP TABLE blobs", "' OR 1=1--", "') --", "\\'",
    "null", "None", "undefined", "true", "NaN", "Infinity", "-0", "1e1000", "0x0", "[]", '{"a":', '"', "\\u0000", "\\", "*", "?",
    "⟦image 1: x⟧", "⟦", "⟧", "image 5", "data:image/png;base64,AAAA", "http://[::1]", "@import", "=1+1", "+1", "-1", "@a",
]  # fmt: skip
TYPES = [
    "image/png", "image/../x", "image/png; name=\"a\r\nb\"", "IMAGE/PNG", "image/", "/png", "image", "text/html", "*/*", "a/b/c",
    "image/svg+xml", "multipart/form-data; boundary=x", "text/plain;charset=utf-7", "\0/\0", "image\n/png",
]  # fmt: skip
PLAIN = [*PATHS, *LINES, *CHARACTERS, *CODE, *TYPES]
#: As they are, with an ending, long, and behind a way up.
HOSTILE = [
    *PLAIN,
    *(f"{item}.png" for item in PLAIN),
    *(f"../{item}" for item in PLAIN),
    *((item * 4096)[:4096] for item in PLAIN if item),
]
