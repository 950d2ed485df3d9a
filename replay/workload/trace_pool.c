#include "trace_pool.h"

#include "array.h"
#include "input_files.h"
#include "survey.h"
#include "text_lines.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What was read: a trace, or a survey's map.
struct pool_read {
	struct tb_trace trace;
	struct tb_map_file *map;
};

struct pooled {
	char *key;
	bool is_read; // else a thread reads it
	struct pool_read read;
};

// What is asked for. `map` names what packets->map was made of.
struct pool_asked {
	const struct tb_trace_request *request;
	const char *map;
	bool is_survey; // with these
	const char *group, *names;
};

struct tb_trace_pool {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct pooled **list;
	size_t n, room;
};

// What put_request writes is all that bears on a job: a new member belongs there too.
#define KNOWN(type, size)                                                                \
	_Static_assert(sizeof(void *) != 8 || sizeof(type) == (size), #type " has "      \
									    "grown")
KNOWN(struct tb_trace_request, 64);
KNOWN(struct tb_packets_options, 120); // `beside` does not
KNOWN(struct tb_reading, 152);
KNOWN(struct tb_call_work, 88);
KNOWN(struct tb_gpu_node, 24);

int tb_trace_pool_new(struct tb_trace_pool **pool, struct tb_error *error)
{
	struct tb_trace_pool *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "traces");
	pthread_mutex_init(&made->lock, NULL);
	pthread_cond_init(&made->changed, NULL);
	*pool = made;
	return TB_OK;
}

static void free_jobs(struct tb_trace *trace)
{
	tb_job_free(trace->job);
	for (uint32_t i = 0; trace->jobs && i < trace->n_jobs; i++)
		tb_job_free(trace->jobs[i]);
	free(trace->jobs);
}

void tb_trace_pool_free(struct tb_trace_pool *pool)
{
	if (!pool)
		return;
	for (size_t i = 0; i < pool->n; i++) {
		free_jobs(&pool->list[i]->read.trace);
		tb_map_file_free(pool->list[i]->read.map);
		free(pool->list[i]->key);
		free(pool->list[i]);
	}
	free(pool->list);
	pthread_cond_destroy(&pool->changed);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

// put_word writes a word so that no other words read the same.
static void put_word(FILE *stream, const char *word)
{
	fprintf(stream, "%zu:%s ", word ? strlen(word) : 0, word ? word : "-");
}

static void put_reading(FILE *stream, const struct tb_reading *reading)
{
	const struct tb_call_work *work = &reading->work;
	const uint64_t works[] = {work->combine, work->combine_cached, work->pack,
		work->copy, work->cached, work->cache_bytes, work->shared_cache_bytes,
		work->call_ns, work->fresh, work->pin_ns, work->pin_above_bytes};
	put_word(stream, reading->library);
	fprintf(stream, "%zu ", reading->n_collectives);
	for (size_t i = 0; i < reading->n_collectives; i++)
		put_word(stream, reading->collectives[i]);
	fprintf(stream, "%d %" PRIu32 " %" PRIu32 " %d %d %d ", reading->lenient,
		reading->clone_ranks, reading->per_node, reading->spreads_host,
		reading->sends_wait, reading->bounded);
	for (size_t i = 0; i < sizeof works / sizeof *works; i++)
		fprintf(stream, "%" PRIu64 " ", works[i]);
	if (reading->node)
		fprintf(stream, "node %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu32 " ",
			reading->node->link_bytes_per_s, reading->node->nic_bytes_per_s,
			reading->node->n_nics, reading->node->n_gpus);
}

static void put_packets(
	FILE *stream, const struct tb_packets_options *packets, const char *map)
{
	fprintf(stream, "%d %d %d %" PRId64 " %a ", packets->dedup,
		packets->keep_retransmissions, packets->keep_acks, packets->squeeze_idle,
		packets->time_scale);
	fprintf(stream, "%d %" PRId64 " %d %" PRId64 " ", packets->from.kind,
		packets->from.ns, packets->to.kind, packets->to.ns);
	fprintf(stream, "%d %" PRIu32 " %" PRIu32 " %d ", packets->lenient,
		packets->sampled, packets->n_nodes_max, packets->map != NULL);
	put_word(stream, packets->map_file);
	put_word(stream, packets->job_name);
	put_word(stream, map);
}

static void put_request(
	FILE *stream, const struct tb_trace_request *request, const char *map)
{
	fprintf(stream, "%zu ", request->n);
	for (size_t i = 0; i < request->n; i++)
		put_word(stream, request->paths[i]);
	fprintf(stream, "%d %d %d %d %d %d ", request->stdin_kind, request->closed_loop,
		request->bounded, request->apart, request->packets != NULL,
		request->reading != NULL);
	if (request->packets)
		put_packets(stream, request->packets, map);
	if (request->reading)
		put_reading(stream, request->reading);
}

static char *key_of(const struct pool_asked *asked)
{
	char *key = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&key, &size);
	if (!stream)
		return NULL;
	put_request(stream, asked->request, asked->map);
	if (asked->is_survey) {
		fputs("survey ", stream);
		put_word(stream, asked->group);
		put_word(stream, asked->names);
	}
	return tb_text_written(stream, &key);
}

// is_kept returns whether a trace can be read again, and so be kept instead. Facts are
// for those who look at one trace.
static bool is_kept(
	const struct tb_trace_pool *pool, const struct tb_trace_request *request)
{
	for (size_t i = 0; i < request->n; i++)
		if (strcmp(request->paths[i], "-") == 0 ||
			tb_input_is_stream(request->paths[i]))
			return false;
	return pool && !request->wants_facts;
}

static struct pooled *pool_find(const struct tb_trace_pool *pool, const char *key)
{
	for (size_t i = 0; i < pool->n; i++)
		if (strcmp(pool->list[i]->key, key) == 0)
			return pool->list[i];
	return NULL;
}

static void pool_drop(struct tb_trace_pool *pool, struct pooled *one)
{
	size_t i = 0;
	while (pool->list[i] != one)
		i++;
	pool->list[i] = pool->list[--pool->n];
	free(one->key);
	free(one);
}

// read_into reads what is new, unlocked. What is no job is not kept.
static int read_into(struct tb_trace_pool *pool, struct pooled *one,
	const struct pool_asked *asked, struct pool_read *read, struct tb_error *error)
{
	const struct tb_trace_request *request = asked->request;
	pthread_mutex_unlock(&pool->lock);
	int status = asked->is_survey ? tb_survey(&read->map, request->paths, request->n,
						request->packets, asked->group,
						asked->names, error)
				      : tb_trace_read(&read->trace, request, error);
	pthread_mutex_lock(&pool->lock);
	if (status == TB_OK && (read->map || read->trace.job || read->trace.jobs)) {
		one->read = *read;
		one->is_read = true;
	} else {
		pool_drop(pool, one);
	}
	pthread_cond_broadcast(&pool->changed);
	return status;
}

// begin_reading adds what this thread is going to read. It takes the key.
static struct pooled *begin_reading(struct tb_trace_pool *pool, char *key)
{
	struct pooled *one = calloc(1, sizeof *one);
	if (one && TB_ARRAY_RESERVE(&pool->list, &pool->room, pool->n + 1) == TB_OK) {
		one->key = key;
		pool->list[pool->n++] = one;
		return one;
	}
	free(one);
	free(key);
	return NULL;
}

static int lend_trace(
	const struct tb_trace *kept, struct tb_trace *trace, struct tb_error *error)
{
	struct tb_trace lent = *kept;
	bool fails = false;
	if (kept->job) {
		lent.job = tb_job_lend(kept->job);
		fails = !lent.job;
	}
	if (kept->jobs) {
		lent.jobs = calloc(kept->n_jobs + UINT64_C(1), sizeof *lent.jobs);
		fails |= !lent.jobs;
	}
	for (uint32_t i = 0; lent.jobs && i < kept->n_jobs; i++)
		if (kept->jobs[i] && !(lent.jobs[i] = tb_job_lend(kept->jobs[i])))
			fails = true;
	if (fails) {
		free_jobs(&lent);
		return tb_fail_memory(error, "a job");
	}
	*trace = lent;
	return TB_OK;
}

// pool_take stores what was asked for, read before or now; the pool keeps it.
static int pool_take(struct tb_trace_pool *pool, struct pool_read *read,
	const struct pool_asked *asked, struct tb_error *error)
{
	char *key = key_of(asked);
	struct pooled *one;
	int status = key ? TB_OK : tb_fail_memory(error, "a trace");
	if (status != TB_OK)
		return status;
	pthread_mutex_lock(&pool->lock);
	while ((one = pool_find(pool, key)) && !one->is_read)
		pthread_cond_wait(&pool->changed, &pool->lock);
	if (one) {
		free(key);
		*read = one->read;
	} else {
		one = begin_reading(pool, key);
		status = one ? read_into(pool, one, asked, read, error)
			     : tb_fail_memory(error, "a trace");
	}
	pthread_mutex_unlock(&pool->lock);
	return status;
}

int tb_trace_pool_read(struct tb_trace_pool *pool, struct tb_trace *trace,
	const struct tb_trace_request *request, const char *map, struct tb_error *error)
{
	if (!is_kept(pool, request))
		return tb_trace_read(trace, request, error);
	const struct pool_asked asked = {.request = request, .map = map};
	struct pool_read read = {0};
	int status = pool_take(pool, &read, &asked, error);
	if (status != TB_OK)
		return status;
	if (read.trace.job || read.trace.jobs)
		return lend_trace(&read.trace, trace, error);
	*trace = read.trace;
	return TB_OK;
}

int tb_trace_pool_survey(struct tb_trace_pool *pool, struct tb_map_file **map,
	const struct tb_trace_request *request, const char *group, const char *names,
	struct tb_error *error)
{
	if (!is_kept(pool, request))
		return tb_survey(map, request->paths, request->n, request->packets, group,
			names, error);
	const struct pool_asked asked = {
		.request = request, .is_survey = true, .group = group, .names = names};
	struct pool_read read = {0};
	uint32_t *nodes = NULL;
	int status = pool_take(pool, &read, &asked, error);
	// A survey's nodes have no gaps: without them it is the same map.
	if (status == TB_OK)
		status = tb_map_file_dense(map, &nodes, read.map, error);
	free(nodes);
	return status;
}
