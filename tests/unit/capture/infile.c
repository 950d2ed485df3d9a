// Compressed input reads like plain input, and errors report where it is cut or corrupt.
#include "infile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>
#include <cmocka.h>

#define N_BYTES 700000

static char *path;
static unsigned char *plain, *packed, *back;
static struct tb_error error; // from the last take()

static int set_up(void **state)
{
	(void)state;
	path = strdup("inflate_XXXXXX");
	close(mkstemp(path));
	plain = malloc(N_BYTES);
	packed = malloc(4 * N_BYTES);
	back = malloc(2 * N_BYTES);
	uint32_t x = 1;
	for (size_t i = 0; i < N_BYTES; i++) {
		x = x * 1664525 + 1013904223;
		plain[i] = (unsigned char)(i % 7 ? x >> 29 : i);
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	free(path);
	free(plain);
	free(packed);
	free(back);
	return 0;
}

static void put(const void *bytes, size_t n)
{
	FILE *file = fopen(path, "wb");
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

// take reads the file back, in pieces of `step`, and returns how it ended.
static int take(size_t step, size_t *n, double *fraction)
{
	FILE *stream;
	struct tb_infile *file;
	error = (struct tb_error){0};
	*n = 0;
	int status = tb_infile_open(&stream, &file, path, &error);
	if (status != TB_OK)
		return status;
	size_t got;
	while ((got = fread(back + *n, 1, step, stream)) > 0)
		*n += got;
	status = tb_infile_check(file, &error);
	*fraction = tb_infile_fraction(file);
	assert_int_equal(status, error.code);
	fclose(stream);
	return status;
}

static void assert_reads_back(size_t n_bytes)
{
	static const size_t steps[] = {1, 13, 4096, 100000, 2 * N_BYTES};
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		size_t n = 0;
		double fraction = 0;
		assert_int_equal(take(steps[i], &n, &fraction), TB_OK);
		assert_int_equal(n, n_bytes);
		assert_memory_equal(back, plain, n);
		assert_true(n == 0 || fraction == 1);
	}
}

static const char *const codecs[] = {"gzip", "zstd", "xz", "lz4", "bzip2"};
#define N_CODECS (sizeof codecs / sizeof *codecs)

static size_t compress(const char *codec, const void *from, size_t n, void *to)
{
	size_t size = 0;
	struct archive *archive = archive_write_new();
	struct archive_entry *entry = archive_entry_new();
	assert_int_equal(archive_write_add_filter_by_name(archive, codec), ARCHIVE_OK);
	assert_int_equal(archive_write_set_format_raw(archive), ARCHIVE_OK);
	archive_write_set_bytes_per_block(archive, 0);
	assert_int_equal(
		archive_write_open_memory(archive, to, 2 * N_BYTES, &size), ARCHIVE_OK);
	archive_entry_set_filetype(entry, AE_IFREG);
	assert_int_equal(archive_write_header(archive, entry), ARCHIVE_OK);
	assert_int_equal(archive_write_data(archive, from, n), n);
	archive_entry_free(entry);
	assert_int_equal(archive_write_free(archive), ARCHIVE_OK);
	return size;
}

static void plain_bytes_pass_through(void **state)
{
	(void)state;
	static const size_t sizes[] = {0, 1, 3, 4, 5, 131072, N_BYTES};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		put(plain, sizes[i]);
		assert_reads_back(sizes[i]);
	}
}

static void concatenated_members_read_as_one(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_CODECS; i++) {
		size_t n = compress(codecs[i], plain, 300000, packed);
		n += compress(codecs[i], plain + 300000, N_BYTES - 300000, packed + n);
		put(packed, n);
		assert_reads_back(N_BYTES);
	}
}

static void nothing_compressed_reads_as_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_CODECS; i++) {
		if (strcmp(codecs[i], "lz4") == 0)
			continue; // libarchive 3.6 crashes when it writes such a file
		put(packed, compress(codecs[i], plain, 0, packed));
		assert_reads_back(0);
	}
}

// Tapes pad with zeros. zstd has no such rule.
static void zeros_behind_the_end_are_padding(void **state)
{
	(void)state;
	static const char *const padded[] = {"gzip", "xz", "lz4", "bzip2"};
	for (size_t i = 0; i < 4; i++) {
		size_t n = compress(padded[i], plain, N_BYTES, packed);
		memset(packed + n, 0, 600000);
		put(packed, n + 600000);
		assert_reads_back(N_BYTES);
	}
}

// Fewer than 14 bytes are not enough to recognise bzip2 and lz4.
static void a_cut_anywhere_is_an_error(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_CODECS; i++) {
		size_t size = compress(codecs[i], plain, 5000, packed);
		for (size_t cut = 14; cut < size; cut += cut < 40 ? 1 : 97) {
			char expected[40];
			size_t n = 0;
			double fraction;
			put(packed, cut);
			assert_int_equal(take(4096, &n, &fraction), TB_EFORMAT);
			assert_memory_equal(back, plain, n);
			snprintf(expected, sizeof expected, "the %s data is cut short",
				codecs[i]);
			assert_string_equal(error.text, expected);
			assert_int_equal(error.place, TB_PLACE_OFFSET);
			assert_int_equal(error.at, cut);
		}
	}
}

// lz4 and bzip2 have only one block here.
static void what_stands_before_a_cut_is_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		size_t n = 0, size = compress(codecs[i], plain, N_BYTES, packed);
		double fraction;
		put(packed, size - 10);
		assert_int_equal(take(4096, &n, &fraction), TB_EFORMAT);
		assert_in_range(n, N_BYTES - (128 << 10), N_BYTES);
		assert_memory_equal(back, plain, n);
	}
}

// libarchive writes zstd without check sums.
static void one_changed_bit_is_an_error(void **state)
{
	(void)state;
	static const char *const checked[] = {"gzip", "xz", "lz4", "bzip2"};
	for (size_t i = 0; i < 4; i++) {
		size_t size = compress(checked[i], plain, 50000, packed);
		for (size_t at = size / 2; at < size - 10; at += size / 9) {
			size_t n;
			double fraction;
			packed[at] ^= 4;
			put(packed, size);
			assert_int_equal(take(4096, &n, &fraction), TB_EFORMAT);
			packed[at] ^= 4;
		}
	}
}

static void a_wrong_check_sum_of_gzip_is_an_error(void **state)
{
	(void)state;
	size_t n, size = compress("gzip", plain, 50000, packed);
	double fraction;
	packed[size - 6] ^= 1;
	put(packed, size);
	assert_int_equal(take(4096, &n, &fraction), TB_EFORMAT);
	assert_string_equal(
		error.text, "the gzip data is corrupt (incorrect data check)");
}

static void what_follows_the_end_is_not_passed_over(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_CODECS; i++) {
		size_t n, size = compress(codecs[i], plain, 50000, packed);
		double fraction;
		memcpy(packed + size, "is no member", 12);
		put(packed, size + 12);
		assert_int_equal(take(4096, &n, &fraction), TB_EFORMAT);
		// Also far after it.
		memset(packed + size, 0, 400000);
		packed[size + 400000] = 1;
		put(packed, size + 400001);
		assert_int_equal(take(4096, &n, &fraction), TB_EFORMAT);
	}
}

static void a_text_that_begins_like_bzip2_is_plain(void **state)
{
	(void)state;
	size_t n;
	double fraction;
	put("BZh, said the bee", 17);
	assert_int_equal(take(3, &n, &fraction), TB_OK);
	assert_int_equal(n, 17);
	assert_memory_equal(back, "BZh, said the bee", 17);
}

static void a_peek_leaves_the_bytes_to_be_read(void **state)
{
	(void)state;
	static const size_t sizes[] = {1, 3, 100, 4096, 60000};
	for (size_t i = 0; i <= N_CODECS; i++)
		for (size_t k = 0; k < 5; k++) {
			FILE *stream;
			struct tb_infile *file;
			struct tb_bytes first;
			size_t n = sizes[k];
			if (i == N_CODECS)
				put(plain, n);
			else
				put(packed, compress(codecs[i], plain, n, packed));
			assert_int_equal(
				tb_infile_open(&stream, &file, path, NULL), TB_OK);
			assert_int_equal(tb_infile_peek(file, 4, &first, NULL), TB_OK);
			assert_in_range(first.n, n < 4 ? n : 4, n);
			assert_int_equal(tb_infile_peek(file, 4096, &first, NULL), TB_OK);
			assert_int_equal(first.n, n < 4096 ? n : 4096);
			assert_memory_equal(first.data, plain, first.n);
			assert_int_equal(fread(back, 1, N_BYTES, stream), n);
			assert_memory_equal(back, plain, n);
			fclose(stream);
		}
}

// Of equal bytes bzip2 makes the least: 2,500,000 fit in 50.
static void no_file_has_more_bytes_than_its_size_allows(void **state)
{
	(void)state;
	const size_t n = 2500000;
	unsigned char *zeros = calloc(n, 1);
	assert_non_null(zeros);
	for (size_t i = 0; i < N_CODECS; i++) {
		FILE *stream;
		struct tb_infile *file;
		put(packed, compress(codecs[i], zeros, n, packed));
		assert_int_equal(tb_infile_open(&stream, &file, path, &error), TB_OK);
		assert_true(tb_infile_bytes_most(file) >= n);
		fclose(stream);
	}
	free(zeros);
}

// A byte order mark of UTF-8 is no part of a text, compressed or not.
static void a_byte_order_mark_is_passed_over(void **state)
{
	(void)state;
	unsigned char marked[5003];
	memcpy(marked, "\xef\xbb\xbf", 3);
	memcpy(marked + 3, plain, 5000);
	for (size_t n_bytes = 0; n_bytes <= 5000; n_bytes += 5000) {
		put(marked, n_bytes + 3);
		assert_reads_back(n_bytes);
	}
	for (size_t i = 0; i < N_CODECS; i++) {
		put(packed, compress(codecs[i], marked, sizeof marked, packed));
		assert_reads_back(5000);
	}
	FILE *stream;
	struct tb_infile *file;
	struct tb_bytes first;
	assert_int_equal(tb_infile_open(&stream, &file, path, NULL), TB_OK);
	assert_int_equal(tb_infile_peek(file, 4, &first, NULL), TB_OK);
	assert_memory_equal(first.data, plain, 4);
	fclose(stream);
}

static void what_cannot_be_opened_is_reported(void **state)
{
	(void)state;
	FILE *stream = NULL;
	struct tb_infile *file = NULL;
	assert_int_equal(tb_infile_open(&stream, &file, "no/such/file", &error), TB_EIO);
	assert_string_equal(error.file, "no/such/file");
	assert_int_equal(tb_infile_open(&stream, &file, "/", &error), TB_EIO);
	assert_null(stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_bytes_pass_through),
		cmocka_unit_test(concatenated_members_read_as_one),
		cmocka_unit_test(nothing_compressed_reads_as_nothing),
		cmocka_unit_test(zeros_behind_the_end_are_padding),
		cmocka_unit_test(a_cut_anywhere_is_an_error),
		cmocka_unit_test(what_stands_before_a_cut_is_read),
		cmocka_unit_test(one_changed_bit_is_an_error),
		cmocka_unit_test(a_wrong_check_sum_of_gzip_is_an_error),
		cmocka_unit_test(what_follows_the_end_is_not_passed_over),
		cmocka_unit_test(a_text_that_begins_like_bzip2_is_plain),
		cmocka_unit_test(a_peek_leaves_the_bytes_to_be_read),
		cmocka_unit_test(no_file_has_more_bytes_than_its_size_allows),
		cmocka_unit_test(a_byte_order_mark_is_passed_over),
		cmocka_unit_test(what_cannot_be_opened_is_reported),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
