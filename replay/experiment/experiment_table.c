// The set-ups, one line each: nodes, traffic, warm-up and window.
//
// Windows are as long as holds a 95 % interval of three seeds under about 3 %.
#include "experiment.h"

#define KB UINT64_C(1024)
#define MB (UINT64_C(1024) * KB)

#define PING(title, way, bytes, warm, window)                                            \
	{                                                                                \
		.name = title, .kind = TB_EXPERIMENT_##way, .n_nodes = 64,               \
		.n_active = 64, .message_bytes = bytes, .sizes = TB_SIZES_FIXED,         \
		.warm_us = warm, .window_us = window                                     \
	}
#define LATENCY(title, nodes, bytes)                                                     \
	{                                                                                \
		.name = title, .kind = TB_EXPERIMENT_LATENCY, .n_nodes = nodes,          \
		.n_active = nodes, .message_bytes = bytes, .sizes = TB_SIZES_FIXED       \
	}
#define PATTERN(title, which, active, bytes, warm, window)                               \
	{                                                                                \
		.name = title, .kind = TB_EXPERIMENT_PATTERN, .n_nodes = 64,             \
		.n_active = active, .pattern = which, .message_bytes = bytes,            \
		.warm_us = warm, .window_us = window                                     \
	}
#define LIGHT(title, which, of_rate, warm, window)                                       \
	{                                                                                \
		.name = title, .kind = TB_EXPERIMENT_PATTERN, .n_nodes = 64,             \
		.n_active = 64, .pattern = which, .message_bytes = 4 * KB,               \
		.load = of_rate, .times = TB_SYNTH_EXPONENTIAL, .warm_us = warm,         \
		.window_us = window                                                      \
	}
#define HOT(title, nodes, active, reading)                                               \
	{                                                                                \
		.name = title, .kind = TB_EXPERIMENT_HOT, .n_nodes = nodes,              \
		.n_active = active, .message_bytes = MB, .reads = reading,               \
		.warm_us = 100000, .window_us = 400000                                   \
	}
// Writes alone: what I/O nodes take in table 1 of paper 000 is as much as a link carries
// in one direction, more than a node can take while it sends.
#define IO(title, where, fixed, only) IO_READS(title, where, fixed, only, 0)
#define IO_READS(title, where, fixed, only, reading)                                     \
	{                                                                                \
		.name = title, .kind = TB_EXPERIMENT_IO, .n_nodes = 64, .n_active = 64,  \
		.message_bytes = MB, .sizes = TB_SIZES_EXPONENTIAL, .n_io = 8,           \
		.place = TB_IO_##where, .deterministic = fixed, .dedicated = only,       \
		.reads = reading, .warm_us = 40000,                                      \
		.window_us = (fixed) ? 80000 : 240000                                    \
	}
// Half of the I/O reads (paper 000, 5.6).
#define MIX(title, where, last, only, load)                                              \
	{                                                                                \
		.name = title, .kind = TB_EXPERIMENT_MIX, .n_nodes = 64, .n_active = 64, \
		.message_bytes = 256 * KB, .sizes = TB_SIZES_EXPONENTIAL, .n_io = 8,     \
		.place = TB_IO_##where, .compute_last = last, .dedicated = only,         \
		.io_load = load, .reads = 0.5, .warm_us = 20000, .window_us = 100000     \
	}
#define MIX_LOADS(title, where, last, only)                                              \
	MIX(title, where, last, only, 0), MIX(title ".1", where, last, only, 0.1),       \
		MIX(title ".3", where, last, only, 0.3),                                 \
		MIX(title ".5", where, last, only, 0.5)

const struct tb_experiment tb_experiments[] = {
	PING("ping", PING, MB, 2000, 20000),
	PING("ping.both", BOTH_WAYS, MB, 2000, 20000),
	LATENCY("latency", 64, 0),
	LATENCY("latency.64", 64, 64),
	LATENCY("latency.0.16", 16, 0),
	PATTERN("uniform", "uniform", 64, 256 * KB, 20000, 40000),
	PATTERN("uniform.32", "uniform", 32, 256 * KB, 20000, 60000),
	PATTERN("uniform.4k", "uniform", 64, 4 * KB, 2000, 10000),
	PATTERN("uniform.16k", "uniform", 64, 16 * KB, 2000, 20000),
	PATTERN("uniform.64k", "uniform", 64, 64 * KB, 20000, 20000),
	PATTERN("uniform.1m", "uniform", 64, MB, 20000, 60000),
	PATTERN("neighbour", "neighbour", 64, 256 * KB, 3000, 12000),
	PATTERN("butterfly", "butterfly", 64, 256 * KB, 3000, 12000),
	PATTERN("complement", "complement", 64, 256 * KB, 3000, 12000),
	LIGHT("complement.light", "complement", 0.3, 6000, 60000),
	LIGHT("complement.medium", "complement", 0.6, 6000, 60000),
	PATTERN("shuffle", "shuffle", 64, 256 * KB, 3000, 30000),
	PATTERN("transpose", "transpose", 64, 256 * KB, 3000, 30000),
	PATTERN("bit-reversal", "bit-reversal", 64, 256 * KB, 3000, 30000),
	HOT("hot.32", 64, 32, 0),
	HOT("hot", 64, 64, 0),
	HOT("hot.16.write", 16, 16, 0),
	HOT("hot.16.read", 16, 16, 1),
	IO("io.random.clustered.shared", CLUSTERED, false, false),
	IO("io.random.clustered.dedicated", CLUSTERED, false, true),
	IO("io.random.distributed.shared", DISTRIBUTED, false, false),
	IO("io.random.distributed.dedicated", DISTRIBUTED, false, true),
	IO("io.fixed.clustered.shared", CLUSTERED, true, false),
	IO("io.fixed.clustered.dedicated", CLUSTERED, true, true),
	IO("io.fixed.distributed.shared", DISTRIBUTED, true, false),
	IO("io.fixed.distributed.dedicated", DISTRIBUTED, true, true),
	IO_READS("io.random.clustered.dedicated.half", CLUSTERED, false, true, 0.5),
	IO_READS("io.random.clustered.dedicated.reads", CLUSTERED, false, true, 1),
	MIX_LOADS("mix.1c.shared", CLUSTERED, false, false),
	MIX_LOADS("mix.1i.shared", CLUSTERED, true, false),
	MIX_LOADS("mix.distributed.shared", DISTRIBUTED, false, false),
	MIX_LOADS("mix.1c.dedicated", CLUSTERED, false, true),
	MIX_LOADS("mix.1i.dedicated", CLUSTERED, true, true),
	MIX_LOADS("mix.distributed.dedicated", DISTRIBUTED, false, true),
	{.name = NULL},
};
