// Placement: where the ranks of jobs run that share a network. A node belongs to one job,
// unless a later one may share it.
//
// A placement gives the nodes that a job may have, in order, and how ranks are dealt to
// them. The nodes are those of a host list or host file, all of which then belong to the
// job whether ranks run there or not; else all that no other job has. Ranks are dealt
//   block    to one node after the other, filling its slots;
//   cyclic   in turn to each switch of level 0 and there to each node, as cards are
//   dealt; random   in a random order of the slots, which the seed and the job's number
//   give; stride:N to every N-th of the nodes, then again from the second on, and so on;
// or a map file names the node of each rank (placement.h); or the trace names the host of
// each: trace. Where the network names its hosts, these are looked up (placement.h);
// else the hosts are the free nodes, in the order in which ranks name them. A node has as
// many slots as its host file gives it, else `per_node`. Where ranks keep together, nodes
// are dealt in place of slots, each to as many ranks that follow each other.
#ifndef TB_PLACEMENT_H
#define TB_PLACEMENT_H

#include "network.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>

enum tb_placement_kind {
	TB_PLACE_BLOCK,
	TB_PLACE_CYCLIC,
	TB_PLACE_RANDOM,
	TB_PLACE_STRIDE,
	TB_PLACE_MAP,
	TB_PLACE_TRACE
};

struct tb_placement {
	enum tb_placement_kind kind;
	uint32_t stride;   // of TB_PLACE_STRIDE, at least 1
	uint32_t per_node; // ranks; 0 reads as 1
	bool together;	   // as GPUs that share a host's links do
	bool shared;	   // may sit on nodes of other jobs
	const char *nodes; // a host list; NULL: none
	const char *tasks; // of its hosts, as tb_hosts_parse; NULL: per_node
	const char *hosts; // a host file; NULL: none. Not both
	const char *map;   // the file of TB_PLACE_MAP; then neither of them
	// Of TB_PLACE_TRACE: the hosts by rank, and whether the network must have them if
	// it names hosts; else hosts that it lacks make all of them free nodes.
	const char *const *trace_hosts;
	bool must_match;
};

// tb_placement_parse reads "block", "cyclic", "random", "stride:N" or "trace" into `kind`
// and `stride`. TB_EUSAGE names those that there are.
int tb_placement_parse(struct tb_placement *placement, const char *text,
	struct tb_error *error) TB_MUST_USE;

// tb_placement_names_nodes returns whether the nodes are given, as opposed to any that
// are free. Place jobs with given nodes first.
bool tb_placement_names_nodes(const struct tb_placement *placement);

// Which job has which node.
struct tb_places; // opaque

// tb_places_note returns how the hosts of the job that was put last were found, a
// sentence without full stop; "" for other placements than that of the trace.
const char *tb_places_note(const struct tb_places *places);

// tb_places_new borrows the network.
int tb_places_new(struct tb_places **places, const struct tb_network *network,
	uint64_t seed, struct tb_error *error) TB_MUST_USE;
void tb_places_free(struct tb_places *places);

// tb_places_put places the `n_ranks` ranks of job number `job`, called `name` in
// messages (borrowed, for later ones too), and stores their nodes in a malloc'ed array.
// TB_ECAPACITY when they do not fit, TB_EUSAGE when another job has a node that this one
// asks for: the sentence names both jobs and the node.
int tb_places_put(struct tb_places *places, uint32_t job, const char *name,
	uint32_t n_ranks, const struct tb_placement *placement, uint32_t **node_of_rank,
	struct tb_error *error) TB_MUST_USE;

// tb_places_take gives a node to a job that chooses its nodes itself, which may take the
// same one several times. Errors as of tb_places_put.
int tb_places_take(struct tb_places *places, uint32_t job, const char *name,
	struct tb_node node, struct tb_error *error) TB_MUST_USE;

// Lists of nodes as resource managers write them.
//
// A host list names hosts, separated by commas; brackets hold numbers and ranges:
// "node[00-15,20],node30" (Slurm, pdsh). The number that a host's name ends with is its
// node, so "node07" and "7" are node 7. Without a name, "0-15,20" will do. A name may
// have several brackets, and go on behind them: "rack[0-1]n[0-3]-ib". Blanks and lines
// separate, too, as in what 'scontrol show hostnames' prints.
//
// A host file has one host per line, with as many slots as ranks may run there: "node07
// slots=4" (Open MPI), "node07:4" (MPICH), or the same line several times (PBS). `#`
// begins a comment. A line may be a list, and the file what 'sacct -o NodeList' prints of
// a job and its steps: then a host that comes again has no more slots.
//
// In a fabric that was read from a file a host's name is the fabric's, and stands for all
// its network interfaces; the slots of its line are dealt to them, the first ones first.
// Numbers alone are nodes there, too.

// A bound above all nodes that a list can name, and the most slots of a job.
#define TB_HOSTS_MAX (UINT32_C(1) << 24)

// How many ranks may run on a node.
struct tb_host_slots {
	uint32_t node;
	uint32_t n_slots; // at least 1
};

// In the order of the list; each node once. A zeroed struct is empty.
struct tb_hosts {
	struct tb_host_slots *hosts;
	uint32_t n;
	size_t room;
};

void tb_hosts_fini(struct tb_hosts *hosts);

// tb_hosts_parse reads a host list. `tasks` has the slots of its hosts in Slurm's form
// (SLURM_TASKS_PER_NODE): "4(x3),2" are four on each of three hosts and two on a fourth;
// NULL: a slot for each node. The network is the one whose hosts are named; NULL:
// names are not looked up. TB_EUSAGE names what cannot be read, or a node that
// is listed twice; TB_ENOMEM. `hosts` is untouched on failure, else to be freed by
// tb_hosts_fini.
int tb_hosts_parse(struct tb_hosts *hosts, const char *list, const char *tasks,
	const struct tb_network *network, struct tb_error *error) TB_MUST_USE;

// tb_hosts_select stores the nodes that a list selects, in a malloc'ed array: of hosts as
// in a host list, in its order and on all their rails; of these, where it names adapters
// ("mlx5_[0-3]") or rails ("rail[0-3]", where no host or adapter is called so), those
// alone, or of all hosts where it names none. TB_EUSAGE for what is none of them;
// TB_ENOMEM. Cost: nodes times names of adapters.
int tb_hosts_select(uint32_t **nodes, uint32_t *n, const char *list,
	const struct tb_network *network, struct tb_error *error) TB_MUST_USE;

// tb_hosts_read reads a host file: as tb_hosts_parse, TB_EUSAGE with the line, TB_EIO.
int tb_hosts_read(struct tb_hosts *hosts, const char *path,
	const struct tb_network *network, struct tb_error *error) TB_MUST_USE;

// Finds the hosts of a trace in a fabric that names its hosts.
//
// Rules, in this order; the first by which a name of the trace meets one of the fabric
// decides:
//   exactly       as they are written
//   short         without domain ("n01.cluster.org"), in any case
//   without rail  and without what names a rail or interface at the end: "-ib0", "_hca1",
//                 "-mlx5_0", "-eth2", "-hsn0", "-opa", "-rail3"
// A name that by a rule meets several hosts of the fabric is ambiguous, except by the
// last one: there they are network interfaces of the host.

struct tb_hosts_match {
	// By rank: its node, TB_ID_NONE where its host was not found. The ranks of a host
	// with several network interfaces are dealt to them in turn.
	uint32_t *node_of_rank;
	uint32_t n_hosts; // that differ
	uint32_t n_unmatched, n_ambiguous;
	char text[320]; // names those, as far as it holds them; "" if there are none
};

// tb_hosts_match_find matches hosts by rank, of which any may be NULL: such a rank counts
// as a host that was not found. Cost: O(n log n) in ranks and nodes. TB_ENOMEM.
int tb_hosts_match_find(struct tb_hosts_match *match, const struct tb_network *network,
	const char *const *hosts, uint32_t n_ranks, struct tb_error *error) TB_MUST_USE;
void tb_hosts_match_fini(struct tb_hosts_match *match);

// tb_hosts_number stores for each rank the number of its host, in the order in which they
// first appear, and how many there are; a rank whose host is NULL has one of its own.
int tb_hosts_number(const char *const *hosts, uint32_t n_ranks, uint32_t *number,
	uint32_t *n_hosts, struct tb_error *error) TB_MUST_USE;

// A map file: the node of each rank of a job.
//
// The file has a line 'RANK NODE' for every rank, separated by blanks; `#` begins a
// comment. Several ranks may share a node. In a fabric that was read from a file NODE may
// be a network interface by its name (names.h), or a host that has but one.
//
// Lines of Open MPI's rank files are taken, too: "rank 3=node07 slot=0". Elsewhere than
// in such a fabric the number that the host's name ends with is its node.

// tb_rank_map stores the node of each of `n_ranks` ranks in a malloc'ed array. TB_EUSAGE
// for malformed lines and ranks that are missing or listed twice; TB_ECAPACITY for nodes
// that the network does not have (the sentence gives their number); TB_EIO.
int tb_rank_map(uint32_t **node_of_rank, uint32_t n_ranks,
	const struct tb_network *network, const char *map_file,
	struct tb_error *error) TB_MUST_USE;

#endif
