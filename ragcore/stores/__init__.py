"""Storage: the database is the truth; the vector and keyword indexes are derived from it and can be refilled."""
