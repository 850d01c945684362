"""What the benchmarks compare with, written as well as each library allows."""
