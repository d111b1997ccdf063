"""Command line and benchmarks: parse, one library call, print."""
