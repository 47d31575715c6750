"""The catalogue of the bot's fixed sentences, by language: what it says, what stands on buttons, what its commands do.

What the core says of an answer, on every surface, stands in ragcore.phrases.
"""
