"""The English words that refer to files, or that rule out a reference. Data only; other languages aren't supported."""

from __future__ import annotations

from typing import TypeAlias

#: What a word says about a file: ("kind", "image"), ("type", "pdf"), ("by", "user"), ("called", "chart").
Trait: TypeAlias = tuple[str, str]


def _list_of(words: str) -> list[str]:
    return words.split()


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


NUMBERS = {
    word: number
    for number, word in enumerate(
        _list_of(
            "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen twenty"
        ),
        1,
    )
}
#: Positions from 1 at the start, from -1 at the end.
ORDINALS = {
    **{
        word: number
        for number, word in enumerate(
            _list_of(
                "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
                "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
            ),
            1,
        )
    },
    "oldest": 1,
    "earliest": 1,
    "last": -1,
    "latest": -1,
    "newest": -1,
    "penultimate": -2,
}
#: The last one, or the one before it: a user who has already seen the last one means the other.
PREVIOUS = frozenset({"previous", "preceding", "prior"})

KINDS = {
    "image": "image img picture pic photo photograph snapshot",
    "document": "document doc",
    "audio": "audio sound song",
    "video": "video clip movie film",
    "text": "text",
}
#: File extensions by what users call them.
TYPES: dict[str, str] = {
    "pdf": "pdf",
    "spreadsheet": "xlsx xls csv ods",
    "workbook": "xlsx xls ods",
    "presentation": "pptx ppt odp",
    "slideshow": "pptx ppt odp",
    "notebook": "ipynb",
    "docx": "docx",
    "xlsx": "xlsx",
    "pptx": "pptx",
    "csv": "csv",
    "png": "png",
    "jpg": "jpg",
    "jpeg": "jpg",
    "gif": "gif",
    "svg": "svg",
    "webp": "webp",
    "heic": "heic",
    "mp3": "mp3",
    "wav": "wav",
    "mp4": "mp4",
    "recording": "mp3 wav ogg flac m4a mp4 webm mov",
}
#: Extensions by media type, if the subtype isn't the extension.
ENDINGS = {
    "application/vnd.ms-excel": "xls",
    "application/vnd.ms-powerpoint": "ppt",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/x-ipynb+json": "ipynb",
    "audio/mpeg": "mp3",
    "audio/x-wav": "wav",
    "image/jpeg": "jpg",
    "image/svg+xml": "svg",
}
#: What a file shows, which is only known from the name of the file or its tool.
CALLED = _list_of(
    "banner blueprint chart collage contract cover diagram drawing flyer graph heatmap histogram icon invoice letter "
    "logo map mockup plot portrait poster receipt render rendering report scan screenshot selfie sketch thumbnail "
    "transcript wireframe"
)

NOUNS: dict[str, Trait | None] = {
    **{word: ("kind", kind) for kind, words in KINDS.items() for word in words.split()},
    **{word: ("type", word) for word in TYPES},
    **{word: ("called", word) for word in CALLED},
    "upload": ("by", "user"),
    "file": None,
    "attachment": None,
}
PLURALS = {**{f"{noun}s": noun for noun in NOUNS}, "pngs": "png"}
#: "This text: ...", "his first film", "the cover": often no file, unless there is a number or another word.
NEEDS_MORE = frozenset({"text", "sound", "song", "film", "movie", "cover"})

DETERMINERS = frozenset({"the", "my", "your", "our", "his", "her", "their", "its", "this", "that", "these", "those"})
#: Before a noun these words mean any one of its kind, or a new one.
INDEFINITE = _set_of("a an another any some no every each new more other many few several next which what how")
ALL = frozenset({"all", "every", "each"})
#: Words between determiner and noun that say who sent it, or that it is at hand.
MODIFIERS: dict[str, Trait] = {
    "uploaded": ("by", "user"),
    "attached": ("by", "user"),
    "generated": ("by", "others"),
}
SENT = _set_of("uploaded attached sent gave shared posted added provided dropped pasted")
MADE = _set_of(
    "made showed shown generated created drew drawn sent found gave displayed returned fetched plotted rendered"
)
FILLERS = _set_of("just have had has already first last then 've 'd")

#: After "the image" these words make it the first half of a compound noun.
COMPOUNDS = _set_of(
    "album albums api app call calls classification compression editing editor engine engines folder folders format "
    "formats gallery game games generation generator generators generic library libraries loading manager model models "
    "player processing recognition search segmentation server store system systems tool tools type types upload viewer"
)
#: What an image may be inside: "image 3 of the report", "the first image on page 2".
HOLDERS = _set_of(
    "document doc pdf page slide presentation report book article chapter section website folder directory "
    "repo repository project"
)

#: A number after these phrases may refer to a file. The longest phrases are tried first.
LOOKING = frozenset(
    tuple(phrase.split())
    for phrase in (
        "look at",
        "looking at",
        "look closer at",
        "look again at",
        "look back at",
        "see",
        "show",
        "show me",
        "show us",
        "open",
        "open up",
        "view",
        "zoom",
        "zoom in",
        "zoom into",
        "zoom in on",
        "zoom in to",
        "zoom on",
        "compare",
        "contrast",
        "diff",
        "display",
        "describe",
        "examine",
        "inspect",
        "revisit",
        "enlarge",
        "crop",
        "rotate",
        "flip",
        "resize",
        "sharpen",
        "brighten",
        "darken",
        "watch",
        "play",
        "listen to",
        "transcribe",
        "summarise",
        "summarize",
        "go back to",
        "what 's in",
        "what is in",
        "what 's on",
        "what is on",
        "difference between",
        "differences between",
    )
)
FIRST_LOOKING = frozenset(phrase[0] for phrase in LOOKING)
#: "I see 5" counts; "can I see 5" doesn't.
SEERS = frozenset({"i", "we", "you", "they", "people"})
ASKING = frozenset({"can", "could", "may", "let", "shall", "should", "must"})
#: With these words "2 to 5" and "2 with 5" are pairs.
COMPARING = _set_of(
    "compare compared comparing comparison contrast diff difference differences differ match similar versus vs"
)

#: What may follow a number that doesn't count anything.
FOLLOWING = _set_of(
    "a again against also and are as because been but by can closely could did differ do does for from go had has have "
    "how i if in instead into is it its like look looks me my next now on once or please right say says seems should "
    "show shows side so than that the them then there they this to together too versus vs was we were what when where "
    "which while who why will with would yes you your"
)
#: Words that look like plurals but aren't, and verbs.
NO_PLURALS = _set_of(
    "appears as becomes besides comes contains depicts describes differs does focuses follows gets gives goes has "
    "helps includes is its lacks lists looks makes matches means mentions misses needs pls plus"
    " proves reads says seems shows suggests tells thanks thus uses versus vs was works yes"
)
UNITS = _set_of(
    "am pm second seconds sec secs minute minutes min mins hour hours day days week weeks month months year years time "
    "times percent px pixel pixels mb kb gb cm mm dpi degrees points inches "
    "page pages slide slides line lines row rows column columns "
    "people children men women more"
)
#: Nouns that are also verbs: "document 3 bugs", "picture 5 cats".
VERB_NOUNS = _set_of("document file text film picture sound clip scan plot sketch map")
#: Before "#5" or "5 vs 7" these words allow a reference.
LEADING = _set_of(
    "about and as at between but can compare compared contrast diff does for from how in into is like look make me now "
    "of on only open or please see show so than then to us use versus view vs was what which with zoom"
)

#: Before ": #5" these words make it a value.
VALUED = _set_of("background border bug color colour fill issue stroke ticket")
#: With "than" between two numbers these words compare files; "larger" and "less" compare numbers.
BETTER = _set_of(
    "better blurrier brighter clearer cleaner darker fresher longer newer nicer older prettier sharper shorter worse"
)

#: Never part of a file's name.
FUNCTION_WORDS = frozenset(
    FOLLOWING | DETERMINERS | INDEFINITE | ALL | set(ORDINALS) | set(NUMBERS) | {"of", "at", "both", "not", "be", "one"}
)
#: Single words of names that often mean something else.
COMMON = _set_of(
    "about above after answer black brown class color colour company content council country cover design detail "
    "draft email evening example family final first friend front group house image important input issue legal level "
    "light lines local logic model money month morning music night notes number office order other output paper party "
    "people person place plant point power price problem process product project question reason result right school "
    "screen service simple space start state story study style summary system table template test texts thing things "
    "title today topic total track travel untitled user users value version water website white woman world write "
    "wrong years young"
)
#: Last words of a name that describe the state of a file, not its content.
STATES = frozenset({"copy", "draft", "edited", "final", "new", "old", "small", "large"})
