"""Finding the chunks that answer a question: analyse, search both legs, fuse, gate."""
