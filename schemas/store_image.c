// Prints the stores that hold only tables, as C: run when the program is built, so that a
// replay copies one instead of having SQLite compile the schema.
#include "store_image.h"
#include "sql.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

enum { GAP = 32 }; // so many zeros or more are left out

// print_runs prints what of an image is not zero.
static void print_runs(const unsigned char *bytes, size_t size, int page_bytes)
{
	printf("static const struct tb_store_run runs_%d[] = {\n", page_bytes);
	for (size_t at = 0, end, zeros; at < size; at = end + zeros) {
		zeros = 0;
		for (end = at; end + zeros < size && zeros < GAP;)
			if (bytes[end + zeros] == 0)
				zeros++;
			else
				end += zeros + 1, zeros = 0;
		if (end == at)
			continue;
		printf("\t{%zu, %zu, (const unsigned char[]){", at, end - at);
		for (size_t i = at; i < end; i++)
			printf("%d,%s", bytes[i], i % 32 == 31 ? "\n" : "");
		printf("}},\n");
	}
	printf("};\n");
}

int main(void)
{
	static const int pages[] = {TB_SQL_PAGE_BYTES, TB_SQL_SMALL_PAGE_BYTES};
	size_t sizes[2];
	printf("#include \"store_image.h\"\n");
	for (int i = 0; i < 2; i++) {
		sqlite3 *db = NULL;
		sqlite3_int64 size = 0;
		if (tb_sql_make(&db, pages[i], "the tables", NULL) != 0 ||
			sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
			return EXIT_FAILURE;
		unsigned char *bytes = sqlite3_serialize(db, "main", &size, 0);
		if (!bytes)
			return EXIT_FAILURE;
		sizes[i] = (size_t)size;
		print_runs(bytes, sizes[i], pages[i]);
		sqlite3_free(bytes);
		sqlite3_close(db);
	}
	printf("const struct tb_store_image tb_store_images[2] = {\n");
	for (int i = 0; i < 2; i++)
		printf("\t{%d, %zu, sizeof runs_%d / sizeof *runs_%d, runs_%d},\n",
			pages[i], sizes[i], pages[i], pages[i], pages[i]);
	printf("};\n");
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
