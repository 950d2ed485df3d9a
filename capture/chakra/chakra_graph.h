// Within capture/chakra: the graph of a rank, between its file and its calls.
#ifndef TB_CHAKRA_GRAPH_H
#define TB_CHAKRA_GRAPH_H

#include "bytes.h"
#include "calls.h"
#include "map.h"
#include "reading.h"

#include <stdio.h>

#define CHAKRA_NONE UINT32_MAX

// Attributes of nodes that say something about communication.
enum chakra_attribute {
	CHAKRA_COMM_TYPE,
	CHAKRA_COMM_SIZE,
	CHAKRA_COMM_SRC,
	CHAKRA_COMM_DST,
	CHAKRA_COMM_TAG,
	CHAKRA_IS_CPU_OP,
	CHAKRA_NUM_OPS,
	CHAKRA_RF_ID,	    // of PyTorch's operators
	CHAKRA_RUNTIME,	    // microseconds; where a node has no field for it
	CHAKRA_DURATION_NS, // of computation, more exactly; tailback convert writes it
	CHAKRA_N_ATTRIBUTES
};

// The numbers of node types in files.
enum chakra_type {
	CHAKRA_INVALID,
	CHAKRA_METADATA,
	CHAKRA_MEM_LOAD,
	CHAKRA_MEM_STORE,
	CHAKRA_COMP,
	CHAKRA_SEND,
	CHAKRA_RECV,
	CHAKRA_COLL,
	CHAKRA_N_TYPES
};

// A node as its file has it. Either form of file fills it. Texts may be NULL.
struct chakra_raw {
	uint64_t id, start_us, duration_us;
	int type;
	bool old; // of the schema of August 2023
	const char *name;
	const char *group;  // of processes
	const char *inputs; // of metadata: may list the groups
	bool has[CHAKRA_N_ATTRIBUTES];
	int64_t values[CHAKRA_N_ATTRIBUTES];
	bool some_dimensions; // the collective is over some dimensions of a topology
	const uint64_t *data_deps, *ctrl_deps;
	size_t n_data, n_ctrl;
};

// tb_chakra_set stores the value of an attribute that is one of the above, by its name in
// files without regard to case and underscores.
void tb_chakra_set(struct chakra_raw *raw, const char *name, int64_t value);

// tb_chakra_is_named_as compares names in that way; `plain` has neither capitals nor
// underscores.
bool tb_chakra_is_named_as(const char *name, const char *plain);

struct chakra_node {
	uint64_t id, calc_ns, start_ns, bytes;
	uint64_t lasted_ns; // of communication, as recorded; 0: not recorded
	uint32_t peer, tag;
	uint32_t group;	    // in struct chakra_groups; CHAKRA_NONE: all ranks
	uint32_t first_dep; // its dependencies end where the next node's begin
	uint8_t kind;	    // enum tb_call_kind
	uint8_t op;	    // enum tb_collective_op
};

// One file's nodes, in its order.
struct chakra_graph {
	const char *file; // for messages
	struct chakra_node *nodes;
	size_t n, room;
	uint64_t *deps; // ids at first, then places in `nodes`
	size_t n_deps, deps_room;
	uint64_t *ctrl; // pairs of a node's place and the id that it depends on
	size_t n_ctrl, ctrl_room;
	bool is_of_pytorch;
	bool is_cut;					    // the file ends within a node
	uint64_t n_untimed, n_partial, n_of_all, n_unsized; // for notes
	uint64_t n_moves, n_lasting; // of communication; with a duration
	bool has_starts;	     // else durations stand nowhere in time
	struct chakra_groups *groups;
	const volatile sig_atomic_t *stop;
	struct tb_error *error;
};

void tb_chakra_graph_fini(struct chakra_graph *graph);

// tb_chakra_graph_add checks a node and appends it.
int tb_chakra_graph_add(
	struct chakra_graph *graph, const struct chakra_raw *raw) TB_MUST_USE;

// tb_chakra_graph_link makes places of the ids of dependencies. n_dropped counts those on
// nodes that the file lacks, with `lenient`; else they are an error.
int tb_chakra_graph_link(
	struct chakra_graph *graph, bool lenient, uint64_t *n_dropped) TB_MUST_USE;

// tb_chakra_graph_order stores the places of the nodes so that each comes behind what it
// depends on, and otherwise in the file's order. `order` has room for graph->n.
int tb_chakra_graph_order(const struct chakra_graph *graph, uint32_t *order) TB_MUST_USE;

static inline const uint64_t *chakra_deps_of(
	const struct chakra_graph *graph, uint32_t place, size_t *n)
{
	size_t first = graph->nodes[place].first_dep;
	size_t end =
		place + 1 < graph->n ? graph->nodes[place + 1].first_dep : graph->n_deps;
	*n = end - first;
	return *n > 0 ? graph->deps + first : NULL;
}

// These read a file's nodes into the graph.
int tb_chakra_read_messages(struct chakra_graph *graph, FILE *stream) TB_MUST_USE;
int tb_chakra_read_json(struct chakra_graph *graph, FILE *stream) TB_MUST_USE;

// Groups of processes by name. Those whose members nothing lists have the ranks that call
// in them.
struct chakra_group {
	char *name;
	uint32_t *members;
	uint32_t n;
	size_t room;
	bool is_listed;	 // `members` are; else it has been called in by them
	bool is_world;	 // listed as all ranks
	uint32_t number; // of tb_calls_group
};

struct chakra_groups {
	struct chakra_group *groups;
	size_t n, room;
	uint32_t last; // found
};

void tb_chakra_groups_fini(struct chakra_groups *groups);

// tb_chakra_groups_read reads a file {"NAME": [RANK, ...], ...}.
int tb_chakra_groups_read(struct chakra_groups *groups, const char *path,
	struct tb_error *error) TB_MUST_USE;

// tb_chakra_groups_join has `rank` call in the groups of its graph that nothing lists.
int tb_chakra_groups_join(struct chakra_groups *groups, const struct chakra_graph *graph,
	uint32_t rank) TB_MUST_USE;

// tb_chakra_groups_make makes them groups of the calls.
int tb_chakra_groups_make(struct chakra_groups *groups, struct tb_calls *calls,
	struct tb_error *error) TB_MUST_USE;

// The files of a trace, by rank.
struct chakra_files {
	struct chakra_file {
		uint32_t rank;
		char *path;
	} * files;
	size_t n, room;
	char *groups; // path of the file that lists the groups, or NULL
};

#endif
