"""Answers of five APIs with everything that providers run: random pieces, streamed, with the blocks that must be kept."""

import json
from dataclasses import dataclass, field
from itertools import count

from support.scripted import CLAUDE, CONVERSE, GEMINI, GPT, RESPONSES, event, framed, gemini_chunk
from support.streams import anthropic, openai_chat

PIECES = ("text", "thought", "hosted", "failed", "cited", "call", "unknown")
STOPS = ("end", "pause", "length", "cut")


@dataclass
class Answer:
    """An answer in frames, and the blocks of it as JSON values, each with the frame that completes it."""

    frames: list = field(default_factory=list)
    blocks: list = field(default_factory=list)
    calls: int = 0

    def add(self, *frames):
        self.frames += frames

    def keep(self, block):
        self.blocks.append((len(self.frames), block))


def anthropic_answer(pieces, stop, ids):
    answer, at = Answer([anthropic.sse(anthropic.BEGIN)]), count()

    def add(block, *deltas, kept=True):
        answer.add(*(anthropic.sse(chunk) for chunk in anthropic.block(next(at), block, *deltas)))
        if kept:
            answer.keep(block)

    for piece in pieces:
        name = f"srvtoolu_{next(ids)}"
        match piece:
            case "text":
                add({"type": "text", "text": ""}, {"type": "text_delta", "text": "Well."}, kept=False)
            case "thought":
                signed = [
                    {"type": "thinking_delta", "thinking": "Hm."},
                    {"type": "signature_delta", "signature": "c2ln"},
                ]
                add({"type": "thinking", "thinking": "", "signature": ""}, *signed, kept=False)
            case "hosted" | "failed":
                add({"type": "server_tool_use", "id": name, "name": "web_search", "input": {}})
                error = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
                content = error if piece == "failed" else []
                add({"type": "web_search_tool_result", "tool_use_id": name, "content": content})
            case "cited":
                source = {"type": "web_search_result_location", "url": "https://a.example", "cited_text": "b"}
                source |= {"title": "A", "encrypted_index": "Eq"}
                deltas = [{"type": "text_delta", "text": "So."}, {"type": "citations_delta", "citation": source}]
                add({"type": "text", "text": ""}, *deltas, kept=False)
            case "call":
                answer.calls += 1
                call = {"type": "tool_use", "id": f"toolu_{name}", "name": "echo", "input": {}}
                add(call, {"type": "input_json_delta", "partial_json": "{}"}, kept=False)
            case _:
                add({"type": "compaction", "content": "They spoke."})
    reason = {"end": "tool_use" if answer.calls else "end_turn", "pause": "pause_turn", "length": "max_tokens"}
    answer.add(anthropic.sse(anthropic.end(reason.get(stop, "end_turn")), anthropic.STOP))
    return answer


def responses_answer(pieces, stop, ids):
    answer, items = Answer(), []
    for piece in pieces:
        n = next(ids)
        match piece:
            case "text" | "cited":
                cited = [
                    {"type": "url_citation", "url": "https://a.example", "title": "A", "start_index": 0, "end_index": 2}
                ]
                content = {"type": "output_text", "text": "Well.", "annotations": cited if piece == "cited" else []}
                item = {
                    "type": "message",
                    "id": f"msg_{n}",
                    "role": "assistant",
                    "status": "completed",
                    "content": [content],
                }
            case "thought":
                item = {"type": "reasoning", "id": f"rs_{n}", "summary": [], "encrypted_content": "c2VhbGVk"}
            case "hosted" | "failed":
                status = "completed" if piece == "hosted" else "failed"
                item = {
                    "type": "web_search_call",
                    "id": f"ws_{n}",
                    "status": status,
                    "action": {"type": "search", "query": "a"},
                }
            case "call":
                answer.calls += 1
                item = {
                    "type": "function_call",
                    "id": f"fc_{n}",
                    "call_id": f"call_{n}",
                    "name": "echo",
                    "arguments": "{}",
                }
                item["status"] = "completed"
            case _:
                item = {"type": "compaction", "id": f"cmp_{n}", "encrypted_content": "c2VhbGVk"}
        answer.add(event("response.output_item.done", output_index=len(items), item=item))
        items.append(item)
        if piece in {"hosted", "failed", "unknown"}:
            answer.keep(item)
    why = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}} if stop == "length" else {}
    response = {
        "id": "resp_1",
        "status": "completed",
        "output": items,
        "usage": {"input_tokens": 9, "output_tokens": 5},
        **why,
    }
    answer.add(event(f"response.{response['status']}", response=response))
    return answer


def gemini_answer(pieces, stop, ids):
    answer = Answer()

    def add(part, *, kept=True):
        answer.add(gemini_chunk(part))
        if kept:
            answer.keep(part)

    for piece in pieces:
        n = next(ids)
        match piece:
            case "text" | "cited":
                add({"text": "Well."}, kept=False)
            case "thought":
                add({"text": "", "thought": True, "thoughtSignature": "c2ln"}, kept=False)
            case "hosted" | "failed":
                outcome = "OUTCOME_OK" if piece == "hosted" else "OUTCOME_FAILED"
                add({"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": "c2ln"})
                add({"codeExecutionResult": {"outcome": outcome, "output": "1"}})
            case "call":
                answer.calls += 1
                add(
                    {"functionCall": {"id": f"fc_{n}", "name": "echo", "args": {}}, "thoughtSignature": "c2ln"},
                    kept=False,
                )
            case _:
                add({"toolCall": {"toolType": "URL_CONTEXT", "id": f"t_{n}", "args": {}}})
                add({"toolResponse": {"toolType": "URL_CONTEXT", "id": f"t_{n}", "response": {}}})
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 5}
    answer.add(gemini_chunk({"text": ""}, "MAX_TOKENS" if stop == "length" else "STOP", usageMetadata=usage))
    return answer


def converse_answer(pieces, stop, ids):
    answer, at = Answer([framed("messageStart", role="assistant")]), count()

    def add(*deltas, start=None, kept=None):
        index = next(at)
        if start:
            answer.add(framed("contentBlockStart", contentBlockIndex=index, start=start))
        answer.add(*(framed("contentBlockDelta", contentBlockIndex=index, delta=delta) for delta in deltas))
        answer.add(framed("contentBlockStop", contentBlockIndex=index))
        if kept:
            answer.keep(kept)

    for piece in pieces:
        n = next(ids)
        match piece:
            case "text":
                add({"text": "Well."})
            case "cited":
                add({"text": "So."}, {"citation": {"title": "A", "location": {"web": {"url": "https://a.example"}}}})
            case "thought":
                add({"reasoningContent": {"text": "Hm."}}, {"reasoningContent": {"signature": "c2ln"}})
            case "call":
                answer.calls += 1
                add({"toolUse": {"input": "{}"}}, start={"toolUse": {"toolUseId": f"t_{n}", "name": "echo"}})
            case _:
                call = {"toolUseId": f"s_{n}", "name": "nova_code_interpreter", "type": "server_tool_use"}
                add({"toolUse": {"input": "{}"}}, start={"toolUse": call}, kept={"toolUse": {**call, "input": {}}})
                status = "error" if piece == "failed" else "success"
                result = {"toolUseId": f"s_{n}", "type": "nova_code_interpreter_result", "status": status}
                content = [{"json": {"stdOut": "1"}}]
                kept = {"toolResult": {**result, "content": content}}
                add({"toolResult": content}, start={"toolResult": result}, kept=kept)
    reason = {"length": "max_tokens"}.get(stop, "tool_use" if answer.calls else "end_turn")
    usage = {"inputTokens": 9, "outputTokens": 5, "totalTokens": 14}
    answer.add(framed("messageStop", stopReason=reason), framed("metadata", usage=usage, metrics={"latencyMs": 1}))
    return answer


def chat_answer(pieces, stop, ids):
    answer = Answer()
    for piece in pieces:
        n = next(ids)
        match piece:
            case "call":
                call = {"index": answer.calls, "id": f"call_{n}", "type": "function"}
                call["function"] = {"name": "echo", "arguments": "{}"}
                answer.calls += 1
                delta = {"tool_calls": [call]}
            case "cited":
                source = {"url": "https://a.example", "title": "A", "start_index": 0, "end_index": 0}
                delta = {"content": "So.", "annotations": [{"type": "url_citation", "url_citation": source}]}
            case "hosted" | "failed":
                delta = {"executed_tools": [{"index": n, "type": "search", "arguments": "{}", "output": "1"}]}
            case "thought":
                delta = {"reasoning_content": "Hm."}
            case _:
                delta = {"content": "Well."}
        answer.add(openai_chat.sse(openai_chat.delta(**delta)))
    reason = "length" if stop == "length" else "tool_calls" if answer.calls else "stop"
    answer.add(openai_chat.sse(openai_chat.delta(reason)), b"data: [DONE]\n\n")
    return answer


WRITERS = {
    CLAUDE: anthropic_answer,
    RESPONSES: responses_answer,
    GEMINI: gemini_answer,
    CONVERSE: converse_answer,
    GPT: chat_answer,
}


def write(model, pieces, stop, ids, cut=None):
    """The bytes of an answer, up to a frame if it is cut, and the blocks that came completely."""
    answer = WRITERS[model](pieces, stop, ids)
    end = len(answer.frames) if cut is None else min(cut, len(answer.frames))
    return b"".join(answer.frames[:end]), [json.dumps(block) for place, block in answer.blocks if place <= end]
