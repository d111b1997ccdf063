"""Fine-tuning of retrievers and scorers."""
