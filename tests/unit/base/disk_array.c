// Arrays in temporary files.
#include "disk_array.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#define N_FEW	100
#define N_MANY	((size_t)1 << 24)
#define FEW_MIB (UINT64_C(96) << 20)

struct kept {
	struct tb_disk_array array;
	uint64_t *items;
	size_t room;
};

static void fill(struct kept *kept, size_t from, size_t n)
{
	for (size_t i = from; i < n; i++) {
		assert_int_equal(TB_DISK_ARRAY_RESERVE(
					 &kept->array, &kept->items, &kept->room, i + 1),
			TB_OK);
		kept->items[i] = i * i;
	}
}

static void check(const struct kept *kept, size_t n)
{
	assert_ptr_equal(kept->items, kept->array.memory);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(kept->items[i], i * i);
}

static long resident_pages(void)
{
	long all, resident = -1;
	FILE *file = fopen("/proc/self/statm", "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%ld %ld", &all, &resident), 2);
	fclose(file);
	return resident;
}

static void what_is_cooled_takes_no_memory_and_is_there_again(void **state)
{
	(void)state;
	struct kept kept = {.array.beside = "store.db"};
	fill(&kept, 0, N_FEW);
	assert_int_equal(kept.array.file, 0); // small
	fill(&kept, N_FEW, N_MANY);
	assert_true(kept.array.file > 0);
	check(&kept, N_MANY);
	long before = resident_pages();
	tb_disk_array_cool(&kept.array);
	long page = sysconf(_SC_PAGESIZE);
	assert_true((before - resident_pages()) * page > (long)(N_MANY * 8 / 2));
	check(&kept, N_MANY);
	assert_int_equal(tb_disk_array_resize(&kept.array, N_FEW * 8), TB_OK);
	assert_int_equal(kept.array.file, 0);
	kept.items = (void *)kept.array.memory;
	check(&kept, N_FEW);
	tb_disk_array_fini(&kept.array);
}

static void it_stays_in_memory_where_no_file_can_be(void **state)
{
	(void)state;
	const char *const folders[] = {NULL, "/nowhere/at/all/store.db"};
	for (size_t i = 0; i < 2; i++) {
		struct kept kept = {.array.beside = folders[i]};
		fill(&kept, 0, N_MANY);
		assert_int_equal(kept.array.file, 0);
		check(&kept, N_MANY);
		tb_disk_array_fini(&kept.array);
	}
}

// A limit of the size of files is as a full disk.
static void it_moves_to_memory_when_the_disk_is_full(void **state)
{
	(void)state;
	struct rlimit was, few;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	few = (struct rlimit){FEW_MIB, was.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	struct kept kept = {.array.beside = "store.db"};
	fill(&kept, 0, FEW_MIB / 12);
	assert_true(kept.array.file > 0);
	fill(&kept, FEW_MIB / 12, N_MANY);
	assert_int_equal(kept.array.file, 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	check(&kept, N_MANY);
	tb_disk_array_fini(&kept.array);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_cooled_takes_no_memory_and_is_there_again),
		cmocka_unit_test(it_stays_in_memory_where_no_file_can_be),
		cmocka_unit_test(it_moves_to_memory_when_the_disk_is_full),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
