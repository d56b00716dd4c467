"""The UI message stream of the npm package `ai`: a run's events as chunks, and messages from chunks."""
