// What `tailback info` prints of a store.
#include "cmd_info.h"

#include "json.h"
#include "merge.h"
#include "output_args.h"
#include "range_text.h"
#include "recorded.h"
#include "run_capture.h"
#include "run_list.h"
#include "run_table.h"
#include "swept.h"

#include <inttypes.h>
#include <stdlib.h>

static json_t *run_notes_json(const struct tb_run_info *info)
{
	json_t *array = json_array();
	for (size_t i = 0; array && i < info->n_notes; i++)
		array = tb_json_append(
			array, json_pack("{s:o, s:o}", "job",
				       info->notes[i].job == TB_ID_NONE
					       ? json_null()
					       : tb_json_count(info->notes[i].job),
				       "text", tb_json_text(info->notes[i].text)));
	return array;
}

static json_t *bound_json(const struct tb_run_info *info, tb_time_ps bound_ps)
{
	return info->n_calls ? json_integer(bound_ps) : json_null();
}

// run_json makes the object of a run. Scripts rely on its keys, which the manual page
// lists.
static json_t *run_json(const struct tb_run_info *info, int64_t unattributed_ps)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:f, s:f, "
			 "s:b, s:o, s:o, s:o, s:o, s:o, s:o}",
		"run", (json_int_t)info->id, "nodes", (json_int_t)info->n_nodes,
		"packets", (json_int_t)info->n_packets, "delivered_bytes",
		(json_int_t)info->delivered_bytes, "messages",
		(json_int_t)info->n_messages, "simulated_ps",
		(json_int_t)info->simulated_ps, "run_time_least_ps",
		bound_json(info, info->least_ps), "run_time_most_ps",
		bound_json(info, info->most_ps), "lost_frames", (json_int_t)info->n_lost,
		"resent_segments", (json_int_t)info->n_resent, "wall_s", info->wall_s,
		"packets_per_s", info->packets_per_s, "complete", (int)info->complete,
		"input", tb_json_text(info->input_name), "input_kind",
		tb_json_text(info->input_kind), "network",
		tb_json_text(info->network_name), "started_at",
		tb_json_text(info->started_at), "unattributed_ps",
		unattributed_ps < 0 ? json_null() : json_integer(unattributed_ps),
		"notes", run_notes_json(info));
}

// How far a sweep came; 0 points in a store without one.
struct points {
	size_t n, n_done;
};

// The shard that a store holds; n is 0 in the store of a whole.
static struct tb_shard shard_of(const char *store, size_t *n_runs)
{
	struct tb_shard shard = {0};
	// The store has been opened before, so errors have been reported: only 1 matters.
	if (tb_merge_shard_of(store, &shard, n_runs, NULL) != 1)
		shard = (struct tb_shard){0};
	return shard;
}

static size_t count_complete(const struct tb_runs *runs)
{
	size_t n = 0;
	for (size_t i = 0; i < tb_runs_n(runs); i++)
		n += tb_runs_at(runs, i)->complete;
	return n;
}

// store_json makes the newest run's object, with the list of all runs in it. Of a sweep
// that has just begun there is only the list, which is empty.
static json_t *store_json(const struct tb_runs *runs, const int64_t *unattributed_ps,
	struct points points, struct tb_shard shard)
{
	size_t n = tb_runs_n(runs);
	json_t *root = n ? run_json(tb_runs_at(runs, n - 1), unattributed_ps[n - 1])
			 : json_object();
	json_t *list = json_array();
	bool fine = root && list &&
		    json_object_set_new(root, "kind", json_string("store")) == 0;
	for (size_t i = 0; fine && i < n; i++)
		fine = json_array_append_new(list,
			       run_json(tb_runs_at(runs, i), unattributed_ps[i])) == 0;
	if (fine && points.n)
		fine = json_object_set_new(
			       root, "points", json_integer((json_int_t)points.n)) == 0 &&
		       json_object_set_new(root, "points_done",
			       json_integer((json_int_t)points.n_done)) == 0;
	if (fine && shard.n)
		fine = json_object_set_new(root, "shard", json_integer(shard.number)) ==
			       0 &&
		       json_object_set_new(root, "shards", json_integer(shard.n)) == 0;
	if (fine && json_object_set(root, "runs", list) == 0) {
		json_decref(list);
		return root;
	}
	json_decref(list);
	json_decref(root);
	return NULL;
}

static void print_range(
	const struct info_options *options, const struct tb_run_info *info)
{
	char text[TB_RANGE_TEXT];
	const struct tb_range range = tb_range_of_run(info);
	info_line(options, "range", "%s", tb_range_text(&range, text, sizeof text));
}

// print_recorded prints what the traces of a run recorded, and what was made of it.
static void print_recorded(
	const struct info_options *options, const struct tb_run_info *info)
{
	struct tb_run *run = NULL;
	struct tb_recorded recorded;
	struct tb_error ignored; // the store was read before
	char text[512];
	if (tb_run_open(&run, options->file, info->id, &ignored) != TB_OK)
		return;
	if (tb_recorded_init(&recorded, run, &ignored) == TB_OK) {
		for (size_t i = 0; i < recorded.jobs.n; i++)
			info_line(options, i ? "" : "recorded", "%s",
				tb_recorded_sentence(
					&recorded.jobs.rows[i], text, sizeof text));
		for (size_t i = 0; i < recorded.checks.n; i++)
			info_line(options, i ? "" : "checked", "%s",
				tb_recorded_check_sentence(
					&recorded.checks.rows[i], text, sizeof text));
		tb_recorded_fini(&recorded);
	}
	tb_run_free(run);
}

// print_delivery prints what arrived; counters know no messages.
static void print_delivery(
	const struct info_options *options, const struct tb_run_info *info)
{
	char messages[48], packets[48], size[48];
	bool measured = tb_run_is_measured(info);
	if (measured && info->n_packets == 0 && info->delivered_bytes == 0)
		return; // or it was not measured, which 'report' prints
	info_line(options, measured ? "received" : "delivered", "%s%s%s, %s %s",
		measured ? ""
			 : tb_format_counted(info->n_messages, "message", messages,
				   sizeof messages),
		measured ? "" : ", ",
		tb_format_counted(info->n_packets, "packet", packets, sizeof packets),
		tb_format_size(info->delivered_bytes, size, sizeof size),
		tb_run_carried(info));
}

static void print_run_summary(
	const struct info_options *options, const struct tb_run_info *info)
{
	char text[4][48];
	fprintf(options->text, "Run %" PRId64 "%s\n", info->id,
		info->complete ? "" : ", incomplete: stopped or still being written");
	info_line(options, "input", "%s (%s, %s)", info->input_name, info->input_kind,
		tb_format_size(info->input_bytes, text[0], sizeof text[0]));
	info_line(options, "network", "%s%s, %s, %s, %s", info->network_name,
		tb_run_caution(info),
		tb_format_counted(info->n_nodes, "node", text[0], sizeof text[0]),
		tb_format_counted(
			info->n_switches, "switch|switches", text[1], sizeof text[1]),
		tb_format_counted(info->n_links, "link", text[2], sizeof text[2]));
	bool measured = tb_run_is_measured(info);
	info_line(options, measured ? "measured" : "simulated", "%s in %s of %s",
		tb_format_time(info->simulated_ps, text[0], sizeof text[0]),
		tb_format_counted(info->n_bins, "bin", text[1], sizeof text[1]),
		tb_format_time(info->bin_ps, text[2], sizeof text[2]));
	if (info->n_calls)
		print_range(options, info);
	print_recorded(options, info);
	print_delivery(options, info);
	if (info->n_undelivered || info->n_retries)
		info_line(options, "given up", "%s, %s",
			tb_format_counted(
				info->n_undelivered, "message", text[0], sizeof text[0]),
			tb_format_counted(info->n_retries,
				"packet sent again|packets sent again", text[1],
				sizeof text[1]));
	if (info->n_lost || info->n_resent)
		info_line(options, "lost", "%s, %s",
			tb_format_counted(info->n_lost, "frame", text[0], sizeof text[0]),
			tb_format_counted(info->n_resent,
				"segment sent again|segments sent again", text[1],
				sizeof text[1]));
	if (*info->options)
		info_line(options, "options", "%s", info->options);
	info_line(options, "seed", "%" PRIu64, info->seed);
	for (size_t i = 0; i < info->n_notes; i++) {
		const struct tb_run_note *note = &info->notes[i];
		if (note->job == TB_ID_NONE)
			info_line(options, "note", "%s: %s", info->network_name,
				note->text);
		else if (info->n_jobs > 1)
			info_line(options, "note", "job %" PRIu32 ": %s", note->job,
				note->text);
		else
			info_line(options, "note", "%s", note->text);
	}
	if (info->wall_s > 0)
		info_line(options, "took", "%.2f s, %s packets/s, at %s by Tailback %s",
			info->wall_s,
			tb_format_count(
				(uint64_t)info->packets_per_s, text[0], sizeof text[0]),
			info->started_at, info->program_version);
	else
		info_line(options, "started", "%s by Tailback %s", info->started_at,
			info->program_version);
}

int info_show_store(const struct info_options *options, const struct tb_runs *runs,
	struct tb_error *error)
{
	size_t n = tb_runs_n(runs);
	const char *store = options->file;
	struct tb_swept swept = {0};
	struct points points = {0};
	// The store has been opened before: an error would have been reported then. A
	// sweep of which no point is done yet has points, too.
	int status = tb_swept_read(&swept, store, NULL);
	if (status == TB_OK || status == TB_EUSAGE)
		points = (struct points){swept.n_points + swept.n_undone, swept.n_points};
	tb_swept_fini(&swept);
	if (n == 0 && points.n == 0)
		return tb_fail_in(error, TB_EFORMAT, options->file, "holds no run");
	bool has_run = options->run == 0;
	for (size_t i = 0; i < n; i++)
		has_run |= tb_runs_at(runs, i)->id == options->run;
	if (!has_run)
		return tb_fail_in(
			error, TB_EUSAGE, store, "holds no run %" PRId64, options->run);
	size_t n_of_shard = 0;
	struct tb_shard shard = shard_of(options->file, &n_of_shard);
	if (options->json) {
		int64_t *unattributed_ps =
			calloc(tb_runs_n(runs) + 1, sizeof *unattributed_ps);
		if (!unattributed_ps)
			return tb_fail_memory_in(error, options->file, "it");
		status =
			tb_runs_unattributed(options->file, runs, unattributed_ps, error);
		if (!status)
			status = info_print_json(
				store_json(runs, unattributed_ps, points, shard), error);
		free(unattributed_ps);
		return status;
	}
	char shown[INFO_NAME_BYTES];
	fprintf(options->text, "%s: store of %zu run%s\n",
		tb_visible(options->file, shown, sizeof shown), n, n == 1 ? "" : "s");
	if (shard.n) {
		// A store that has more runs than its shard was given others.
		size_t n_done = count_complete(runs);
		fprintf(options->text, "Shard %" PRIu32 "/%" PRIu32 " of %zu run%s, ",
			shard.number, shard.n, n_of_shard, n_of_shard == 1 ? "" : "s");
		if (n_done > n_of_shard)
			fprintf(options->text, "but %zu are here: merge refuses it\n",
				n_done);
		else
			fprintf(options->text, "%zu of them done\n", n_done);
	}
	if (points.n)
		fprintf(options->text, "Sweep of %zu point%s, %zu of them done\n",
			points.n, points.n == 1 ? "" : "s", points.n_done);
	if (n > 1 && !options->run) {
		status = tb_run_table_write(options->file,
			tb_cmd_text_width(options->width, stdout, 0), options->text,
			error);
		fputs("'--run ID' shows a run with its options and notes.\n",
			options->text);
		return status;
	}
	for (size_t i = 0; i < n; i++)
		if (!options->run || tb_runs_at(runs, i)->id == options->run)
			print_run_summary(options, tb_runs_at(runs, i));
	return TB_OK;
}
