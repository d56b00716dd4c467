"""The inspector as a server of Anthropic's Messages API."""
