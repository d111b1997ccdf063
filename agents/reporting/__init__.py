"""The report as data, its files, and its renderers."""
