"""Rules of generateContent across parts and contents: roles, order, pairing, signatures, media; with its messages.

The messages are from public reports of the API's 400s, except those marked (ours), which are made up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct

from showandtell.inspector.gemini import schema as wire
from showandtell.inspector.request import ApiError, matches_type

TOOL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
VERSION = re.compile(r"gemini-(\d+)")
IMAGES = ("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif")
IN_RESULT = frozenset({"image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"})
FTYP = b".{4}ftyp"
#: The first bytes of types that the other APIs don't accept. Types in neither table are text.
MAGIC: dict[str, re.Pattern[bytes]] = {
    media_type: re.compile(magic, re.DOTALL)
    for media_type, magic in {
        "image/heic": FTYP + b"(hei[cmsx]|hev|mif1|msf1)",
        "image/heif": FTYP + b"(hei[cmsx]|hev|mif1|msf1)",
        "audio/x-wav": b"RIFF.{4}WAVE",
        "audio/mp3": b"ID3|\xff[\xe2-\xff]",
        "audio/aiff": b"FORM.{4}AIF[FC]",
        "audio/aac": b"\xff[\xf0-\xf9]|ADIF|" + FTYP,
        "audio/ogg": b"OggS",
        "audio/flac": b"fLaC",
        "audio/m4a": FTYP,
        "audio/mp4": FTYP,
        "video/mp4": FTYP,
        "video/quicktime": b".{4}(ftypqt|moov|mdat|wide|free)",
        "video/mov": b".{4}(ftypqt|moov|mdat|wide|free)",
        "video/3gpp": FTYP + b"3g",
        "video/webm": b"\x1a\x45\xdf\xa3",
        "audio/webm": b"\x1a\x45\xdf\xa3",
        "video/mpeg": b"\0\0\1[\xb0-\xbf]",
        "video/mpg": b"\0\0\1[\xb0-\xbf]",
        "video/x-msvideo": b"RIFF.{4}AVI ",
        "video/avi": b"RIFF.{4}AVI ",
        "video/x-flv": b"FLV",
        "video/x-ms-wmv": b"\x30\x26\xb2\x75",
        "video/wmv": b"\x30\x26\xb2\x75",
    }.items()
}
IN_USER = frozenset({*IMAGES, "application/pdf", "audio/wav", "audio/mpeg", *MAGIC})
#: Bytes of an inline image (Google Cloud docs, image understanding).
MAX_VERTEX_IMAGE = 7_000_000

UNEQUAL = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn."
)
CALL_PLACE = (
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
)
RESULT_PLACE = "Please ensure that function response turn comes immediately after a function call turn."
UNPAIRED = "Please ensure that function responses have the names and ids of the function calls they answer."  # ours
MIXED = (  # ours
    "Please ensure that a content with function responses holds no other parts: beside them they count as the model's."
)
BAD_IMAGE = (
    "Unable to process input image. Please retry or report in "
    "https://developers.generativeai.google/guide/troubleshooting"
)
BAD_NAME = (
    "Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), "
    "underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64."
)
GENERIC = "Request contains an invalid argument."


class Target(Struct, frozen=True):
    """Host and model of a request. Many rules depend on them."""

    host: wire.Host
    model: str

    @property
    def newer(self) -> bool:
        """Gemini 3 and later. A name without a version counts as new."""
        version = VERSION.match(self.model)
        return int(version[1]) >= 3 if version else not self.model.startswith("gemma")

    @property
    def result_types(self) -> frozenset[str]:
        """Media types that `function_response.parts` accepts."""
        if "computer-use" in self.model and not self.newer:
            return frozenset({"image/png"})
        return IN_RESULT if self.newer else frozenset()


def check_body(body: wire.Body, target: Target) -> None:
    """Raise `ApiError` for the first rule that a well-typed body breaks."""
    if not body.contents:
        raise _error_at("contents", "contents is not specified")
    _check_tools(body)
    _check_config(body, target)
    for at, content in enumerate(body.contents):
        _check_content(content, f"contents[{at}]", target)
    _check_ends(body.contents)
    _check_pairs(body.contents)
    _check_signatures(body.contents, target)


def pair_results(calls: Sequence[wire.FunctionCall], results: Sequence[wire.FunctionResponse]) -> list[int] | None:
    """The index of the call for each result, by name, and by id if both have one. None if a result has no call."""
    unanswered = list(range(len(calls)))
    indexes: list[int] = []
    for result in results:
        at = next((at for at in unanswered if _answers(result, calls[at])), None)
        if at is None:
            return None
        unanswered.remove(at)
        indexes.append(at)
    return indexes


def base_type(media_type: str) -> str:
    """A media type without its parameters."""
    return media_type.partition(";")[0].strip().lower()


def _answers(result: wire.FunctionResponse, call: wire.FunctionCall) -> bool:
    return result.name == call.name and (not result.id or not call.id or result.id == call.id)


def _error_at(place: str, problem: str) -> ApiError:
    return ApiError(f"* GenerateContentRequest.{place}: {problem}\n")


def _check_tools(body: wire.Body) -> None:
    names: list[str] = []
    for at, tool in enumerate(body.tools):
        for index, declared in enumerate(tool.function_declarations):
            place = f"tools[{at}].function_declarations[{index}]"
            if not TOOL_NAME.fullmatch(declared.name):
                raise _error_at(f"{place}.name", BAD_NAME)
            if declared.name in names:
                raise ApiError(f"Duplicate function declaration found: {declared.name}")
            _check_schema(declared, place)
            names.append(declared.name)
    chosen = body.tool_config.function_calling_config
    if chosen.allowed_function_names and chosen.mode not in {"ANY", "VALIDATED"}:
        raise ApiError("Please set allowed_function_names only when function calling mode is ANY.")  # ours
    unknown = [name for name in chosen.allowed_function_names if name not in names]
    if unknown or (chosen.mode == "ANY" and not names):
        raise ApiError(f"Function calling config names functions that are not declared: {', '.join(unknown)}")  # ours


def _check_schema(declared: wire.FunctionDeclaration, place: str) -> None:
    """Only one schema, of an object. The messages are ours."""
    schema = declared.parameters
    if schema is not None and declared.parameters_json_schema is not None:
        raise _error_at(
            f"{place}.parameters_json_schema", "only one of parameters and parameters_json_schema may be set"
        )
    if schema is not None and schema.type != "OBJECT":
        raise _error_at(f"{place}.parameters", "schema at top-level must be of type OBJECT")
    kind: Any = declared.parameters_json_schema
    if kind is not None and (not isinstance(kind, dict) or cast("dict[str, Any]", kind).get("type") != "object"):
        raise _error_at(f"{place}.parameters_json_schema", "schema at top-level must be of type object")


def _check_config(body: wire.Body, target: Target) -> None:
    """Values and combinations of settings. The messages about ranges and two schemas are ours."""
    config = body.generation_config
    thinking = config.thinking_config
    if config.temperature is not None and not 0 <= config.temperature <= 2:
        raise _error_at("generation_config.temperature", "temperature must be in the range [0.0, 2.0].")
    if config.top_p is not None and not 0 <= config.top_p <= 1:
        raise _error_at("generation_config.top_p", "top_p must be in the range [0.0, 1.0].")
    if config.max_output_tokens is not None and config.max_output_tokens < 1:
        raise _error_at("generation_config.max_output_tokens", "max_output_tokens must be positive.")
    if config.candidate_count not in {None, 1}:
        raise ApiError("Multiple candidates is not enabled for this model")
    if config.response_schema is not None and config.response_json_schema is not None:
        raise _error_at("generation_config.response_json_schema", "only one response schema may be set")
    if config.response_mime_type == "application/json" and body.tools and not target.newer:
        raise ApiError("Function calling with a response mime type: 'application/json' is unsupported")
    if config.response_json_schema is not None and config.response_mime_type != "application/json":
        raise _error_at("generation_config.response_json_schema", "response_mime_type must be application/json")  # ours
    if "IMAGE" in config.response_modalities and "image" not in target.model:
        raise ApiError("Model does not support the requested response modalities: image")
    if thinking is not None and thinking.thinking_level and thinking.thinking_budget is not None:
        raise ApiError("You can only set only one of thinking budget and thinking level.")
    if thinking is not None and thinking.thinking_level and not target.newer:
        raise ApiError("Thinking level is not supported for this model.")


def _check_content(content: wire.Content, path: str, target: Target) -> None:
    # In the Gemini API a missing role means user, in Vertex it is an error.
    if content.role not in {"user", "model"} and (content.role or target.host == "vertex"):
        raise ApiError("Please use a valid role: user, model.")
    if not content.parts:
        raise _error_at(f"{path}.parts", "contents.parts must not be empty.")
    results = [part for part in content.parts if part.function_response is not None]
    if results and len(results) < len(content.parts):
        # The API accepts such a content, but treats it as output of the model, which no client wants.
        raise ApiError(MIXED)
    for at, part in enumerate(content.parts):
        _check_part(part, f"{path}.parts[{at}]", content.role, target)


def _check_part(part: wire.Part, path: str, role: str, target: Target) -> None:
    signed = part.thought_signature is not None
    if all(getattr(part, field) is None for field in wire.DATA) or (part.text == "" and not signed):
        # The API itself streams a signature in an empty text.
        raise _error_at(f"{path}.data", "required oneof field 'data' must have one initialized field")
    if part.function_call is not None and role != "model":
        raise _error_at(f"{path}.function_call", "function calls are only allowed in contents of role model")  # ours
    if part.function_response is not None:
        if role == "model":
            problem = "function responses are not allowed in contents of role model"  # ours
            raise _error_at(f"{path}.function_response", problem)
        _check_result(part.function_response, f"{path}.function_response", target)
    if part.inline_data is not None:
        _check_blob(part.inline_data, f"{path}.inline_data", target, in_user=True)
    if part.file_data is not None:
        _check_reference(part.file_data, f"{path}.file_data", target)


def _check_result(result: wire.FunctionResponse, path: str, target: Target) -> None:
    if not result.name:
        raise _error_at(f"{path}.name", "Name cannot be empty.")  # ours
    if result.response is None:
        raise _error_at(f"{path}.response", "response must be set")  # ours
    if result.parts and not target.result_types:
        raise ApiError("function_response.parts is not supported for this model.")
    names = {file.display_name for part in result.parts if (file := part.inline_data or part.file_data)}
    for name in _references(result.response):
        if not isinstance(name, str) or name not in names:
            raise _error_at(f"{path}.response", f"$ref {_quoted(name)} names none of the parts")  # ours
    for at, part in enumerate(result.parts):
        place = f"{path}.parts[{at}]"
        if (part.inline_data is None) == (part.file_data is None):
            raise _error_at(f"{place}.data", "required oneof field 'data' must have one initialized field")
        if part.inline_data is not None:
            _check_blob(part.inline_data, f"{place}.inline_data", target, in_user=False)
        elif part.file_data is not None:
            _check_reference(part.file_data, f"{place}.file_data", target)


def _references(value: Any) -> Iterator[Any]:
    """The values of all `$ref` in a response, at any depth."""
    match value:
        case dict():
            for key, item in cast("dict[str, Any]", value).items():
                if key == "$ref":
                    yield item
                yield from _references(item)
        case list():
            for item in cast("list[Any]", value):
                yield from _references(item)
        case _:
            return


def _quoted(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _check_blob(blob: wire.Blob, path: str, target: Target, *, in_user: bool) -> None:
    media_type = base_type(blob.mime_type)
    allowed = media_type in IN_USER or media_type.startswith("text/") if in_user else media_type in target.result_types
    if not allowed:
        raise ApiError(f"Unsupported MIME type: {blob.mime_type}")
    if not blob.data:
        raise _error_at(f"{path}.data", "data must not be empty")  # ours
    if not _matches(blob.data, media_type):
        raise ApiError(_invalid_media(media_type))
    if target.host == "vertex" and media_type in IMAGES and len(blob.data) > MAX_VERTEX_IMAGE:
        raise _error_at(
            f"{path}.data", f"image of {len(blob.data)} bytes exceeds the limit of {MAX_VERTEX_IMAGE} bytes"
        )  # ours


def _matches(data: bytes, media_type: str) -> bool:
    if not media_type.startswith("text/"):
        magic = MAGIC.get(media_type)
        return magic.match(data) is not None if magic else matches_type(data, media_type)
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def _invalid_media(media_type: str) -> str:
    if media_type.startswith("image/"):
        return BAD_IMAGE
    return "The document has no pages." if media_type == "application/pdf" else GENERIC


def _check_reference(file: wire.FileData, path: str, target: Target) -> None:
    """Check the URL only: references are never fetched. The messages are ours."""
    schemes = ("https://", "gs://") if target.host == "vertex" else ("https://",)
    if not file.file_uri.startswith(schemes):
        raise ApiError(f"Invalid or unsupported file uri: {file.file_uri}")
    if target.host == "vertex" and not file.mime_type:
        raise _error_at(f"{path}.mime_type", "mime_type must be set")


def _check_ends(contents: Sequence[wire.Content]) -> None:
    """A conversation starts and ends with the user. The messages are ours."""
    if contents[0].role == "model":
        raise ApiError("Please ensure that the first content has the role user.")
    if contents[-1].role == "model" and not _calls(contents[-1]):
        raise ApiError("Please ensure that multiturn requests end with a user turn or a function response turn.")


def _calls(content: wire.Content) -> list[wire.FunctionCall]:
    return [part.function_call for part in content.parts if part.function_call is not None]


def _results(content: wire.Content) -> list[wire.FunctionResponse]:
    return [part.function_response for part in content.parts if part.function_response is not None]


def _check_pairs(contents: Sequence[wire.Content]) -> None:
    waiting: list[wire.FunctionCall] = []
    for at, content in enumerate(contents):
        calls, results = _calls(content), _results(content)
        if len(results) != len(waiting):
            raise ApiError(UNEQUAL if waiting else RESULT_PLACE)
        if pair_results(waiting, results) is None:
            raise ApiError(UNPAIRED)
        if calls and contents[at - 1].role == "model":
            raise ApiError(CALL_PLACE)
        if any(not call.name for call in calls):
            raise _error_at(f"contents[{at}].parts", "function_call.name: Name cannot be empty.")  # ours
        waiting = calls
    if waiting:
        raise ApiError(UNEQUAL)


def _check_signatures(contents: Sequence[wire.Content], target: Target) -> None:
    for part in (part for content in contents for part in content.parts if part.thought_signature):
        signer = signed_by(part.thought_signature or b"")
        if signer not in {None, target.host}:
            raise ApiError(_invalid_signature(target.host))
    for at in range(_start_of_run(contents) if target.newer else len(contents), len(contents)):
        call_parts = [part for part in contents[at].parts if part.function_call is not None]
        if call_parts and call_parts[0].thought_signature is None:
            name = call_parts[0].function_call.name if call_parts[0].function_call else ""
            raise ApiError(_missing_signature(target.host, name, at + 1))


def _start_of_run(contents: Sequence[wire.Content]) -> int:
    """The last user message. Files and text right after results belong to the current run."""
    starts = [
        at
        for at, content in enumerate(contents)
        if content.role != "model" and not _results(content) and (at == 0 or not _results(contents[at - 1]))
    ]
    return starts[-1]


def sign(host: wire.Host, seed: str) -> bytes:
    """A thought signature of the host, determined by the seed."""
    return f"inspector {host} {seed}".encode()


def signed_by(signature: bytes) -> str | None:
    """The host of a signature from `sign`. None for any other signature."""
    fields = signature.split(b" ")
    return fields[1].decode(errors="replace") if fields[0] == b"inspector" and len(fields) > 2 else None


def _invalid_signature(host: wire.Host) -> str:
    if host == "google":
        return "Corrupted thought signature."
    docs = "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini"
    return f"Unable to submit request because Thought signature is not valid.. Learn more: {docs}"


def _missing_signature(host: wire.Host, name: str, position: int) -> str:
    if host == "vertex":
        place = f"function call `{name}` in the {position}. content block"
        return f"Unable to submit request because {place} is missing a `thought_signature`."
    return (
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to work "
        "correctly, and missing thought_signature may lead to degraded model performance. Additional data, function "
        f"call `default_api:{name}` , position {position}. Please refer to "
        "https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
    )
