"""A summary of what was said in a thread or a channel, with links to the messages."""
