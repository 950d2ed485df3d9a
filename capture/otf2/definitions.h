// The definitions of an archive: its processes, threads, communicators and regions.
#ifndef TB_DEFINITIONS_H
#define TB_DEFINITIONS_H

#include "calls.h"
#include "map.h"
#include "reading.h"

#include <otf2/otf2.h>

#define TB_OTF2_NONE UINT32_MAX

// What a region is to us, by its paradigm, role and name.
enum tb_otf2_region_kind {
	TB_OTF2_OTHER,	// computation
	TB_OTF2_MPI,	// MPI: not computation
	TB_OTF2_WAIT,	// MPI, and completes requests
	TB_OTF2_BSEND,	// MPI, and its send returns at once
	TB_OTF2_CANCEL, // MPI, and cancels a request
	TB_OTF2_MOVER,	// MPI, and moves data, so that it should have a record
};

struct tb_otf2_region {
	uint32_t name; // as tb_otf2_string takes it
	enum tb_otf2_region_kind kind;
	uint64_t n_bare; // calls that should have a record and have none
};

struct tb_otf2_location {
	uint64_t ref;
	uint64_t n_events; // as the definitions have it
	uint32_t process;  // by its place in `processes`; NONE: unknown
	uint32_t rank;	   // NONE: of no rank
	bool is_main;	   // its events are those of the rank's main thread
};

struct tb_otf2_process {
	uint32_t node; // reference to a node of the system tree
	uint32_t rank; // NONE: none
	bool is_process;
};

struct tb_otf2_node {
	uint32_t name, parent; // parent: a reference
	bool is_host;
};

struct tb_otf2_group {
	uint64_t *members; // ranks
	uint32_t n;
	bool is_self;	// of each rank by itself
	bool is_global; // records name its members by their ranks in the job
};

struct tb_otf2_comm {
	uint32_t name;
	uint32_t a, b;	// groups by their place; b: NONE unless an inter-communicator
	uint32_t group; // of the calls; NONE until it is used
};

struct tb_otf2_definitions {
	uint64_t ticks_per_s,
		begin; // of the clock: resolution, and the trace's beginning
	char **strings;
	struct tb_otf2_region *regions;
	struct tb_otf2_location *locations;
	struct tb_otf2_process *processes;
	struct tb_otf2_node *nodes;
	struct tb_otf2_group *groups;
	struct tb_otf2_comm *comms;
	uint32_t *contexts; // regions by calling context
	size_t n_strings, n_regions, n_locations, n_processes, n_nodes, n_groups, n_comms,
		n_contexts;
	size_t strings_room, regions_room, locations_room, processes_room, nodes_room,
		groups_room, comms_room, contexts_room;
	// From references to places.
	struct tb_map string_of, region_of, location_of, process_of, node_of, group_of,
		comm_of, context_of;
	uint64_t *mpi_locations; // that take part in MPI, by rank; NULL: unknown
	uint32_t n_mpi_locations;
	uint32_t n_ranks;
	bool by_arguments; // sizes of collectives are those of the calls' arguments
	uint32_t *self_of; // by rank: its group of one, or NONE; NULL until used
	bool no_memory;
	bool breaks_off; // some may be missing
};

// tb_otf2_definitions_read reads the global definitions. With reading->lenient the file
// may be cut anywhere after the clock and the first communicator, since these suffice
// to find which location is which rank; of->breaks_off is set then. The caller calls
// tb_otf2_definitions_fini after failures too. TB_EFORMAT, TB_ENOMEM, TB_ECAPACITY.
int tb_otf2_definitions_read(struct tb_otf2_definitions *of, OTF2_Reader *reader,
	const char *path, const struct tb_reading *reading,
	struct tb_error *error) TB_MUST_USE;
void tb_otf2_definitions_fini(struct tb_otf2_definitions *of);

// tb_otf2_string returns a string by its reference, "" for one that is not defined.
const char *tb_otf2_string(const struct tb_otf2_definitions *of, uint32_t ref);

// tb_otf2_region_at returns the region of a reference or calling context, or NULL.
struct tb_otf2_region *tb_otf2_region_at(
	const struct tb_otf2_definitions *of, uint32_t ref);
struct tb_otf2_region *tb_otf2_region_in(
	const struct tb_otf2_definitions *of, uint32_t context);

// tb_otf2_host returns the name of the host of a process, or NULL.
const char *tb_otf2_host(const struct tb_otf2_definitions *of, uint32_t process);

// Which process of an archive is which rank, and who is meant by the numbers in its
// records: ranks within a communicator.

// Of a communicator as the member `rank` sees it.
struct tb_otf2_view {
	uint32_t group;	  // of the calls
	uint32_t n;	  // ranks that peers are numbered in: of the remote group, if any
	uint32_t n_local; // of the caller's group
	uint32_t me;	  // the caller's place in its group
	uint32_t first;	  // place in the group of the calls at which peers begin
	bool is_inter;
	bool is_global; // records give ranks of the job
};

// tb_otf2_view finds what the record of `rank` means by a communicator, and adds its
// group to the calls when it is used for the first time. TB_EFORMAT for one that is not
// defined or that the rank is no member of; without file.
int tb_otf2_view_of(struct tb_otf2_definitions *of, struct tb_calls *calls, uint32_t comm,
	uint32_t rank, struct tb_otf2_view *view, struct tb_error *error) TB_MUST_USE;

// tb_otf2_peer returns the rank of the job that is number `peer` in the view, or NONE.
uint32_t tb_otf2_peer(
	const struct tb_calls *calls, const struct tb_otf2_view *view, uint32_t peer);

// tb_otf2_root returns the place, in the group of the calls, of the root of a collective
// call, or NONE. Not for inter-communicators.
uint32_t tb_otf2_root(
	const struct tb_calls *calls, const struct tb_otf2_view *view, uint32_t root);

#endif
