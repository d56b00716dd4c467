import base64
import json
import re
import sys
from contextlib import suppress

import pytest
from anthropic.types import Message as AnthropicMessage
from google.genai import types as gemini
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

from showandtell.core.histories.from_anthropic import from_anthropic
from showandtell.core.histories.from_gemini import from_gemini
from showandtell.core.histories.from_openai import from_openai
from showandtell.core.histories.reading import History
from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Json, Opaque, Source, Text, ToolCall
from showandtell.errors import BadConversation, BadFile, BadInput
from support.next_request import hosted_blocks, next_body
from support.openai_history import SAMPLE
from support.paths import SHARED

PNG = b"\x89PNG\r\n\x1a\n\xff\xfe\xfd"
B64 = base64.b64encode(PNG).decode()
URL = f"data:image/png;base64,{B64}"
IMAGE = File.from_bytes(PNG, "image/png")
RECORDED = SHARED / "data/accepted_requests.jsonl"
IMPORTERS = {"messages": from_openai, "input": from_openai, "contents": from_gemini}


def recorded():
    lines = [json.loads(line) for line in RECORDED.read_text().splitlines()] if RECORDED.exists() else []
    return SAMPLE + [line for line in lines if line["provider"] not in ("bedrock", "xai")]


def with_media(request):
    """A recorded request with a tiny file in each emptied place."""
    text = re.sub(r"<<media [^>]*kind:(\S+) enc:dataurl>>", rf"data:\1;base64,{B64}", json.dumps(request))
    return json.loads(re.sub(r"<<media [^>]*>>", B64, text))


def import_line(line):
    key = next(key for key in IMPORTERS if key in line["request"])
    import_history = from_anthropic if line["provider"] == "anthropic" else IMPORTERS[key]
    return import_history(with_media(line["request"])[key])


def test_every_recorded_request_is_imported_with_all_files():
    for line in recorded():
        text = json.dumps(line["request"])
        placed = len(
            re.findall(
                r'<<media |"image_url": "https|"url": "https|"document_url": "https|"file_id": |"file_url": |"(?:fileUri|file_uri)": "(?!gs:)',
                text,
            )
        )
        drafts = import_line(line)
        files = [part for draft in drafts for part in draft.parts if isinstance(part, File)]
        assert len(files) == placed, text
        assert text.count('uri": "gs:') == json.dumps([str(draft.parts) for draft in drafts]).count(
            "(not fetched): gs:"
        )


def test_every_recorded_result_knows_its_tool():
    for line in recorded():
        calls = {
            part.call_id: part.tool for draft in import_line(line) for part in draft.parts if isinstance(part, ToolCall)
        }
        results = [draft for draft in import_line(line) if draft.role == "tool"]
        assert results
        assert all(draft.tool and calls[draft.call_id] == draft.tool for draft in results)


def test_a_chat_history_is_imported_in_order():
    call = {"id": "c1", "type": "function", "function": {"name": "draw", "arguments": '{"x":1}'}}
    history = from_openai(
        [
            {"role": "system", "content": "Be kind."},
            {"role": "developer", "content": [{"type": "text", "text": "Be short."}]},
            {
                "role": "user",
                "content": [{"type": "text", "text": "Draw"}, {"type": "image_url", "image_url": {"url": URL}}],
            },
            {"role": "assistant", "content": "Well", "tool_calls": [call]},
            {
                "role": "tool",
                "tool_call_id": "c1",
                "content": [{"type": "text", "text": "Done"}, {"type": "image_url", "image_url": {"url": URL}}],
            },
        ]
    )
    assert history.instructions == "Be kind.\n\nBe short."
    assert history == [
        Draft("user", (Text("Draw"), IMAGE)),
        Draft("assistant", (Text("Well"), ToolCall("c1", "draw", '{"x":1}')), stop="tool_calls"),
        Draft("tool", (Text("Done"), IMAGE), "c1", "draw"),
    ]


def test_a_chat_completion_and_its_message_are_imported():
    call = {"id": "c1", "type": "function", "function": {"name": "draw", "arguments": "{}"}}
    message = {"role": "assistant", "content": "Well", "tool_calls": [call]}
    choice = {"index": 0, "finish_reason": "length", "message": message}
    answer = ChatCompletion.model_validate(
        {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    )
    parts = (Text("Well"), ToolCall("c1", "draw", "{}"))
    assert from_openai(answer) == [Draft("assistant", parts, stop="length")]
    assert from_openai(["Draw", answer.choices[0].message]) == [
        Draft("user", (Text("Draw"),)),
        Draft("assistant", parts, stop="tool_calls"),
    ]


def response(**fields):
    output = [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Well", "annotations": []}],
        },
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "draw", "arguments": "{}"},
    ]
    body = {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": output, "status": "completed"}
    settings = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return Response.model_validate(body | settings | fields)


MESSAGES = (
    Opaque("openai", '{"id":"rs_1","summary":[],"type":"reasoning","encrypted_content":"gAAA"}'),
    Text("Well"),
    ToolCall("c1", "draw", "{}"),
)


def test_a_response_is_one_message():
    assert from_openai(response()) == [Draft("assistant", MESSAGES, stop="tool_calls")]
    cut = response(status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    assert from_openai(cut)[0].stop == "length"


def test_a_message_keeps_its_phase():
    message = {"type": "message", "role": "assistant", "content": "Wait.", "phase": "commentary"}
    (draft,) = from_openai([message, {**message, "content": "Done.", "phase": None}])
    assert draft.parts == (Text("Wait."), Opaque("openai", '{"phase":"commentary"}'), Text("Done."))


def test_response_items_continue_its_output():
    output = [
        {"type": "input_text", "text": "Done"},
        {"type": "input_image", "image_url": URL},
        {"type": "input_file", "filename": "a.png", "file_data": URL},
    ]
    result = {"type": "function_call_output", "call_id": "c1", "output": output}
    history = from_openai([{"role": "user", "content": "Draw"}, *response().output, result])
    assert history[1:] == [
        Draft("assistant", MESSAGES, stop="tool_calls"),
        Draft("tool", (Text("Done"), IMAGE, File.from_bytes(PNG, "image/png", "a.png")), "c1", "draw"),
    ]


def test_openai_addresses_stay_addresses():
    parts = [
        {"type": "input_image", "file_id": "file-1"},
        {"type": "input_file", "file_id": "file-2", "filename": "a.pdf"},
        {"type": "input_file", "file_url": "https://example.com/b.docx"},
        {"type": "image_url", "image_url": {"url": "https://example.com/c.webp?size=2"}},
    ]
    files = from_openai([{"role": "user", "content": parts}])[0].parts
    assert [(file.source.value, file.name) for file in files[:2]] == [
        ("openai:file-1", "file-1"),
        ("openai:file-2", "a.pdf"),
    ]
    assert [file.media_type.rpartition("/")[2][:4] for file in files] == ["png", "pdf", "vnd.", "webp"]


def test_old_functions_audio_and_images_are_imported():
    old = {"role": "assistant", "content": None, "function_call": {"name": "draw", "arguments": "{}"}}
    history = from_openai(
        [
            old,
            {"role": "function", "name": "draw", "content": "Done"},
            {"type": "image_generation_call", "id": "i", "result": B64},
        ]
    )
    assert history[1] == Draft("tool", (Text("Done"),), "call_1", "draw")
    assert history[2].parts == (IMAGE,)
    sound = {"type": "input_audio", "input_audio": {"data": B64, "format": "mp3"}}
    assert from_openai([{"role": "user", "content": [sound]}])[0].parts[0].media_type == "audio/mpeg"


def test_an_anthropic_history_is_imported_in_order():
    thought = {"type": "thinking", "thinking": "Hm", "signature": "EqQB"}
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": B64}}
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [{"type": "text", "text": "Look"}, image, {"type": "text", "text": "there"}],
    }
    error = {"type": "tool_result", "tool_use_id": "t2", "content": "No", "is_error": True}
    calls = [{"type": "tool_use", "id": name, "name": "draw", "input": {"x": 1}} for name in ("t1", "t2")]
    history = from_anthropic(
        [
            {"role": "user", "content": "Draw"},
            {"role": "assistant", "content": [thought, *calls]},
            {"role": "user", "content": [result, error, {"type": "text", "text": "Go on"}]},
        ]
    )
    assert history[1].parts == (
        Opaque("anthropic", json.dumps(thought, separators=(",", ":"))),
        *(ToolCall(name, "draw", '{"x":1}') for name in ("t1", "t2")),
    )
    assert history[2:] == [
        Draft("tool", (Text("Look"), IMAGE, Text("there")), "t1", "draw"),
        Draft("tool", (Text("No"),), "t2", "draw", is_error=True),
        Draft("user", (Text("Go on"),)),
    ]


def test_an_anthropic_response_and_its_content_are_imported():
    content = [{"type": "text", "text": "Well"}, {"type": "tool_use", "id": "t1", "name": "draw", "input": {}}]
    body = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": content,
        "stop_reason": "max_tokens",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    answer = AnthropicMessage.model_validate(body)
    parts = (Text("Well"), ToolCall("t1", "draw", "{}"))
    assert from_anthropic(answer) == [Draft("assistant", parts, stop="length")]
    assert from_anthropic([{"role": "assistant", "content": answer.content}]) == [
        Draft("assistant", parts, stop="tool_calls")
    ]


def test_blocks_of_tools_that_anthropic_runs_go_back_unchanged_whatever_their_name():
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "advisor", "input": {}}
    advice_text = {"type": "advisor_result", "stop_reason": "end_turn", "text": "Ship it."}
    advice = {"type": "advisor_tool_result", "tool_use_id": "srvtoolu_1", "content": advice_text}
    response = {"role": "assistant", "content": [use, advice, {"type": "text", "text": "Done."}]}
    (draft,) = from_anthropic([{**response, "stop_reason": "a_new_reason"}])
    assert hosted_blocks(draft) == [use, advice]
    assert (draft.parts[2], draft.stop) == (Text("Done."), "cut")


def test_items_of_tools_that_openai_runs_keep_the_nulls_that_they_need():
    code = {"type": "code_interpreter_call", "id": "ci_1", "container_id": "c", "code": "n", "outputs": None}
    tools = {"type": "additional_tools", "role": "developer", "tools": []}
    failed = {"type": "image_generation_call", "id": "ig_1", "status": "failed", "result": None}
    (draft,) = from_openai([{**code, "agent": None}, tools, failed])
    assert hosted_blocks(draft) == [code, tools, failed]


@pytest.mark.parametrize(
    ("import_history", "history", "model"),
    [
        (
            from_anthropic,
            {"role": "assistant", "content": [{"type": "hologram", "beam": 3}]},
            "anthropic:claude-sonnet-5",
        ),
        (from_openai, {"type": "hologram", "beam": 3}, "openai:gpt-5.5"),
        (from_gemini, {"role": "model", "parts": [{"hologram": {"beam": 3}}]}, "google:gemini-3-pro"),
    ],
)
def test_what_a_newer_api_wrote_is_kept_whole_and_goes_back(import_history, history, model):
    (draft,) = import_history([history])
    (block,) = hosted_blocks(draft)
    assert "hologram" in json.dumps(block)
    assert json.dumps(block) in json.dumps(next_body(draft, model))


def test_citations_and_callers_of_anthropic_are_imported():
    citation = {"type": "web_search_result_location", "url": "https://a.example", "title": "A", "cited_text": "B"}
    call = {"type": "tool_use", "id": "t", "name": "draw", "input": {}, "caller": {"type": "code_1", "tool_id": "s"}}
    content = [{"type": "text", "text": "A fruit.", "citations": [citation]}, call]
    (draft,) = from_anthropic([{"role": "assistant", "content": content}])
    assert draft.parts[:2] == (Text("A fruit."), Source("A", "https://a.example", quote="B"))
    sent = next_body(draft, "anthropic:claude-sonnet-5", Draft("tool", (Text("Done"),), "t", "draw"))
    assert sent["messages"][1]["content"] == content


def test_a_blocked_prompt_of_gemini_is_a_refusal():
    blocked = {"promptFeedback": {"blockReason": "MODEL_ARMOR"}, "usageMetadata": {}, "modelVersion": "gemini-2.5"}
    assert from_gemini(["hi", blocked])[1] == Draft("assistant", (), stop="refusal")


def test_anthropic_documents_are_imported_from_every_source():
    sources = [
        {"type": "base64", "media_type": "application/pdf", "data": B64},
        {"type": "url", "url": "https://example.com/b"},
        {"type": "file", "file_id": "file_1"},
        {"type": "text", "media_type": "text/plain", "data": "words"},
        {
            "type": "content",
            "content": [
                {"type": "text", "text": "words"},
                {"type": "image", "source": {"type": "url", "url": "https://example.com/c.gif"}},
            ],
        },
    ]
    blocks = [{"type": "document", "title": "a", "source": source} for source in sources]
    files = from_anthropic([{"role": "user", "content": blocks}])[0].parts
    assert [file.media_type.rpartition("/")[2] for file in files] == ["pdf", "pdf", "pdf", "plain", "plain", "gif"]
    assert [file.name for file in files] == ["a", "a", "a", "a", "a", "c.gif"]
    assert files[2].source.value == "anthropic:file_1"


def test_gemini_contents_are_imported_in_camel_case_and_snake_case():
    call = gemini.Part(
        function_call=gemini.FunctionCall(id="f1", name="draw", args={"in_x": None}), thought_signature=b"\xff\xfe"
    )
    result = {
        "functionResponse": {
            "id": "f1",
            "name": "draw",
            "response": {"output": "Look"},
            "parts": [{"inline_data": {"mime_type": "image/png", "data": B64}}],
        }
    }
    history = from_gemini(["Draw", gemini.Content(role="model", parts=[call]), {"role": "user", "parts": [result]}])
    assert history == [
        Draft("user", (Text("Draw"),)),
        Draft("assistant", (ToolCall("f1", "draw", '{"in_x":null}', Opaque("google", "//4=")),), stop="tool_calls"),
        Draft("tool", (Text("Look"), IMAGE), "f1", "draw"),
    ]


def test_gemini_calls_without_ids_are_matched_by_name_in_order():
    calls = [{"functionCall": {"name": name, "args": {}}} for name in ("draw", "look", "draw")]
    responses = [
        {"functionResponse": {"name": name, "response": {"output": text}}}
        for name, text in (("draw", "1"), ("draw", "3"), ("look", "2"))
    ]
    history = from_gemini([{"role": "model", "parts": calls}, {"role": "function", "parts": responses}])
    assert [part.call_id for part in history[0].parts] == ["call_1", "call_2", "call_3"]
    assert [(draft.call_id, draft.tool, draft.parts[0].text) for draft in history[1:]] == [
        ("call_1", "draw", "1"),
        ("call_3", "draw", "3"),
        ("call_2", "look", "2"),
    ]


def test_a_gemini_response_keeps_signatures_and_drops_thoughts():
    parts = [
        gemini.Part(text="Hm", thought=True),
        gemini.Part(text="Well", thought_signature=b"ab"),
        gemini.Part.from_bytes(data=PNG, mime_type="image/png"),
    ]
    candidate = gemini.Candidate(content=gemini.Content(role="model", parts=parts), finish_reason="MAX_TOKENS")
    answer = gemini.GenerateContentResponse(candidates=[candidate])
    signature = Opaque("google", '{"text":"","thoughtSignature":"YWI="}')
    assert from_gemini(answer) == [Draft("assistant", (Text("Well"), signature, IMAGE), stop="length")]


def test_adjacent_gemini_parts_are_one_message():
    uploaded = gemini.File(name="files/1", uri="https://example.com/v1beta/files/1", mime_type="video/mp4")
    video = File.from_uri("https://example.com/v1beta/files/1", "video/mp4")
    parts = [
        gemini.Part.from_bytes(data=PNG, mime_type="image/png"),
        uploaded,
        gemini.Part.from_uri(file_uri="gs://b/a.pdf", mime_type="application/pdf"),
    ]
    assert from_gemini(["Draw", *parts]) == [
        Draft("user", (Text("Draw"), IMAGE, video, Text("file (not fetched): gs://b/a.pdf")))
    ]


def test_gemini_outputs_errors_and_values_are_distinguished():
    call = {"role": "model", "parts": [{"functionCall": {"name": "draw"}}] * 3}
    values = [{"error": "No"}, {"output": {"x": 1}}, {"x": 1, "output": 2}]
    responses = [{"functionResponse": {"name": "draw", "response": value}} for value in values]
    results = from_gemini([call, {"role": "user", "parts": responses}])[1:]
    assert [result.is_error for result in results] == [True, False, False]
    assert [result.parts for result in results] == [(Text("No"),), (Json('{"x":1}'),), (Json('{"x":1,"output":2}'),)]


@pytest.mark.parametrize(
    ("import_history", "history", "place"),
    [
        (from_openai, [{"role": "user", "content": [{"type": "smell"}]}], r"messages\[0\].content\[0\] .*smell"),
        (from_openai, [7], r"messages\[0\] .*int"),
        (from_anthropic, [{"role": "user", "content": [{"type": "smell"}]}], r"messages\[0\].content\[0\] .*smell"),
        (
            from_anthropic,
            [{"role": "user", "content": [{"type": "image", "source": {"type": "smell"}}]}],
            r"content\[0\].source .*smell",
        ),
        (from_anthropic, [{"role": "robot", "content": "x"}], r"messages\[0\] .*robot"),
        (from_gemini, [{"role": "user", "parts": [{"smell": {}}]}], r"contents\[0\].parts\[0\] .*smell"),
    ],
)
def test_unknown_items_are_refused_with_their_place(import_history, history, place):
    with pytest.raises(BadConversation, match=place):
        import_history(history)


@pytest.mark.parametrize(
    ("import_history", "history"),
    [
        (from_openai, [{"role": "tool", "tool_call_id": "c9", "content": "Done"}]),
        (from_anthropic, [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c9"}]}]),
        (from_gemini, [{"role": "user", "parts": [{"functionResponse": {"id": "c9", "name": "draw"}}]}]),
    ],
)
def test_a_result_without_its_call_is_refused(import_history, history):
    with pytest.raises(BadConversation, match="c9"):
        import_history(history)


JUNK = st.recursive(
    st.none()
    | st.integers()
    | st.sampled_from(["user", "assistant", "text", "tool_use", "tool_result", "function_call", "image", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "role",
                    "content",
                    "type",
                    "text",
                    "source",
                    "tool_calls",
                    "output",
                    "parts",
                    "functionCall",
                    "id",
                    "call_id",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JUNK, st.sampled_from([from_openai, from_anthropic, from_gemini]))
def test_any_junk_is_imported_or_refused_with_a_typed_error(junk, import_history):
    with suppress(BadInput):
        assert isinstance(import_history(junk), History)


def deep(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


BROKEN_IMAGE = {
    from_openai: {"type": "image_url", "image_url": {"url": "https://["}},
    from_anthropic: {"type": "image", "source": {"type": "url", "url": "https://["}},
}


@pytest.mark.parametrize("import_history", BROKEN_IMAGE)
def test_an_invalid_address_is_refused_with_its_message(import_history):
    with pytest.raises(BadConversation, match=r"messages\[1\] .*Invalid IPv6 URL"):
        import_history([{"role": "user", "content": "x"}, {"role": "user", "content": [BROKEN_IMAGE[import_history]]}])


@pytest.mark.parametrize("levels", [700, 5000])
@pytest.mark.parametrize(
    ("import_history", "place"), [(from_openai, "messages"), (from_anthropic, "messages"), (from_gemini, "contents")]
)
def test_items_nested_too_deep_are_refused_with_their_message(import_history, place, levels):
    is_too_deep = levels == 5000 or sys.version_info < (3, 12)  # newer ones only count calls of Python
    reason = " is nested too deep" if is_too_deep else ""
    with pytest.raises(BadConversation, match=rf"{place}\[1\]{reason}"):
        import_history(["x", {"role": "user", "content": deep(levels)}])
    with pytest.raises(BadConversation, match=rf"{place}\[0\]{reason}"):
        import_history({"role": "user", "content": deep(levels)})


def test_media_types_are_normalized():
    (draft,) = from_openai([{"role": "user", "content": [{"type": "image_url", "image_url": "https://e.com/a.TIFF"}]}])
    assert draft.parts == (File.from_uri("https://e.com/a.TIFF", "image/tiff"),)
    (draft,) = from_gemini([{"inlineData": {"mimeType": "Picture", "data": B64}}])
    assert draft.parts == (File.from_bytes(PNG, "Picture"),)


def test_truncated_base64_is_refused():
    with pytest.raises(BadFile, match=r"messages\[0\]: .*base64"):
        from_openai(
            [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,%%%"}}]}]
        )


def test_url_safe_base64_and_percent_encoded_data_urls_are_read():
    url_safe = base64.urlsafe_b64encode(PNG).decode().rstrip("=")
    assert from_gemini({"role": "user", "parts": [{"inlineData": {"mimeType": "image/jpg", "data": url_safe}}]})[
        0
    ].parts == (File.from_bytes(PNG, "image/jpeg"),)
    image = {"type": "image_url", "image_url": {"url": "data:image/svg+xml,%3Csvg/%3E"}}
    assert from_openai([{"role": "user", "content": [image]}])[0].parts == (
        File.from_bytes(b"<svg/>", "image/svg+xml"),
    )


def test_an_empty_history_is_empty():
    assert from_openai([]) == from_anthropic([]) == from_gemini([]) == History()
    assert from_openai([]).instructions == ""
