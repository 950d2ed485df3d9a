// Writes small OTF2 archives for tests, with libotf2's own writer.
//
// otf2_begin, then for each location in turn otf2_location, its events (otf2_enter,
// otf2_leave, or what libotf2 has, on ->events) and otf2_location_end, then otf2_end with
// a function that writes what else the definitions need.
#ifndef TB_OTF2_ARCHIVE_TEST_H
#define TB_OTF2_ARCHIVE_TEST_H

#include <otf2/otf2.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define OTF2_LOCATIONS_MAX 1024

struct otf2_archive {
	OTF2_Archive *archive;
	OTF2_EvtWriter *events;
	OTF2_GlobalDefWriter *definitions;
	uint64_t counts[OTF2_LOCATIONS_MAX]; // events by location
	uint32_t n_locations, n_strings;
	uint64_t resolution, begin; // of the clock: ticks per second, first time
};

// The regions that every archive has, by their numbers.
enum otf2_region {
	OTF2_REGION_MAIN,
	OTF2_REGION_SEND,
	OTF2_REGION_RECV,
	OTF2_REGION_ISEND,
	OTF2_REGION_IRECV,
	OTF2_REGION_WAITALL,
	OTF2_REGION_SENDRECV,
	OTF2_REGION_ALLREDUCE,
	OTF2_REGION_COMM_RANK,
	OTF2_REGION_BSEND,
	OTF2_REGION_IALLTOALL,
	OTF2_REGION_N
};

static inline OTF2_FlushType otf2_flush(void *user, OTF2_FileType type,
	OTF2_LocationRef location, void *caller, bool final)
{
	(void)user;
	(void)type;
	(void)location;
	(void)caller;
	(void) final;
	return OTF2_FLUSH;
}

static inline void otf2_check(OTF2_ErrorCode code, int line)
{
	if (code == OTF2_SUCCESS)
		return;
	fprintf(stderr, "line %d: %s\n", line, OTF2_Error_GetDescription(code));
	abort();
}
#define OTF2_DO(call) otf2_check((call), __LINE__)

static inline void otf2_begin(struct otf2_archive *to, const char *folder)
{
	static const OTF2_FlushCallbacks flush = {otf2_flush, NULL};
	*to = (struct otf2_archive){.resolution = 1000000000, .begin = 0};
	to->archive =
		OTF2_Archive_Open(folder, "traces", OTF2_FILEMODE_WRITE, 1024 * 1024,
			4 * 1024 * 1024, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	if (!to->archive)
		abort();
	OTF2_DO(OTF2_Archive_SetFlushCallbacks(to->archive, &flush, NULL));
	OTF2_DO(OTF2_Archive_SetSerialCollectiveCallbacks(to->archive));
	OTF2_DO(OTF2_Archive_SetCreator(to->archive, "test"));
	OTF2_DO(OTF2_Archive_OpenEvtFiles(to->archive));
}

static inline void otf2_location(struct otf2_archive *to)
{
	to->events = OTF2_Archive_GetEvtWriter(to->archive, to->n_locations);
	if (!to->events)
		abort();
}

static inline void otf2_location_end(struct otf2_archive *to)
{
	OTF2_DO(OTF2_EvtWriter_GetNumberOfEvents(
		to->events, &to->counts[to->n_locations]));
	OTF2_DO(OTF2_Archive_CloseEvtWriter(to->archive, to->events));
	to->n_locations++;
}

static inline void otf2_enter(struct otf2_archive *to, uint64_t time, uint32_t region)
{
	OTF2_DO(OTF2_EvtWriter_Enter(to->events, NULL, time, region));
}

static inline void otf2_leave(struct otf2_archive *to, uint64_t time, uint32_t region)
{
	OTF2_DO(OTF2_EvtWriter_Leave(to->events, NULL, time, region));
}

static inline uint32_t otf2_string(struct otf2_archive *to, const char *string)
{
	OTF2_DO(OTF2_GlobalDefWriter_WriteString(to->definitions, to->n_strings, string));
	return to->n_strings++;
}

static inline void otf2_region(struct otf2_archive *to, uint32_t self, const char *name,
	OTF2_RegionRole role, OTF2_Paradigm paradigm)
{
	uint32_t string = otf2_string(to, name);
	OTF2_DO(OTF2_GlobalDefWriter_WriteRegion(to->definitions, self, string, string, 0,
		role, paradigm, OTF2_REGION_FLAG_NONE, 0, 0, 0));
}

static inline void otf2_regions(struct otf2_archive *to)
{
	static const struct {
		const char *name;
		OTF2_RegionRole role;
	} regions[OTF2_REGION_N] = {
		{"main", OTF2_REGION_ROLE_FUNCTION},
		{"MPI_Send", OTF2_REGION_ROLE_POINT2POINT},
		{"MPI_Recv", OTF2_REGION_ROLE_POINT2POINT},
		{"MPI_Isend", OTF2_REGION_ROLE_POINT2POINT},
		{"MPI_Irecv", OTF2_REGION_ROLE_POINT2POINT},
		{"MPI_Waitall", OTF2_REGION_ROLE_FUNCTION},
		{"MPI_Sendrecv", OTF2_REGION_ROLE_POINT2POINT},
		{"MPI_Allreduce", OTF2_REGION_ROLE_COLL_ALL2ALL},
		{"MPI_Comm_rank", OTF2_REGION_ROLE_FUNCTION},
		{"MPI_Bsend", OTF2_REGION_ROLE_POINT2POINT},
		{"MPI_Ialltoall", OTF2_REGION_ROLE_COLL_ALL2ALL},
	};
	for (uint32_t i = 0; i < OTF2_REGION_N; i++)
		otf2_region(to, i, regions[i].name, regions[i].role,
			i == 0 ? OTF2_PARADIGM_USER : OTF2_PARADIGM_MPI);
}

// otf2_group writes a group of MPI's: of locations (type COMM_LOCATIONS) or of ranks.
static inline void otf2_group(struct otf2_archive *to, uint32_t self, OTF2_GroupType type,
	const uint64_t *members, uint32_t n)
{
	OTF2_DO(OTF2_GlobalDefWriter_WriteGroup(to->definitions, self, 0, type,
		OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, n, members));
}

static inline void otf2_comm(
	struct otf2_archive *to, uint32_t self, const char *name, uint32_t group)
{
	uint32_t string = otf2_string(to, name);
	OTF2_DO(OTF2_GlobalDefWriter_WriteComm(to->definitions, self, string, group,
		OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
}

// otf2_processes writes a process with a location each, on hosts of two processes.
static inline void otf2_processes(struct otf2_archive *to)
{
	OTF2_GlobalDefWriter *out = to->definitions;
	uint32_t machine = otf2_string(to, "machine"), node = otf2_string(to, "node");
	OTF2_DO(OTF2_GlobalDefWriter_WriteSystemTreeNode(
		out, 0, machine, machine, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
	for (uint32_t i = 0; i < to->n_locations; i++) {
		char name[32];
		if (i % 2 == 0) {
			snprintf(name, sizeof name, "host%u", i / 2);
			uint32_t host = otf2_string(to, name);
			OTF2_DO(OTF2_GlobalDefWriter_WriteSystemTreeNode(
				out, 1 + i / 2, host, node, 0));
		}
		snprintf(name, sizeof name, "process %u", i);
		uint32_t string = otf2_string(to, name);
		OTF2_DO(OTF2_GlobalDefWriter_WriteLocationGroup(out, i, string,
			OTF2_LOCATION_GROUP_TYPE_PROCESS, 1 + i / 2,
			OTF2_UNDEFINED_LOCATION_GROUP));
		OTF2_DO(OTF2_GlobalDefWriter_WriteLocation(
			out, i, string, OTF2_LOCATION_TYPE_CPU_THREAD, to->counts[i], i));
	}
}

// otf2_world writes group 0, of all locations, group 1, of all ranks, and communicator 0.
static inline void otf2_world(struct otf2_archive *to)
{
	uint64_t members[OTF2_LOCATIONS_MAX];
	for (uint32_t i = 0; i < to->n_locations; i++)
		members[i] = i;
	otf2_group(to, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, members, to->n_locations);
	otf2_group(to, 1, OTF2_GROUP_TYPE_COMM_GROUP, members, to->n_locations);
	otf2_comm(to, 0, "MPI_COMM_WORLD", 1);
}

// otf2_end writes the definitions; `more` (or NULL) those that are not in every archive,
// and `clock` (or NULL) a location's own ones.
static inline void otf2_end(struct otf2_archive *to,
	void (*define)(struct otf2_archive *),
	void (*clock)(OTF2_DefWriter *, uint32_t location))
{
	OTF2_DO(OTF2_Archive_CloseEvtFiles(to->archive));
	OTF2_DO(OTF2_Archive_OpenDefFiles(to->archive));
	for (uint32_t i = 0; i < to->n_locations; i++) {
		OTF2_DefWriter *local = OTF2_Archive_GetDefWriter(to->archive, i);
		if (clock)
			clock(local, i);
		OTF2_DO(OTF2_Archive_CloseDefWriter(to->archive, local));
	}
	OTF2_DO(OTF2_Archive_CloseDefFiles(to->archive));
	to->definitions = OTF2_Archive_GetGlobalDefWriter(to->archive);
	OTF2_DO(OTF2_GlobalDefWriter_WriteClockProperties(to->definitions, to->resolution,
		to->begin, 1000000, OTF2_UNDEFINED_TIMESTAMP));
	otf2_string(to, "");
	otf2_regions(to);
	define(to);
	OTF2_DO(OTF2_Archive_CloseGlobalDefWriter(to->archive, to->definitions));
	OTF2_DO(OTF2_Archive_Close(to->archive));
}

#endif
