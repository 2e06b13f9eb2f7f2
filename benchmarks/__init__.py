"""Speed and memory, beside named peers. Run all with `make bench`, or some with `python -m benchmarks NAME …`."""
