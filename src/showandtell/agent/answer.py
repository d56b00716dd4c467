"""The answer of one run with an output type: checked when it is complete, and reported while it grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from msgspec.structs import replace

from showandtell.agent.decide import AskModel, CheckAnswer, Done, tool_choice_of
from showandtell.agent.execute import error_result
from showandtell.agent.output import AnswerForm, InvalidAnswer, OutputType, ReadFile
from showandtell.core.collect.tool_result import ToolResult
from showandtell.core.events.types import OutputDelta, StreamEvent, TextDelta, ToolInputDelta, ToolInputStart
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Correction, ToolCall
from showandtell.core.wire.options import Options

ACCEPTED = "The answer was accepted."


@dataclass
class Answer:
    """The answer of one run. `value` is set once it is valid; `problem` says what is wrong with the last invalid one.

    `values` are those of valid calls, by call id.
    """

    form: AnswerForm
    read_file: ReadFile
    value: Any = None
    problem: str = ""
    values: dict[str, Any] = field(default_factory=dict[str, Any])

    def check_call(self, call: ToolCall) -> ToolResult:
        """The result of a call that gives the answer: an error that says what is wrong with it, if it is invalid."""
        try:
            self.values[call.call_id] = self.form.type.read(call.arguments, self.read_file)
        except InvalidAnswer as error:
            self.problem = str(error)
            return error_result(f"the answer is not valid: {error}")
        return ToolResult(ACCEPTED)

    def check(self, check: CheckAnswer) -> Draft | Done:
        """Check an answer: the end of the run, or the message that asks for another one."""
        try:
            if check.call_id in self.values:
                self.value = self.values[check.call_id]
            else:  # a text, or a call that an earlier run accepted
                self.value = self.form.type.read(check.text, self.read_file)
        except InvalidAnswer as error:
            self.problem = str(error)
            if not check.may_retry:
                return Done("incomplete", "output")
            advice = f"call {self.form.tool} to give it; " if self.form.tool else ""
            return Draft("user", (Correction(advice + self.problem),))
        return Done("complete")

    def stream(self) -> AnswerStream:
        """Follows the answer in one step."""
        return AnswerStream(self.form.type, self.form.tool)


def with_tool_choice(options: Options, ask: AskModel, answer: Answer | None) -> Options:
    """The options of a step, whose tool choice follows from the user's."""
    choose = tool_choice_of if answer is None else answer.form.tool_choice
    return replace(options, tool_choice=choose(options.tool_choice, ask))


def check_answer(check: CheckAnswer, answer: Answer | None) -> Draft | Done:
    """The end of the run, or the message that asks for another answer. Without an output type any answer is valid."""
    return Done("complete") if answer is None else answer.check(check)


@dataclass
class AnswerStream:
    """Turns the events of one step into those of the answer. Its pieces are joined and parsed only if somebody asks."""

    type: OutputType
    tool: str | None
    pieces: list[str] = field(default_factory=list[str])
    call_id: str | None = None
    is_text: bool = True

    def follow(self, event: StreamEvent) -> OutputDelta | None:
        """The event about the answer that belongs to an event of the stream, if any."""
        match event:
            case ToolInputStart(tool=self.tool):
                self.call_id, self.pieces = event.call_id, []
            case ToolInputDelta() if event.call_id == self.call_id:
                return self._add(event.text)
            case TextDelta() if self.tool is None and (self.pieces or event.text.strip()):
                self.is_text = self.is_text and (bool(self.pieces) or event.text.lstrip().startswith("{"))
                return self._add(event.text) if self.is_text else None
            case _:
                pass
        return None

    def _add(self, text: str) -> OutputDelta:
        self.pieces.append(text)
        delta = OutputDelta(text)
        vars(delta)["so_far"] = partial(parse_pieces, self.type, self.pieces, len(self.pieces))
        return delta


def parse_pieces(output: OutputType, pieces: Sequence[str], count: int) -> Any:
    """The value of the first `count` pieces."""
    return output.partial("".join(pieces[:count]))
