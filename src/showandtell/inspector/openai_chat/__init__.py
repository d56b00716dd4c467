"""The inspector as a server of OpenAI's Chat Completions API."""
