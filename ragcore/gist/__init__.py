"""A summary of what was said in a chat: each of its sentences rests on messages, and links to them."""
