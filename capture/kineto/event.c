#include "profile.h"

#include <string.h>

// Categories, also those of Kineto before 2022.
static const struct {
	const char *name;
	enum tb_event_kind kind;
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

static enum tb_event_kind category_kind(struct tb_raw category)
{
	for (size_t i = 0; i < N_CATEGORIES; i++)
		if (tb_raw_is(category, categories[i].name))
			return categories[i].kind;
	return TB_EVENT_OTHER;
}

static int event_refuse(const struct tb_json_item *item, const char *path,
	const char *what, struct tb_error *error)
{
	return tb_fail_at(error, TB_EFORMAT, path, TB_PLACE_OFFSET, item->offset,
		"the event %s", what);
}

int tb_event_read(struct tb_profile_event *event, const struct tb_json_item *item,
	const char *path, struct tb_error *error)
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
		return event_refuse(item, path, "is no JSON object", error);
	if (made.kind == TB_EVENT_OTHER)
		return TB_OK;
	uint64_t long_ns = 0;
	if (!tb_raw_micros(ts, &made.begin_ns))
		return event_refuse(
			item, path, "has no time (ts, microseconds from 0)", error);
	if (dur.n > 0 && !tb_raw_micros(dur, &long_ns))
		return event_refuse(
			item, path, "has no duration (dur, microseconds from 0)", error);
	made.end_ns = made.begin_ns + long_ns;
	*event = made;
	return TB_OK;
}

struct tb_event_ties tb_event_ties_read(struct tb_raw args)
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
