"""Benchmarks, run by `make bench`: compare ratios within one run, not seconds across machines."""
