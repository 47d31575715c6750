"""Office files (Word, Excel, PowerPoint), read from their XML."""
