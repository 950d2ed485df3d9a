// What benchmarks of networks print: tables of message sizes and times, as rows of one
// form.
//
// Read are nccl-tests and rccl-tests (also behind what launchers put before each line,
// several sizes and operations in a file), OSU micro-benchmarks, Intel MPI Benchmarks,
// perftest (ib_write_bw and its kind), NetPIPE, GPCNET and mpiGraph; tables of one rank,
// pair or rail after another keep whose they are. Nothing is computed that was not
// printed: what a table lacks is NAN. Memory grows with the rows.
#ifndef TB_BENCHMARK_H
#define TB_BENCHMARK_H

#include "collective_ops.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What was measured.
enum tb_benchmark_kind {
	TB_BENCH_COLLECTIVE, // a collective operation of all ranks (row.op)
	TB_BENCH_LATENCY,    // a message there and back; the time is half of that
	TB_BENCH_STREAM,     // messages one way, a window of them under way
	TB_BENCH_BOTH_WAYS,  // the same in both directions at once; rates are the sum
	TB_BENCH_PAIRS,	     // streams between pairs of ranks of two halves at once
	TB_BENCH_NEIGHBORS,  // each rank sends to the next one
	TB_BENCH_EXCHANGE, // each rank sends to both neighbours; IMB's rate has both ways
};

// One line of a table. Bytes per second are 1e9-based: a tool's MiB/s are converted.
struct tb_benchmark_row {
	enum tb_benchmark_kind kind;
	enum tb_collective_op op; // of TB_BENCH_COLLECTIVE
	uint64_t bytes; // as calls have them: see enum tb_collective_op; of others
			// a message. 0 where that takes the number of ranks, which
			// nothing says, and of barriers
	uint64_t printed_bytes; // as the tool has them in its first column
	double time_ns;		// of one operation; NAN: not printed
	double algorithm_rate;	// bytes/s that the tool prints as its rate; NAN
	double bus_rate;	// nccl-tests' busbw, bytes/s; NAN
	bool in_place;
	bool random_neighbors;	// in a random ring (GPCNET), else rank by rank
	uint64_t n_wrong;	// values that the tool's own check found wrong ("#wrong")
	uint32_t n_ranks;	// 0: unknown
	uint32_t first, second; // ranks that a table of pairs or ranks is about;
				// UINT32_MAX: of all
	uint32_t rail;		// adapter, of runs with several; UINT32_MAX: of all
	uint32_t table;		// which of the file's tables
	size_t line;		// from 1
};

// One table's set-up, as far as it was printed.
struct tb_benchmark_table {
	const char *tool;    // "nccl-tests", "rccl-tests", "OSU", "IMB", "perftest",
			     // "NetPIPE", "GPCNET"
	const char *name;    // of the benchmark: "all_reduce_perf", "osu_allreduce"
	const char *version; // "" when unknown; of the library where it is printed (NCCL)
	const char *datatype;  // "" when unknown
	uint32_t n_ranks;      // 0: unknown
	uint32_t n_hosts;      // 0: unknown
	const uint32_t *hosts; // by rank: number of its host in host_names; NULL: unknown
	const char *const *host_names;	 // by host
	const char *const *device_names; // by rank, "NVIDIA H100"; NULL: unknown
	const char *adapter;		 // "mlx5_3" of perftest; "" unknown
	const char *file;
	size_t line;
};

struct tb_benchmark; // opaque

// tb_benchmark_tool returns the tool whose table a file has in its first MiB; NULL: none,
// or the file cannot be read.
const char *tb_benchmark_tool(const char *path);

// tb_benchmark_read reads files; `n_ranks` is taken where a table does not say how many
// ranks there were (0: unknown). TB_EFORMAT, with file and line, for a table that ends
// within a line, whose columns are not what its head says, whose times and rates
// contradict each other by more than their rounding (another unit), or in which sizes of
// one series stand twice with other values (two runs merged). The caller frees with
// tb_benchmark_close.
int tb_benchmark_read(struct tb_benchmark **benchmark, const char *const *paths, size_t n,
	uint32_t n_ranks, struct tb_error *error) TB_MUST_USE;
void tb_benchmark_close(struct tb_benchmark *benchmark);

// tb_benchmark_plan makes the table that nccl-tests would print of an operation, or with
// `mpi` OSU micro-benchmarks: a row for each size, as the tool has it, and no figures.
// TB_EUSAGE where the tool has no test of it.
int tb_benchmark_plan(struct tb_benchmark **benchmark, bool mpi, enum tb_collective_op op,
	const uint64_t *sizes, size_t n, uint32_t n_ranks,
	struct tb_error *error) TB_MUST_USE;

size_t tb_benchmark_n_rows(const struct tb_benchmark *benchmark);
const struct tb_benchmark_row *tb_benchmark_row(
	const struct tb_benchmark *benchmark, size_t i);
// tb_benchmark_operation returns what a row is of: "allreduce", "latency", "both ways".
const char *tb_benchmark_operation(const struct tb_benchmark_row *row);
size_t tb_benchmark_n_tables(const struct tb_benchmark *benchmark);
const struct tb_benchmark_table *tb_benchmark_table(
	const struct tb_benchmark *benchmark, size_t i);

// tb_benchmark_note returns sentences about what was left out: tests that have no
// counterpart here, and runs that failed; NULL: nothing was.
const char *tb_benchmark_note(const struct tb_benchmark *benchmark);

#endif
