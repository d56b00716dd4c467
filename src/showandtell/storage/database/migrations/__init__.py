"""Migrations of older databases."""
