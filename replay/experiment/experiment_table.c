// The set-ups, one line each: nodes, traffic, warm-up and window; and the timed ones of
// papers 002 to 004. Names such as "hot nodes=32" change one (sweep.h).
//
// Windows are as long as holds a 95 % interval of three seeds under about 3 %.
#include "experiment.h"
#include "timed.h"

#define KB UINT64_C(1024)
#define MB (UINT64_C(1024) * KB)

#define PING(title, way, bytes, warm, window)                                            \
	{                                                                                \
		.name = title, .kind = TB_EXPERIMENT_##way, .n_nodes = 64,               \
		.n_active = 64, .message_bytes = bytes, .sizes = TB_SIZES_FIXED,         \
		.warm_us = warm, .window_us = window                                     \
	}
#define LATENCY(title)                                                                   \
	{                                                                                \
		.name = title, .kind = TB_EXPERIMENT_LATENCY, .n_nodes = 64,             \
		.n_active = 64, .sizes = TB_SIZES_FIXED                                  \
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
#define HOT(title)                                                                       \
	{                                                                                \
		.name = title, .kind = TB_EXPERIMENT_HOT, .n_nodes = 64, .n_active = 64, \
		.message_bytes = MB, .warm_us = 100000, .window_us = 400000              \
	}
// Writes alone: what I/O nodes take in table 1 of paper 000 is as much as a link carries
// in one direction, more than a node can take while it sends.
#define IO(title, where, fixed, only)                                                    \
	{                                                                                \
		.name = title, .kind = TB_EXPERIMENT_IO, .n_nodes = 64, .n_active = 64,  \
		.message_bytes = MB, .sizes = TB_SIZES_EXPONENTIAL, .n_io = 8,           \
		.place = TB_IO_##where, .deterministic = fixed, .dedicated = only,       \
		.warm_us = 40000, .window_us = (fixed) ? 80000 : 120000                  \
	}
// Half of the I/O reads (paper 000, 5.6).
#define MIX(title, where, last, only)                                                    \
	{                                                                                \
		.name = title, .kind = TB_EXPERIMENT_MIX, .n_nodes = 64, .n_active = 64, \
		.message_bytes = 256 * KB, .sizes = TB_SIZES_EXPONENTIAL, .n_io = 8,     \
		.place = TB_IO_##where, .compute_last = last, .dedicated = only,         \
		.reads = 0.5, .warm_us = 20000, .window_us = 100000                      \
	}

// 002, 4 and 003, 3: four nodes of four processors on one QS8A switch, PCI-X at 100 MHz,
// one or two rails. 004, 7: eight nodes on one, PCI-X at 133 MHz.
#define ONE_RAIL  "qsnet2,arity=8,levels=1,bus=668MB/s"
#define TWO_RAILS ONE_RAIL ",rails=2"
#define MPI	  ONE_RAIL ",host=mpi"
#define PVFS	  "qsnet2,arity=8,levels=1"
#define PVFS_TCP  PVFS ",host=tcp"

// What 004's hosts copy crosses their memory bus, 533 MHz by 8 bytes (004, 7), so many
// times (docs/validation.md has the reasons and what other counts give): lists that TCP
// packs and unpacks; what is written into a server's file system, which is in memory
// (004, 7.2); what a server reads from its cache. RDMA moves a piece while the server
// copies the next one, TCP's processor copies as well: 526 MB/s of the library after
// 2132 of the cache are 422.
#define MEMORY_BUS_BYTES_PER_S UINT64_C(4264000000)
#define PACK_BYTES_PER_S       (MEMORY_BUS_BYTES_PER_S / 4)
#define WRITE_BYTES_PER_S      (MEMORY_BUS_BYTES_PER_S / 3)
#define READ_BYTES_PER_S       (MEMORY_BUS_BYTES_PER_S / 2)
#define PVFS_TCP_READ	       PVFS_TCP ",copy=422MB/s"

// What a request for metadata takes a server: as long as brings one client's resize, of
// one step, and creation, of five, to the 0.141 and 27.669 ms that table 3 of 004 has
// with Elan4. PVFS2's own program calls again and again, and divides by the calls
// (mpi-md-test). MPI between the clients is by TCP in both columns (docs/validation.md),
// of which the processors take 11 us at either end.
#define RESIZE_NS UINT64_C(136000)
#define CREATE_NS UINT64_C(5528900)
#define CLIENT_NS UINT64_C(11000)

// The rate of the local disks (004, 7.2).
#define DISK_BYTES_PER_S UINT64_C(40000000)

// Bruck's last phase, "a local memory shift" (002, 6.3): what the NIC has written is read
// and written once, over the memory bus, 400 MHz by 8 bytes (002, 4), of which each of
// four processors has a quarter.
#define SHIFT_BYTES_PER_S (UINT64_C(3200000000) / 2 / 4)

#define COLLECTIVE(title, net, operation, how, ports, shift)                             \
	{                                                                                \
		.name = title, .kind = TB_EXPERIMENT_TIMED, .n_active = 16,              \
		.message_bytes = 32 * KB, .timed = &(const struct tb_timed)              \
		{                                                                        \
			.network = net, .ranks_a_node = 4, .n_repeats = 4,               \
			.collective = operation, .algorithm = how, .n_ports = ports,     \
			.shift_bytes_per_s = shift                                       \
		}                                                                        \
	}
#define PORTS_2(operation, how)                                                          \
	COLLECTIVE(operation "." how, TWO_RAILS, operation, how, 2, 0)
// The Elan library's own: one port on one rail; a second one helps neither all-gather nor
// gather, and all-to-all with large messages only (003, 4.4).
#define NATIVE(operation, how)                                                           \
	COLLECTIVE("elan." operation "." how, ONE_RAIL, operation, how, 1, 0)

// Its broadcast by hardware, to the four nodes (002, 2).
#define HARDWARE_BROADCAST                                                               \
	{                                                                                \
		.name = "elan.broadcast.hardware", .kind = TB_EXPERIMENT_TIMED,          \
		.n_active = 4, .message_bytes = 32 * KB,                                 \
		.timed = &(const struct tb_timed)                                        \
		{                                                                        \
			.network = ONE_RAIL ",host=none,broadcast=yes",                  \
			.ranks_a_node = 1, .n_repeats = 1, .collective = "broadcast",    \
			.algorithm = "hardware", .n_ports = 1                            \
		}                                                                        \
	}

#define PVFS_IO(title, which, net, over, storage)                                        \
	{                                                                                \
		.name = title, .kind = TB_EXPERIMENT_TIMED, .n_active = 4, .n_io = 4,    \
		.timed = &(const struct tb_timed)                                        \
		{                                                                        \
			.network = net, .ranks_a_node = 1, .n_repeats = 2,               \
			.benchmark = which, .transport = over,                           \
			.pack_bytes_per_s = PACK_BYTES_PER_S,                            \
			.storage_bytes_per_s = storage                                   \
		}                                                                        \
	}
#define READS(which)                                                                     \
	PVFS_IO("pvfs." which ".elan4", which, PVFS, TB_IO_ELAN, READ_BYTES_PER_S),      \
		PVFS_IO("pvfs." which ".tcp", which, PVFS_TCP_READ, TB_IO_TCP, 0)
#define WRITES(which)                                                                    \
	PVFS_IO("pvfs." which ".elan4", which, PVFS, TB_IO_ELAN, WRITE_BYTES_PER_S),     \
		PVFS_IO("pvfs." which ".tcp", which, PVFS_TCP, TB_IO_TCP,                \
			WRITE_BYTES_PER_S)
#define SYNCS(title, which)                                                              \
	PVFS_IO("pvfs." title ".elan4", which, PVFS, TB_IO_ELAN, DISK_BYTES_PER_S),      \
		PVFS_IO("pvfs." title ".tcp", which, PVFS_TCP, TB_IO_TCP,                \
			DISK_BYTES_PER_S)
#define METADATA_BY(title, which, net, over, service, client)                            \
	{                                                                                \
		.name = title, .kind = TB_EXPERIMENT_TIMED, .n_active = 1, .n_io = 2,    \
		.timed = &(const struct tb_timed)                                        \
		{                                                                        \
			.network = net, .ranks_a_node = 1, .n_repeats = 16,              \
			.benchmark = which, .transport = over, .service_ns = service,    \
			.client_ns = client                                              \
		}                                                                        \
	}
#define METADATA(which, service)                                                         \
	METADATA_BY(                                                                     \
		"pvfs." which ".elan4", which, PVFS, TB_IO_ELAN, service, CLIENT_NS),    \
		METADATA_BY(                                                             \
			"pvfs." which ".tcp", which, PVFS_TCP, TB_IO_TCP, service, 0)

// Calls of two nodes: there and back by an all-reduce, which a tree of two ranks sends up
// and down; one way by a scatter, both ways by an all-to-all.
#define CALL(title, operation, how, size)                                                \
	{                                                                                \
		.name = title, .kind = TB_EXPERIMENT_TIMED, .n_active = 2,               \
		.message_bytes = size, .timed = &(const struct tb_timed)                 \
		{                                                                        \
			.network = ONE_RAIL, .ranks_a_node = 1, .n_repeats = 16,         \
			.collective = operation, .algorithm = how, .n_ports = 1          \
		}                                                                        \
	}

const struct tb_experiment tb_experiments[] = {
	PING("ping", PING, MB, 2000, 20000),
	PING("ping.both", BOTH_WAYS, MB, 2000, 20000),
	LATENCY("latency"),
	PATTERN("uniform", "uniform", 64, 256 * KB, 20000, 40000),
	PATTERN("neighbour", "neighbour", 64, 256 * KB, 3000, 12000),
	PATTERN("butterfly", "butterfly", 64, 256 * KB, 3000, 12000),
	PATTERN("complement", "complement", 64, 256 * KB, 3000, 12000),
	LIGHT("complement.light", "complement", 0.3, 6000, 60000),
	LIGHT("complement.medium", "complement", 0.6, 6000, 60000),
	PATTERN("shuffle", "shuffle", 64, 256 * KB, 3000, 18000),
	PATTERN("transpose", "transpose", 64, 256 * KB, 3000, 18000),
	PATTERN("bit-reversal", "bit-reversal", 64, 256 * KB, 3000, 18000),
	HOT("hot"),
	IO("io.random.clustered.shared", CLUSTERED, false, false),
	IO("io.random.clustered.dedicated", CLUSTERED, false, true),
	IO("io.random.distributed.shared", DISTRIBUTED, false, false),
	IO("io.random.distributed.dedicated", DISTRIBUTED, false, true),
	IO("io.fixed.clustered.shared", CLUSTERED, true, false),
	IO("io.fixed.clustered.dedicated", CLUSTERED, true, true),
	IO("io.fixed.distributed.shared", DISTRIBUTED, true, false),
	IO("io.fixed.distributed.dedicated", DISTRIBUTED, true, true),
	MIX("mix.1c.shared", CLUSTERED, false, false),
	MIX("mix.1i.shared", CLUSTERED, true, false),
	MIX("mix.distributed.shared", DISTRIBUTED, false, false),
	MIX("mix.1c.dedicated", CLUSTERED, false, true),
	MIX("mix.1i.dedicated", CLUSTERED, true, true),
	MIX("mix.distributed.dedicated", DISTRIBUTED, false, true),
	CALL("there-and-back", "allreduce", "tree", 4),
	CALL("one-way", "scatter", "sequential", MB),
	CALL("both-ways", "alltoall", "direct", MB),
	COLLECTIVE(
		"allgather.bruck", TWO_RAILS, "allgather", "bruck", 2, SHIFT_BYTES_PER_S),
	PORTS_2("allgather", "direct"),
	PORTS_2("allgather", "exchange"),
	NATIVE("allgather", "ring"),
	NATIVE("allgather", "gather-broadcast"),
	PORTS_2("gather", "binomial"),
	NATIVE("gather", "tree"),
	HARDWARE_BROADCAST,
	NATIVE("broadcast", "tree"),
	// What runs on Tports by MPI, by one port (003, 4.4).
	COLLECTIVE("mpi.allgather.ring", MPI, "allgather", "ring", 1, 0),
	COLLECTIVE("mpi.scatter.binomial", MPI, "scatter", "binomial", 1, 0),
	PORTS_2("scatter", "binomial"),
	PORTS_2("scatter", "sequential"),
	PORTS_2("alltoall", "direct"),
	NATIVE("alltoall", "linear"),
	NATIVE("alltoall", "pairwise"),
	NATIVE("alltoall", "permission"),
	READS("read"),
	WRITES("write"),
	READS("tile-read"),
	WRITES("tile-write"),
	WRITES("bt"),
	SYNCS("tile-sync", "tile-write"),
	METADATA("resize", RESIZE_NS),
	METADATA("create", CREATE_NS),
	{.name = NULL},
};
