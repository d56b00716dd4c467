"""Files over HTTP: how they come in, and the one way by which their bytes leave."""
