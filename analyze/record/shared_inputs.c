#include "shared_inputs.h"

#include "array.h"
#include "recording_impl.h"
#include "text_lines.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct digested {
	char *paths; // each behind its length
	char digest[TB_DIGEST_SIZE];
	uint64_t bytes;
};

struct tb_shared_inputs {
	struct tb_trace_pool *pool;
	pthread_mutex_t lock; // of the digests
	struct digested *list;
	size_t n, room;
};

int tb_shared_inputs_new(struct tb_shared_inputs **shared, struct tb_error *error)
{
	struct tb_shared_inputs *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "the inputs");
	int status = tb_trace_pool_new(&made->pool, error);
	if (status != TB_OK) {
		free(made);
		return status;
	}
	pthread_mutex_init(&made->lock, NULL);
	*shared = made;
	return TB_OK;
}

void tb_shared_inputs_free(struct tb_shared_inputs *shared)
{
	if (!shared)
		return;
	tb_trace_pool_free(shared->pool);
	for (size_t i = 0; i < shared->n; i++)
		free(shared->list[i].paths);
	free(shared->list);
	pthread_mutex_destroy(&shared->lock);
	free(shared);
}

struct tb_trace_pool *tb_shared_inputs_pool(struct tb_shared_inputs *shared)
{
	return shared ? shared->pool : NULL;
}

static char *join_paths(const char *const *paths, size_t n)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	if (!stream)
		return NULL;
	for (size_t i = 0; i < n; i++)
		fprintf(stream, "%zu:%s ", strlen(paths[i]), paths[i]);
	return tb_text_written(stream, &text);
}

// digest_locked finds the files in the list, or adds them. It takes the joined paths.
static int digest_locked(struct tb_shared_inputs *shared, char *joined,
	const char *const *paths, size_t n, const struct digested **of,
	struct tb_error *error)
{
	for (size_t i = 0; i < shared->n; i++)
		if (strcmp(shared->list[i].paths, joined) == 0) {
			free(joined);
			*of = &shared->list[i];
			return TB_OK;
		}
	struct digested made = {.paths = joined};
	int status = TB_ARRAY_RESERVE(&shared->list, &shared->room, shared->n + 1);
	status = status == TB_OK
			 ? tb_digest_files(paths, n, made.digest, &made.bytes, error)
			 : tb_fail_memory(error, "the digest of the inputs");
	if (status != TB_OK) {
		free(joined);
		return status;
	}
	shared->list[shared->n] = made;
	*of = &shared->list[shared->n++];
	return TB_OK;
}

int tb_shared_inputs_digest(struct tb_shared_inputs *shared, const char *const *paths,
	size_t n, char digest[TB_DIGEST_SIZE], uint64_t *bytes, struct tb_error *error)
{
	if (!shared)
		return tb_digest_files(paths, n, digest, bytes, error);
	const struct digested *of = NULL;
	char *joined = join_paths(paths, n);
	if (!joined)
		return tb_fail_memory(error, "the digest of the inputs");
	pthread_mutex_lock(&shared->lock);
	int status = digest_locked(shared, joined, paths, n, &of, error);
	if (status == TB_OK) {
		memcpy(digest, of->digest, TB_DIGEST_SIZE);
		*bytes = of->bytes;
	}
	pthread_mutex_unlock(&shared->lock);
	return status;
}
