"""Importers for the message histories of provider SDKs."""
