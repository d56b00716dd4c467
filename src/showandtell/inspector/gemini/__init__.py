"""The inspector as a server of the Gemini API."""
