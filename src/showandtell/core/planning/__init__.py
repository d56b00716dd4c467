"""Decides where each file goes in a request, and the text beside it. No provider is named here."""
