#include "unpacked.h"

#include "libarchive.h"
#include "temporary.h"
#include "units.h"
#include "visible.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES (size_t)(64 << 10)

#define TAIL_BYTES (size_t)1024 // of a zip, more than its end without a comment

enum { MEMBERS_MOST = 32768, DEPTH_MOST = 32, LOOK_MEMBERS = 64 };
#define BASE_BYTES (UINT64_C(64) << 20)
#define TIMES_SIZE UINT64_C(100)

struct tb_unpacked {
	struct tb_temporary folder;
	char path[PATH_MAX]; // what it holds
	const char *name;
	const struct tb_opened_input *in;
	enum tb_unpacked_part part;
	struct tb_libarchive library;
	struct archive *archive;
	uint32_t n_members, n_links; // links are skipped
	char first_link[160], note[256];
	uint64_t n_bytes, n_bytes_most;
	struct tb_error *error;
	size_t n_tail;
	char tail[TAIL_BYTES]; // the last bytes that were read
	char block[BLOCK_BYTES];
};

bool tb_unpacked_begins(struct tb_bytes first)
{
	static const char zip[] = "PK\x03\x04", tar[] = "ustar";
	return (tb_bytes_have(first, 0, 4) && memcmp(first.data, zip, 4) == 0) ||
	       (tb_bytes_have(first, 257, 5) && memcmp(first.data + 257, tar, 5) == 0);
}

#define REFUSE(unpacked, ...)                                                            \
	tb_fail_in((unpacked)->error, TB_EFORMAT, (unpacked)->name, __VA_ARGS__)

// give_unpacked_block is libarchive's read callback.
static la_ssize_t give_unpacked_block(
	struct archive *archive, void *client, const void **block)
{
	struct tb_unpacked *unpacked = client;
	size_t n = fread(unpacked->block, 1, BLOCK_BYTES, unpacked->in->stream);
	*block = unpacked->block;
	// Keep the last bytes of what was read, across blocks.
	size_t n_new = n < TAIL_BYTES ? n : TAIL_BYTES;
	size_t n_old = unpacked->n_tail;
	if (n_old > TAIL_BYTES - n_new)
		n_old = TAIL_BYTES - n_new;
	memmove(unpacked->tail, unpacked->tail + unpacked->n_tail - n_old, n_old);
	memcpy(unpacked->tail + n_old, unpacked->block + n - n_new, n_new);
	unpacked->n_tail = n_old + n_new;
	if (n == 0 && tb_infile_check(unpacked->in->file, NULL) != TB_OK) {
		unpacked->library.archive_set_error(archive, EIO, "the stream ended");
		return ARCHIVE_FATAL;
	}
	return (la_ssize_t)n;
}

// fail_unpacked_broken reports what is wrong with the stream, or with the archive in it.
static int fail_unpacked_broken(struct tb_unpacked *unpacked)
{
	int cause = tb_infile_check(unpacked->in->file, unpacked->error);
	const char *why = unpacked->library.archive_error_string(unpacked->archive);
	char shown[200];
	return cause ? cause
		     : REFUSE(unpacked, "the archive is damaged (%s)",
			       why ? tb_visible(why, shown, sizeof shown)
				   : "unknown cause");
}

static int refuse_member(
	struct tb_unpacked *unpacked, const char *member, const char *what)
{
	char shown[200];
	return REFUSE(
		unpacked, "'%s' in it %s", tb_visible(member, shown, sizeof shown), what);
}

static int fail_member_write(struct tb_unpacked *unpacked, const char *member)
{
	char shown[200];
	int why = errno;
	if (why == EEXIST)
		return refuse_member(unpacked, member, "is there a second time");
	return tb_fail_in(unpacked->error, TB_EIO, unpacked->name,
		"'%s' cannot be unpacked under TMPDIR or /tmp: %s",
		tb_visible(member, shown, sizeof shown), strerror(why));
}

// is_added: what systems put beside the files that somebody packed.
static bool is_added(const char *member)
{
	const char *last = strrchr(member, '/');
	last = last ? last + 1 : member;
	return strncmp(member, "__MACOSX/", 9) == 0 || strncmp(last, "._", 2) == 0 ||
	       strcmp(last, ".DS_Store") == 0;
}

// open_folders opens the folder in which a member lies, made where it is new, and moves
// `member` to its last word: a descriptor, or -1 with errno. The words are none that lead
// elsewhere, and nothing in the folder is a link, for none is unpacked.
static int open_folders(const struct tb_unpacked *unpacked, char **member)
{
	int at = open(unpacked->folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *slash;
	while (at >= 0 && (slash = strchr(*member, '/'))) {
		*slash = '\0';
		bool made = mkdirat(at, *member, 0700) == 0 || errno == EEXIST;
		int next = made ? openat(at, *member,
					  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
				: -1;
		int why = errno;
		close(at);
		errno = why;
		at = next;
		*member = slash + 1;
	}
	return at;
}

// copy_member writes a member's data, which may be sparse.
static int copy_member(struct tb_unpacked *unpacked, int file, const char *member)
{
	bool looks = unpacked->part == TB_UNPACKED_LOOK;
	const void *block;
	size_t n;
	la_int64_t at;
	int found;
	while ((found = unpacked->library.archive_read_data_block(
			unpacked->archive, &block, &n, &at)) == ARCHIVE_OK) {
		unpacked->n_bytes += n;
		if (unpacked->n_bytes > unpacked->n_bytes_most ||
			at > (la_int64_t)unpacked->n_bytes_most)
			return REFUSE(unpacked,
				"holds more than %" PRIu64
				" bytes, a hundred times its size and 64 MiB: unpack it",
				unpacked->n_bytes_most);
		if (looks && at >= (la_int64_t)BLOCK_BYTES)
			return TB_OK;
		for (size_t done = 0; done < n;) {
			ssize_t wrote = pwrite(file, (const char *)block + done, n - done,
				at + (la_int64_t)done);
			if (wrote < 0 && errno != EINTR)
				return fail_member_write(unpacked, member);
			done += wrote > 0 ? (size_t)wrote : 0;
		}
	}
	return found == ARCHIVE_EOF ? TB_OK : fail_unpacked_broken(unpacked);
}

static int write_member(struct tb_unpacked *unpacked, char *member)
{
	char *last = member, *whole = strdup(member);
	if (!whole)
		return tb_fail_memory_in(unpacked->error, unpacked->name, "it");
	int folder = open_folders(unpacked, &last), status = TB_OK;
	int file = folder < 0 ? -1
			      : openat(folder, last,
					O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0)
		status = fail_member_write(unpacked, whole);
	else
		status = copy_member(unpacked, file, whole);
	if (file >= 0)
		close(file);
	if (folder >= 0)
		close(folder);
	free(whole);
	return status;
}

// leads_out returns whether a name is absolute, too long or too deep, or has a word ".."
// or none between slashes.
static bool leads_out(const char *member)
{
	if (*member == '/' || *member == '\0' || strlen(member) >= 1024)
		return true;
	unsigned depth = 0;
	for (const char *word = member; word; word = strchr(word, '/')) {
		word += *word == '/';
		size_t n = strcspn(word, "/");
		if (depth++ > DEPTH_MOST || n == 0 || (n == 1 && *word == '.') ||
			(n == 2 && strncmp(word, "..", 2) == 0))
			return true;
	}
	return false;
}

static int unpack_member(struct tb_unpacked *unpacked, struct archive_entry *entry)
{
	const char *given = unpacked->library.archive_entry_pathname(entry);
	if (!given)
		return REFUSE(unpacked, "the archive has a member without a name");
	given += strncmp(given, "./", 2) == 0 ? 2 : 0;
	mode_t type = unpacked->library.archive_entry_filetype(entry);
	if (type == AE_IFDIR || is_added(given))
		return TB_OK; // folders are made for their files
	if (type == AE_IFLNK || unpacked->library.archive_entry_hardlink(entry)) {
		char shown[sizeof unpacked->first_link];
		if (unpacked->n_links++ == 0)
			snprintf(unpacked->first_link, sizeof unpacked->first_link, "%s",
				tb_visible(given, shown, sizeof shown));
		return TB_OK;
	}
	if (leads_out(given))
		return refuse_member(unpacked, given, "would lie outside, or too deep");
	if (type != AE_IFREG)
		return refuse_member(unpacked, given, "is a device or a pipe");
	char *member = strdup(given);
	int status = member ? write_member(unpacked, member)
			    : tb_fail_memory_in(unpacked->error, unpacked->name, "it");
	free(member);
	return status;
}

static bool ends_with_zeros(const struct tb_unpacked *unpacked)
{
	static const char zeros[512];
	return unpacked->n_tail >= sizeof zeros &&
	       memcmp(unpacked->tail + unpacked->n_tail - sizeof zeros, zeros,
		       sizeof zeros) == 0;
}

static bool ends_a_zip(const struct tb_unpacked *unpacked)
{
	enum { END_BYTES = 22 }; // without the comment
	const char *end = memmem(unpacked->tail, unpacked->n_tail, "PK\x05\x06", 4);
	return end && unpacked->tail + unpacked->n_tail - end >= END_BYTES;
}

static int unpack_all(struct tb_unpacked *unpacked)
{
	struct archive_entry *entry;
	bool looks = unpacked->part == TB_UNPACKED_LOOK;
	int status = TB_OK, found = ARCHIVE_OK;
	while (status == TB_OK) {
		if (looks && unpacked->n_members == LOOK_MEMBERS)
			return TB_OK;
		found = unpacked->library.archive_read_next_header(
			unpacked->archive, &entry);
		if (found == ARCHIVE_EOF)
			break;
		if (found < ARCHIVE_WARN)
			return fail_unpacked_broken(unpacked);
		if (unpacked->n_members++ == MEMBERS_MOST)
			return REFUSE(unpacked, "holds more than %d files: unpack it",
				MEMBERS_MOST);
		status = unpack_member(unpacked, entry);
	}
	if (status != TB_OK)
		return status;
	// Refuse an archive that was cut off between two members, which libarchive takes:
	// a tar ends with zeros, and a zip with a directory.
	const void *block;
	la_ssize_t n = 1;
	uint64_t left = unpacked->n_bytes_most;
	while (n > 0 && (uint64_t)n <= left) {
		n = give_unpacked_block(unpacked->archive, unpacked, &block);
		left -= n > 0 ? (uint64_t)n : 0;
	}
	if (n < 0)
		return fail_unpacked_broken(unpacked);
	bool is_zip = (unpacked->library.archive_format(unpacked->archive) &
			      ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_ZIP;
	bool is_whole = is_zip ? ends_a_zip(unpacked) : ends_with_zeros(unpacked);
	return is_whole ? TB_OK : REFUSE(unpacked, "the archive is cut short");
}

// next_within moves to the only entry of a folder: false when it has several or none.
static bool next_within(struct tb_unpacked *unpacked)
{
	DIR *folder = opendir(unpacked->path);
	unsigned n = 0;
	char only[NAME_MAX + 1] = "";
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		snprintf(only, sizeof only, "%s", entry->d_name);
		n++;
	}
	if (folder)
		closedir(folder);
	size_t length = strlen(unpacked->path);
	if (n != 1 || length + strlen(only) + 2 > sizeof unpacked->path)
		return false;
	snprintf(unpacked->path + length, sizeof unpacked->path - length, "/%s", only);
	return true;
}

static int unpack_members(struct tb_unpacked *unpacked)
{
	const struct tb_libarchive *library = &unpacked->library;
	int status = tb_libarchive_load(&unpacked->library, unpacked->error);
	if (status != TB_OK)
		return status;
	struct archive *archive = library->archive_read_new();
	if (!archive)
		return tb_fail_memory_in(unpacked->error, unpacked->name, "it");
	unpacked->archive = archive;
	library->archive_read_support_format_tar(archive);
	library->archive_read_support_format_zip_streamable(archive);
	status = library->archive_read_open(
			 archive, unpacked, NULL, give_unpacked_block, NULL) == ARCHIVE_OK
			 ? unpack_all(unpacked)
			 : fail_unpacked_broken(unpacked);
	library->archive_read_free(archive);
	snprintf(unpacked->path, sizeof unpacked->path, "%s", unpacked->folder.path);
	for (int depth = 0; status == TB_OK && depth <= DEPTH_MOST; depth++)
		if (!next_within(unpacked))
			break;
	return status;
}

int tb_unpacked_new(struct tb_unpacked **made, const struct tb_opened_input *in,
	const char *name, enum tb_unpacked_part part, struct tb_error *error)
{
	struct tb_unpacked *unpacked = calloc(1, sizeof *unpacked);
	if (!unpacked)
		return tb_fail_memory_in(error, name, "it");
	unpacked->name = name;
	unpacked->in = in;
	unpacked->part = part;
	unpacked->error = error;
	uint64_t size = tb_infile_bytes(in->file);
	unpacked->n_bytes_most =
		BASE_BYTES + (size < (UINT64_C(1) << 50) ? size * TIMES_SIZE : 0);
	int status = tb_temporary_init(&unpacked->folder, name, error);
	if (status != TB_OK) {
		free(unpacked);
		return status;
	}
	status = unpack_members(unpacked);
	if (status == TB_OK)
		*made = unpacked;
	else
		tb_unpacked_free(unpacked, NULL);
	return status;
}

void tb_unpacked_free(struct tb_unpacked *unpacked, struct tb_error *error)
{
	if (!unpacked)
		return;
	if (error) {
		// Give a file of the folder the name that it has in the archive.
		size_t n = strlen(unpacked->folder.path);
		char inner[sizeof error->file];
		if (strncmp(error->file, unpacked->folder.path, n) == 0) {
			snprintf(inner, sizeof inner, "%s", error->file + n);
			size_t room = sizeof error->file - 1 - strlen(inner);
			size_t length = strlen(unpacked->name);
			const char *name =
				unpacked->name + (length > room ? length - room : 0);
			snprintf(error->file, sizeof error->file, "%s%s", name, inner);
		}
	}
	tb_temporary_fini(&unpacked->folder);
	free(unpacked);
}

const char *tb_unpacked_note(struct tb_unpacked *unpacked)
{
	if (unpacked->n_links == 0)
		return NULL;
	snprintf(unpacked->note, sizeof unpacked->note, "%s skipped: '%s'%s",
		TB_COUNTED_TEXT(unpacked->n_links,
			"link of the archive is|links of the archive are"),
		unpacked->first_link, unpacked->n_links > 1 ? " ..." : "");
	return unpacked->note;
}

const char *tb_unpacked_path(const struct tb_unpacked *unpacked)
{
	return unpacked->path;
}
