"""The exceptions of this library.

Each is a kind of the one above it::

    ShowAndTellError
    ├── BadInput                an invalid argument, setting or file
    │   ├── UnknownModel        unknown provider, or a model not written as provider:model
    │   ├── MissingKey          no key for the provider in settings or environment
    │   ├── BadConversation     an invalid conversation file or history
    │   ├── NotFound            no such conversation, message or file, or it has another owner
    │   ├── BadValue            a value without a JSON form (NaN, bytes of unknown type)
    │   └── BadFile             a file that is empty, damaged, too large, of another type, or outside its folder
    │       ├── QuotaExceeded   the files of a conversation or an owner would exceed their quota
    │       └── DecoderBusy     the decoders are busy, or the user has used them for too long; try again later
    ├── UnsupportedFile         the model can't be shown these files; nothing was sent
    ├── NoOutput                a run that isn't complete has no output
    ├── Busy                    another run is active in this conversation
    ├── TooBusy                 the user has too much in progress at once; try again later
    ├── StorageFailed           the database or blob store failed; the operation in progress was not stored
    │   ├── StorageFull         no space left
    │   └── LeaseLost           another process has taken over this conversation
    ├── FileChanged             a stored file is missing or has changed since it was planned
    ├── CannotRender            an API can't express a part of the request: a bug in this library, not in the input
    ├── ToolError               raised by a tool to send its text to the model
    └── ProviderError           the provider returned an error: its status and message
        ├── ProviderUnavailable the provider can't be reached, is busy or fails, even after retries
        ├── ContextFull         the conversation is longer than the model's context window
        ├── RejectedFiles       the provider rejected files, also after a retry without them
        └── BadAnswer           the response does not follow the API's format
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class ShowAndTellError(Exception):
    """Base class of all errors that this library raises."""


class BadInput(ShowAndTellError, ValueError):
    """An argument, setting or file is invalid. The message names it and says what to change.

    >>> from showandtell import Agent, BadInput, ModelSettings
    >>> try:
    ...     Agent("inspector", model_settings=ModelSettings(temperature=float("nan")))
    ... except BadInput as error:
    ...     print(error)
    temperature is nan: give a number, or None
    """


class UsageError(Exception):
    """Invalid usage of a command, described in one line. Only the command line raises it."""


class UnknownModel(BadInput):
    """The provider is unknown, or the model is not written as provider:model. The message lists the providers.

    >>> from showandtell import UnknownModel, resolve
    >>> try:
    ...     resolve("inspektor")
    ... except UnknownModel as error:
    ...     print("Did you mean inspector?" in str(error))
    True
    """


class MissingKey(BadInput):
    """A provider's API key or another required setting is missing. The message names the variable to set."""


class BadConversation(BadInput):
    """A conversation file or history is invalid, or can't be read. The message names the file or the message.

    >>> from showandtell import BadConversation, load
    >>> try:
    ...     load("missing.json")
    ... except BadConversation as error:
    ...     print(error)
    missing.json can't be read: No such file or directory
    """


class NotFound(BadInput):
    """The conversation, message or file doesn't exist, or has another owner. The message is the same in both cases.

    >>> import asyncio
    >>> from tempfile import TemporaryDirectory
    >>> from showandtell import NotFound, Store
    >>> async def open_conversation(folder: str) -> None:
    ...     async with Store.at(folder) as store:
    ...         try:
    ...             await store.open("conv_missing", "anna")
    ...         except NotFound:
    ...             print("not found")
    >>> with TemporaryDirectory() as folder:
    ...     asyncio.run(open_conversation(folder))
    not found
    """


class BadValue(BadInput):
    """A Python value has no JSON form, so no model can read it. The message starts with a JSON pointer to the value.

    In a tool's return value it becomes an error result of that call, and the run continues.

    >>> from showandtell import BadValue, ToolResult
    >>> try:
    ...     ToolResult({"price": float("nan")})
    ... except BadValue as error:
    ...     print(error)
    /price: nan has no JSON; return None or a string instead
    """


class BadFile(BadInput):
    """A file can't be used. `name` is its name, `problem` is what is wrong, and `advice` is what to do about it.

    `passing` is true for a temporary problem: the same file may be usable later.

    >>> from showandtell import BadFile
    >>> error = BadFile("plan.png", "is empty (0 bytes)", "check that it was written")
    >>> str(error)
    'plan.png is empty (0 bytes): check that it was written'
    >>> error.name, error.passing
    ('plan.png', False)
    """

    def __init__(self, name: str, problem: str, advice: str, *, passing: bool = False) -> None:
        super().__init__(f"{name} {problem}: {advice}")
        self.name, self.problem, self.advice, self.passing = name, problem, advice, passing


class QuotaExceeded(BadFile):
    """A file exceeds the quota of its conversation or owner. Delete files that are no longer needed, then try again.

    `status` is the HTTP status of the server's response.
    """

    status = 507


class DecoderBusy(BadFile):
    """The file was not decoded: too many others are before it, or its user has used the decoders for too long.

    Try again after `retry_after` seconds. `status` is the HTTP status of the server's response.
    """

    status = 429

    def __init__(self, name: str, problem: str, advice: str, *, retry_after: int) -> None:
        super().__init__(name, problem, advice, passing=True)
        self.retry_after = retry_after


class UnsupportedFile(ShowAndTellError):
    """The model can't be shown files of the newest user message. It is raised before anything is sent.

    `files` has a pair (label, reason) for each file. Use another model, or remove or replace the files.

    >>> from showandtell import Agent, File, UnsupportedFile
    >>> try:
    ...     Agent("inspector").run_sync("What is it?", files=[File.from_bytes(b"", name="plan.png")])
    ... except UnsupportedFile as error:
    ...     [(label, reason)] = error.files
    >>> label, reason.partition(":")[0]
    ('file 1 (plan.png)', 'is empty (0 bytes)')
    """

    def __init__(self, model: str, files: Sequence[tuple[str, str]]) -> None:
        reasons = dict.fromkeys(reason for _, reason in files)
        listed = (
            f"{_join_labels([label for label, file_reason in files if file_reason == reason])}: {reason}"
            for reason in reasons
        )
        super().__init__(f"{model} can't be shown {'; '.join(listed)}")
        self.model, self.files = model, tuple(files)


class NoOutput(ShowAndTellError):
    """The run isn't complete, so it has no output. The message says how it ended.

    >>> from showandtell import Agent
    >>> from showandtell.errors import NoOutput
    >>> run = Agent("inspector", output_type=int).run_sync('/answer {"value": "many"}')
    >>> try:
    ...     run.output
    ... except NoOutput as error:
    ...     print(error)
    no output: the run ended with incomplete (output): value: Input should be a valid integer
    """


class Busy(ShowAndTellError):
    """The conversation is in use, mostly by another active run. Try again when that run has ended."""


class TooBusy(ShowAndTellError):
    """A user has too many runs, uploads or conversions at once. Nothing was stored.

    Try again after `retry_after` seconds. `status` is the HTTP status of the server's response.
    """

    status = 429

    def __init__(self, text: str, *, retry_after: int) -> None:
        super().__init__(text)
        self.retry_after = retry_after


class StorageFailed(ShowAndTellError):
    """The database or the blob store failed, so the operation in progress was not stored.

    The message names the store and says what to do. With `may_be_stored`, the failure came so late that the operation
    may be stored nevertheless.
    """

    may_be_stored = False


class StorageFull(StorageFailed):
    """The database or the blob store has no space left. Free some space and try again."""


class LeaseLost(StorageFailed):
    """The run was stalled for too long, so another process has taken over its conversation."""


class FileChanged(ShowAndTellError):
    """A stored file is missing, or its bytes have changed since they were stored."""


class CannotRender(ShowAndTellError):
    """The API can't express a part of a request. This is a bug in this library, or in the package that has the API."""


class ToolError(ShowAndTellError):
    """Raise it in a tool to report a failure. The model receives the text as the call's error result.

    >>> from showandtell import Agent, ToolError
    >>> def weather(city: str) -> str:
    ...     '''Get the weather of a city.'''
    ...     raise ToolError(f"there is no weather station in {city}")
    >>> run = Agent("inspector", [weather]).run_sync("/weather Oslo")
    >>> "there is no weather station in Oslo" in run.text
    True
    """


class ProviderError(ShowAndTellError):
    """The provider returned an error. A run does not raise it: its status is "error", and `run.error` has the error.

    `text` is the provider's message, and `status` the HTTP status, or 0 if there was none. `path` is the place in the
    request that the error refers to, `retry_after` the seconds to wait, and `should_retry` whether the provider wants
    the request again; each is None if the provider doesn't say so.

    >>> from showandtell import ProviderError
    >>> error = ProviderError("rate limit reached", 429, retry_after=20.0)
    >>> str(error), error.status, error.retry_after
    ('429 rate limit reached', 429, 20.0)
    """

    def __init__(
        self,
        text: str,
        status: int = 0,
        *,
        path: str | None = None,
        retry_after: float | None = None,
        should_retry: bool | None = None,
    ) -> None:
        super().__init__(f"{status} {text}" if status else text)
        self.text, self.status, self.path = text, status, path
        self.retry_after, self.should_retry = retry_after, should_retry


class ProviderUnavailable(ProviderError):
    """The provider can't be reached, is busy or fails, even after retries. Try again later."""


class RejectedFiles(ProviderError):
    """The provider rejected a request because of its files. `files` has a pair (label, name) for each of them."""

    def __init__(self, error: ProviderError, files: Sequence[tuple[str, str]]) -> None:
        named = _join_labels([f"{label} ({name})" for label, name in files])
        super().__init__(f"{error.text} (files: {named})", error.status, path=error.path)
        self.files = tuple(files)


class ContextFull(ProviderError):
    """The conversation is longer than the model's context window. The message says what to do about it.

    `RunLimits(on_full="drop_oldest")` leaves the oldest messages out instead.
    """


class BadAnswer(ProviderError):
    """The provider's response does not follow its API's format: it can't be decoded, or it exceeds a limit."""


#: Maximum number of files with one reason that are listed by name. Longer lists use numbers.
MAX_NAMED = 5


def _join_labels(labels: Sequence[str]) -> str:
    """Join the labels of one reason. Long lists have no file names, and merge consecutive numbers to ranges."""
    return ", ".join(labels if len(labels) <= MAX_NAMED else _merge_runs(label.partition(" (")[0] for label in labels))


def _merge_runs(labels: Iterable[str]) -> Iterable[str]:
    runs: list[list[tuple[str, int]]] = []
    for label in labels:
        kind, _, number = label.rpartition(" ")
        item = (kind, int(number) if number.isdecimal() else 0)
        if runs and runs[-1][-1] == (kind, item[1] - 1):
            runs[-1].append(item)
        else:
            runs.append([item])
    for run in runs:
        (kind, first), (_, last) = run[0], run[-1]
        yield f"{kind} {first}" if first == last else f"{kind} {first} … {kind} {last}"


def public_message(error: BaseException) -> str:
    """The text of one of our own errors; only the class of any other, since its text may hold private data."""
    return str(error) if isinstance(error, ShowAndTellError) else type(error).__name__
