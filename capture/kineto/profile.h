// What is kept of one profile or execution trace: its communication, and per stream what
// was computed between.
//
// Model: a program hands work to streams of its GPUs in an order that CUPTI counts: the
// correlation id of a kernel is that of the call which launched it. A stream executes its
// work in this order. Marks are the launches of NCCL kernels and the calls that made a
// stream wait for another; they cut the order into slots, and of all other work of a
// stream in a slot only the beginning and the end are kept. Times are nanoseconds since
// the profile's own zero.
#ifndef TB_PROFILE_H
#define TB_PROFILE_H

#include "map.h"
#include "raw_json.h"
#include "reading.h"

#define TB_NONE	    UINT32_MAX
#define TB_NEVER_NS UINT64_MAX

// What a communication does: an enum tb_collective_op, or one of these.
enum { TB_COMM_SEND = TB_COLL_N, TB_COMM_RECV, TB_COMM_WAIT, TB_COMM_OTHER };

// One operation, as its arguments describe it.
struct tb_comm_op {
	uint64_t external; // id that ties it to its kernel; UINT64_MAX: none
	uint64_t begin_ns;
	uint64_t in_bytes, out_bytes;
	uint32_t group;	 // of the profile
	uint32_t peer;	 // rank that a message goes to or comes from; or TB_NONE
	uint32_t root;	 // within the group: "Rank", or TB_NONE
	uint32_t splits; // first of its group's sizes, in elements; TB_NONE: even
	uint32_t n_splits;
	uint8_t what;
	bool has_kernel;
	bool carried; // a kernel of this id was given its operation
};

// A kernel of NCCL.
struct tb_comm_kernel {
	uint64_t order; // correlation id
	uint64_t begin_ns, end_ns;
	uint64_t launch_ns; // or TB_NEVER_NS
	uint64_t external;
	uint64_t stream_key;
	uint32_t stream;	  // of the profile
	uint32_t first_op, n_ops; // in `kernel_ops`; see below
	uint8_t what;		  // as its name says
	bool is_rest;		  // of an operation that an earlier kernel began
	uint32_t own_op;	  // that its own arguments describe, or TB_NONE
};

// A call after which a stream waits. Those that Kineto traced in full (cuda_sync) know
// who waits for whom; of the others it is found out.
struct tb_stream_wait {
	uint64_t order;
	uint64_t at_ns; // without orders
	uint64_t external;
	uint64_t waiter_key, source_key; // UINT64_MAX: unknown
	uint64_t source_order;
	bool for_all;
};

struct tb_mark {
	uint64_t order, at_ns;
	uint32_t index; // in kernels or waits
	bool is_wait;
};

// The work of a stream in a slot: slot i is what comes before mark i.
struct tb_stretch {
	uint32_t slot;
	uint64_t first_order, first_begin_ns, end_ns;
};

struct tb_stream {
	uint64_t key;		      // device and stream
	struct tb_stretch *stretches; // by slot, once the profile is read
	size_t n, room;
};

struct tb_profile_group {
	char *name;
	char *ranks;		// "[0, 1, 2]", perhaps cut; or NULL
	uint32_t size;		// 0: unknown
	uint32_t start, stride; // stride 0: unknown
};

struct tb_profile {
	const char *path;	// borrowed
	char *host;		// or NULL
	uint32_t rank, n_ranks; // TB_NONE, 0: the file does not say
	bool has_orders;	// correlation ids, and the calls that launch
	bool has_syncs;		// waits are traced in full
	bool has_no_times;	// it is an execution trace
	uint64_t begin_ns;	// of the first work of a GPU
	struct tb_comm_op *ops;
	size_t n_ops, ops_room;
	struct tb_comm_kernel *kernels; // by order
	size_t n_kernels, kernels_room;
	uint32_t *kernel_ops; // what each kernel does: numbers of ops
	size_t n_kernel_ops, kernel_ops_room;
	uint64_t *splits;
	size_t n_splits, splits_room;
	struct tb_stream_wait *waits;
	size_t n_waits, waits_room;
	struct tb_mark *marks;
	size_t n_marks;
	struct tb_stream *streams;
	struct tb_map stream_of; // key to the place in `streams`
	size_t n_streams, streams_room;
	struct tb_profile_group *groups;
	size_t n_groups, groups_room;
	struct tb_profile_group *config; // of distributedInfo
	size_t n_config, config_room;
	uint64_t n_unknown; // kernels of which nothing says what they send
	uint64_t n_cut_splits, n_unlaunched;
	uint64_t n_broken; // files that break off, so 0 or 1
};

// tb_profile_read reads a profile, which the caller frees with tb_profile_fini, after
// failures too. `lenient` drops kernels whose operation is not known, and takes a file
// that breaks off.
int tb_profile_read(struct tb_profile *profile, const char *path,
	const struct tb_reading *reading, struct tb_error *error) TB_MUST_USE;
void tb_profile_fini(struct tb_profile *profile);

// Its parts.

// tb_profile_comm adds the operation that arguments describe and stores its number;
// TB_NONE if they describe none.
int tb_profile_comm(struct tb_profile *profile, struct tb_raw args, uint64_t begin_ns,
	uint32_t *op, struct tb_error *error) TB_MUST_USE;

// tb_profile_node takes what a node of an execution trace does, if it communicates, as a
// kernel at time 0; or the number of ranks, if it sets up groups.
int tb_profile_node(struct tb_profile *profile, struct tb_raw node,
	struct tb_error *error) TB_MUST_USE;

// tb_profile_info takes over what "distributedInfo" says.
int tb_profile_info(struct tb_profile *profile, struct tb_raw info,
	struct tb_error *error) TB_MUST_USE;

// tb_comm_of_kernel returns what a kernel of NCCL's does by its name.
uint8_t tb_comm_of_kernel(struct tb_raw name);

// tb_profile_order sorts kernels and waits, drops waits within communication operations,
// and makes the marks.
int tb_profile_order(struct tb_profile *profile, struct tb_error *error) TB_MUST_USE;

// tb_profile_stream stores the number of a stream, a new one where it is new.
int tb_profile_stream(struct tb_profile *profile, uint64_t key, uint32_t *stream,
	struct tb_error *error) TB_MUST_USE;

// tb_profile_work adds other work of a stream, in any order; tb_profile_end when there is
// no more.
struct tb_work {
	uint64_t key, order, begin_ns, end_ns;
};
int tb_profile_work(struct tb_profile *profile, const struct tb_work *work,
	struct tb_error *error) TB_MUST_USE;
void tb_profile_end(struct tb_profile *profile);

// tb_profile_pair gives each kernel its operations, when launches are known.
int tb_profile_pair(struct tb_profile *profile, const struct tb_reading *reading,
	struct tb_error *error) TB_MUST_USE;

#endif
