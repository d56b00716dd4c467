"""What a run's answer has to be: a Python type or a JSON schema, how the model is held to it, and the check of it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import msgspec
from typing_extensions import TypedDict

from showandtell.agent.decide import AskModel, tool_choice_of
from showandtell.agent.execute import format_errors
from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.file import File
from showandtell.core.wire.answer_schema import VALUE, object_root, restrict, wrap
from showandtell.core.wire.extra_body import read_extra_body
from showandtell.core.wire.options import Options, ToolSpec, encode_object
from showandtell.errors import BadInput

#: The name of the tool that the model answers by, unless one of the user's has it.
TOOL_NAME = "final_answer"
TOOL_DESCRIPTION = "Give the final answer. Call this once you have everything you need: other text isn't the answer."
#: Maximum length of the text about an invalid answer.
MAX_WORDS = 2000
FENCED = re.compile(r"```[a-zA-Z]*\n(.*?)```", re.DOTALL)
#: The provider's own fields that exclude a forced tool choice: Claude's extended thinking, or a choice of their own.
UNFORCED = frozenset({"thinking", "reasoning_config", "tool_choice", "toolChoice", "toolConfig", "tool_config"})

ReadFile = Callable[[int], File]


class InvalidAnswer(Exception):
    """An answer that isn't of the output type. Its text is for the model."""


@dataclass(frozen=True)
class OutputType:
    """An output type. `schema` has an object as its root: a type without one is in its field "value" (`is_wrapped`).

    `adapter` is pydantic's `TypeAdapter`; None for a JSON schema, against which an answer isn't checked.
    """

    schema: Mapping[str, Any]
    is_wrapped: bool = False
    adapter: Any = None

    def read(self, text: str, read_file: ReadFile) -> Any:
        """The answer as a value. `read_file` returns the file with a number. Raises `InvalidAnswer`."""
        answer, value = find_json(text)
        if not isinstance(value, dict):
            raise InvalidAnswer("the answer must be a JSON object")
        if self.is_wrapped and VALUE not in value:
            raise InvalidAnswer(f"{VALUE}: Field required")
        found: Any = cast("Any", value) if self.adapter is None else self._validate(answer, read_file)
        return found[VALUE] if self.is_wrapped else found

    def _validate(self, answer: str, read_file: ReadFile) -> Any:
        from pydantic import ValidationError  # noqa: PLC0415 - late, as in `read_output_type`

        try:
            return self.adapter.validate_json(answer, context={"file": read_file})
        except ValidationError as error:
            raise InvalidAnswer(format_errors(error, "answer")[:MAX_WORDS]) from error
        except BadInput as error:  # an unknown file
            raise InvalidAnswer(str(error)[:MAX_WORDS]) from error

    def partial(self, text: str) -> Any:
        """The value of an answer that isn't complete yet, without validation. None if there is none so far."""
        from pydantic_core import from_json  # noqa: PLC0415

        try:
            value = from_json(text, allow_partial="trailing-strings")
        except ValueError:
            return None
        return cast("dict[str, Any]", value).get(VALUE) if self.is_wrapped and isinstance(value, dict) else value


@dataclass(frozen=True)
class AnswerForm:
    """How a model is held to an output type: by its API's own form, or by `tool`.

    `has_tools` tells whether it has tools besides. `is_forced` tells whether `tool_choice` can name the tool.
    """

    type: OutputType
    tool: str | None = None
    has_tools: bool = False
    is_forced: bool = False

    def tool_choice(self, setting: str, ask: AskModel) -> str:
        """The tool choice of a step by the user's setting. The tool is forced only if no other may be called."""
        if self.tool is not None and (ask.forbid_tools or setting == "none" or not self.has_tools):
            return self.tool if self.is_forced else "auto"
        return tool_choice_of(setting, ask)


def choose_form(options: Options, output: OutputType | None, target: Target) -> tuple[Options, AnswerForm | None]:
    """The options of requests for an answer of this type, and its form.

    The API's own form is used if the model is known to have it, the schema can be written for it, and no tool stands
    in its way.
    """
    if output is None:
        return options, None
    format_, has_tools = target.answer_format, bool(options.tools)
    is_native = format_.native == "always" or (format_.native == "without_tools" and not has_tools)
    if is_native and (schema := restrict(output.schema, format_)) is not None:
        return msgspec.structs.replace(options, schema=encode_object("output_type", schema)), AnswerForm(output)
    taken = {tool.name for tool in options.tools}
    name = next(name for name in candidates() if name not in taken)
    description = output.schema.get("description")
    words = f"{TOOL_DESCRIPTION}\n\n{description}" if isinstance(description, str) else TOOL_DESCRIPTION
    tool = ToolSpec(name, words, encode_object("output_type", output.schema))
    is_forced = format_.forces_tools and not UNFORCED & read_extra_body(options).keys()
    form = AnswerForm(output, name, has_tools=has_tools, is_forced=is_forced)
    return msgspec.structs.replace(options, tools=(*options.tools, tool)), form


def candidates() -> Iterator[str]:
    """Names for the answer's tool."""
    yield TOOL_NAME
    number = 1
    while True:
        number += 1
        yield f"{TOOL_NAME}_{number}"


def read_output_type(output_type: object) -> OutputType | None:
    """The type of an answer; None for free text. Raises `BadInput` if no JSON schema can be made of it."""
    if output_type is None or output_type is str:
        return None
    if isinstance(output_type, Mapping):
        schema = cast("Mapping[str, Any]", output_type)
        encode_object("output_type", schema)
        root = object_root(schema)
        return OutputType(wrap(schema), is_wrapped=True) if root is None else OutputType(root)
    if inspect.isroutine(output_type):
        raise BadInput(f"output_type {output_type!r} is a function: give a type or a JSON schema")
    from pydantic import TypeAdapter  # noqa: PLC0415 - late: an agent without an output type needs no pydantic

    try:
        adapter = TypeAdapter[Any](cast("Any", output_type))
        root = object_root(adapter.json_schema())
        if root is not None:
            return OutputType(root, adapter=adapter)
        wrapper = cast("Any", TypedDict)("Answer", {"value": output_type})
        adapter = TypeAdapter[Any](wrapper)
        return OutputType(adapter.json_schema(), is_wrapped=True, adapter=adapter)
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise BadInput(f"output_type {output_type!r} has no JSON schema: {reason}") from error


def find_json(text: str) -> tuple[str, object]:
    """The JSON of an answer as text and as a value: all of it, or what is in a code fence or between other text.

    Raises `InvalidAnswer` if there is none.
    """
    from pydantic_core import from_json  # noqa: PLC0415

    problem = ""
    for candidate in json_candidates(text):
        try:
            return candidate, from_json(candidate, allow_inf_nan=False)
        except ValueError as error:
            problem = problem or str(error)
    raise InvalidAnswer(f"the answer is not valid JSON: {problem}"[:MAX_WORDS])


def json_candidates(text: str) -> Iterator[str]:
    """Where JSON may be in a text, the likeliest first."""
    yield text.strip()
    if fenced := FENCED.search(text):
        yield fenced[1].strip()
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        yield text[start : end + 1]
