// What the fuzz targets of readers of calls (reading.h) share: a file of the bytes is
// read, strictly and leniently. What is accepted has calls whose groups exist and that
// come after earlier ones; what is not is refused in a sentence.
#ifndef TB_FUZZ_CALLS_TEST_H
#define TB_FUZZ_CALLS_TEST_H

#include "input_files.h"
#include "reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static inline void fuzz_check_rank(const struct tb_calls *calls, uint32_t rank)
{
	uint32_t n, n_before;
	const struct tb_call *of = tb_calls_of(calls, rank, &n);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t *before = tb_calls_befores(calls, rank, i, &n_before);
		for (uint32_t k = 0; k < n_before; k++)
			if (before[k] >= i)
				abort();
		if (of[i].group >= tb_calls_n_groups(calls))
			abort();
	}
}

static inline void fuzz_read(
	tb_calls_read *read, const char *path, const struct tb_reading *reading)
{
	struct tb_calls *calls = NULL;
	struct tb_error error = {0};
	const char *made;
	int status = read(&calls, reading, &path, 1, &made, &error);
	if (status != TB_OK && (status != (int)error.code || !error.text[0] || calls))
		abort();
	for (uint32_t i = 0; status == TB_OK && i < tb_calls_n_ranks(calls); i++)
		fuzz_check_rank(calls, i);
	tb_calls_free(calls);
}

static inline void fuzz_read_facts(
	tb_facts_read *read, const char *path, const struct tb_reading *reading)
{
	struct tb_facts *facts = NULL;
	struct tb_error error = {0};
	const char *name, *text;
	if (tb_facts_new(&facts, &error) != TB_OK)
		abort();
	int status = read(facts, reading, &path, 1, &error);
	if (status != TB_OK && (status != (int)error.code || !error.text[0]))
		abort();
	for (size_t i = 0; tb_facts_at(facts, i, &name, &text); i++)
		if (!name[0] || !text)
			abort();
	tb_facts_free(facts);
}

// fuzz_file reads the file, twice as calls and once as facts, unless `facts` is NULL.
static inline void fuzz_file(
	tb_calls_read *read, tb_facts_read *facts, const char *path, uint32_t clone_ranks)
{
	uint64_t mark = tb_inputs_mark();
	fuzz_read(read, path, &(struct tb_reading){.clone_ranks = clone_ranks});
	fuzz_read(read, path, &(struct tb_reading){.lenient = true});
	if (facts)
		fuzz_read_facts(facts, path, &(struct tb_reading){.lenient = true});
	tb_inputs_return(mark);
}

// fuzz_calls_and_facts reads the bytes as a file; `clone_ranks` as in struct tb_reading.
static inline int fuzz_calls_and_facts(tb_calls_read *read, tb_facts_read *facts,
	const uint8_t *data, size_t size, uint32_t clone_ranks)
{
	char path[64];
	int fd = memfd_create("fuzz", 0);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	fuzz_file(read, facts, path, clone_ranks);
	close(fd);
	return 0;
}

static inline int fuzz_calls(
	tb_calls_read *read, const uint8_t *data, size_t size, uint32_t clone_ranks)
{
	return fuzz_calls_and_facts(read, NULL, data, size, clone_ranks);
}

#endif
