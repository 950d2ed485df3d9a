#include "definitions.h"

#include "array.h"
#include "order.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// add_place gives a reference the next place in an array. A reference that is defined
// again keeps to its last definition: EZTrace gives groups of two types one number.
static bool add_place(
	struct tb_otf2_definitions *of, struct tb_map *map, uint64_t ref, size_t place)
{
	if (place < TB_OTF2_NONE && tb_map_put(map, ref, (uint32_t)place) == TB_OK)
		return true;
	of->no_memory = true;
	return false;
}

// PLACE makes room for one more item of an array and gives `ref` its place.
#define PLACE(of, items, map, ref)                                                       \
	(TB_ARRAY_RESERVE(&(of)->items, &(of)->items##_room, (of)->n_##items + 1) ==     \
				TB_OK                                                    \
			? add_place((of), &(of)->map, (ref), (of)->n_##items)            \
			: !((of)->no_memory = true))

// libotf2 passes more to each callback than it needs.
#pragma GCC diagnostic ignored "-Wunused-parameter"

static OTF2_CallbackCode definitions_next(const struct tb_otf2_definitions *of)
{
	return of->no_memory ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_clock(void *user, uint64_t resolution, uint64_t offset,
	uint64_t length, uint64_t realtime)
{
	struct tb_otf2_definitions *of = user;
	of->ticks_per_s = resolution;
	of->begin = offset;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode definition_on_string(
	void *user, OTF2_StringRef self, const char *string)
{
	struct tb_otf2_definitions *of = user;
	if (!PLACE(of, strings, string_of, self))
		return definitions_next(of);
	char *copy = strdup(string);
	if (copy)
		of->strings[of->n_strings++] = copy;
	else
		of->no_memory = true;
	return definitions_next(of);
}

static OTF2_CallbackCode on_node(void *user, OTF2_SystemTreeNodeRef self,
	OTF2_StringRef name, OTF2_StringRef class_name, OTF2_SystemTreeNodeRef parent)
{
	struct tb_otf2_definitions *of = user;
	if (!PLACE(of, nodes, node_of, self))
		return definitions_next(of);
	const char *kind = tb_otf2_string(of, class_name);
	of->nodes[of->n_nodes++] = (struct tb_otf2_node){name, parent,
		strcasecmp(kind, "node") == 0 || strcasecmp(kind, "host") == 0};
	return definitions_next(of);
}

static OTF2_CallbackCode on_domain(
	void *user, OTF2_SystemTreeNodeRef node, OTF2_SystemTreeDomain domain)
{
	struct tb_otf2_definitions *of = user;
	uint32_t place;
	if (domain == OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY &&
		tb_map_find(&of->node_of, node, &place))
		of->nodes[place].is_host = true;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_process(void *user, OTF2_LocationGroupRef self,
	OTF2_StringRef name, OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef parent,
	OTF2_LocationGroupRef creator)
{
	struct tb_otf2_definitions *of = user;
	if (PLACE(of, processes, process_of, self))
		of->processes[of->n_processes++] = (struct tb_otf2_process){
			parent, TB_OTF2_NONE, type == OTF2_LOCATION_GROUP_TYPE_PROCESS};
	return definitions_next(of);
}

static OTF2_CallbackCode on_location(void *user, OTF2_LocationRef self,
	OTF2_StringRef name, OTF2_LocationType type, uint64_t n_events,
	OTF2_LocationGroupRef group)
{
	struct tb_otf2_definitions *of = user;
	uint32_t process = TB_OTF2_NONE;
	if (type == OTF2_LOCATION_TYPE_METRIC)
		return OTF2_CALLBACK_SUCCESS;
	tb_map_find(&of->process_of, group, &process);
	if (PLACE(of, locations, location_of, self))
		of->locations[of->n_locations++] = (struct tb_otf2_location){
			self, n_events, process, TB_OTF2_NONE, false};
	return definitions_next(of);
}

static bool name_begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

// is_mover returns whether the MPI call of that name always sends or receives, but to or
// from no process.
static bool is_mover(const char *name, OTF2_RegionRole role)
{
	bool moves = role == OTF2_REGION_ROLE_POINT2POINT ||
		     role == OTF2_REGION_ROLE_COLL_ONE2ALL ||
		     role == OTF2_REGION_ROLE_COLL_ALL2ONE ||
		     role == OTF2_REGION_ROLE_COLL_ALL2ALL ||
		     role == OTF2_REGION_ROLE_COLL_OTHER ||
		     name_begins(name, "Sendrecv") || name_begins(name, "Neighbor_") ||
		     name_begins(name, "Ineighbor_") || strcmp(name, "Ibarrier") == 0 ||
		     name_begins(name, "File_read") || name_begins(name, "File_write");
	return moves && !strstr(name, "robe") && !strstr(name, "_init") &&
	       !name_begins(name, "Start");
}

static enum tb_otf2_region_kind region_kind(
	const char *name, OTF2_RegionRole role, OTF2_Paradigm paradigm)
{
	const char *call = name_begins(name, "PMPI_") ? name + 1 : name;
	if (!name_begins(call, "MPI_"))
		return paradigm == OTF2_PARADIGM_MPI ? TB_OTF2_MPI : TB_OTF2_OTHER;
	call += strlen("MPI_");
	if (name_begins(call, "Wait") || name_begins(call, "Test"))
		return TB_OTF2_WAIT;
	if (strcmp(call, "Bsend") == 0)
		return TB_OTF2_BSEND;
	if (strcmp(call, "Cancel") == 0)
		return TB_OTF2_CANCEL;
	return is_mover(call, role) ? TB_OTF2_MOVER : TB_OTF2_MPI;
}

static OTF2_CallbackCode on_region(void *user, OTF2_RegionRef self, OTF2_StringRef name,
	OTF2_StringRef canonical, OTF2_StringRef description, OTF2_RegionRole role,
	OTF2_Paradigm paradigm, OTF2_RegionFlag flags, OTF2_StringRef file,
	uint32_t begin_line, uint32_t end_line)
{
	struct tb_otf2_definitions *of = user;
	const char *word = tb_otf2_string(of, name);
	if (name_begins(word, "EZTrace"))
		of->by_arguments = true;
	if (PLACE(of, regions, region_of, self))
		of->regions[of->n_regions++] = (struct tb_otf2_region){
			name, region_kind(word, role, paradigm), 0};
	return definitions_next(of);
}

static OTF2_CallbackCode on_context(void *user, OTF2_CallingContextRef self,
	OTF2_RegionRef region, OTF2_SourceCodeLocationRef place,
	OTF2_CallingContextRef parent)
{
	struct tb_otf2_definitions *of = user;
	if (PLACE(of, contexts, context_of, self))
		of->contexts[of->n_contexts++] = region;
	return definitions_next(of);
}

static OTF2_CallbackCode on_group(void *user, OTF2_GroupRef self, OTF2_StringRef name,
	OTF2_GroupType type, OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t n,
	const uint64_t *members)
{
	struct tb_otf2_definitions *of = user;
	if (paradigm != OTF2_PARADIGM_MPI)
		return OTF2_CALLBACK_SUCCESS;
	if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS) {
		uint64_t *copy = malloc((n ? n : 1) * sizeof *copy);
		if (!copy) {
			of->no_memory = true;
			return OTF2_CALLBACK_INTERRUPT;
		}
		if (n > 0)
			memcpy(copy, members, n * sizeof *copy);
		free(of->mpi_locations);
		of->mpi_locations = copy;
		of->n_mpi_locations = n;
		return OTF2_CALLBACK_SUCCESS;
	}
	if (type != OTF2_GROUP_TYPE_COMM_GROUP && type != OTF2_GROUP_TYPE_COMM_SELF)
		return OTF2_CALLBACK_SUCCESS;
	if (!PLACE(of, groups, group_of, self))
		return definitions_next(of);
	struct tb_otf2_group group = {malloc((n ? n : 1) * sizeof *members), n,
		type == OTF2_GROUP_TYPE_COMM_SELF,
		(flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0};
	if (!group.members) {
		of->no_memory = true;
		return definitions_next(of);
	}
	if (n > 0)
		memcpy(group.members, members, n * sizeof *members);
	of->groups[of->n_groups++] = group;
	return definitions_next(of);
}

static void definitions_add_comm(struct tb_otf2_definitions *of, uint32_t self,
	uint32_t name, uint32_t a, uint32_t b)
{
	if (PLACE(of, comms, comm_of, self))
		of->comms[of->n_comms++] =
			(struct tb_otf2_comm){name, a, b, TB_OTF2_NONE};
}

static OTF2_CallbackCode on_comm(void *user, OTF2_CommRef self, OTF2_StringRef name,
	OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag flags)
{
	struct tb_otf2_definitions *of = user;
	uint32_t a;
	if (tb_map_find(&of->group_of, group, &a)) // else it is none of MPI's
		definitions_add_comm(of, self, name, a, TB_OTF2_NONE);
	return definitions_next(of);
}

static OTF2_CallbackCode on_inter_comm(void *user, OTF2_CommRef self, OTF2_StringRef name,
	OTF2_GroupRef group_a, OTF2_GroupRef group_b, OTF2_CommRef common,
	OTF2_CommFlag flags)
{
	struct tb_otf2_definitions *of = user;
	uint32_t a, b;
	if (tb_map_find(&of->group_of, group_a, &a) &&
		tb_map_find(&of->group_of, group_b, &b))
		definitions_add_comm(of, self, name, a, b);
	return definitions_next(of);
}

static OTF2_GlobalDefReaderCallbacks *callbacks_new(void)
{
	OTF2_GlobalDefReaderCallbacks *to = OTF2_GlobalDefReaderCallbacks_New();
	if (!to)
		return NULL;
	OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(to, on_clock);
	OTF2_GlobalDefReaderCallbacks_SetStringCallback(to, definition_on_string);
	OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(to, on_node);
	OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeDomainCallback(to, on_domain);
	OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(to, on_process);
	OTF2_GlobalDefReaderCallbacks_SetLocationCallback(to, on_location);
	OTF2_GlobalDefReaderCallbacks_SetRegionCallback(to, on_region);
	OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(to, on_context);
	OTF2_GlobalDefReaderCallbacks_SetGroupCallback(to, on_group);
	OTF2_GlobalDefReaderCallbacks_SetCommCallback(to, on_comm);
	OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(to, on_inter_comm);
	return to;
}

static int otf2_ranks_find(
	struct tb_otf2_definitions *of, const char *path, struct tb_error *error);

int tb_otf2_definitions_read(struct tb_otf2_definitions *of, OTF2_Reader *reader,
	const char *path, const struct tb_reading *reading, struct tb_error *error)
{
	uint64_t n_read = 0, n_files = 0;
	int status = TB_OK;
	OTF2_GlobalDefReader *from = OTF2_Reader_GetGlobalDefReader(reader);
	if (!from)
		return tb_fail_in(error, TB_EFORMAT, path,
			"the archive's definitions cannot be read: expected them in a "
			"file of that name that ends in .def");
	OTF2_GlobalDefReaderCallbacks *callbacks = callbacks_new();
	if (!callbacks)
		return tb_fail_memory(error, "an archive");
	OTF2_Reader_RegisterGlobalDefCallbacks(reader, from, callbacks, of);
	OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
	OTF2_ErrorCode code = OTF2_Reader_ReadAllGlobalDefinitions(reader, from, &n_read);
	OTF2_Reader_CloseGlobalDefReader(reader, from);
	if (of->no_memory)
		return tb_fail_memory(error, "the definitions of an archive");
	of->breaks_off = code != OTF2_SUCCESS;
	if (of->breaks_off)
		status = tb_fail_in(error, TB_EFORMAT, path,
			"the archive's definitions break off after %" PRIu64 ": %s",
			n_read, OTF2_Error_GetDescription(code));
	if (of->breaks_off && of->n_comms > 0 && of->ticks_per_s > 0)
		status = tb_reading_breaks_off(reading, status, &n_files, error);
	if (status != TB_OK)
		return status;
	if (of->ticks_per_s == 0)
		return tb_fail_in(error, TB_EFORMAT, path,
			"the archive's definitions give no resolution of its clock");
	return otf2_ranks_find(of, path, error);
}

void tb_otf2_definitions_fini(struct tb_otf2_definitions *of)
{
	for (size_t i = 0; i < of->n_strings; i++)
		free(of->strings[i]);
	for (size_t i = 0; i < of->n_groups; i++)
		free(of->groups[i].members);
	free(of->strings);
	free(of->regions);
	free(of->locations);
	free(of->processes);
	free(of->nodes);
	free(of->groups);
	free(of->comms);
	free(of->contexts);
	free(of->mpi_locations);
	free(of->self_of);
	tb_map_fini(&of->string_of);
	tb_map_fini(&of->region_of);
	tb_map_fini(&of->location_of);
	tb_map_fini(&of->process_of);
	tb_map_fini(&of->node_of);
	tb_map_fini(&of->group_of);
	tb_map_fini(&of->comm_of);
	tb_map_fini(&of->context_of);
	*of = (struct tb_otf2_definitions){0};
}

const char *tb_otf2_string(const struct tb_otf2_definitions *of, uint32_t ref)
{
	uint32_t place;
	return tb_map_find(&of->string_of, ref, &place) ? of->strings[place] : "";
}

struct tb_otf2_region *tb_otf2_region_at(
	const struct tb_otf2_definitions *of, uint32_t ref)
{
	uint32_t place;
	return tb_map_find(&of->region_of, ref, &place) ? &of->regions[place] : NULL;
}

struct tb_otf2_region *tb_otf2_region_in(
	const struct tb_otf2_definitions *of, uint32_t context)
{
	uint32_t place;
	return tb_map_find(&of->context_of, context, &place)
		       ? tb_otf2_region_at(of, of->contexts[place])
		       : NULL;
}

const char *tb_otf2_host(const struct tb_otf2_definitions *of, uint32_t process)
{
	uint32_t place, ref = of->processes[process].node;
	// A parent is defined before its children, so the references descend and the
	// loop ends; in a damaged archive they may not, so it stops there.
	for (int depth = 0; depth < 32; depth++) {
		if (!tb_map_find(&of->node_of, ref, &place))
			return NULL;
		const struct tb_otf2_node *node = &of->nodes[place];
		const char *name = tb_otf2_string(of, node->name);
		if (node->is_host)
			return *name ? name : NULL;
		ref = node->parent;
	}
	return NULL;
}

#define RANKS_MAX (UINT32_C(1) << 24)

static int too_many(const char *path, uint64_t n, struct tb_error *error)
{
	return tb_fail_in(error, TB_ECAPACITY, path,
		"the archive has %" PRIu64 " ranks: expected at most %" PRIu32, n,
		RANKS_MAX);
}

// ranks_number_members numbers the locations that take part in MPI.
static int ranks_number_members(
	struct tb_otf2_definitions *of, const char *path, struct tb_error *error)
{
	if (of->n_mpi_locations > RANKS_MAX)
		return too_many(path, of->n_mpi_locations, error);
	for (uint32_t rank = 0; rank < of->n_mpi_locations; rank++) {
		uint32_t place;
		if (!tb_map_find(&of->location_of, of->mpi_locations[rank], &place))
			return tb_fail_in(error, TB_EFORMAT, path,
				"rank %" PRIu32 " is location %" PRIu64
				", which is not defined",
				rank, of->mpi_locations[rank]);
		struct tb_otf2_location *main = &of->locations[place];
		if (main->rank != TB_OTF2_NONE)
			return tb_fail_in(error, TB_EFORMAT, path,
				"location %" PRIu64 " is rank %" PRIu32
				" and rank %" PRIu32,
				main->ref, main->rank, rank);
		main->rank = rank;
		main->is_main = true;
		if (main->process == TB_OTF2_NONE)
			continue;
		struct tb_otf2_process *process = &of->processes[main->process];
		if (process->rank == TB_OTF2_NONE)
			process->rank = rank;
	}
	of->n_ranks = of->n_mpi_locations;
	return TB_OK;
}

// number_processes numbers the processes that have a location, by their definitions.
static int number_processes(
	struct tb_otf2_definitions *of, const char *path, struct tb_error *error)
{
	uint32_t *main = malloc((of->n_processes + 1) * sizeof *main);
	if (!main)
		return tb_fail_memory(error, "the ranks of an archive");
	memset(main, 0xff, (of->n_processes + 1) * sizeof *main);
	for (size_t i = 0; i < of->n_locations; i++) {
		uint32_t process = of->locations[i].process;
		if (process != TB_OTF2_NONE && main[process] == TB_OTF2_NONE)
			main[process] = (uint32_t)i;
	}
	uint32_t n = 0;
	for (size_t i = 0; i < of->n_processes; i++) {
		if (!of->processes[i].is_process || main[i] == TB_OTF2_NONE)
			continue;
		of->locations[main[i]].rank = n;
		of->locations[main[i]].is_main = true;
		of->processes[i].rank = n++;
	}
	free(main);
	of->n_ranks = n;
	return n > RANKS_MAX ? too_many(path, n, error) : TB_OK;
}

TB_ORDER_BY(location_by_rank, struct tb_otf2_location,
	TB_UP(rank) TB_DOWN(is_main) TB_UP(ref))

// otf2_ranks_find numbers the ranks: in the order of the group of locations that take
// part in MPI, or, without one, the processes in the order of their definitions; gives
// each location its rank; and sorts the locations by rank, the main thread first.
// TB_EFORMAT for an archive without processes, TB_ECAPACITY for too many.
static int otf2_ranks_find(
	struct tb_otf2_definitions *of, const char *path, struct tb_error *error)
{
	int status = of->n_mpi_locations > 0 ? ranks_number_members(of, path, error)
					     : number_processes(of, path, error);
	if (status != TB_OK)
		return status;
	if (of->n_ranks == 0)
		return tb_fail_in(error, TB_EFORMAT, path,
			"the archive has no processes: expected locations in groups");
	for (size_t i = 0; i < of->n_locations; i++) {
		struct tb_otf2_location *location = &of->locations[i];
		if (location->rank == TB_OTF2_NONE && location->process != TB_OTF2_NONE)
			location->rank = of->processes[location->process].rank;
	}
	qsort(of->locations, of->n_locations, sizeof *of->locations, location_by_rank);
	return TB_OK;
}

// self_group returns the group of one rank, in which COMM_SELF is.
static int self_group(struct tb_otf2_definitions *of, struct tb_calls *calls,
	uint32_t rank, uint32_t *group, struct tb_error *error)
{
	if (!of->self_of) {
		of->self_of = malloc(of->n_ranks * sizeof *of->self_of);
		if (!of->self_of)
			return tb_fail_memory(error, "the groups of an archive");
		memset(of->self_of, 0xff, of->n_ranks * sizeof *of->self_of);
	}
	int status = TB_OK;
	if (of->self_of[rank] == TB_OTF2_NONE)
		status = tb_calls_group(calls, &rank, 1, 1, &of->self_of[rank], error);
	*group = of->self_of[rank];
	return status;
}

static void ranks_copy_members(uint32_t *to, const struct tb_otf2_group *group)
{
	// A rank beyond 32 bits becomes one that no job has.
	for (uint32_t i = 0; i < group->n; i++)
		to[i] = group->members[i] < TB_OTF2_NONE ? (uint32_t)group->members[i]
							 : TB_OTF2_NONE;
}

static int ranks_add_group(struct tb_otf2_definitions *of, struct tb_calls *calls,
	struct tb_otf2_comm *comm, struct tb_error *error)
{
	const struct tb_otf2_group *a = &of->groups[comm->a];
	const struct tb_otf2_group *b =
		comm->b != TB_OTF2_NONE ? &of->groups[comm->b] : NULL;
	uint64_t n = (uint64_t)a->n + (b ? b->n : 0);
	if (!b && a->n == of->n_ranks &&
		strcmp(tb_otf2_string(of, comm->name), "MPI_COMM_WORLD") == 0) {
		comm->group = 0;
		return TB_OK;
	}
	if (n > of->n_ranks)
		return tb_fail(error, TB_EFORMAT,
			"a communicator has %" PRIu64 " members: the archive has %" PRIu32
			" ranks",
			n, of->n_ranks);
	uint32_t *members = malloc((n ? n : 1) * sizeof *members);
	if (!members)
		return tb_fail_memory(error, "the groups of an archive");
	ranks_copy_members(members, a);
	if (b)
		ranks_copy_members(members + a->n, b);
	int status =
		tb_calls_group(calls, members, (uint32_t)n, a->n, &comm->group, error);
	free(members);
	if (status == TB_EUSAGE && error)
		error->code = TB_EFORMAT;
	return status == TB_EUSAGE ? TB_EFORMAT : status;
}

static int view_members(const struct tb_calls *calls, uint32_t comm, uint32_t rank,
	struct tb_otf2_view *view, struct tb_error *error)
{
	struct tb_group group = tb_calls_members(calls, view->group);
	uint32_t at = tb_group_place(&group, rank);
	if (at == group.n)
		return tb_fail(error, TB_EFORMAT,
			"rank %" PRIu32 " communicates in communicator %" PRIu32
			", of which it is no member",
			rank, comm);
	bool is_local = at < group.n_local;
	uint32_t n_remote = group.n - group.n_local;
	view->is_inter = n_remote > 0;
	view->me = is_local ? at : at - group.n_local;
	view->n_local = is_local ? group.n_local : n_remote;
	view->n = !view->is_inter ? group.n : is_local ? n_remote : group.n_local;
	view->first = view->is_inter && is_local ? group.n_local : 0;
	return TB_OK;
}

int tb_otf2_view_of(struct tb_otf2_definitions *of, struct tb_calls *calls, uint32_t comm,
	uint32_t rank, struct tb_otf2_view *view, struct tb_error *error)
{
	uint32_t place;
	int status = TB_OK;
	*view = (struct tb_otf2_view){0};
	// An archive without groups of ranks can only mean all of them.
	if (!tb_map_find(&of->comm_of, comm, &place)) {
		if (of->n_comms > 0)
			return tb_fail(error, TB_EFORMAT,
				"rank %" PRIu32 " communicates in communicator %" PRIu32
				", which is not defined",
				rank, comm);
		return view_members(calls, comm, rank, view, error);
	}
	struct tb_otf2_comm *of_comm = &of->comms[place];
	if (of_comm->b == TB_OTF2_NONE && of->groups[of_comm->a].is_self) {
		*view = (struct tb_otf2_view){.n = 1, .n_local = 1};
		return self_group(of, calls, rank, &view->group, error);
	}
	if (of_comm->group == TB_OTF2_NONE)
		status = ranks_add_group(of, calls, of_comm, error);
	view->group = of_comm->group;
	view->is_global = of->groups[of_comm->a].is_global;
	return status == TB_OK ? view_members(calls, comm, rank, view, error) : status;
}

uint32_t tb_otf2_peer(
	const struct tb_calls *calls, const struct tb_otf2_view *view, uint32_t peer)
{
	if (view->is_global)
		return peer < tb_calls_n_ranks(calls) ? peer : TB_OTF2_NONE;
	if (peer >= view->n)
		return TB_OTF2_NONE;
	return tb_calls_members(calls, view->group).members[view->first + peer];
}

uint32_t tb_otf2_root(
	const struct tb_calls *calls, const struct tb_otf2_view *view, uint32_t root)
{
	if (view->is_global) {
		struct tb_group group = tb_calls_members(calls, view->group);
		root = tb_group_place(&group, root);
	}
	return root < view->n ? root : TB_OTF2_NONE;
}
