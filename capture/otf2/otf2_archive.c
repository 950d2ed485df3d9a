#include "otf2_archive.h"

#include "input_files.h"
#include "otf2_trace.h"

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

int tb_otf2_archive_open(
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

void tb_otf2_archive_close(struct tb_otf2_archive *archive)
{
	OTF2_Reader_Close(archive->reader);
	if (archive->listens)
		OTF2_Error_RegisterCallback(archive->before, NULL);
	archive->reader = NULL;
	archive->listens = false;
}

bool tb_otf2_archive_has(const struct tb_otf2_archive *archive,
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
			!tb_otf2_archive_has(archive, location, "evt", path, sizeof path))
			continue;
		OTF2_Reader_SelectLocation(archive->reader, location->ref);
		n++;
	}
	archive->n_ready = i;
	return n;
}

int tb_otf2_archive_select(struct tb_otf2_archive *archive,
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
