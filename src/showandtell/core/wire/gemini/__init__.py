"""The Gemini API, also on Vertex AI."""
