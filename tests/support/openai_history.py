"""A conversation in OpenAI's messages."""

SAMPLE = [
    {
        "provider": "openai",
        "request": {
            "messages": [
                {"role": "user", "content": "Draw."},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "draw", "arguments": "{}"}}],
                },
                {"role": "tool", "tool_call_id": "c", "content": "See file 1."},
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "image_url",
                            "image_url": {"url": "<<media sha256:00 len:9 kind:image/png enc:dataurl>>"},
                        }
                    ],
                },
            ]
        },
    },
    {
        "provider": "anthropic",
        "request": {
            "messages": [
                {"role": "user", "content": "Draw."},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "draw", "input": {}}]},
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "c",
                            "content": [
                                {
                                    "type": "image",
                                    "source": {
                                        "type": "base64",
                                        "media_type": "image/png",
                                        "data": "<<media sha256:00 len:9 kind:image/png enc:b64>>",
                                    },
                                }
                            ],
                        }
                    ],
                },
            ]
        },
    },
]
