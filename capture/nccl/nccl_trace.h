// Private to capture/nccl: what is kept of a log.
#ifndef TB_NCCL_TRACE_H
#define TB_NCCL_TRACE_H

#include "calls.h"
#include "map.h"
#include "reading.h"

#define NL_NONE		UINT32_MAX
#define NL_RANKS_MAX	(UINT32_C(1) << 20)
#define NL_RECENT	32 // calls of a process that a line on their algorithm may mean
#define NL_COUNTS_MAX	128
#define NL_CHANNELS_MAX 256

// A line of NCCL. Texts are borrowed from the line and, but for `text`, not terminated.
struct nl_line {
	const char *host;
	size_t host_n;
	uint64_t pid, thread;
	uint32_t device; // NL_NONE: it names none
	bool has_time;
	uint64_t at_ns;	  // since 1970
	const char *text; // behind "NCCL INFO "
};

// What a call does: an enum tb_collective_op, or one of these.
enum { NL_SEND = TB_COLL_N, NL_RECV };

struct nl_op {
	uint64_t count, stream, number; // `number` is NCCL's opCount
	uint64_t at_ns;
	uint32_t comm, root;
	uint8_t what, element_bytes;
	struct tb_observed observed;
};

// A channel of a communicator as one rank sees it; NL_NONE: no rank.
struct nl_channel {
	uint32_t number;
	bool has_ring, has_tree;
	uint32_t previous, next;
	uint32_t up, down[3];
	uint32_t *order; // all ranks, as the first one writes them; or NULL
	uint32_t n_order;
};

// A communicator as one rank sees it.
struct nl_comm {
	uint64_t pointer, id; // id 0: the log has none
	uint32_t process, device;
	uint32_t rank, n_ranks; // NL_NONE, 0: unknown
	uint32_t n_nodes, local_ranks;
	bool is_begun, is_complete, is_gone;
	uint64_t n_ops;
	struct nl_channel *channels;
	size_t n_channels, channels_room;
	// Once grouped:
	uint32_t gpu, group;
};

struct nl_process {
	char *host;
	uint64_t pid;
	char *adapters; // "[0]mlx5_0:1/IB [1]...", or NULL
	uint32_t recent[NL_RECENT];
	uint32_t n_recent;
};

// A thread, and the communicator that it is setting up.
struct nl_thread {
	uint64_t id;
	uint32_t process, comm;
};

// A GPU of a process.
struct nl_gpu {
	uint32_t process, device;
	uint32_t rank;	   // of the job; NL_NONE: it has none
	uint64_t adapters; // by number
	char network[16];  // what they are adapters of
};

// The communicators of different ranks that are the same.
struct nl_group {
	uint64_t id;
	uint32_t n_ranks, turn; // which of its size it is, for its ranks
	uint32_t n_members;
	uint32_t *members; // by rank, comms; NULL unless all are there
	bool is_numbered;  // the log does not name ranks: they go by host and device
	bool is_unsure;	   // another group could have its members
	uint64_t n_ops;
	uint32_t number; // in the calls
};

// How often a fact was logged.
struct nl_count {
	char text[64];
	uint64_t n;
};

struct nl_counts {
	struct nl_count rows[NL_COUNTS_MAX];
	size_t n;
	uint64_t n_more; // of what had no room
};

struct nl_log {
	const char *file;
	const char *parts; // what its processes wrote: "logs"
	const char *lane;  // whose calls follow each other: "stream"
	uint64_t line;	   // of the file
	uint64_t n_lines;
	struct nl_process *processes;
	size_t n_processes, processes_room;
	struct nl_thread *threads;
	size_t n_threads, threads_room;
	struct nl_comm *comms;
	size_t n_comms, comms_room;
	struct nl_gpu *gpus;
	size_t n_gpus, gpus_room;
	struct nl_group *groups;
	size_t n_groups, groups_room;
	struct nl_op *ops;
	size_t n_ops, ops_room;
	struct tb_map process_of, thread_of, comm_of, gpu_of;
	struct tb_map newest_of; // PID to the newest process that has it
	struct nl_counts versions, settings, networks, connections, algorithms, left_out;
	uint64_t port_bits_per_s; // of its adapters, the fastest; 0: no line says it
	uint64_t n_untimed;
	uint64_t first_ns, last_ns; // of the lines with times
	uint64_t n_broken_lines, n_broken_files, n_self;
	uint32_t n_ranks;  // of the job
	uint32_t n_cloned; // of these
	struct tb_error *error;
};

// tb_nl_adapters returns how many adapters the first process names that names some, and
// stores their list ("[0]mlx5_0:1/IB [1]...") and its host; 0 without any.
uint32_t tb_nl_adapters(const struct nl_log *log, const char **list, const char **host);

// tb_nl_read reads the logs, and clones ranks if `clone_ranks` is not 0; free with
// tb_nl_fini, after failures too.
int tb_nl_read(struct nl_log *log, const struct tb_reading *reading, uint32_t clone_ranks,
	const char *const *paths, size_t n) TB_MUST_USE;
void tb_nl_fini(struct nl_log *log);
int tb_nl_no_memory(const struct nl_log *log);

// tb_nl_line splits a line into its parts; false if it is not one of NCCL.
bool tb_nl_line(struct nl_line *line, const char *text);

// tb_nl_version reads the version from any line that names it, and the settings of the
// environment that affect NCCL's choices (library.h).
void tb_nl_version(struct nl_log *log, const char *text);

// These read what they need from a line, and ignore any other line.
int tb_nl_topology(struct nl_log *log, const struct nl_line *line) TB_MUST_USE;
int tb_nl_call(struct nl_log *log, const struct nl_line *line) TB_MUST_USE;
int tb_nl_choice(struct nl_log *log, const struct nl_line *line) TB_MUST_USE;

// tb_nl_names returns whether a name ("AllReduce") is that of a call, and stores which
// one; tb_nl_op_add adds a call of a process.
bool tb_nl_names(const char *text, size_t n, uint8_t *what);
int tb_nl_op_add(
	struct nl_log *log, const struct nl_op *op, uint32_t process) TB_MUST_USE;

// tb_nl_process stores the number of the process of a line, tb_nl_gpu that of one of its
// GPUs.
int tb_nl_process(
	struct nl_log *log, const struct nl_line *line, uint32_t *process) TB_MUST_USE;
int tb_nl_gpu(
	struct nl_log *log, uint32_t process, uint32_t device, uint32_t *gpu) TB_MUST_USE;

// tb_nl_comm_add adds a communicator: the newest one of its process at its address.
int tb_nl_comm_add(
	struct nl_log *log, const struct nl_comm *made, uint32_t *comm) TB_MUST_USE;

void tb_nl_count(struct nl_counts *counts, const char *text, size_t n);

// tb_nl_mix hashes two numbers.
static inline uint64_t tb_nl_mix(uint64_t a, uint64_t b)
{
	a = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
	return a ^ a >> 29;
}

// tb_nl_group finds which communicators of the ranks are one, and numbers the ranks.
// Before, it adds the ranks of a job of `clone_ranks`, unless 0, that have no log: rank r
// does what the GPU at place r modulo their number does. TB_EUSAGE where that makes no
// sense.
int tb_nl_group(struct nl_log *log, uint32_t clone_ranks) TB_MUST_USE;

// tb_nl_calls makes the calls, after everything else was done.
int tb_nl_calls(struct nl_log *log, const struct tb_reading *reading,
	struct tb_calls **calls) TB_MUST_USE;

#endif
