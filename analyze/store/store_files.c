#include "store_files.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ADVICE "nothing was touched. Remove it to read the store as it stands without it"

// The last bytes of a journal that names a super-journal, as of its headers.
static const unsigned char journal_magic[8] = {
	0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};

struct store_files {
	sqlite3_vfs vfs; // with this as pAppData
	sqlite3_vfs *system;
	char name[40]; // of `vfs`; SQLite finds file systems by their names
	char *store;   // the store's full path, once it is open
	const char *refusal;
};

static int refuse_file(struct store_files *files, const char *why)
{
	if (!files->refusal) // the first is the cause
		files->refusal = why;
	return SQLITE_AUTH;
}

static int refuse_other(struct store_files *files)
{
	return refuse_file(files,
		"has a journal beside it that names another file, as none of "
		"Tailback's does: " ADVICE);
}

// ending_of returns what stands behind the store's path in the name of one of its files;
// NULL when it is none of them.
static const char *ending_of(const struct store_files *files, const char *name)
{
	static const char *const endings[] = {"", "-journal", "-wal"};
	size_t length = files->store ? strlen(files->store) : 0;
	if (!files->store || strncmp(name, files->store, length) != 0)
		return NULL;
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (strcmp(name + length, endings[i]) == 0)
			return endings[i];
	return NULL;
}

// is_own_file returns whether the name of a file beside the store is free or that of an
// ordinary file, with no other name.
static bool is_own_file(const struct store_files *files, const char *ending)
{
	struct stat entry;
	char *name = NULL;
	if (asprintf(&name, "%s%s", files->store, ending) < 0)
		return false;
	bool there = lstat(name, &entry) == 0;
	free(name);
	return !there || (S_ISREG(entry.st_mode) && entry.st_nlink <= 1);
}

// names_super returns whether a journal ends as one that names a super-journal. Right or
// wrong otherwise, it is of no store.
static bool names_super(sqlite3_file *journal)
{
	unsigned char end[sizeof journal_magic];
	sqlite3_int64 size = 0;
	return journal->pMethods->xFileSize(journal, &size) == SQLITE_OK &&
	       size >= (sqlite3_int64)sizeof end &&
	       journal->pMethods->xRead(journal, end, sizeof end,
		       size - (sqlite3_int64)sizeof end) == SQLITE_OK &&
	       memcmp(end, journal_magic, sizeof end) == 0;
}

static int store_files_open_one(
	sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
	struct store_files *files = vfs->pAppData;
	sqlite3_vfs *system = files->system;
	file->pMethods = NULL;
	if (!name) // a temporary one, which is deleted at once
		return system->xOpen(system, name, file, flags, out_flags);
	if (!files->store && flags & SQLITE_OPEN_MAIN_DB) {
		files->store = strdup(name);
		if (!files->store)
			return SQLITE_NOMEM;
	}
	const char *ending = ending_of(files, name);
	int kind = !ending	      ? 0
		   : !*ending	      ? SQLITE_OPEN_MAIN_DB
		   : ending[1] == 'j' ? SQLITE_OPEN_MAIN_JOURNAL
				      : SQLITE_OPEN_WAL;
	if (!(flags & kind))
		return refuse_other(files);
	// The index of a log is opened by the system's functions, once the log is open.
	if ((kind != SQLITE_OPEN_MAIN_DB && !is_own_file(files, ending)) ||
		(kind == SQLITE_OPEN_WAL && !is_own_file(files, "-shm")))
		return refuse_file(files,
			"has a journal, a write-ahead log or its index "
			"beside it that is a link, has a second name or "
			"is no file: " ADVICE);
	int code = system->xOpen(system, name, file, flags, out_flags);
	if (code != SQLITE_OK || kind != SQLITE_OPEN_MAIN_JOURNAL || !names_super(file))
		return code;
	file->pMethods->xClose(file);
	file->pMethods = NULL;
	return refuse_other(files);
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int syncs)
{
	struct store_files *files = vfs->pAppData;
	const char *ending = ending_of(files, name);
	return ending && *ending ? files->system->xDelete(files->system, name, syncs)
				 : refuse_other(files);
}

static int access_file(sqlite3_vfs *vfs, const char *name, int flags, int *answer)
{
	struct store_files *files = vfs->pAppData;
	const char *ending = ending_of(files, name);
	return ending && *ending
		       ? files->system->xAccess(files->system, name, flags, answer)
		       : refuse_other(files);
}

static void free_files(void *context)
{
	struct store_files *files = context;
	sqlite3_vfs_unregister(&files->vfs);
	free(files->store);
	free(files);
}

static void answer_nothing(sqlite3_context *context, int n, sqlite3_value **values)
{
	(void)n;
	(void)values;
	sqlite3_result_null(context);
}

static struct store_files *new_files(void)
{
	struct store_files *files = calloc(1, sizeof *files);
	if (!files)
		return NULL;
	files->system = sqlite3_vfs_find(NULL);
	files->vfs = *files->system;
	files->vfs.pNext = NULL;
	files->vfs.pAppData = files;
	files->vfs.xOpen = store_files_open_one;
	files->vfs.xDelete = delete_file;
	files->vfs.xAccess = access_file;
	snprintf(files->name, sizeof files->name, "store-%p", (void *)files);
	files->vfs.zName = files->name;
	if (sqlite3_vfs_register(&files->vfs, 0) == SQLITE_OK)
		return files;
	free(files);
	return NULL;
}

int tb_store_files_open(sqlite3 **db, const char *path, int flags)
{
	struct store_files *files = new_files();
	*db = NULL;
	if (!files)
		return SQLITE_NOMEM;
	int code = sqlite3_open_v2(path, db, flags, files->name);
	if (code != SQLITE_OK) { // the connection has no files, and is only to be closed
		free_files(files);
		return code;
	}
	// A connection closes its files first and destroys its functions then, so this
	// one takes the file system with it, whoever closes the connection.
	return sqlite3_create_function_v2(*db, "tb_store_files", 0, SQLITE_UTF8, files,
		answer_nothing, NULL, NULL, free_files);
}

const char *tb_store_files_refusal(sqlite3 *db)
{
	sqlite3_vfs *vfs = NULL;
	if (sqlite3_file_control(db, "main", SQLITE_FCNTL_VFS_POINTER, &vfs) !=
			SQLITE_OK ||
		!vfs || vfs->xOpen != store_files_open_one)
		return NULL;
	return ((const struct store_files *)vfs->pAppData)->refusal;
}
