// How right the model was on measured clusters, by classes of what benchmarks measure.
//
// The table is schemas/expected.csv, which tests/measured/ranges.py makes: a line per
// class, with the range of measured speed over expected speed that 90 % of its rows lie
// in, widened by what rows of a cluster differ from those of others.
#ifndef TB_MEASURED_RANGE_H
#define TB_MEASURED_RANGE_H

#include <stdbool.h>
#include <stdint.h>

struct tb_measured_range {
	double n_rows, n_clusters, low, high;
};

// tb_measured_range_of finds the range of an operation ("allreduce", "latency") of so
// many bytes as nccl-tests or OSU print them, with a library ("nccl", "mpi", "verbs"), on
// several hosts or one; false: it was measured nowhere.
bool tb_measured_range_of(struct tb_measured_range *range, const char *operation,
	uint64_t bytes, const char *library, bool several);

#endif
