#include "otf2_trace.h"

#include "array.h"
#include "events.h"
#include "input_files.h"
#include "steps.h"
#include "units.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// An anchor file begins with a byte for a header, one for its byte order, and its name.
// Its other files begin otherwise.
#define MAGIC	 "OTF2"
#define MAGIC_AT 2

// Locations whose events are open at once.
#define OPEN_AT_ONCE 1024

static bool has_magic(const uint8_t *first, size_t n)
{
	return n >= MAGIC_AT + strlen(MAGIC) &&
	       memcmp(first + MAGIC_AT, MAGIC, strlen(MAGIC)) == 0;
}

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);
	return n > k && strcmp(name + n - k, end) == 0;
}

static bool is_anchor_file(const char *path)
{
	uint8_t first[8] = {0};
	FILE *file = tb_input_is_file(path) ? tb_input_fopen(path) : NULL;
	size_t n = file ? fread(first, 1, sizeof first, file) : 0;
	if (file)
		fclose(file);
	return has_magic(first, n);
}

// count_anchors counts the anchor files of a folder, and stores the first by name.
static int count_anchors(const char *folder, char *anchor, size_t size)
{
	int n = 0;
	DIR *entries = opendir(folder);
	if (!entries)
		return 0;
	for (struct dirent *entry; (entry = readdir(entries));) {
		char path[TB_OTF2_PATH];
		int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		if (!ends_in(entry->d_name, ".otf2") || length >= (int)sizeof path ||
			!is_anchor_file(path))
			continue;
		if (n++ == 0 || strcmp(path, anchor) < 0)
			snprintf(anchor, size, "%s", path);
	}
	closedir(entries);
	return n;
}

bool tb_otf2_probe(const char *path, bool is_folder, const uint8_t *first, size_t n)
{
	char anchor[TB_OTF2_PATH];
	return is_folder ? count_anchors(path, anchor, sizeof anchor) > 0
			 : has_magic(first, n);
}

TB_PRINTF(6, 0)
static OTF2_ErrorCode listen(void *user, const char *file, uint64_t line,
	const char *function, OTF2_ErrorCode code, const char *format, va_list arguments)
{
	struct tb_otf2_archive *archive = user;
	(void)file;
	(void)line;
	(void)function;
	// The first complaint is the cause; those after it follow from it.
	if (*archive->said)
		return code;
	vsnprintf(archive->said, sizeof archive->said, format, arguments);
	if (!*archive->said)
		snprintf(archive->said, sizeof archive->said, "%s",
			OTF2_Error_GetDescription(code));
	return code;
}

static int find_anchor(
	struct tb_otf2_archive *archive, const char *path, struct tb_error *error)
{
	struct stat entry;
	if (stat(path, &entry) != 0)
		return tb_fail_in(error, TB_EIO, path, "cannot be opened");
	if (!S_ISDIR(entry.st_mode)) {
		snprintf(archive->anchor, sizeof archive->anchor, "%s", path);
		return TB_OK;
	}
	int n = count_anchors(path, archive->anchor, sizeof archive->anchor);
	if (n == 1)
		return TB_OK;
	return tb_fail_in(error, TB_EFORMAT, path,
		"has %d OTF2 archives: expected one; give its .otf2 file", n);
}

// archive_note_file notes a file that the library will read, so that no output replaces
// it, and refuses what it would wait for: a pipe or a device.
static int archive_note_file(const char *path, struct tb_error *error)
{
	struct stat entry;
	if (stat(path, &entry) == 0 && !S_ISREG(entry.st_mode) && !S_ISDIR(entry.st_mode))
		return tb_fail_in(error, TB_EFORMAT, path,
			"is a pipe or a device: expected a file of an OTF2 archive");
	return tb_input_note_path(path) == TB_OK ? TB_OK
						 : tb_fail_memory_in(error, path, "it");
}

static int note_members(const char *folder, struct tb_error *error)
{
	int status = TB_OK;
	DIR *entries = opendir(folder);
	if (!entries)
		return TB_OK; // not every archive has a folder
	for (struct dirent *entry; !status && (entry = readdir(entries));) {
		char path[TB_OTF2_PATH];
		int n = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		bool is_member = ends_in(entry->d_name, ".evt") ||
				 ends_in(entry->d_name, ".def") ||
				 ends_in(entry->d_name, ".snap");
		if (is_member && n < (int)sizeof path)
			status = archive_note_file(path, error);
	}
	closedir(entries);
	return status;
}

// note_files notes what belongs to the anchor NAME.otf2: NAME.def and the files in NAME/.
static int note_files(const char *anchor, struct tb_error *error)
{
	char path[TB_OTF2_PATH + 8];
	int n = (int)strlen(anchor);
	n -= ends_in(anchor, ".otf2") ? 5 : 0;
	int status = archive_note_file(anchor, error);
	snprintf(path, sizeof path, "%.*s.def", n, anchor);
	if (!status)
		status = archive_note_file(path, error);
	snprintf(path, sizeof path, "%.*s.marker", n, anchor);
	if (!status)
		status = archive_note_file(path, error);
	snprintf(path, sizeof path, "%.*s", n, anchor);
	return status ? status : note_members(path, error);
}

static int open_reader(struct tb_otf2_archive *archive, struct tb_error *error)
{
	archive->reader = OTF2_Reader_Open(archive->anchor);
	if (!archive->reader)
		return tb_fail_in(error, TB_EFORMAT, archive->anchor,
			"is a damaged OTF2 archive%s%s", *archive->said ? ": " : "",
			archive->said);
	OTF2_Reader_SetSerialCollectiveCallbacks(archive->reader);
	return TB_OK;
}

// otf2_archive_open opens the archive of an anchor file, or of the folder with it.
// Messages of libotf2 go to `said` from then on, not to standard error.
// TB_EIO, TB_EFORMAT, TB_EVERSION. To be closed in any case.
static int otf2_archive_open(
	struct tb_otf2_archive *archive, const char *path, struct tb_error *error)
{
	int status = find_anchor(archive, path, error);
	if (status != TB_OK)
		return status;
	if (!is_anchor_file(archive->anchor))
		return tb_fail_in(error, TB_EFOREIGN, archive->anchor,
			"is no OTF2 archive: expected its .otf2 file");
	status = note_files(archive->anchor, error);
	if (status != TB_OK)
		return status;
	archive->before = OTF2_Error_RegisterCallback(listen, archive);
	archive->listens = true;
	status = open_reader(archive, error);
	if (status == TB_OK) {
		// Set the folder of the locations' files: the anchor's name without its
		// end.
		OTF2_FileSubstrate substrate = OTF2_SUBSTRATE_UNDEFINED;
		struct stat entry;
		snprintf(archive->folder, sizeof archive->folder, "%s", archive->anchor);
		char *dot = strrchr(archive->folder, '.');
		if (dot && strcmp(dot, ".otf2") == 0)
			*dot = '\0';
		OTF2_Reader_GetFileSubstrate(archive->reader, &substrate);
		archive->has_files = substrate == OTF2_SUBSTRATE_POSIX &&
				     stat(archive->folder, &entry) == 0;
	}
	return status;
}

// otf2_archive_has returns whether a location has a file of events ("evt") or of
// definitions ("def"), whose name it stores. Where the archive does not have a file each,
// it stores nothing, and has events only.
static bool otf2_archive_has(const struct tb_otf2_archive *archive,
	const struct tb_otf2_location *location, const char *kind, char *path,
	size_t size)
{
	struct stat entry;
	if (!archive->has_files)
		return strcmp(kind, "evt") == 0;
	int length = snprintf(
		path, size, "%s/%" PRIu64 ".%s", archive->folder, location->ref, kind);
	return length > 0 && (size_t)length < size && stat(path, &entry) == 0 &&
	       entry.st_size > 0;
}

// select_some selects the next locations that have events, and returns how many.
static size_t select_some(
	struct tb_otf2_archive *archive, const struct tb_otf2_definitions *of, size_t i)
{
	char path[TB_OTF2_PATH];
	size_t n = 0;
	for (; i < of->n_locations && n < OPEN_AT_ONCE; i++) {
		const struct tb_otf2_location *location = &of->locations[i];
		if (location->rank == TB_OTF2_NONE ||
			!otf2_archive_has(archive, location, "evt", path, sizeof path))
			continue;
		OTF2_Reader_SelectLocation(archive->reader, location->ref);
		n++;
	}
	archive->n_ready = i;
	return n;
}

// otf2_archive_select opens the events of location `i` and of some after it. They must
// be read in their order: libotf2 takes time that grows with the square of those that are
// open, so that of a million only a few can be.
static int otf2_archive_select(struct tb_otf2_archive *archive,
	const struct tb_otf2_definitions *of, size_t i, struct tb_error *error)
{
	int status = TB_OK;
	if (i < archive->n_ready)
		return TB_OK;
	// Locations can be selected only before events are opened.
	if (archive->has_selected) {
		OTF2_Reader_Close(archive->reader);
		status = open_reader(archive, error);
	}
	archive->has_selected = true;
	if (status != TB_OK || select_some(archive, of, i) == 0)
		return status;
	archive->has_local_definitions =
		OTF2_Reader_OpenDefFiles(archive->reader) == OTF2_SUCCESS;
	*archive->said = '\0';
	if (OTF2_Reader_OpenEvtFiles(archive->reader) == OTF2_SUCCESS)
		return TB_OK;
	return tb_fail_in(error, TB_EFORMAT, archive->anchor,
		"the archive's events cannot be opened%s%s", *archive->said ? ": " : "",
		archive->said);
}

// Events between two checks of whether reading should stop.
#define EVENTS_AT_ONCE 1000000

// Less is not worth a note.
#define CLOCKS_APART_NS 1000

// A read of an archive.
struct read {
	struct tb_otf2_archive archive;
	struct tb_otf2_definitions of;
	struct tb_otf2_events events;
	struct tb_calls *calls;
	const struct tb_reading *reading;
	struct tb_otf2_unresolved *unresolved;
	size_t n_unresolved, unresolved_room;
	uint64_t n_missing; // locations that are missing or break off
	uint64_t n_outside; // locations of no rank
	uint64_t n_late;    // calls after a rank broke off
};

static int missing(struct read *read, const struct tb_otf2_location *location,
	const char *path, struct tb_error *error)
{
	if (location->n_events == 0)
		return TB_OK;
	int status = tb_fail_in(error, TB_EFORMAT, path,
		"the events of rank %" PRIu32 " are missing: expected %" PRIu64
		" events of location %" PRIu64,
		location->rank, location->n_events, location->ref);
	return tb_reading_breaks_off(read->reading, status, &read->n_missing, error);
}

// read_offsets reads a location's own definitions, by which libotf2 corrects its clock
// and its references; false when they break off, so that its events may mean something
// else. They are optional.
static bool read_offsets(struct read *read, const struct tb_otf2_location *location)
{
	uint64_t n;
	char path[TB_OTF2_PATH];
	OTF2_Reader *reader = read->archive.reader;
	OTF2_DefReader *from = read->archive.has_local_definitions
				       ? OTF2_Reader_GetDefReader(reader, location->ref)
				       : NULL;
	if (!from)
		return !otf2_archive_has(
			&read->archive, location, "def", path, sizeof path);
	OTF2_ErrorCode code = OTF2_Reader_ReadAllLocalDefinitions(reader, from, &n);
	OTF2_Reader_CloseDefReader(reader, from);
	return code == OTF2_SUCCESS;
}

static int lacks_definitions(struct read *read, const struct tb_otf2_location *location,
	struct tb_error *error)
{
	char path[TB_OTF2_PATH];
	snprintf(path, sizeof path, "%s", read->archive.anchor);
	otf2_archive_has(&read->archive, location, "def", path, sizeof path);
	int status = tb_fail_in(error, TB_EFORMAT, path,
		"the definitions of rank %" PRIu32
		" break off, without which its events tell nothing",
		location->rank);
	return tb_reading_breaks_off(read->reading, status, &read->n_missing, error);
}

static int otf2_read_events(struct read *read, OTF2_EvtReader *from,
	const struct tb_otf2_location *location, const char *path, struct tb_error *error)
{
	uint64_t n_read = EVENTS_AT_ONCE, n_total = 0;
	OTF2_ErrorCode code = OTF2_SUCCESS;
	while (n_read == EVENTS_AT_ONCE && code == OTF2_SUCCESS) {
		if (read->reading->stop && *read->reading->stop)
			return tb_fail(error, TB_ESTOPPED, "stopped while reading");
		code = OTF2_Reader_ReadLocalEvents(
			read->archive.reader, from, EVENTS_AT_ONCE, &n_read);
		n_total += n_read;
	}
	const struct tb_error *why = &read->events.error;
	if (read->events.status != TB_OK)
		return tb_fail_at(error, read->events.status, path, why->place, why->at,
			"%s", why->text);
	if (code != OTF2_SUCCESS || n_total < location->n_events) {
		char of[32] = "";
		// EZTrace leaves the number of events at 2.
		if (location->n_events > read->events.n_events)
			snprintf(of, sizeof of, " of %" PRIu64, location->n_events);
		int status = tb_fail_in(error, TB_EFORMAT, path,
			"the events of rank %" PRIu32 " break off after %" PRIu64
			"%s%s%s",
			location->rank, read->events.n_events, of,
			*read->archive.said ? ": " : "", read->archive.said);
		uint64_t at_ns = tb_otf2_ns(&read->of, read->events.last);
		if (at_ns < read->events.steps.cut_ns || !read->events.steps.is_cut)
			read->events.steps.cut_ns = at_ns;
		read->events.steps.is_cut = true;
		return tb_reading_breaks_off(
			read->reading, status, &read->n_missing, error);
	}
	return TB_OK;
}

static int read_location(struct read *read, const struct tb_otf2_location *location,
	struct tb_error *error)
{
	char path[TB_OTF2_PATH];
	snprintf(path, sizeof path, "%s", read->archive.anchor);
	*read->archive.said = '\0';
	// libotf2 does not tell an absent file from a broken one.
	if (!otf2_archive_has(&read->archive, location, "evt", path, sizeof path))
		return missing(read, location, path, error);
	int status = otf2_archive_select(&read->archive, &read->of,
		(size_t)(location - read->of.locations), error);
	if (status != TB_OK)
		return status;
	if (!read_offsets(read, location))
		return lacks_definitions(read, location, error);
	OTF2_Reader *reader = read->archive.reader;
	OTF2_EvtReader *from = OTF2_Reader_GetEvtReader(reader, location->ref);
	if (!from)
		return missing(read, location, path, error);
	OTF2_Reader_RegisterEvtCallbacks(
		reader, from, read->events.callbacks, &read->events);
	tb_otf2_events_location(&read->events);
	status = otf2_read_events(read, from, location, path, error);
	OTF2_Reader_CloseEvtReader(reader, from);
	if (status == TB_OK)
		tb_otf2_events_end(&read->events);
	return status;
}

static int otf2_read_rank(struct read *read, size_t *at, struct tb_error *error)
{
	struct tb_otf2_definitions *of = &read->of;
	uint32_t rank = of->locations[*at].rank, process = of->locations[*at].process;
	const char *host = process != TB_OTF2_NONE ? tb_otf2_host(of, process) : NULL;
	int status = TB_OK;
	if (host)
		tb_calls_host(read->calls, rank, host);
	tb_otf2_events_rank(&read->events, rank);
	for (; *at < of->n_locations && of->locations[*at].rank == rank; (*at)++)
		if (status == TB_OK)
			status = read_location(read, &of->locations[*at], error);
	if (status != TB_OK)
		return status;
	// Hand a rank's calls over, or keep them until those of all ranks are known.
	struct tb_otf2_steps *steps = &read->events.steps;
	// Drop collective calls that no record completes.
	struct tb_otf2_events *events = &read->events;
	for (size_t i = 0; i < events->steps.n_steps; i++) {
		struct tb_otf2_step *step = &events->steps.steps[i];
		if (!step->is_open || step->is_dropped ||
			step->call.kind != TB_CALL_COLLECTIVE)
			continue;
		step->is_dropped = true;
		events->left_out[TB_OTF2_UNFINISHED]++;
	}
	if (steps->n_open_receives == 0)
		return tb_otf2_steps_give(steps, read->calls, rank, error);
	if (TB_ARRAY_RESERVE(&read->unresolved, &read->unresolved_room,
		    read->n_unresolved + 1) != TB_OK)
		return tb_fail_memory(error, "the ranks of a trace");
	read->unresolved[read->n_unresolved++] =
		(struct tb_otf2_unresolved){rank, *steps};
	*steps = (struct tb_otf2_steps){0};
	return TB_OK;
}

static tb_time_ps ps_of(uint64_t ns)
{
	const uint64_t most = INT64_MAX / TB_PS_PER_NS;
	return (tb_time_ps)(ns < most ? ns : most) * TB_PS_PER_NS;
}

static void otf2_note(struct read *read)
{
	char text[64];
	tb_otf2_events_note(&read->events);
	if (read->n_missing > 0)
		tb_calls_note(read->calls,
			"the events of %s are missing or break off: what they say until "
			"there counts",
			tb_format_counted(
				read->n_missing, "location", text, sizeof text));
	tb_calls_note_count(read->calls, read->n_late, "call is|calls are",
		" left out, after the events of a rank break off: what was received "
		"cannot be told");
	if (read->of.breaks_off)
		tb_calls_note(read->calls,
			"the archive's definitions break off: what they do not have is "
			"left out");
	tb_calls_note_count(read->calls, read->n_outside, "location is|locations are",
		" left out, of processes that are no ranks");
}

static int otf2_read_ranks(struct read *read, struct tb_error *error)
{
	int status = TB_OK;
	size_t at = 0;
	while (at < read->of.n_locations && status == TB_OK) {
		if (read->of.locations[at].rank != TB_OTF2_NONE) {
			status = otf2_read_rank(read, &at, error);
			continue;
		}
		read->n_outside++;
		at++;
	}
	if (status == TB_OK && read->n_unresolved > 0) {
		struct tb_otf2_found found = {0};
		uint64_t apart_ns = 0;
		char text[64];
		// The calls of a rank that was handed over are final: its clock cannot be
		// shifted any more.
		if (read->n_unresolved == read->of.n_ranks)
			status = tb_otf2_clocks_align(
				read->unresolved, read->n_unresolved, &apart_ns, error);
		if (read->n_unresolved == read->of.n_ranks)
			read->n_late = tb_otf2_receives_cut(
				read->unresolved, read->n_unresolved);
		if (status == TB_OK)
			status = tb_otf2_receives_find(read->unresolved,
				read->n_unresolved, read->calls, &found, error);
		for (size_t i = 0; i < read->n_unresolved && status == TB_OK; i++)
			status = tb_otf2_steps_give(&read->unresolved[i].steps,
				read->calls, read->unresolved[i].rank, error);
		if (apart_ns >= CLOCKS_APART_NS)
			tb_calls_note(read->calls,
				"the ranks' clocks, up to %s apart, are put together by "
				"the ends of their collective calls",
				tb_format_time(ps_of(apart_ns), text, sizeof text));
		if (found.n_found > 0)
			tb_calls_note(read->calls,
				"no record tells what %s received: each is taken to have "
				"the earliest message to its rank that is left",
				tb_format_counted(
					found.n_found, "receive", text, sizeof text));
		tb_calls_note_count(read->calls, found.n_without,
			"receive is|receives are", " left out, for want of a message");
	}
	if (status != TB_OK)
		return status;
	char text[32];
	uint64_t apart_ns = tb_calls_begin_apart(read->calls);
	if (apart_ns)
		tb_calls_note(read->calls,
			"the ranks begin up to %s apart: those that begin late compute "
			"until then",
			tb_format_time(
				(tb_time_ps)apart_ns * TB_PS_PER_NS, text, sizeof text));
	otf2_note(read);
	return TB_OK;
}

static int otf2_read_archive(struct read *read, const char *path, struct tb_error *error)
{
	int status = otf2_archive_open(&read->archive, path, error);
	if (status == TB_OK)
		status = tb_otf2_definitions_read(&read->of, read->archive.reader,
			read->archive.anchor, read->reading, error);
	if (status == TB_OK)
		status = tb_otf2_events_init(&read->events, error);
	if (status == TB_OK)
		status = tb_calls_new(&read->calls, read->of.n_ranks, error);
	if (status == TB_OK)
		tb_calls_lacks_sources(read->calls);
	read->events.of = &read->of;
	read->events.calls = read->calls;
	read->events.reading = read->reading;
	return status == TB_OK ? otf2_read_ranks(read, error) : status;
}

int tb_otf2_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error)
{
	struct read read = {.reading = reading};
	if (n != 1)
		return tb_fail(error, TB_EUSAGE, "an OTF2 archive is read alone");
	int status = otf2_read_archive(&read, paths[0], error);
	for (size_t i = 0; i < read.n_unresolved; i++)
		tb_otf2_steps_fini(&read.unresolved[i].steps);
	free(read.unresolved);
	tb_otf2_events_fini(&read.events);
	tb_otf2_definitions_fini(&read.of);
	struct tb_otf2_archive *archive = &read.archive;
	OTF2_Reader_Close(archive->reader);
	if (archive->listens)
		OTF2_Error_RegisterCallback(archive->before, NULL);
	archive->reader = NULL;
	archive->listens = false;
	if (status != TB_OK) {
		tb_calls_free(read.calls);
		return status;
	}
	*calls = read.calls;
	*made = NULL;
	return TB_OK;
}
