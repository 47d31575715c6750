"""The models: chat, embeddings, reranking; one Protocol each, real clients, and the offline defaults."""
