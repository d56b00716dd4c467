"""Everything that can go wrong, one class for each `except` a user would write.

ShowAndTellError
├── BadInput                what the program or a file on disk says is not usable
│   ├── UnknownModel        no such provider, or not written as provider:model
│   ├── MissingKey          no key for this provider in settings or environment
│   ├── BadConversation     a conversation file that breaks its own rules
│   ├── NotFound            no such conversation, message or file, or not yours: the words are the same
│   ├── BadValue            a tool's return value that has no JSON (NaN, bytes of no known type)
│   └── BadFile             one file: empty, torn, too large, not what it says, outside its folder
├── UnsupportedFile         refused: the model can't be shown these files (all of them are named)
├── Busy                    somebody else is answering in this conversation
├── StorageFailed           the database or the blobs' store does not answer: nothing of what was under way is stored
│   ├── StorageFull         there is no space left
│   └── LeaseLost           another process has taken this conversation over
├── FileChanged             a stored file vanished or changed between plan and send
├── CannotRender            a wire format met what it can't write: a defect of the plan, not of the input
├── ToolError               raised by a tool: its text reaches the model word for word
└── ProviderError           the provider's answer: status, its own words
    ├── ProviderUnavailable nobody answers: nothing listens, or it is busy or broken, also when asked again
    ├── RejectedFiles       the provider takes none of these files, and leaving them out did not help
    └── BadAnswer           bytes that are not the api's stream
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class ShowAndTellError(Exception):
    """Any error of this library."""


class BadInput(ShowAndTellError, ValueError):
    """What was handed in is not usable."""


class UsageError(Exception):
    """A command that can't be followed as it was given; one line says why. It is the command line's alone."""


class UnknownModel(BadInput):
    """No such model name; the text lists what there is."""


class MissingKey(BadInput):
    """A provider needs a key that nobody gave; the text names the variable to set."""


class BadConversation(BadInput):
    """A conversation whose records contradict each other."""


class NotFound(BadInput):
    """No such thing, or not yours: which of the two is nobody's business."""


class BadValue(BadInput):
    """A Python value that can't be shown to a model."""


class BadFile(BadInput):
    """A file that can't be used: `name` of the file, the `problem`, and what to do about it.

    `passing`: it may be usable another time.
    """

    def __init__(self, name: str, problem: str, advice: str, *, passing: bool = False) -> None:
        super().__init__(f"{name} {problem}: {advice}")
        self.name, self.problem, self.advice, self.passing = name, problem, advice, passing


class UnsupportedFile(ShowAndTellError):
    """Files that this model can't be shown, raised before anything is sent. `files` holds (label, reason) of each."""

    def __init__(self, model: str, files: Sequence[tuple[str, str]]) -> None:
        reasons = dict.fromkeys(reason for _, reason in files)
        listed = (f"{_listed([label for label, why in files if why == reason])}: {reason}" for reason in reasons)
        super().__init__(f"{model} can't be shown {'; '.join(listed)}")
        self.model, self.files = model, tuple(files)


class Busy(ShowAndTellError):
    """Another run is going on in this conversation; it can be tried again when that ends."""


class StorageFailed(ShowAndTellError):
    """What was to be stored is not: the text names the store, and says what to do."""


class StorageFull(StorageFailed):
    """No space is left."""


class LeaseLost(StorageFailed):
    """This run was held up for so long that another process has taken the conversation over."""


class FileChanged(ShowAndTellError):
    """A stored file is no longer what it was when it was proved."""


class CannotRender(ShowAndTellError):
    """A renderer met what its api can't carry."""


class ToolError(ShowAndTellError):
    """Raise it in a tool to tell the model what went wrong, in your own words."""


class ProviderError(ShowAndTellError):
    """The provider refused a request. `status` is HTTP's (0 where there was none), `text` the provider's own words.

    `path` is the place in the request that it means, and `retry_after` the seconds to wait, where it says so.
    """

    def __init__(
        self, text: str, status: int = 0, *, path: str | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(f"{status} {text}" if status else text)
        self.text, self.status, self.path, self.retry_after = text, status, path, retry_after


class ProviderUnavailable(ProviderError):
    """Nobody answers for this model."""


class RejectedFiles(ProviderError):
    """The provider refused a request for its files. `files` holds (label, name) of those that it meant."""

    def __init__(self, error: ProviderError, files: Sequence[tuple[str, str]]) -> None:
        named = _listed([f"{label} ({name})" for label, name in files])
        super().__init__(f"{error.text} (files: {named})", error.status, path=error.path)
        self.files = tuple(files)


class BadAnswer(ProviderError):
    """The provider's stream is not what its api promises."""


#: So many files of one reason are named in full; of more, numbers tell more than names.
FEW = 5


def _listed(labels: Sequence[str]) -> str:
    """Labels of one reason; many are shortened to their numbers, and numbers in a row to the first and the last."""
    return ", ".join(labels if len(labels) <= FEW else _runs(label.partition(" (")[0] for label in labels))


def _runs(labels: Iterable[str]) -> Iterable[str]:
    runs: list[list[tuple[str, int]]] = []
    for label in labels:
        kind, _, number = label.rpartition(" ")
        here = (kind, int(number) if number.isdecimal() else 0)
        if runs and runs[-1][-1] == (kind, here[1] - 1):
            runs[-1].append(here)
        else:
            runs.append([here])
    for run in runs:
        (kind, first), (_, last) = run[0], run[-1]
        yield f"{kind} {first}" if first == last else f"{kind} {first} … {kind} {last}"
