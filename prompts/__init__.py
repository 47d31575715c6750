"""One Jinja template a task; this file lets the templates be found as package data."""
