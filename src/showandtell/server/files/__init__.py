"""Files over HTTP: uploads and downloads."""
