"""The inspector as a server of OpenAI's Responses API."""
