#include "digest.h"

#include "input_files.h"

#include <dirent.h>
#include <errno.h>
#include <nettle/sha2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEPTH_MOST 4

static int digest_add_file(struct sha256_ctx *hash, const char *path, uint64_t *bytes,
	struct tb_error *error)
{
	FILE *file = tb_input_fopen(path);
	if (!file)
		return tb_fail_in(
			error, TB_EIO, path, "cannot be opened: %s", strerror(errno));
	uint8_t buffer[65536];
	size_t n;
	while ((n = fread(buffer, 1, sizeof buffer, file)) > 0) {
		sha256_update(hash, n, buffer);
		*bytes += n;
	}
	int cause = ferror(file) ? errno : 0;
	fclose(file);
	return cause ? tb_fail_in(
			       error, TB_EIO, path, "cannot be read: %s", strerror(cause))
		     : TB_OK;
}

static int is_shown(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

// entry_by_bytes orders names alike in every locale.
static int entry_by_bytes(const struct dirent **left, const struct dirent **right)
{
	return strcmp((*left)->d_name, (*right)->d_name);
}

static int digest_add_path(struct sha256_ctx *hash, const char *path, unsigned depth,
	uint64_t *bytes, struct tb_error *error);

static int add_folder(struct sha256_ctx *hash, const char *path, unsigned depth,
	uint64_t *bytes, struct tb_error *error)
{
	struct dirent **entries = NULL;
	int status = TB_OK;
	int n = scandir(path, &entries, is_shown, entry_by_bytes);
	if (n < 0)
		return tb_fail_in(
			error, TB_EIO, path, "cannot be read: %s", strerror(errno));
	for (int i = 0; i < n; i++) {
		char *inner = NULL;
		if (status == TB_OK &&
			asprintf(&inner, "%s/%s", path, entries[i]->d_name) < 0)
			status = tb_fail_memory_in(error, path, "it");
		if (status == TB_OK)
			status = digest_add_path(hash, inner, depth + 1, bytes, error);
		free(inner);
		free(entries[i]);
	}
	free(entries);
	return status;
}

// digest_add_path passes over what is neither file nor folder within a folder, and over
// what lies deeper than traces do: links may go round in circles.
static int digest_add_path(struct sha256_ctx *hash, const char *path, unsigned depth,
	uint64_t *bytes, struct tb_error *error)
{
	struct stat status;
	bool found = stat(path, &status) == 0;
	if (found && S_ISDIR(status.st_mode))
		return depth < DEPTH_MOST ? add_folder(hash, path, depth, bytes, error)
					  : TB_OK;
	if (depth > 0 && (!found || !S_ISREG(status.st_mode)))
		return TB_OK;
	return digest_add_file(hash, path, bytes, error);
}

void tb_digest_end(struct sha256_ctx *hash, char digest[TB_DIGEST_SIZE])
{
	uint8_t raw[SHA256_DIGEST_SIZE];
	sha256_digest(hash, sizeof raw, raw);
	for (size_t i = 0; i < SHA256_DIGEST_SIZE; i++)
		snprintf(digest + 2 * i, 3, "%02x", raw[i]);
}

int tb_digest_files(const char *const *paths, size_t n, char digest[TB_DIGEST_SIZE],
	uint64_t *bytes, struct tb_error *error)
{
	bool streamed = false;
	for (size_t i = 0; i < n; i++)
		streamed |= tb_input_is_stream(paths[i]);
	if (streamed) {
		digest[0] = '\0';
		*bytes = 0;
		return TB_OK;
	}
	struct sha256_ctx hash;
	uint64_t n_bytes = 0;
	sha256_init(&hash);
	for (size_t i = 0; i < n; i++) {
		int status = digest_add_path(&hash, paths[i], 0, &n_bytes, error);
		if (status)
			return status;
	}
	tb_digest_end(&hash, digest);
	*bytes = n_bytes;
	return TB_OK;
}

void tb_digest_text(const char *text, size_t size, char digest[TB_DIGEST_SIZE])
{
	struct sha256_ctx hash;
	sha256_init(&hash);
	sha256_update(&hash, size, (const uint8_t *)text);
	tb_digest_end(&hash, digest);
}
