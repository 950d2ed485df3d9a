// What `tailback info` prints of the times that a trace recorded.
#include "cmd_info.h"
#include "json.h"

#include <inttypes.h>

#define RANKS_SHOWN 16 // to people; JSON has all

static double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

// in_calls returns how long all ranks were in calls.
static uint64_t in_calls(const struct tb_call_times *times)
{
	uint64_t sum_ps = 0;
	for (uint32_t i = 0; i < times->n_ranks; i++)
		sum_ps += times->ranks[i].sum_ps;
	return sum_ps;
}

// all_ps returns the run time of all ranks together.
static uint64_t all_ps(const struct tb_call_times *times)
{
	return times->run_ps * times->n_ranks;
}

static char *time_text(uint64_t time_ps, char *text)
{
	return tb_format_time((tb_time_ps)time_ps, text, 48);
}

static void print_kinds(
	const struct info_options *options, const struct tb_call_times *times)
{
	char text[5][48], name[TB_TIMED_NAME_BYTES];
	for (uint32_t i = 0; i < TB_TIMED_KINDS; i++) {
		const struct tb_kind_times *kind = &times->kinds[i];
		if (kind->n)
			info_line(options, "", "%s: %s, %s, %s in all, median %s, %s",
				tb_timed_name(i, name),
				tb_format_counted(kind->n, "call", text[0], 48),
				tb_format_size(kind->bytes, text[1], 48),
				time_text(kind->sum_ps, text[2]),
				time_text(kind->median_ps, text[3]),
				tb_format_percent(percent_of(kind->sum_ps, all_ps(times)),
					text[4], 48));
	}
}

static void print_ranks(
	const struct info_options *options, const struct tb_call_times *times)
{
	char text[3][48];
	for (uint32_t i = 0; i < times->n_ranks && i < RANKS_SHOWN; i++) {
		const struct tb_rank_times *rank = &times->ranks[i];
		info_line(options, "",
			"rank %" PRIu32 ": %s in calls, %s; the last ended at %s", i,
			time_text(rank->sum_ps, text[0]),
			tb_format_percent(
				percent_of(rank->sum_ps, times->run_ps), text[1], 48),
			time_text(rank->end_ps, text[2]));
	}
	if (times->n_ranks > RANKS_SHOWN)
		info_line(options, "", "and %" PRIu32 " more ranks (--json has them)",
			times->n_ranks - RANKS_SHOWN);
}

void info_print_recorded(
	const struct info_options *options, const struct tb_recorded_calls *recorded)
{
	char text[3][48];
	const struct tb_call_times *times = &recorded->times;
	info_line(options, "recorded", "%s until the last of %s ended, %s of it in calls",
		time_text(times->run_ps, text[0]),
		tb_format_counted(times->n, "call", text[1], 48),
		tb_format_percent(
			percent_of(in_calls(times), all_ps(times)), text[2], 48));
	print_kinds(options, times);
	print_ranks(options, times);
}

static json_t *kind_json(const struct tb_call_times *times, uint32_t i)
{
	char name[TB_TIMED_NAME_BYTES];
	const struct tb_kind_times *kind = &times->kinds[i];
	struct tb_json_object object = tb_json_object_new();
	tb_json_add_text(&object, "kind", tb_timed_name(i, name));
	tb_json_add_count(&object, "calls", kind->n);
	tb_json_add_count(&object, "bytes", kind->bytes);
	tb_json_add_count(&object, "sum_ps", kind->sum_ps);
	tb_json_add_count(&object, "median_ps", kind->median_ps);
	tb_json_add(&object, "percent",
		tb_json_real(percent_of(kind->sum_ps, all_ps(times))));
	return tb_json_object_take(&object);
}

static json_t *rank_json(const struct tb_call_times *times, uint32_t i)
{
	const struct tb_rank_times *rank = &times->ranks[i];
	struct tb_json_object object = tb_json_object_new();
	tb_json_add_count(&object, "rank", i);
	tb_json_add_count(&object, "calls", rank->n);
	tb_json_add_count(&object, "sum_ps", rank->sum_ps);
	tb_json_add_count(&object, "end_ps", rank->end_ps);
	tb_json_add(&object, "percent",
		tb_json_real(percent_of(rank->sum_ps, times->run_ps)));
	return tb_json_object_take(&object);
}

static json_t *uncompared_json(const struct tb_recorded_calls *recorded)
{
	json_t *list = json_array();
	for (int i = 0; i < TB_UNCOMPARED_N; i++) {
		if (recorded->n_uncompared[i] == 0)
			continue;
		struct tb_json_object object = tb_json_object_new();
		tb_json_add_text(
			&object, "reason", tb_uncompared_text((enum tb_uncompared)i));
		tb_json_add_count(&object, "calls", recorded->n_uncompared[i]);
		list = tb_json_append(list, tb_json_object_take(&object));
	}
	return list;
}

json_t *info_recorded_json(const struct tb_recorded_calls *recorded)
{
	if (!recorded)
		return json_null();
	const struct tb_call_times *times = &recorded->times;
	json_t *kinds = json_array(), *ranks = json_array();
	for (uint32_t i = 0; i < TB_TIMED_KINDS; i++)
		if (times->kinds[i].n)
			kinds = tb_json_append(kinds, kind_json(times, i));
	for (uint32_t i = 0; i < times->n_ranks; i++)
		ranks = tb_json_append(ranks, rank_json(times, i));
	struct tb_json_object object = tb_json_object_new();
	tb_json_add_count(&object, "run_ps", times->run_ps);
	tb_json_add_count(&object, "calls", times->n);
	tb_json_add(&object, "percent",
		tb_json_real(percent_of(in_calls(times), all_ps(times))));
	tb_json_add(&object, "kinds", kinds);
	tb_json_add(&object, "ranks", ranks);
	tb_json_add(&object, "uncompared", uncompared_json(recorded));
	return tb_json_object_take(&object);
}
