"""Rules of images, sounds, documents and videos in parts of POST /v1/chat/completions, with OpenAI's error messages."""

from __future__ import annotations

import re

from msgspec import UNSET

from showandtell.inspector.openai_chat import schema as wire
from showandtell.inspector.request import ApiError, decode_base64, matches_type

DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,", re.ASCII)
IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
NO_IMAGE = (
    "You uploaded an unsupported image. Please make sure your image has of one the following formats: "
    "['png', 'jpeg', 'gif', 'webp']."
)
BAD_IMAGE = (
    "The image data you provided does not represent a valid image. Please check your input and try again with one of "
    "the following image formats: ['image/jpeg', 'image/png', 'image/gif', 'image/webp']."
)
NO_PDF = (
    "Expected a base64-encoded data URL with an application/pdf MIME type "
    "(e.g. 'data:application/pdf;base64,aW1nIGJ5dGVzIGhlcmU=')"
)


def check_image(url: str, place: str) -> None:
    """Check an image: an http(s) URL, or a data URL of one of four types with matching bytes."""
    parsed = read_data_url(url)
    if parsed is None:
        if not url.startswith(("https://", "http://")):
            message = f"Invalid '{place}'. Expected a valid URL, but got a value with an invalid format."
            raise ApiError(message, parameter=place, code="invalid_value")
        return
    media_type, data = parsed
    if media_type not in IMAGE_TYPES:
        raise ApiError(NO_IMAGE, code="invalid_image_format")
    if data is None:
        raise ApiError("Invalid base64 image_url.", parameter=place, code="invalid_base64")
    if not matches_type(data, media_type):
        raise ApiError(BAD_IMAGE, parameter=place, code="invalid_value")


def read_data_url(url: str) -> tuple[str, bytes | None] | None:
    """Media type and bytes of a data URL. The bytes are None for invalid base64; the result is None for other URLs."""
    if not url.startswith("data:"):
        return None
    head = DATA_URL.match(url)
    return (head[1], decode_base64(url[head.end() :])) if head else ("", None)


def check_audio(audio: wire.AudioData | str, place: str, message: str, accepts_audio: bool) -> None:
    """Check base64 audio in one of two formats, or the audio as a string that some hosts accept."""
    if not accepts_audio:
        problem = "Content blocks are expected to be either text or image_url type."
        raise ApiError(f"Invalid '{message}'. {problem}", parameter=message, code="invalid_value")
    if isinstance(audio, str):
        form, text, place = "audio", audio, place.removesuffix(".data")
        if text.startswith("https://"):
            return
    else:
        form, text, place = audio.format, audio.data, f"{place}.data"
    if audio_type(text, form) is None:
        message = f"The data provided for 'input_audio' is not of valid {form} format."
        raise ApiError(f"Invalid value: '{place}'. {message}", parameter=place, code="invalid_value")


def audio_type(text: str, form: str = "audio") -> str | None:
    """The media type of base64 audio; None if it is not audio in that format."""
    data = decode_base64(text)
    types = {"wav": ("audio/wav",), "mp3": ("audio/mpeg",)}.get(form, ("audio/wav", "audio/mpeg"))
    return next((kind for kind in types if data is not None and matches_type(data, kind)), None)


def check_file(file: wire.FileData, place: str, *, is_linked: bool) -> None:
    """Check that a file has either an id or data, and that the data is a PDF."""
    if (file.file_data is UNSET) == (file.file_id is UNSET):
        message = f"Missing required parameter: '{place}.file_id'."
        raise ApiError(message, parameter=f"{place}.file_id", code="missing_required_parameter")
    if file.file_data is not UNSET:
        check_document(file.file_data, f"{place}.file_data", is_linked=is_linked)


def check_document(url: str, place: str, *, is_linked: bool) -> None:
    """Check that a data URL holds a PDF. `is_linked`: an https URL is accepted too."""
    parsed = read_data_url(url)
    if parsed is None:
        if is_linked and url.startswith("https://"):
            return
        problem = f"{NO_PDF}, but got a value without the 'data:' prefix."
    elif parsed[0] != "application/pdf":
        problem = f"{NO_PDF}, but got unsupported MIME type '{parsed[0]}'."
    elif parsed[1] is None or not matches_type(parsed[1], "application/pdf"):
        problem = f"{NO_PDF}, but got data that is not a PDF."
    else:
        return
    raise ApiError(f"Invalid file data: '{place}'. {problem}", parameter=place, code="invalid_value")


def check_video(url: str, place: str) -> None:
    """Check that a video is an https URL or a data URL of a video."""
    media_type, data = read_data_url(url) or ("video/*" if url.startswith("https://") else "", b"")
    if not media_type.startswith("video/") or data is None:
        message = f"Invalid '{place}'. Expected a video by URL or base64 data URL."
        raise ApiError(message, parameter=place, code="invalid_value")
