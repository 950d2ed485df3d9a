// The timed experiments of papers 002 to 004, one line each.
#include "timed.h"

#define KB (UINT64_C(1024))
#define MB (UINT64_C(1024) * KB)

// 002, 4 and 003, 3: four nodes of four processors on one QS8A switch, PCI-X at 100 MHz,
// one or two rails. 004, 7: eight nodes on one, PCI-X at 133 MHz.
#define ONE_RAIL  "qsnet2,arity=8,levels=1,bus=668MB/s"
#define TWO_RAILS ONE_RAIL ",rails=2"
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

// A resize takes a server as long as brings one client's to the 0.141 ms that table 3 of
// 004 has with Elan4.
#define RESIZE_NS UINT64_C(136000)

#define COLLECTIVE(title, net, operation, how, ports, size)                              \
	{                                                                                \
		.name = title, .timed = &(const struct tb_timed)                         \
		{                                                                        \
			.network = net, .ranks_a_node = 4, .n_repeats = 4,               \
			.collective = operation, .algorithm = how, .n_ranks = 16,        \
			.n_ports = ports, .bytes = size                                  \
		}                                                                        \
	}
#define PORTS_2(operation, how, text, size)                                              \
	COLLECTIVE(operation "." how "." text, TWO_RAILS, operation, how, 2, size)
#define SHORT(operation, how)                                                            \
	PORTS_2(operation, how, "4", 4), PORTS_2(operation, how, "64", 64),              \
		PORTS_2(operation, how, "256", 256)
#define LONG(operation, how)                                                             \
	PORTS_2(operation, how, "4k", 4 * KB), PORTS_2(operation, how, "32k", 32 * KB),  \
		PORTS_2(operation, how, "256k", 256 * KB)
// 16 KB are "medium" in 003, 4.4.
#define MEDIUM(operation, how)                                                           \
	PORTS_2(operation, how, "16k", 16 * KB),                                         \
		PORTS_2(operation, how, "256k", 256 * KB),                               \
		PORTS_2(operation, how, "1m", MB)
// The Elan library's own: one port on one rail; a second one helps neither all-gather nor
// gather, and all-to-all with large messages only (003, 4.4).
#define NATIVE(operation, how, text, size)                                               \
	COLLECTIVE("elan." operation "." how "." text, ONE_RAIL, operation, how, 1, size)

#define IO(title, which, net, over, storage)                                             \
	{                                                                                \
		.name = title, .timed = &(const struct tb_timed)                         \
		{                                                                        \
			.network = net, .ranks_a_node = 1, .n_repeats = 2,               \
			.benchmark = which, .transport = over,                           \
			.pack_bytes_per_s = PACK_BYTES_PER_S,                            \
			.storage_bytes_per_s = storage                                   \
		}                                                                        \
	}
#define READS(which)                                                                     \
	IO("pvfs." which ".elan4", which, PVFS, TB_IO_ELAN, READ_BYTES_PER_S),           \
		IO("pvfs." which ".tcp", which, PVFS_TCP_READ, TB_IO_TCP, 0)
#define WRITES(which)                                                                    \
	IO("pvfs." which ".elan4", which, PVFS, TB_IO_ELAN, WRITE_BYTES_PER_S),          \
		IO("pvfs." which ".tcp", which, PVFS_TCP, TB_IO_TCP, WRITE_BYTES_PER_S)
#define RESIZE(title, net, over)                                                         \
	{                                                                                \
		.name = title, .timed = &(const struct tb_timed)                         \
		{                                                                        \
			.network = net, .ranks_a_node = 1, .n_repeats = 2,               \
			.benchmark = "resize", .n_clients = 1, .n_servers = 2,           \
			.transport = over, .service_ns = RESIZE_NS                       \
		}                                                                        \
	}

// Pings of two nodes: there and back by an all-reduce of 4 B, which a tree of two ranks
// sends up and down; a megabyte one way by a scatter, both ways by an all-to-all.
#define PING(title, net, operation, how, size)                                           \
	{                                                                                \
		.name = title, .timed = &(const struct tb_timed)                         \
		{                                                                        \
			.network = net, .ranks_a_node = 1, .n_repeats = 16,              \
			.collective = operation, .algorithm = how, .n_ranks = 2,         \
			.n_ports = 1, .bytes = size                                      \
		}                                                                        \
	}
#define PING_BACK(title, net) PING("ping.back." title, net, "allreduce", "tree", 4)
#define PING_WAY(title, net)  PING("ping.way." title, net, "scatter", "sequential", MB)
#define PING_BOTH(title, net) PING("ping.both." title, net, "alltoall", "direct", MB)

const struct tb_experiment tb_timed_experiments[] = {
	PING_BACK("put", ONE_RAIL),
	PING_BOTH("put.1", ONE_RAIL),
	PING_BOTH("put.2", TWO_RAILS),
	PING_BACK("write", PVFS),
	PING_WAY("write", PVFS),
	PING_BACK("read", PVFS ",host=get"),
	PING_WAY("read", PVFS ",host=get"),
	PING_BACK("qdma", PVFS ",host=qdma"),
	PING_WAY("qdma", PVFS ",host=qdma"),
	PING_BACK("tcp", PVFS_TCP),
	PING_WAY("tcp", PVFS_TCP),
	SHORT("allgather", "bruck"),
	SHORT("allgather", "direct"),
	SHORT("allgather", "exchange"),
	LONG("allgather", "bruck"),
	LONG("allgather", "direct"),
	LONG("allgather", "exchange"),
	NATIVE("allgather", "ring", "4k", 4 * KB),
	NATIVE("allgather", "ring", "32k", 32 * KB),
	NATIVE("allgather", "ring", "256k", 256 * KB),
	PORTS_2("gather", "binomial", "1m", MB),
	NATIVE("gather", "tree", "1m", MB),
	PORTS_2("alltoall", "direct", "16k", 16 * KB),
	NATIVE("alltoall", "permission", "16k", 16 * KB),
	SHORT("scatter", "binomial"),
	SHORT("scatter", "sequential"),
	MEDIUM("scatter", "binomial"),
	MEDIUM("scatter", "sequential"),
	READS("read"),
	WRITES("write"),
	READS("tile-read"),
	WRITES("tile-write"),
	WRITES("bt"),
	RESIZE("pvfs.resize.elan4", PVFS, TB_IO_ELAN),
	RESIZE("pvfs.resize.tcp", PVFS_TCP, TB_IO_TCP),
	{0},
};
