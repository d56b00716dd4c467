"""What the fields of recorded answers are: read into events, or left out for a reason.

A field is named by its path, with the `type` of each object on the way in angle brackets. The longest path that a
field's own path starts with decides. `text`, `thought`, `opaque` and `file` must arrive in this order; `call id`,
`call name` and `arguments` must be those of the calls; `stop` is a reason; `input:…`, `output:…` and the others
are counts whose newest values add up. Any other word is the reason why a field is left out.
"""

TELEMETRY = "about the response, not the answer"
REPEATED = "repeats what other fields say"
PROVIDER_RUN = "a block of a tool that the provider runs itself, which is kept whole"
CITATIONS = "where a text comes from, which is kept beside the text"
COUNTED = "part of a count that is read, or a price of the provider's own tools"
PLACE = "the place of a block or event"
COMPACTION = PROVIDER_RUN
READ = frozenset({"text", "thought", "opaque", "file", "call id", "call name", "arguments", "stop"})
COUNTS = frozenset({"input", "output", "cached", "reasoning"})

ANTHROPIC_USAGE = {
    "": COUNTED,
    ".input_tokens": "input:new",
    ".cache_read_input_tokens": "input:read",
    ".cache_creation_input_tokens": "input:written",
    ".output_tokens": "output:all",
    ".output_tokens_details": COUNTED,
    ".output_tokens_details.thinking_tokens": "reasoning:all",
    # Tokens of another model or of a compaction, which Anthropic doesn't add to the other counts.
    ".iterations": COUNTED,
    ".inference_geo": TELEMETRY,
    ".service_tier": TELEMETRY,
}
ANTHROPIC_RESULTS = (
    "advisor_tool_result",
    "bash_code_execution_tool_result",
    "code_execution_tool_result",
    "mcp_tool_result",
    "mcp_tool_use",
    "server_tool_use",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "web_fetch_tool_result",
    "web_search_tool_result",
)


def _blocks(at: str) -> dict[str, str]:
    """Anthropic's content blocks at a path."""
    return {
        f"{at}<text>.type": REPEATED,
        f"{at}<text>.text": "text",
        f"{at}<text>.citations": CITATIONS,
        f"{at}<thinking>.type": REPEATED,
        f"{at}<thinking>.thinking": "thought",
        f"{at}<thinking>.signature": "opaque",
        f"{at}<redacted_thinking>.type": REPEATED,
        f"{at}<redacted_thinking>.data": "opaque",
        f"{at}<tool_use>.type": REPEATED,
        f"{at}<tool_use>.id": "call id",
        f"{at}<tool_use>.name": "call name",
        f"{at}<tool_use>.input": "arguments",
        f"{at}<tool_use>.caller": "always the model itself: tools that a provider's code calls aren't offered",
        f"{at}<compaction>": COMPACTION,
        **{f"{at}<{name}>": PROVIDER_RUN for name in ANTHROPIC_RESULTS},
    }


def _fields(at: str, names: dict[str, str]) -> dict[str, str]:
    return {f"{at}{name}": meaning for name, meaning in names.items()}


def _telemetry(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, TELEMETRY)


MESSAGE = "<message_start>.message<message>"
DELTA = "<content_block_delta>.delta"
ANTHROPIC = {
    **_telemetry("<message>.id", "<message>.model", "<message>.role", "<message>.type", "<message>.container"),
    **_blocks("<message>.content[]"),
    "<message>.stop_reason": "stop",
    "<message>.stop_sequence": "the sequence of the request at which the text ends",
    **_fields("<message>.usage", ANTHROPIC_USAGE),
    **_telemetry(f"{MESSAGE}.id", f"{MESSAGE}.model", f"{MESSAGE}.role", f"{MESSAGE}.type"),
    **_fields(f"{MESSAGE}.usage", ANTHROPIC_USAGE),
    **_fields("<message_delta>.usage", ANTHROPIC_USAGE),
    "<message_delta>.delta.stop_reason": "stop",
    "<message_delta>.delta.container": TELEMETRY,
    **_blocks("<content_block_start>.content_block"),
    # A stream's start holds an empty object; the arguments follow.
    "<content_block_start>.content_block<tool_use>.input": REPEATED,
    f"{DELTA}<text_delta>.text": "text",
    f"{DELTA}<thinking_delta>.thinking": "thought",
    f"{DELTA}<signature_delta>.signature": "opaque",
    f"{DELTA}<input_json_delta>.partial_json": "arguments",
    f"{DELTA}<citations_delta>": CITATIONS,
    f"{DELTA}<compaction_delta>": COMPACTION,
    **{f"{DELTA}<{kind}_delta>.type": REPEATED for kind in ("text", "thinking", "signature", "input_json")},
    **{f"<{kind}>.type": REPEATED for kind in ("message_start", "message_delta", "message_stop", "ping")},
    **{f"<content_block_{kind}>.{name}": PLACE for kind in ("start", "delta", "stop") for name in ("index", "type")},
}
CONVERSE_USAGE = {
    ".inputTokens": "input:new",
    ".cacheReadInputTokens": "input:read",
    ".cacheWriteInputTokens": "input:written",
    ".cacheReadInputTokenCount": REPEATED,
    ".cacheWriteInputTokenCount": REPEATED,
    ".cacheDetails": COUNTED,
    ".outputTokens": "output:all",
    ".totalTokens": COUNTED,
    ".pydantic_ai_gateway": TELEMETRY,
}
BLOCK = "output.message.content[]"
STARTED = "contentBlockStart.start"
CONVERSE_DELTA = "contentBlockDelta.delta"
#: Claude and Nova write the type of a call that the caller runs; other models leave it out.
CALL = {".toolUseId": "call id", ".name": "call name", ".input": "arguments", ".type": REPEATED}
CONVERSE = {
    **_telemetry("metrics", "trace", "performanceConfig", "serviceTier", "additionalModelResponseFields"),
    "output.message.role": PLACE,
    f"{BLOCK}.text": "text",
    f"{BLOCK}.reasoningContent.reasoningText.text": "thought",
    f"{BLOCK}.reasoningContent.reasoningText.signature": "opaque",
    **_fields(f"{BLOCK}.toolUse", CALL),
    **_fields(f"{BLOCK}.toolUse<tool_use>", CALL),
    f"{BLOCK}.toolUse<server_tool_use>": PROVIDER_RUN,
    f"{BLOCK}.toolResult": PROVIDER_RUN,
    "stopReason": "stop",
    **_fields("usage", CONVERSE_USAGE),
    "messageStart": PLACE,
    "messageStop.p": TELEMETRY,
    "messageStop.stopReason": "stop",
    "metadata": TELEMETRY,
    **_fields("metadata.usage", CONVERSE_USAGE),
    **_fields(f"{STARTED}.toolUse", CALL),
    **_fields(f"{STARTED}.toolUse<tool_use>", CALL),
    f"{STARTED}.toolUse<server_tool_use>": PROVIDER_RUN,
    f"{STARTED}.toolResult": PROVIDER_RUN,
    f"{CONVERSE_DELTA}.text": "text",
    f"{CONVERSE_DELTA}.toolUse.input": "arguments",
    f"{CONVERSE_DELTA}.toolResult": PROVIDER_RUN,
    f"{CONVERSE_DELTA}.reasoningContent.text": "thought",
    f"{CONVERSE_DELTA}.reasoningContent.signature": "opaque",
    f"{CONVERSE_DELTA}.reasoningContent.redactedContent": "opaque",
    **{
        f"contentBlock{kind}.{name}": PLACE
        for kind in ("Start", "Delta", "Stop")
        for name in ("p", "contentBlockIndex")
    },
}
PART = "candidates[].content.parts[]"
GEMINI = {
    **_telemetry("modelVersion", "responseId", "createTime", "candidates[].safetyRatings", "candidates[].avgLogprobs"),
    **_telemetry("candidates[].logprobsResult"),
    **dict.fromkeys(("candidates[].index", "candidates[].content.role"), PLACE),
    **dict.fromkeys(("candidates[].groundingMetadata", "candidates[].urlContextMetadata"), CITATIONS),
    f"{PART}.text": "text",
    f"{PART}.thought": PLACE,
    f"{PART}.thoughtSignature": "opaque",
    f"{PART}.functionCall.id": "call id",
    f"{PART}.functionCall.name": "call name",
    f"{PART}.functionCall.args": "arguments",
    f"{PART}.inlineData.data": "file",
    f"{PART}.inlineData.mimeType": REPEATED,
    **{
        f"{PART}.{kind}": PROVIDER_RUN for kind in ("executableCode", "codeExecutionResult", "toolCall", "toolResponse")
    },
    "candidates[].finishReason": "stop",
    "candidates[].finishMessage": "added to the reason unless the message is complete",
    "promptFeedback.blockReason": "stop",
    "promptFeedback.blockReasonMessage": "added to the reason",
    "usageMetadata": COUNTED,
    "usageMetadata.promptTokenCount": "input:prompt",
    "usageMetadata.toolUsePromptTokenCount": "input:tools",
    "usageMetadata.candidatesTokenCount": "output:answer",
    "usageMetadata.thoughtsTokenCount": "output:thoughts",
    "usageMetadata.cachedContentTokenCount": "cached:all",
}
CHAT_USAGE = {
    "": COUNTED,
    ".prompt_tokens": "input:all",
    ".completion_tokens": "output:all",
    ".prompt_tokens_details.cached_tokens": "cached:all",
    ".completion_tokens_details.reasoning_tokens": "reasoning:all",
}


def _chat_message(at: str) -> dict[str, str]:
    """A chat message, or a piece of one, at a path."""
    call = {".id": "call id", ".function.name": "call name", ".function.arguments": "arguments", ".index": PLACE}
    return {
        f"{at}.role": PLACE,
        f"{at}.content": "text",
        f"{at}.content[]<text>.text": "text",
        f"{at}.content[]<text>.type": REPEATED,
        f"{at}.content[]<thinking>.thinking[]<text>.text": "thought",
        f"{at}.content[]<thinking>": REPEATED,
        f"{at}.reasoning": "thought",
        f"{at}.reasoning_content": "thought",
        f"{at}.reasoning_details[]": REPEATED,
        f"{at}.reasoning_details[]<reasoning.text>.text": "thought",
        f"{at}.reasoning_details[]<reasoning.summary>.summary": "thought",
        f"{at}.reasoning_details[]<reasoning.text>.signature": "opaque",
        f"{at}.reasoning_details[]<reasoning.encrypted>.data": "opaque",
        f"{at}.annotations": CITATIONS,
        f"{at}.executed_tools": PROVIDER_RUN,
        **_fields(f"{at}.tool_calls[]", call),
        **_fields(f"{at}.tool_calls[]<function>", {**call, ".type": REPEATED}),
        f"{at}.audio.expires_at": TELEMETRY,
        f"{at}.channel": TELEMETRY,
        f"{at}.token_id": TELEMETRY,
        f"{at}.extra_content.google.thought": REPEATED,
        f"{at}.extra_content.google.thought_signature": "opaque",
        f"{at}.thought_signature": "opaque",
    }


CHAT = {
    **_telemetry(
        "id", "model", "created", "object", "metadata", "moderation", "provider", "service_tier", "sla_metrics"
    ),
    **_telemetry("obfuscation", "system_fingerprint", "time_info", "usage_breakdown", "prompt_filter_results"),
    **_telemetry("x_groq.id", "x_groq.seed", "x_groq.usage_breakdown", "choices[].content_filter_results"),
    **_telemetry(
        "request_id",
        "error",
        "choices[].seed",
        "choices[].native_finish_reason",
        "choices[].stop_reason",
        "choices[].logprobs",
    ),
    "choices[].text": REPEATED,
    "choices[].index": PLACE,
    **_chat_message("choices[].message"),
    **_chat_message("choices[].delta"),
    "choices[].finish_reason": "stop",
    **_fields("usage", CHAT_USAGE),
    **_fields("x_groq.usage", CHAT_USAGE),
}
RESPONSES_USAGE = {
    "": COUNTED,
    ".input_tokens": "input:all",
    ".output_tokens": "output:all",
    ".input_tokens_details.cached_tokens": "cached:all",
    ".output_tokens_details.reasoning_tokens": "reasoning:all",
}
RESPONSES_STEPS = (
    "code_interpreter_call",
    "compaction",
    "file_search_call",
    "mcp_call",
    "mcp_list_tools",
    "tool_search_call",
    "tool_search_output",
    "web_search_call",
)


def _items(at: str, *, is_repeated: bool = False) -> dict[str, str]:
    """The items of a response's output at a path. In a stream they repeat the deltas, except for what is opaque."""
    found = {
        f"{at}<message>": PLACE,
        f"{at}<message>.content[]<output_text>.type": REPEATED,
        f"{at}<message>.content[]<output_text>.text": "text",
        f"{at}<message>.content[]<output_text>.annotations": CITATIONS,
        f"{at}<message>.content[]<output_text>.logprobs": TELEMETRY,
        f"{at}<function_call>": PLACE,
        f"{at}<function_call>.call_id": "call id",
        f"{at}<function_call>.name": "call name",
        f"{at}<function_call>.arguments": "arguments",
        f"{at}<reasoning>": PLACE,
        f"{at}<reasoning>.content[]<reasoning_text>.text": "thought",
        f"{at}<reasoning>.content[]<reasoning_text>.type": REPEATED,
        f"{at}<reasoning>.summary[]<summary_text>.text": "thought",
        f"{at}<reasoning>.summary[]<summary_text>.type": REPEATED,
        f"{at}<image_generation_call>": TELEMETRY,
        f"{at}<image_generation_call>.result": "file",
        **{f"{at}<{name}>": PROVIDER_RUN for name in RESPONSES_STEPS},
    }
    if is_repeated:
        found = {path: REPEATED if meaning in READ else meaning for path, meaning in found.items()}
    return {**found, f"{at}<reasoning>.encrypted_content": "opaque"}


def _event(name: str, **meanings: str) -> dict[str, str]:
    """The fields of one type of event."""
    return {f"<response.{name}>": PLACE, **{f"<response.{name}>.{key}": value for key, value in meanings.items()}}


RESPONSES = {
    "": TELEMETRY,
    **_items("output[]"),
    "status": "stop",
    **_fields("usage", RESPONSES_USAGE),
    **_event("output_text.delta", delta="text"),
    **_event("reasoning_summary_text.delta", delta="thought"),
    **_event("reasoning_text.delta", delta="thought"),
    **_event("function_call_arguments.delta", delta="arguments"),
    **_items("<response.output_item.added>.item", is_repeated=True),
    # Not every reasoning item of a started response is finished; its beginning is no complete one.
    "<response.output_item.added>.item<reasoning>.encrypted_content": REPEATED,
    "<response.output_item.added>.item<function_call>.call_id": "call id",
    "<response.output_item.added>.item<function_call>.name": "call name",
    **_items("<response.output_item.done>.item", is_repeated=True),
    **_items("<response.completed>.response.output[]", is_repeated=True),
    "<response.completed>.response.output[]<reasoning>.encrypted_content": REPEATED,
    "<response.completed>.response.status": "stop",
    **_fields("<response.completed>.response.usage", RESPONSES_USAGE),
}
#: Fields that the parsers read and no recording has: they rest on the SDKs' types alone.
TYPES_ALONE = {
    "anthropic-messages": {"<error>.error", "<message_delta>.delta.stop_details<refusal>.category"},
    "bedrock-converse": {
        f"{BLOCK}.image.source.bytes",
        f"{BLOCK}.audio.source.bytes",
        f"{BLOCK}.citationsContent.content[].text",
        f"{BLOCK}.reasoningContent.redactedContent",
        f"{CONVERSE_DELTA}.image.source.bytes",
    },
    "gemini": {
        f"{PART}.fileData.fileUri",
        f"{PART}.functionCall.partialArgs[].jsonPath",
        f"{PART}.functionCall.willContinue",
    },
}
FIELDS = {
    "anthropic-messages": ANTHROPIC,
    "bedrock-converse": CONVERSE,
    "gemini": GEMINI,
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
}
