// Whatever stands beside a store as its journal or write-ahead log, opening the store
// ends, stays within bounds and touches no other file.
//
// An input is a byte and the journal: bit 0 makes it a write-ahead log, bit 1 has its
// header and check sums put right, without which SQLite ignores nearly all, bit 2 has a
// writer open the store instead of a reader. The store is an empty one.
#include "sql.h"
#include "temporary.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 512, IS_LOG = 1, IS_MENDED = 2, WRITES = 4, MOST = 1 << 16 };

static const char precious[] = "precious";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int home; // where the fuzzer was started: it leaves there what fails

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	(void)!fchdir(home);
	abort();
}

static void write_bytes(const char *path, const void *bytes, size_t n)
{
	FILE *file = fopen(path, "wb");
	must(file && fwrite(bytes, 1, n, file) == n && fclose(file) == 0, path);
}

// make_store makes an empty store of small pages. It lacks the views, on which SQLite
// would spend most of the time.
static unsigned char *make_store(size_t *size)
{
	sqlite3 *db = NULL;
	sqlite3_int64 n = 0;
	must(tb_sql_make(&db, PAGE, "run.db", NULL) == TB_OK &&
			sqlite3_exec(db, "COMMIT; VACUUM", NULL, NULL, NULL) == SQLITE_OK,
		"no store");
	unsigned char *bytes = sqlite3_serialize(db, "main", &n, 0);
	sqlite3_close(db);
	*size = (size_t)n;
	return bytes;
}

static uint32_t word_at(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 |
	       at[3];
}

static void put_word(uint8_t *at, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(word >> (24 - 8 * i));
}

// mend_journal: sqlite.org/fileformat2.html, 3 "The Rollback Journal".
static void mend_journal(uint8_t *bytes, size_t n, size_t store_bytes)
{
	static const uint8_t magic[] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
	if (n < PAGE)
		return;
	memcpy(bytes, magic, sizeof magic);
	put_word(bytes + 16, (uint32_t)(store_bytes / PAGE));
	put_word(bytes + 20, PAGE);
	put_word(bytes + 24, PAGE);
	for (size_t at = PAGE; at + PAGE + 8 <= n; at += PAGE + 8) {
		uint32_t sum = word_at(bytes + 12);
		for (int i = PAGE - 200; i > 0; i -= 200)
			sum += bytes[at + 4 + (size_t)i];
		put_word(bytes + at + 4 + PAGE, sum);
	}
	// The last bytes may name a super-journal.
	if (n < PAGE + 24 || memcmp(bytes + n - 8, magic, 8) != 0)
		return;
	uint32_t length = word_at(bytes + n - 16), sum = 0;
	for (uint32_t i = 0; length < n - PAGE - 16 && i < length; i++) {
		uint32_t byte = bytes[n - 16 - length + i];
		sum += byte < 128 ? byte : byte - 256; // as signed ones
	}
	put_word(bytes + n - 12, sum);
}

static void add_to_sums(uint32_t sums[2], const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i + 8 <= n; i += 8) {
		sums[0] += word_at(bytes + i) + sums[1];
		sums[1] += word_at(bytes + i + 4) + sums[0];
	}
}

// mend_log: sqlite.org/fileformat2.html, 4 "The Write-Ahead Log", with big-endian sums.
static void mend_log(uint8_t *bytes, size_t n)
{
	uint32_t sums[2] = {0, 0};
	if (n < 32)
		return;
	put_word(bytes, 0x377f0683);
	put_word(bytes + 4, 3007000);
	put_word(bytes + 8, PAGE);
	add_to_sums(sums, bytes, 24);
	put_word(bytes + 24, sums[0]);
	put_word(bytes + 28, sums[1]);
	for (size_t at = 32; at + 24 + PAGE <= n; at += 24 + PAGE) {
		memcpy(bytes + at + 8, bytes + 16, 8);
		add_to_sums(sums, bytes + at, 8);
		add_to_sums(sums, bytes + at + 24, PAGE);
		put_word(bytes + at + 16, sums[0]);
		put_word(bytes + at + 20, sums[1]);
	}
}

// check_folder: the other file is as it was, and there is none that is not the store's.
static void check_folder(void)
{
	char text[sizeof precious] = "";
	FILE *file = fopen("victim", "rb");
	must(file && fread(text, 1, sizeof text, file) == sizeof text - 1 &&
			memcmp(text, precious, sizeof text - 1) == 0,
		"the other file was touched");
	fclose(file);
	DIR *folder = opendir(".");
	const struct dirent *entry;
	while ((entry = readdir(folder)))
		must(entry->d_name[0] == '.' || strcmp(entry->d_name, "victim") == 0 ||
				strncmp(entry->d_name, "run.db", 6) == 0,
			entry->d_name);
	closedir(folder);
}

static void open_store(bool writes)
{
	sqlite3 *db = NULL;
	struct tb_error error;
	int status = writes ? tb_sql_open_writer(&db, "run.db", &error)
			    : tb_sql_open_reader(&db, "run.db", &error);
	if (status != TB_OK)
		return;
	sqlite3_exec(db, "SELECT count(*) FROM run, link_pack, note", 0, 0, 0);
	sqlite3_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tb_temporary folder; // goes with the process
	static unsigned char *store;
	static size_t store_bytes;
	if (!store) {
		home = open(".", O_RDONLY | O_DIRECTORY);
		bool has_memory = access("/dev/shm", W_OK) == 0;
		must(tb_temporary_init_in(&folder, has_memory ? "/dev/shm" : "/tmp",
			     "the fuzzer", NULL) == TB_OK,
			"no folder");
		store = make_store(&store_bytes);
	}
	if (size < 1 || size > MOST)
		return 0;
	must(chdir(folder.path) == 0, "no folder");
	bool is_log = data[0] & IS_LOG;
	uint8_t *journal = malloc(size);
	memcpy(journal, data + 1, size - 1);
	if (data[0] & IS_MENDED && is_log)
		mend_log(journal, size - 1);
	else if (data[0] & IS_MENDED)
		mend_journal(journal, size - 1, store_bytes);
	store[18] = store[19] = is_log ? 2 : 1;
	unlink("run.db-journal");
	unlink("run.db-wal");
	unlink("run.db-shm");
	write_bytes("victim", precious, sizeof precious - 1);
	write_bytes("run.db", store, store_bytes);
	write_bytes(is_log ? "run.db-wal" : "run.db-journal", journal, size - 1);
	free(journal);
	open_store(data[0] & WRITES);
	check_folder();
	must(fchdir(home) == 0, "no way home");
	return 0;
}
