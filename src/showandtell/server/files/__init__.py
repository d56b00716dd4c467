"""Files over HTTP: uploads, and the only way by which bytes are served."""
