"""What is measured, one module a subject; ``python -m benchmarks`` runs them all."""
