#include "profile.h"

#include "array.h"
#include "bisect.h"
#include "infile.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void free_groups(struct tb_profile_group *groups, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(groups[i].name);
		free(groups[i].ranks);
	}
	free(groups);
}

void tb_profile_fini(struct tb_profile *profile)
{
	for (size_t i = 0; i < profile->n_streams; i++)
		free(profile->streams[i].stretches);
	free_groups(profile->groups, profile->n_groups);
	free_groups(profile->config, profile->n_config);
	free(profile->host);
	free(profile->ops);
	free(profile->kernels);
	free(profile->kernel_ops);
	free(profile->splits);
	free(profile->waits);
	free(profile->marks);
	free(profile->streams);
	tb_map_fini(&profile->stream_of);
	memset(profile, 0, sizeof *profile);
}

int tb_profile_no_memory(const struct tb_profile *profile, const char *what)
{
	return tb_fail_memory_in(profile->error, profile->path, "%s", what);
}

static bool raw_begins(struct tb_raw text, const char *word)
{
	size_t n = strlen(word);
	return text.n >= n && memcmp(text.data, word, n) == 0;
}

// Kernels of NCCL, of RCCL, and of MSCCL, which replaces NCCL.
static bool is_communication(const struct tb_profile_event *event)
{
	return raw_begins(event->name, "nccl") || raw_begins(event->name, "rccl") ||
	       raw_begins(event->name, "msccl");
}

static uint64_t stream_key(const struct tb_event_ties *ties)
{
	return ties->device << 32 | (ties->stream & UINT32_MAX);
}

static void begin_at(struct tb_profile *profile, uint64_t begin_ns)
{
	if (begin_ns < profile->begin_ns)
		profile->begin_ns = begin_ns;
}

static struct tb_event_ties event_ties_read(struct tb_raw args);

static int profile_add_kernel(
	struct tb_profile *profile, const struct tb_profile_event *event)
{
	struct tb_event_ties ties = event_ties_read(event->args);
	struct tb_comm_kernel made = {.order = ties.order,
		.begin_ns = event->begin_ns,
		.end_ns = event->end_ns,
		.launch_ns = TB_NEVER_NS,
		// Profiles of PyTorch before 2.1 repeat the correlation id here.
		.external = ties.external == ties.order ? UINT64_MAX : ties.external,
		.what = tb_comm_of_kernel(event->name),
		.observed = tb_comm_observed(event->name, event->args)};
	int status = tb_profile_stream(profile, stream_key(&ties), &made.stream);
	if (status == TB_OK)
		status = tb_profile_comm(profile, event, &made.own_op);
	if (status != TB_OK)
		return status;
	if (TB_ARRAY_RESERVE(&profile->kernels, &profile->kernels_room,
		    profile->n_kernels + 1) != TB_OK)
		return tb_profile_no_memory(profile, "its events");
	if (made.own_op != TB_NONE)
		profile->ops[made.own_op].has_kernel = true;
	begin_at(profile, made.begin_ns);
	profile->kernels[profile->n_kernels++] = made;
	return TB_OK;
}

static int profile_add_wait(struct tb_profile *profile, const struct tb_stream_wait *wait)
{
	if (TB_ARRAY_RESERVE(
		    &profile->waits, &profile->waits_room, profile->n_waits + 1) != TB_OK)
		return tb_profile_no_memory(profile, "its events");
	profile->waits[profile->n_waits++] = *wait;
	return TB_OK;
}

// A call of the CUDA runtime that makes a stream wait, or the program wait for
// everything.
static int look_at_call(struct tb_profile *profile, const struct tb_profile_event *event)
{
	bool waits = tb_raw_is(event->name, "cudaStreamWaitEvent") ||
		     tb_raw_is(event->name, "cuStreamWaitEvent") ||
		     tb_raw_is(event->name, "hipStreamWaitEvent");
	profile->has_amd = profile->has_amd || raw_begins(event->name, "hip");
	bool for_all = tb_raw_is(event->name, "cudaDeviceSynchronize") ||
		       tb_raw_is(event->name, "hipDeviceSynchronize");
	profile->has_orders = true;
	if (!waits && !for_all)
		return TB_OK;
	struct tb_event_ties ties = event_ties_read(event->args);
	if (ties.order == UINT64_MAX)
		return TB_OK;
	return profile_add_wait(profile, &(struct tb_stream_wait){.order = ties.order,
						 .external = ties.external,
						 .waiter_key = UINT64_MAX,
						 .source_key = UINT64_MAX,
						 .for_all = for_all});
}

// A wait that Kineto traced completely: its arguments name both streams, and the call
// that recorded the event.
static int look_at_sync(struct tb_profile *profile, const struct tb_profile_event *event)
{
	if (!tb_raw_is(event->name, "Stream Wait Event"))
		return TB_OK;
	struct tb_event_ties ties = event_ties_read(event->args), source = ties;
	uint64_t recorded;
	if (!tb_raw_count(tb_raw_find(event->args, "wait_on_stream"), &source.stream))
		source.stream = UINT64_MAX;
	if (!tb_raw_count(tb_raw_find(event->args, "wait_on_cuda_event_record_corr_id"),
		    &recorded))
		recorded = UINT64_MAX;
	if (ties.order == UINT64_MAX || source.stream == UINT64_MAX ||
		recorded == UINT64_MAX)
		return TB_OK;
	profile->has_syncs = true;
	return profile_add_wait(profile, &(struct tb_stream_wait){.order = ties.order,
						 .external = UINT64_MAX,
						 .waiter_key = stream_key(&ties),
						 .source_key = stream_key(&source),
						 .source_order = recorded});
}

// gather_event collects what the first pass needs: communication and waits.
static int gather_event(struct tb_profile *profile, const struct tb_profile_event *event)
{
	uint32_t op;
	switch (event->kind) {
	case TB_EVENT_KERNEL:
		return is_communication(event) ? profile_add_kernel(profile, event)
					       : TB_OK;
	case TB_EVENT_COMM:
		return tb_profile_comm(profile, event, &op);
	case TB_EVENT_ANNOTATION:
		return tb_profile_annotation(profile, event);
	case TB_EVENT_RUNTIME:
		return look_at_call(profile, event);
	case TB_EVENT_SYNC:
		return look_at_sync(profile, event);
	case TB_EVENT_COPY:
	case TB_EVENT_OTHER:
	default:
		return TB_OK;
	}
}

static bool launches(struct tb_raw name)
{
	return raw_begins(name, "cudaLaunch") || raw_begins(name, "cuLaunch") ||
	       raw_begins(name, "hipLaunch") || raw_begins(name, "hipExtLaunch") ||
	       raw_begins(name, "hipModuleLaunch") || raw_begins(name, "cudaGraphLaunch");
}

// gather_work collects what the second pass needs: all other work of the streams.
static int gather_work(struct tb_profile *profile, const struct tb_profile_event *event)
{
	if (event->kind == TB_EVENT_RUNTIME && launches(event->name)) {
		// Store when the kernels that a call launched were launched.
		uint64_t order = event_ties_read(event->args).order;
		size_t at;
		if (profile->first_launch == 0 || order < profile->first_launch)
			profile->first_launch = order;
		TB_BISECT(at, profile->n_kernels, profile->kernels[at].order < order);
		for (; at < profile->n_kernels && profile->kernels[at].order == order;
			at++) {
			profile->kernels[at].launch_ns = event->begin_ns;
			profile->kernels[at].launch_thread = event->thread;
		}
	}
	bool works = event->kind == TB_EVENT_COPY ||
		     (event->kind == TB_EVENT_KERNEL && !is_communication(event));
	if (!works)
		return TB_OK;
	struct tb_event_ties ties = event_ties_read(event->args);
	begin_at(profile, event->begin_ns);
	return tb_profile_work(
		profile, &(struct tb_gpu_work){.key = stream_key(&ties),
				 .order = profile->has_orders ? ties.order : 0,
				 .begin_ns = event->begin_ns,
				 .end_ns = event->end_ns});
}

static int gather_member(struct tb_profile *profile, const struct tb_json_item *item)
{
	if (tb_raw_is(item->key, "distributedInfo"))
		return tb_profile_info(profile, item->value);
	if (tb_raw_is(item->key, "hostname") || tb_raw_is(item->key, "hostName") ||
		tb_raw_is(item->key, "host_name")) {
		// Members of the outermost object that name the host; Kineto itself
		// writes none, programs add them by add_metadata.
		struct tb_raw name = tb_raw_string(item->value);
		if (profile->host || name.n == 0)
			return TB_OK;
		profile->host = strndup(name.data, name.n);
		return profile->host ? TB_OK
				     : tb_profile_no_memory(profile, "its events");
	}
	return TB_OK;
}

static void look_at_device(struct tb_profile *profile, struct tb_raw device)
{
	static const struct {
		const char *word, *gpu;
	} named[] = {{"V100", "v100"}, {"A100", "a100"}, {"H100", "h100"},
		{"H200", "h100"}, {"B200", "b200"}}; // H200: the same NVLink
	struct tb_raw name = tb_raw_find(device, "name");
	if (memmem(name.data, name.n, "AMD", 3) ||
		memmem(name.data, name.n, "Instinct", 8))
		profile->has_amd = true;
	for (size_t i = 0; i < sizeof named / sizeof *named; i++)
		if (memmem(name.data, name.n, named[i].word, 4))
			profile->gpu = named[i].gpu;
}

static int event_read(struct tb_profile_event *event, const struct tb_json_item *item,
	const struct tb_profile *profile);

static int profile_gather(
	struct tb_profile *profile, const struct tb_json_item *item, bool again)
{
	struct tb_profile_event event;
	if (!item->in_array)
		return again ? TB_OK : gather_member(profile, item);
	if (tb_raw_is(item->key, "nodes") && !again)
		return tb_profile_node(profile, item->value);
	if (tb_raw_is(item->key, "deviceProperties"))
		look_at_device(profile, item->value);
	if (!tb_raw_is(item->key, "traceEvents"))
		return TB_OK;
	int status = event_read(&event, item, profile);
	if (status != TB_OK || event.kind == TB_EVENT_OTHER)
		return status;
	return again ? gather_work(profile, &event) : gather_event(profile, &event);
}

// read_once reads the file from beginning to end. An error of the stream itself (reading,
// or compressed data that is cut off) takes precedence over what was made of it.
static int read_once(
	struct tb_profile *profile, const struct tb_reading *reading, bool again)
{
	FILE *stream;
	struct tb_infile *file;
	struct tb_json_items *items = NULL;
	struct tb_json_item item;
	int status = tb_infile_open(&stream, &file, profile->path, profile->error);
	if (status != TB_OK)
		return status;
	tb_infile_stop_on(file, reading->stop);
	status = tb_json_items_new(&items, stream, profile->path, profile->error);
	while (status == TB_OK) {
		int more = tb_json_items_next(items, &item, profile->error);
		if (more <= 0) {
			status = more;
			break;
		}
		status = profile_gather(profile, &item, again);
	}
	int cause = tb_infile_check(file, profile->error);
	bool is_cut = cause == TB_EFORMAT || (items && tb_json_items_is_cut(items));
	tb_json_items_free(items);
	fclose(stream);
	status = cause != TB_OK ? cause : status;
	// The second reading breaks off where the first did.
	uint64_t *n_broken = again ? &(uint64_t){0} : &profile->n_broken;
	return status == TB_EFORMAT && is_cut
		       ? tb_reading_breaks_off(reading, status, n_broken, profile->error)
		       : status;
}

int tb_profile_read(struct tb_profile *profile, const char *path,
	const struct tb_reading *reading, struct tb_error *error)
{
	*profile = (struct tb_profile){
		.path = path, .error = error, .rank = TB_NONE, .begin_ns = UINT64_MAX};
	int status = read_once(profile, reading, false);
	if (status == TB_OK && !profile->has_no_times)
		status = tb_profile_settle(profile);
	if (status == TB_OK)
		status = tb_profile_order(profile);
	if (status == TB_OK && !profile->has_no_times)
		status = read_once(profile, reading, true);
	if (status != TB_OK)
		return status;
	tb_profile_end(profile);
	if (profile->begin_ns == UINT64_MAX)
		profile->begin_ns = 0;
	return tb_profile_pair(profile, reading);
}

// Categories of events, including those of Kineto before 2022.
static const struct {
	const char *name;
	enum tb_profile_event_kind kind;
} categories[] = {
	{"kernel", TB_EVENT_KERNEL},
	{"Kernel", TB_EVENT_KERNEL},
	{"gpu_memcpy", TB_EVENT_COPY},
	{"Memcpy", TB_EVENT_COPY},
	{"gpu_memset", TB_EVENT_COPY},
	{"Memset", TB_EVENT_COPY},
	{"cpu_op", TB_EVENT_COMM},
	{"Operator", TB_EVENT_COMM},
	{"user_annotation", TB_EVENT_COMM},
	{"cuda_runtime", TB_EVENT_RUNTIME},
	{"cuda_driver", TB_EVENT_RUNTIME},
	{"hip_runtime", TB_EVENT_RUNTIME},
	{"Runtime", TB_EVENT_RUNTIME},
	{"cuda_sync", TB_EVENT_SYNC},
};
#define N_CATEGORIES (sizeof categories / sizeof *categories)

static enum tb_profile_event_kind category_kind(struct tb_raw category)
{
	for (size_t i = 0; i < N_CATEGORIES; i++)
		if (tb_raw_is(category, categories[i].name))
			return categories[i].kind;
	return TB_EVENT_OTHER;
}

static int event_refuse(const struct tb_json_item *item, const struct tb_profile *profile,
	const char *what)
{
	return tb_fail_at(profile->error, TB_EFORMAT, profile->path, TB_PLACE_OFFSET,
		item->offset, "the event %s", what);
}

// event_read reads an element of traceEvents. For an event that does not matter it stores
// the kind only. TB_EFORMAT for an event that matters and is broken.
static int event_read(struct tb_profile_event *event, const struct tb_json_item *item,
	const struct tb_profile *profile)
{
	struct tb_profile_event made = {0};
	struct tb_raw key, value, ts = {0}, dur = {0};
	struct tb_raw_walk walk = tb_raw_walk_begin(item->value);
	event->kind = TB_EVENT_OTHER;
	while (tb_raw_walk_next(&walk, &key, &value)) {
		if (tb_raw_is(key, "ph") && !tb_raw_is(value, "X"))
			return TB_OK;
		if (tb_raw_is(key, "cat")) {
			made.kind = category_kind(value);
			if (made.kind == TB_EVENT_OTHER)
				return TB_OK;
		} else if (tb_raw_is(key, "name"))
			made.name = tb_raw_string(value);
		else if (tb_raw_is(key, "ts"))
			ts = value;
		else if (tb_raw_is(key, "dur"))
			dur = value;
		else if (tb_raw_is(key, "args"))
			made.args = value;
		else if (tb_raw_is(key, "tid") && !tb_raw_count(value, &made.thread))
			made.thread = 0;
		if (made.kind == TB_EVENT_COMM && made.name.n > 0 &&
			!tb_raw_is(made.name, "record_param_comms")) {
			if (!tb_is_annotation(made.name))
				return TB_OK;
			made.kind = TB_EVENT_ANNOTATION;
		}
	}
	if (walk.failed)
		return event_refuse(item, profile, "is no JSON object");
	if (made.kind == TB_EVENT_OTHER)
		return TB_OK;
	uint64_t long_ns = 0;
	if (!tb_raw_micros(ts, &made.begin_ns))
		return event_refuse(
			item, profile, "has no time (ts, microseconds from 0)");
	if (dur.n > 0 && !tb_raw_micros(dur, &long_ns))
		return event_refuse(
			item, profile, "has no duration (dur, microseconds from 0)");
	made.end_ns = made.begin_ns + long_ns;
	*event = made;
	return TB_OK;
}

static struct tb_event_ties event_ties_read(struct tb_raw args)
{
	struct tb_event_ties ties = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
	struct tb_raw key, value;
	struct tb_raw_walk walk = tb_raw_walk_begin(args);
	while (tb_raw_walk_next(&walk, &key, &value)) {
		uint64_t *tie = NULL;
		if (tb_raw_is(key, "stream"))
			tie = &ties.stream;
		else if (tb_raw_is(key, "correlation"))
			tie = &ties.order;
		else if (tb_raw_is(key, "External id") || tb_raw_is(key, "external id"))
			tie = &ties.external;
		else if (tb_raw_is(key, "device"))
			tie = &ties.device;
		if (tie && !tb_raw_count(value, tie))
			*tie = UINT64_MAX;
	}
	return ties;
}

// The name of a profile's file, split into its parts.

#define RANKS_MAX (UINT32_C(1) << 24)

uint32_t tb_profile_rank_in_name(const char *path)
{
	for (const char *at = basename(path); (at = strcasestr(at, "rank")); at++) {
		const char *digits = at + 4;
		if (*digits == '_' || *digits == '-' || *digits == '.' || *digits == '=')
			digits++;
		if (isdigit((unsigned char)*digits)) {
			unsigned long rank = strtoul(digits, NULL, 10);
			return rank < RANKS_MAX ? (uint32_t)rank : TB_NONE;
		}
	}
	return TB_NONE;
}

// counts_ranks returns whether a name is that of a rank or step rather than a host:
// "worker0", "rank-3", "worker0_step".
static bool counts_ranks(const char *name, size_t n)
{
	static const char *const words[] = {"worker", "rank", "step", "epoch", "iter"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t length = strlen(words[i]);
		const char *at = memmem(name, n, words[i], length);
		if (!at)
			continue;
		size_t end = (size_t)(at - name) + length;
		end += end < n && (name[end] == '-' || name[end] == '_');
		if (end == n || isdigit((unsigned char)name[end]))
			return true;
	}
	return false;
}

char *tb_profile_host_in_name(const char *path)
{
	const char *name = basename(path), *end = strstr(name, ".pt.trace.json");
	const char *pid = end ? memrchr(name, '_', (size_t)(end - name)) : NULL;
	if (!pid || pid == name || !isdigit((unsigned char)pid[1]))
		return NULL;
	for (const char *at = pid + 1; at < end; at++)
		if (!isdigit((unsigned char)*at) && *at != '.')
			return NULL;
	if (counts_ranks(name, (size_t)(pid - name)))
		return NULL;
	return strndup(name, (size_t)(pid - name));
}
