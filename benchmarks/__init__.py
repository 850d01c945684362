"""`python -m benchmarks [names]`: Bunraku and every installed peer, in the same run."""
