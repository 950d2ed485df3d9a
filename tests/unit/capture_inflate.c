// Compressed input reads as if it were plain, and says so when it is cut or corrupt.
#include "inflate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#define N_BYTES 700000

static char *path;
static unsigned char *plain, *packed, *back;

static int set_up(void **state)
{
	(void)state;
	path = strdup("inflate_XXXXXX");
	close(mkstemp(path));
	plain = malloc(N_BYTES);
	packed = malloc(2 * N_BYTES);
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
	struct tb_inflate *input;
	struct tb_error error = {0};
	int status = tb_inflate_open(&stream, &input, path, &error);
	if (status != TB_OK)
		return status;
	size_t got;
	*n = 0;
	while ((got = fread(back + *n, 1, step, stream)) > 0)
		*n += got;
	status = tb_inflate_check(input, &error);
	*fraction = tb_inflate_fraction(input);
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

static size_t gzip(unsigned char *from, size_t n, unsigned char *to)
{
	z_stream z = {0};
	assert_int_equal(
		deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = from;
	z.avail_in = (uInt)n;
	z.next_out = to;
	z.avail_out = N_BYTES;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	size_t size = z.total_out;
	deflateEnd(&z);
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

static void gzip_members_read_as_one(void **state)
{
	(void)state;
	size_t n = gzip(plain, 300000, packed);
	n += gzip(plain + 300000, N_BYTES - 300000, packed + n);
	put(packed, n);
	assert_reads_back(N_BYTES);
	memset(packed + n, 0, 5000); // a tape's padding
	put(packed, n + 5000);
	assert_reads_back(N_BYTES);
}

static void zstd_frames_read_as_one(void **state)
{
	(void)state;
	size_t n = ZSTD_compress(packed, N_BYTES, plain, 300000, 3);
	n += ZSTD_compress(packed + n, N_BYTES, plain + 300000, N_BYTES - 300000, 3);
	put(packed, n);
	assert_reads_back(N_BYTES);
}

static void a_cut_anywhere_is_an_error(void **state)
{
	(void)state;
	for (int codec = 0; codec < 2; codec++) {
		size_t size = codec ? ZSTD_compress(packed, N_BYTES, plain, 5000, 3)
				    : gzip(plain, 5000, packed);
		for (size_t cut = 4; cut < size; cut += cut < 40 ? 1 : 97) {
			size_t n;
			double fraction;
			put(packed, cut);
			assert_int_equal(take(4096, &n, &fraction), TB_EFORMAT);
			assert_memory_equal(back, plain, n);
		}
	}
}

static void corrupt_bytes_are_an_error(void **state)
{
	(void)state;
	size_t n;
	double fraction;
	size_t size = gzip(plain, 50000, packed);
	packed[size - 6] ^= 1; // the check sum
	put(packed, size);
	assert_int_equal(take(4096, &n, &fraction), TB_EFORMAT);
	size = gzip(plain, 50000, packed);
	memcpy(packed + size, "not gzip", 8);
	put(packed, size + 8);
	assert_int_equal(take(4096, &n, &fraction), TB_EFORMAT);
	size = ZSTD_compress(packed, N_BYTES, plain, 50000, 3);
	memcpy(packed + size, "not zstd", 8);
	put(packed, size + 8);
	assert_int_equal(take(4096, &n, &fraction), TB_EFORMAT);
}

static void what_cannot_be_opened_is_told(void **state)
{
	(void)state;
	FILE *stream = NULL;
	struct tb_inflate *input = NULL;
	struct tb_error error = {0};
	assert_int_equal(
		tb_inflate_open(&stream, &input, "no/such/file", &error), TB_EIO);
	assert_string_equal(error.file, "no/such/file");
	assert_int_equal(tb_inflate_open(&stream, &input, "/", &error), TB_EIO);
	assert_null(stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_bytes_pass_through),
		cmocka_unit_test(gzip_members_read_as_one),
		cmocka_unit_test(zstd_frames_read_as_one),
		cmocka_unit_test(a_cut_anywhere_is_an_error),
		cmocka_unit_test(corrupt_bytes_are_an_error),
		cmocka_unit_test(what_cannot_be_opened_is_told),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
