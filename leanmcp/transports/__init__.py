"""Transports: they move bytes and know nothing of tools."""
