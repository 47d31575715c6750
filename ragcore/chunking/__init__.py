"""Sections become chunks: one file a method."""
