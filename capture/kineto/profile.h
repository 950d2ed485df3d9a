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
#include "reading.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// Raw JSON: a value as it stands in its file, and what is in it.
//
// Nothing is copied and nothing recursive: values nest as deep as they like. Texts are
// borrowed and not terminated. RFC 8259.

struct tb_raw {
	const char *data;
	size_t n;
};

// A walk through the members of an object, or the elements of an array.
struct tb_raw_walk {
	struct tb_raw text;
	size_t at;
	bool failed; // it is not well formed
};

// tb_raw_walk_begin begins at the first member; a value that is neither object nor array
// has none.
struct tb_raw_walk tb_raw_walk_begin(struct tb_raw value);

// tb_raw_walk_next stores the next member's key, without quotes (empty in arrays), and
// its value, and returns whether there was one.
bool tb_raw_walk_next(struct tb_raw_walk *walk, struct tb_raw *key, struct tb_raw *value);

// tb_raw_string returns the contents of a string, escapes untouched; of any other value,
// the value itself.
static inline struct tb_raw tb_raw_string(struct tb_raw value)
{
	if (value.n >= 2 && value.data[0] == '"')
		return (struct tb_raw){value.data + 1, value.n - 2};
	return value;
}

// tb_raw_is returns whether a key, or the contents of a string, equals `word`.
static inline bool tb_raw_is(struct tb_raw text, const char *word)
{
	text = tb_raw_string(text);
	if (text.n == 0 || *text.data != *word) // of most keys
		return text.n == 0 && *word == '\0';
	return strlen(word) == text.n && memcmp(word, text.data, text.n) == 0;
}

// tb_raw_find returns an object's member; empty if it has none.
struct tb_raw tb_raw_find(struct tb_raw object, const char *name);

// These read a number, also a quoted one, and return whether it is a number within range.
// tb_raw_micros reads microseconds with decimals, 0 or more, as nanoseconds.
bool tb_raw_count(struct tb_raw value, uint64_t *count);
bool tb_raw_micros(struct tb_raw value, uint64_t *ns);

// Walks through a JSON file that is too large to hold: one object with members, of which
// some are long arrays.
//
// Model: the items of the file are the elements of each array that is a member of its
// outermost object, and every other member. An item is raw text, found by its brackets
// and quotes alone; profile.c reads what is in it. Memory: the largest item, at most 16
// MiB. Cost: one look at each byte. Two passes over 343 MB with all that is made of them
// take 1.25 s of CPU; yajl takes 1.68 s for the same passes with callbacks that do
// nothing. One thread at a time.

#define TB_JSON_ITEM_MAX ((size_t)16 << 20)

struct tb_json_items; // opaque

struct tb_json_item {
	struct tb_raw key; // of the member, or of the array; without quotes
	struct tb_raw value;
	uint64_t offset; // of the value in the file, decompressed
	bool in_array;
};

// tb_json_items_new begins with a stream, which stays the caller's; `name` is that of the
// file, for errors, and is borrowed. tb_json_items_free: NULL is fine.
int tb_json_items_new(struct tb_json_items **items, FILE *stream, const char *name,
	struct tb_error *error) TB_MUST_USE;
void tb_json_items_free(struct tb_json_items *items);

// tb_json_items_next stores the next item, which lives until the next call: 1, or 0 at
// the end of the outermost object. TB_EFORMAT, with the offset, for what is not JSON, for
// a file that ends too early and for an item of more than TB_JSON_ITEM_MAX.
int tb_json_items_next(struct tb_json_items *items, struct tb_json_item *item,
	struct tb_error *error) TB_MUST_USE;

// tb_json_items_is_cut returns whether the last TB_EFORMAT was that the file ends too
// early.
bool tb_json_items_is_cut(const struct tb_json_items *items);

#define TB_NONE	    UINT32_MAX
#define TB_NEVER_NS UINT64_MAX

// What a communication does: an enum tb_collective_op, or one of these.
enum { TB_COMM_SEND = TB_COLL_N, TB_COMM_RECV, TB_COMM_WAIT, TB_COMM_OTHER };

// What describes an operation, the better first: the arguments that PyTorch from 2.1 on
// gives it; the annotation of its backend ("nccl:all_reduce") with the shapes of what it
// takes; the call of c10d around it. The last two name no process group.
enum tb_comm_source { TB_COMM_ARGUMENTS, TB_COMM_ANNOTATION, TB_COMM_CALL };
#define TB_COMM_N_SOURCES (TB_COMM_CALL + 1)

// One operation.
struct tb_comm_op {
	uint64_t external;	   // id that ties it to its kernel; UINT64_MAX: none
	uint64_t begin_ns, end_ns; // on the CPU
	uint64_t thread;
	uint64_t in_bytes, out_bytes;
	uint32_t group;	 // of the profile
	uint32_t peer;	 // rank that a message goes to or comes from; or TB_NONE
	uint32_t root;	 // within the group: "Rank", or TB_NONE
	uint32_t splits; // first of its group's sizes, in elements; TB_NONE: even
	uint32_t n_splits;
	uint8_t what;
	uint8_t source;	 // enum tb_comm_source
	bool by_cpu;	 // of a backend whose operations a CPU carries out (Gloo, MPI)
	bool is_unsized; // its size is unknown
	bool has_kernel;
	bool carried; // a kernel of this id was given its operation
};

// A kernel of NCCL.
struct tb_comm_kernel {
	uint64_t order; // correlation id
	uint64_t begin_ns, end_ns;
	uint64_t launch_ns; // or TB_NEVER_NS
	uint64_t launch_thread;
	uint64_t external;
	uint32_t stream;	     // of the profile
	uint32_t first_op, n_ops;    // in `kernel_ops`; see below
	uint8_t what;		     // as its name says
	struct tb_observed observed; // by its name and grid
	bool is_rest;		     // of an operation that an earlier kernel began
	bool has_no_end;	     // a call that only began the operation
	uint32_t own_op;	     // that its own arguments describe, or TB_NONE
};

// A call after which a stream waits. Those that Kineto traced completely (cuda_sync) say
// who waits for whom; for the others it is inferred.
struct tb_stream_wait {
	uint64_t order;
	uint64_t at_ns; // without orders
	uint64_t external;
	uint64_t waiter_key, source_key; // UINT64_MAX: unknown
	uint64_t source_order;
	bool for_all;
};

struct tb_stream_mark {
	uint64_t order, at_ns;
	uint32_t index; // in kernels or waits
	bool is_wait;
};

// The work of a stream in a slot: slot i is the time before mark i.
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
	bool is_assumed;	// nothing names it: all ranks
};

struct tb_profile {
	const char *path;	// borrowed
	struct tb_error *error; // borrowed, while it is read
	char *host;		// or NULL
	uint32_t rank, n_ranks; // TB_NONE, 0: the file does not say
	const char *library;	// of its backend (library.h), or NULL
	char nccl_version[16];	// "2.21.5"; "": the file does not say
	bool has_amd;		// its GPUs are AMD's
	const char *gpu;   // of NVIDIA's: "a100", as hosts.ini calls them; NULL: unknown
	bool has_orders;   // correlation ids, and the calls that launch
	bool has_syncs;	   // waits are traced in full
	bool has_no_times; // it is an execution trace
	bool is_by_calls; // without kernels of communication: operations as the CPU began
			  // them
	uint64_t begin_ns;     // of the first work of a GPU
	uint64_t first_launch; // order of the first call that launched; 0: none did
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
	struct tb_stream_mark *marks;
	size_t n_marks;
	struct tb_stream *streams;
	struct tb_map stream_of; // key to the place in `streams`
	size_t n_streams, streams_room;
	struct tb_profile_group *groups;
	size_t n_groups, groups_room;
	struct tb_profile_group *config; // of distributedInfo
	size_t n_config, config_room;
	uint64_t n_unknown; // kernels of which nothing says what they send
	uint64_t n_early;   // kernels that were launched before the profile began
	uint64_t n_unsized; // operations of unknown size
	uint64_t n_beside;  // operations of CPUs, where a GPU communicates
	uint64_t n_cut_splits, n_unlaunched;
	uint64_t n_broken; // files that break off, so 0 or 1
};

// tb_profile_read reads a profile, which the caller frees with tb_profile_fini, after
// failures too. `lenient` drops kernels whose operation is not known, and takes a file
// that breaks off.
int tb_profile_read(struct tb_profile *profile, const char *path,
	const struct tb_reading *reading, struct tb_error *error) TB_MUST_USE;
void tb_profile_fini(struct tb_profile *profile);

// The parts of reading a profile. Failures are in its error.
int tb_profile_no_memory(const struct tb_profile *profile, const char *what);

// What the arguments of an operation say, as they stand; UINT64_MAX: a rank, start or id
// that is not there.
struct tb_comm_arguments {
	struct tb_raw name, dtype, group, ranks, in_split;
	uint64_t in, out, size, start, stride, rank, source, destination, external;
	const char *broken; // a key whose value is no size
};
extern const struct tb_comm_arguments tb_comm_no_arguments;

// tb_comm_argument takes an argument by the key that it has in a profile, or in the
// attributes of an execution trace.
void tb_comm_argument(
	struct tb_comm_arguments *args, struct tb_raw key, struct tb_raw value);

// tb_profile_add_comm adds the operation that a set of arguments describes and stores its
// number; TB_NONE if they describe none. tb_profile_comm takes those of the event.
struct tb_profile_event;
int tb_profile_add_comm(struct tb_profile *profile, const struct tb_profile_event *event,
	const struct tb_comm_arguments *args, uint32_t *op) TB_MUST_USE;
int tb_profile_comm(struct tb_profile *profile, const struct tb_profile_event *event,
	uint32_t *op) TB_MUST_USE;

// tb_profile_annotation adds the operation that an annotation, or a call of c10d, names,
// with the bytes of the tensors that it takes ("Input Dims", "Input type").
int tb_profile_annotation(
	struct tb_profile *profile, const struct tb_profile_event *event) TB_MUST_USE;

// tb_is_annotation returns whether an event's name is one of those.
bool tb_is_annotation(struct tb_raw name);

// tb_profile_settle removes duplicates of an operation. If a profile has no kernels of
// communication, its operations become kernels, timed by the CPU.
int tb_profile_settle(struct tb_profile *profile) TB_MUST_USE;

// tb_profile_node takes what a node of an execution trace does, if it communicates, as a
// kernel at time 0; or the number of ranks, if it sets up groups.
int tb_profile_node(struct tb_profile *profile, struct tb_raw node) TB_MUST_USE;

// tb_profile_info reads "distributedInfo". tb_profile_backend_library returns the library
// of a backend that is named so there ("nccl", "gloo"), NULL of others.
const char *tb_profile_backend_library(struct tb_raw backend);
int tb_profile_info(struct tb_profile *profile, struct tb_raw info) TB_MUST_USE;

// tb_comm_of_kernel returns what a kernel of NCCL's does by its name, tb_comm_of_name
// what an operation of that name of PyTorch's does; else TB_COMM_OTHER.
uint8_t tb_comm_of_kernel(struct tb_raw name);
uint8_t tb_comm_of_name(struct tb_raw name);

// tb_comm_observed returns what name and grid of a kernel show of NCCL 2.19 and later:
// its blocks are the channels, and of all-reduces there is a kernel for trees and one for
// all else (best_kernel of src/device/generate.py). Each is named after LL, whatever the
// protocol is.
struct tb_observed tb_comm_observed(struct tb_raw name, struct tb_raw args);

// tb_profile_order sorts kernels and waits, drops waits within communication operations,
// and makes the marks.
int tb_profile_order(struct tb_profile *profile) TB_MUST_USE;

// tb_profile_stream stores the number of a stream, which is new unless it was seen
// before.
int tb_profile_stream(
	struct tb_profile *profile, uint64_t key, uint32_t *stream) TB_MUST_USE;

// tb_profile_work adds other work of a stream, in any order; call tb_profile_end after
// the last.
struct tb_gpu_work {
	uint64_t key, order, begin_ns, end_ns;
};
int tb_profile_work(
	struct tb_profile *profile, const struct tb_gpu_work *work) TB_MUST_USE;
void tb_profile_end(struct tb_profile *profile);

// tb_profile_pair assigns operations to kernels, once all launches are known.
int tb_profile_pair(
	struct tb_profile *profile, const struct tb_reading *reading) TB_MUST_USE;

enum tb_profile_event_kind {
	TB_EVENT_OTHER,
	TB_EVENT_KERNEL,     // of a GPU
	TB_EVENT_COPY,	     // memory copied or set, by a GPU
	TB_EVENT_COMM,	     // record_param_comms, of a CPU
	TB_EVENT_ANNOTATION, // of a communication operation, or a call of c10d
	TB_EVENT_RUNTIME,    // a call of CUDA's or HIP's
	TB_EVENT_SYNC,	     // cuda_sync: which stream waits for which
};

struct tb_profile_event {
	enum tb_profile_event_kind kind;
	struct tb_raw name, args;
	uint64_t begin_ns, end_ns;
	uint64_t thread; // 0 if it is no number
};

// tb_profile_rank_in_name reads the number behind "rank" in a file's name: "rank3.json",
// "rank-3", "trace_rank_3_step_10".
uint32_t tb_profile_rank_in_name(const char *path);

// tb_profile_host_in_name copies the host from the name that PyTorch's
// tensorboard_trace_handler gives: HOST_PID.TIME.pt.trace.json. NULL for another name and
// without memory; the caller frees it.
char *tb_profile_host_in_name(const char *path);

// Arguments that connect events with each other; UINT64_MAX where an event lacks one.
struct tb_event_ties {
	uint64_t device, stream, order, external;
};

// The members of a profile's process groups, as far as profiles list them, and those of
// the groups of ranks without a profile.

// The profiles of a job by rank, and what ranks without a profile do (--clone-ranks).
struct tb_profiles {
	struct tb_profile *profiles; // by rank, ascending
	size_t n;
	uint32_t n_profiled; // ranks of the job that was profiled
	uint32_t n_ranks;    // of the job to be made: more only with cloned ranks
};

// tb_profiles_check refuses profiles that communicate but never say what, as their job
// would be empty. tb_profiles_note adds notes on what was understood and what was not.
int tb_profiles_check(const struct tb_profiles *all, const struct tb_reading *reading,
	struct tb_error *error) TB_MUST_USE;
void tb_profiles_note(struct tb_calls *calls, const struct tb_profiles *all);

struct tb_members {
	uint32_t *ranks;
	uint32_t n;
};

// Turns a profile into calls: streams become lanes, kernels of NCCL become collective
// calls and messages, and what they wait for on other streams becomes the order between
// them.

// What is needed to write the calls of a rank from a profile (which --clone-ranks uses
// for several ranks): its rank, and by group of the profile the number of that group in
// `calls`.
struct tb_lanes_place {
	uint32_t rank;
	const uint32_t *groups;
};

// tb_lanes_add adds the calls of one rank. TB_EFORMAT for a message without partner.
int tb_lanes_add(struct tb_calls *calls, const struct tb_profile *profile,
	const struct tb_lanes_place *place, struct tb_error *error) TB_MUST_USE;

// Where the operations that one kernel of NCCL carries out go.
struct tb_comm_place {
	uint32_t rank;
	const uint32_t *groups; // by group of the profile: its number in `calls`
	uint32_t lane;
	uint64_t calc_ns, enter_ns, leave_ns; // leave_ns 0: not known
	const uint32_t *befores;	      // calls after which it comes
	uint32_t n_befores;
};

#endif
