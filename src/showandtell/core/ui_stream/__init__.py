"""The UI message stream of npm's `ai`: converts run events to chunks, and chunks to messages."""
