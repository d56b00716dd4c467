"""The Gemini API, also as Vertex AI serves it."""
