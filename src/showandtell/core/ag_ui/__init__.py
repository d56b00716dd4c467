"""AG-UI 1.0: reads its requests, and converts the UI message stream to its events."""
