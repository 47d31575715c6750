"""One turn of a conversation, the same on every platform: claim, gate, recall, answer, render, send, remember."""
