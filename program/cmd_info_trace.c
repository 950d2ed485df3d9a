// What `tailback info` prints of packet captures and jobs: what is in them, the times
// that a trace recorded, and the congestion that a capture recorded.
#include "cmd_info.h"

#include "congestion.h"
#include "hash.h"
#include "input_files.h"
#include "json.h"
#include "map.h"
#include "network_open.h"
#include "packets_text.h"
#include "progress.h"
#include "recording.h"
#include "recording_beside.h"
#include "underload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

// info_print_recorded prints what a trace recorded of times; info_recorded_json makes the
// same for JSON, null of nothing.
static void info_print_recorded(
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

static json_t *info_recorded_json(const struct tb_recorded_calls *recorded)
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

#define PAIRS_SHOWN 8 // to people; JSON has all

// trip_text writes a time that may not be known (-1).
static const char *trip_text(tb_time_ps ps, char *buffer, size_t size)
{
	return ps < 0 ? "-" : tb_format_time(ps, buffer, size);
}

static void print_round_trips(const struct info_options *options, const char *name,
	const char *how, const struct tb_round_trips *trips)
{
	char text[4][48];
	if (trips->n == 0)
		return;
	info_line(options, name, "%s: least %s, median %s, 95 %% within %s, of %s", how,
		trip_text(trips->least_ps, text[0], sizeof text[0]),
		trip_text(trips->median_ps, text[1], sizeof text[1]),
		trip_text(trips->p95_ps, text[2], sizeof text[2]),
		tb_format_count(trips->n, text[3], sizeof text[3]));
}

static void print_pauses(
	const struct info_options *options, const struct tb_congestion *congestion)
{
	char text[3][48], class[32], asked[96];
	for (size_t i = 0; i < congestion->n_pauses; i++) {
		const struct tb_congestion_pause *pause = &congestion->pauses[i];
		const struct tb_congestion_pair *pair = &congestion->pairs[pause->pair];
		snprintf(class, sizeof class, "class %u", pause->class);
		snprintf(asked, sizeof asked, "at a rate that the capture does not tell");
		if (pause->rate_known)
			snprintf(asked, sizeof asked, "at most %s",
				tb_format_time((tb_time_ps)pause->at_most_ps, text[0],
					sizeof text[0]));
		info_line(options, i ? "" : "pauses",
			"of %s by %s: %s of %s quanta in all, %s, and %s",
			pause->class == TB_CONGESTION_WHOLE_PORT ? "the whole port"
								 : class,
			pair->source ? pair->source : "others",
			tb_format_counted(pause->n, "time", text[1], sizeof text[1]),
			tb_format_count(pause->quanta, text[2], sizeof text[2]), asked,
			tb_format_counted(
				pause->n_resumes, "resumption", text[0], sizeof text[0]));
	}
}

static void print_pairs(
	const struct info_options *options, const struct tb_congestion *congestion)
{
	char text[TB_CONGESTION_TEXT_SIZE], trips[96], least[48], median[48];
	char times[TB_CONGESTION_TEXT_SIZE];
	size_t n = 0, n_suffer = 0;
	size_t *worst = tb_congestion_worst(congestion, &n_suffer);
	for (; worst && n < n_suffer && n < PAIRS_SHOWN; n++) {
		const struct tb_congestion_pair *pair = &congestion->pairs[worst[n]];
		trips[0] = '\0';
		if (pair->acknowledged.n)
			snprintf(trips, sizeof trips, "; round trip %s, median %s",
				trip_text(
					pair->acknowledged.least_ps, least, sizeof least),
				trip_text(pair->acknowledged.median_ps, median,
					sizeof median));
		tb_flow_times_format(&pair->times, times, sizeof times);
		info_line(options, n ? "" : "worst pairs", "%s > %s: %s%s%s%s",
			pair->source ? pair->source : "others",
			pair->destination ? pair->destination : "others",
			tb_congestion_format(&pair->counts, text, sizeof text),
			*times ? "; " : "", times, trips);
	}
	if (n < n_suffer)
		info_line(options, "", "and %s (--json has all)",
			tb_format_counted(
				n_suffer - n, "more pair", least, sizeof least));
	free(worst);
}

static json_t *time_json(uint64_t n, int64_t ps)
{
	return n > 0 && ps >= 0 ? tb_json_count((uint64_t)ps) : json_null();
}

static json_t *round_trips_json(const struct tb_round_trips *trips)
{
	struct tb_json_object object = tb_json_object_new();
	tb_json_add_count(&object, "n", trips->n);
	tb_json_add(&object, "least_ps", time_json(trips->n, trips->least_ps));
	tb_json_add(&object, "median_ps", time_json(trips->n, trips->median_ps));
	tb_json_add(&object, "p95_ps", time_json(trips->n, trips->p95_ps));
	return tb_json_object_take(&object);
}

static void congestion_add_counts(
	struct tb_json_object *object, const struct tb_congestion_counts *counts)
{
	for (int i = 0; i < TB_CONGESTION_N; i++)
		tb_json_add_count(object, tb_congestion_names[i].key, counts->of[i]);
}

static void congestion_add_pair(
	struct tb_json_object *object, const struct tb_congestion_pair *pair)
{
	congestion_add_counts(object, &pair->counts);
	tb_json_add_count(object, "payload_bytes", pair->times.payload_bytes);
	tb_json_add_count(object, "lasted_ps", pair->times.lasted_ps);
	for (int i = 0; i < TB_FLOW_TIME_N; i++)
		tb_json_add_count(
			object, tb_flow_time_names[i].key, pair->times.of_ps[i]);
	tb_json_add(object, "handshake", round_trips_json(&pair->handshake));
	tb_json_add(object, "round_trip", round_trips_json(&pair->acknowledged));
}

static json_t *congestion_node_json(uint32_t node)
{
	return node == TB_ID_NONE ? json_null() : tb_json_count(node);
}

static json_t *name_json(const char *name)
{
	return name ? tb_json_text(name) : json_null();
}

static json_t *pairs_json(const struct tb_congestion *congestion)
{
	json_t *list = json_array();
	for (size_t i = 0; i < congestion->n_pairs; i++) {
		const struct tb_congestion_pair *pair = &congestion->pairs[i];
		struct tb_json_object object = tb_json_object_new();
		tb_json_add(&object, "source", name_json(pair->source));
		tb_json_add(&object, "destination", name_json(pair->destination));
		tb_json_add(
			&object, "source_node", congestion_node_json(pair->source_node));
		tb_json_add(&object, "destination_node",
			congestion_node_json(pair->destination_node));
		congestion_add_pair(&object, pair);
		list = tb_json_append(list, tb_json_object_take(&object));
	}
	return list;
}

static json_t *bins_json(const struct tb_congestion *congestion)
{
	json_t *list = json_array();
	for (size_t i = 0; i < congestion->n_bins; i++) {
		const struct tb_congestion_bin *bin = &congestion->bins[i];
		struct tb_json_object object = tb_json_object_new();
		tb_json_add_count(&object, "pair", bin->pair);
		tb_json_add_count(&object, "from_ps", (uint64_t)bin->from_ps);
		congestion_add_counts(&object, &bin->counts);
		list = tb_json_append(list, tb_json_object_take(&object));
	}
	return list;
}

static json_t *pauses_json(const struct tb_congestion *congestion)
{
	json_t *list = json_array();
	for (size_t i = 0; i < congestion->n_pauses; i++) {
		const struct tb_congestion_pause *pause = &congestion->pauses[i];
		struct tb_json_object object = tb_json_object_new();
		tb_json_add_count(&object, "pair", pause->pair);
		tb_json_add(&object, "class",
			pause->class == TB_CONGESTION_WHOLE_PORT
				? json_null()
				: tb_json_count(pause->class));
		tb_json_add_count(&object, "pauses", pause->n);
		tb_json_add_count(&object, "resumes", pause->n_resumes);
		tb_json_add_count(&object, "quanta", pause->quanta);
		tb_json_add(&object, "at_most_ps",
			pause->rate_known ? tb_json_count(pause->at_most_ps)
					  : json_null());
		list = tb_json_append(list, tb_json_object_take(&object));
	}
	return list;
}

static json_t *info_congestion_json(const struct tb_congestion *congestion)
{
	struct tb_json_object object = tb_json_object_new();
	congestion_add_pair(&object, &congestion->all);
	tb_json_add_count(&object, "bin_ps", (uint64_t)congestion->bin_ps);
	tb_json_add(&object, "pairs", pairs_json(congestion));
	tb_json_add(&object, "bins", bins_json(congestion));
	tb_json_add(&object, "pause_classes", pauses_json(congestion));
	return tb_json_object_take(&object);
}

static const char *info_name(const char *file)
{
	return strcmp(file, "-") == 0 ? "standard input" : file;
}

// span_text writes from when to when was captured; picoseconds count 106 days.
static const char *span_text(
	const struct tb_packets_summary *summary, char *buffer, size_t size)
{
	uint64_t ns = (uint64_t)summary->last_at_ns - (uint64_t)summary->first_at_ns;
	if (summary->last_at_ns <= summary->first_at_ns)
		ns = 0;
	if (ns <= (uint64_t)(TB_TIME_NEVER / TB_PS_PER_NS))
		return tb_format_time((tb_time_ps)ns * TB_PS_PER_NS, buffer, size);
	snprintf(buffer, size, "%" PRIu64 " days", ns / UINT64_C(86400000000000));
	return buffer;
}

#define RECORDS_TRIED 1000000 // are read a second time in seconds

// fitting_network writes the network that fits captures of Ethernet: what `replay -n
// recorded` takes; "ethernet" where that is refused, or not tried. It returns whether it
// is known to be refused.
static bool fitting_network(const struct info_options *options,
	const struct tb_packets_summary *summary, char *name, size_t size)
{
	struct tb_error refused;
	const struct tb_reading lenient = {.lenient = true};
	const struct tb_recording_options recording = {.network = "recorded",
		.workload = {.traces = options->files.of,
			.n_traces = options->files.n,
			.packets = options->captures.packets,
			.reading = &lenient}};
	bool tried = summary->n_records <= RECORDS_TRIED;
	for (size_t i = 0; i < options->files.n; i++)
		tried = tried && strcmp(options->files.of[i], "-") != 0 &&
			!tb_input_is_stream(options->files.of[i]);
	if (tried && !tb_recording_recorded_network(&recording, name, size, &refused))
		return false;
	snprintf(name, size, "ethernet");
	return tried;
}

// undecoded_types_json lists what was not decoded to network addresses, by type.
static json_t *undecoded_types_json(
	const struct tb_packets *packets, enum tb_packets_list list)
{
	char name[TB_FRAME_TYPE_TEXT_SIZE];
	const struct tb_packets_type *type;
	json_t *rows = json_array();
	for (uint32_t i = 0; (type = tb_packets_type(packets, list, i)); i++)
		rows = tb_json_append(
			rows, json_pack("{s:s, s:I}", "type",
				      tb_frame_type_format(type->type, name, sizeof name),
				      "records", (json_int_t)type->n_records));
	return rows;
}

static json_t *packets_json(const struct tb_packets *packets,
	const struct tb_congestion *congestion, const struct tb_packets_load *load,
	const char *network, const char *fitting)
{
	const struct tb_packets_summary *summary = tb_packets_summary(packets);
	json_t *root = json_pack(
		"{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o*, "
		"s:{s:o, s:f, s:f, s:I, s:f}, s:{s:o, s:o, s:o}, s:o}",
		"kind", "packets", "nodes", (json_int_t)summary->n_nodes, "endpoints",
		(json_int_t)summary->n_endpoints, "endpoints_unplaced",
		(json_int_t)summary->n_endpoints_unplaced, "pairs",
		(json_int_t)summary->n_pairs, "packets", (json_int_t)summary->n_packets,
		"bytes", (json_int_t)summary->payload_bytes, "wire_bytes",
		(json_int_t)summary->wire_bytes, "duration_ps",
		(json_int_t)summary->duration_ps, "truncated_records",
		(json_int_t)summary->n_truncated, "fitting_network",
		*fitting ? tb_json_text(fitting) : NULL, "load", "network",
		tb_json_text(network), "mean_share", load->mean_share, "busiest_share",
		load->busiest_share, "busiest_node", (json_int_t)load->busiest.id,
		"half_scale", load->half_scale, "types", "control",
		undecoded_types_json(packets, TB_LIST_CONTROL), "undecodable",
		undecoded_types_json(packets, TB_LIST_UNDECODABLE), "between_macs",
		undecoded_types_json(packets, TB_LIST_BETWEEN_MACS), "congestion",
		info_congestion_json(congestion));
	const struct {
		const char *key;
		uint64_t value;
	} counts[] = {
		{"records", summary->n_records},
		{"replayed_records", summary->n_replayed_records},
		{"duplicates", summary->n_duplicates},
		{"retransmissions", summary->n_retransmissions},
		{"acks", summary->n_acks},
		{"broadcast", summary->n_broadcast},
		{"multicast", summary->n_multicast},
		{"non_ip", summary->n_non_ip},
		{"undecodable", summary->n_undecodable},
		{"local", summary->n_local},
		{"unplaced", summary->n_unplaced},
		{"outside", summary->n_outside},
		{"reordered", summary->n_reordered},
		{"late", summary->n_late},
		{"offloaded", summary->n_offloaded},
		{"sampled_records", summary->n_sampled},
		{"sampled_least", summary->sampled_least},
		{"sampled_most", summary->sampled_most},
		{"untimed", summary->n_untimed},
		{"sliced", summary->n_sliced},
		{"clock_steps", summary->n_clock_steps},
	};
	bool fine = root != NULL;
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		fine = fine && json_object_set_new(root, counts[i].key,
				       json_integer((json_int_t)counts[i].value)) == 0;
	if (fine)
		return root;
	json_decref(root);
	return NULL;
}

int info_show_packets(const struct info_options *options, struct tb_packets *packets,
	struct tb_error *error)
{
	struct tb_network_params params;
	int status = tb_network_open_params(&params, NULL, options->network, error);
	if (status != TB_OK)
		return status;
	// Read the capture to its end; the summary is complete only then.
	struct tb_progress progress;
	struct tb_captured_packet packet;
	uint64_t n = 0;
	tb_progress_init(&progress, STDERR_FILENO);
	while ((status = tb_packets_next(packets, &packet, error)) > 0)
		if (++n % 65536 == 0 && tb_progress_due(&progress))
			tb_progress_show(
				&progress, tb_packets_fraction(packets), "reading");
	tb_progress_done(&progress);
	// For a capture that was cut off, print the summary of what there is, then fail.
	if (status != TB_OK && status != TB_EFORMAT)
		return status;
	const struct tb_packets_against against = {
		params.name, tb_recording_node_rate(&params)};
	struct tb_packets_load load = tb_packets_load(packets, against.node);
	struct tb_congestion *congestion;
	struct tb_error ignored;
	int made = tb_packets_congestion(packets, &congestion, status ? &ignored : error);
	if (made != TB_OK)
		return status ? status : made;
	const struct tb_packets_summary *summary = tb_packets_summary(packets);
	enum tb_recorded_on on = tb_recorded_on_of(tb_recording_endpoint(packets));
	char fitting[1024] = "";
	bool is_untold = on == TB_RECORDED_ETHERNET &&
			 fitting_network(options, summary, fitting, sizeof fitting);
	if (options->json) {
		made = info_print_json(
			packets_json(packets, congestion, &load, params.name, fitting),
			status ? &ignored : error);
	} else {
		char shown[INFO_NAME_BYTES];
		const struct tb_underload hinted = {.network = &params,
			.busiest_share = load.busiest_share,
			.half_scale = load.half_scale,
			.recorded = on,
			.n_inputs = 1,
			.is_untold = is_untold};
		char recorded[80], untold[TB_UNTOLD_SIZE];
		tb_recording_untold(packets, untold);
		fprintf(options->text, "%s: packet capture%s%s%s\n",
			tb_visible(info_name(options->file), shown, sizeof shown),
			tb_recorded_on_text(
				hinted.recorded, 0, recorded, sizeof recorded),
			*untold ? ", " : "", untold);
		if (tb_packets_write_summary(options->text, packets, "  ", &against) !=
			TB_OK)
			made = tb_fail_in(status ? &ignored : error, TB_EIO,
				"standard output", "writing failed");
		// Print when the capture's packets were captured, as --from takes it.
		char first[48], last[48];
		if (summary->n_packets > 0)
			fprintf(options->text, "  %-12s%s to %s (UTC)\n", "captured",
				tb_instant_format(
					summary->first_at_ns, first, sizeof first),
				tb_instant_format(
					summary->last_at_ns, last, sizeof last));
		if (summary->n_packets > 0)
			fprintf(options->text,
				"  %-12s%s; at what rate, 'replay --closed-loop' "
				"estimates\n",
				"recorded", span_text(summary, first, sizeof first));
		if (summary->n_packets > 0) {
			fprintf(options->text, "  %-12s", "replay");
			tb_underload_hints(options->text, &hinted);
			fputc('\n', options->text);
		}
		// Print what a capture recorded of congestion.
		char text[TB_CONGESTION_TEXT_SIZE];
		const struct tb_congestion_pair *all = &congestion->all;
		if (!tb_congestion_is_quiet(&all->counts) || all->acknowledged.n != 0) {
			info_line(options, "congestion", "%s",
				tb_congestion_is_quiet(&all->counts)
					? "none recorded"
					: tb_congestion_format(
						  &all->counts, text, sizeof text));
			print_pauses(options, congestion);
			print_round_trips(
				options, "round trips", "by handshake", &all->handshake);
			print_round_trips(options, all->handshake.n ? "" : "round trips",
				"by acknowledgement", &all->acknowledged);
			print_pairs(options, congestion);
		}
	}
	tb_congestion_free(congestion);
	return status ? status : made;
}

// count_hosts returns on how many hosts the ranks ran, 0 if that is not known.
static uint32_t count_hosts(const struct tb_job *job)
{
	uint32_t n = 0;
	struct tb_map seen = {0};
	for (uint32_t r = 0; job->hosts && r < job->n_ranks; r++) {
		uint32_t other = 0;
		const char *host = job->hosts[r] ? job->hosts[r] : "";
		uint64_t key = tb_hash_text(TB_HASH_BEGIN, host);
		if (!job->hosts[r] || tb_map_find(&seen, key, &other))
			continue;
		n += tb_map_put(&seen, key, r) == TB_OK;
	}
	tb_map_fini(&seen);
	return n;
}

static json_t *job_notes_json(const struct tb_job *job)
{
	json_t *list = json_array();
	for (const char *at = job->notes; list && at && *at;) {
		size_t n = strcspn(at, "\n");
		char *note = strndup(at, n);
		list = tb_json_append(list, note ? tb_json_text(note) : NULL);
		free(note);
		at += n + (at[n] == '\n');
	}
	return list;
}

// facts_json lists what the trace has beside its calls.
static json_t *facts_json(const struct tb_facts *facts)
{
	const char *name, *text;
	json_t *list = json_array();
	for (size_t i = 0; facts && tb_facts_at(facts, i, &name, &text); i++) {
		struct tb_json_object object = tb_json_object_new();
		tb_json_add_text(&object, "name", name);
		tb_json_add_text(&object, "text", text);
		list = tb_json_append(list, tb_json_object_take(&object));
	}
	return list;
}

// print_facts prints them; of rows of one name only the first has it.
static void print_facts(const struct info_options *options, const struct tb_facts *facts)
{
	const char *name, *text, *before = "";
	char shown[INFO_NAME_BYTES];
	for (size_t i = 0; facts && tb_facts_at(facts, i, &name, &text); i++) {
		info_line(options, strcmp(name, before) == 0 ? "" : name, "%s",
			tb_visible(text, shown, sizeof shown));
		before = name;
	}
}

int info_show_facts(const struct info_options *options, const struct tb_trace *trace,
	struct tb_error *error)
{
	char shown[INFO_NAME_BYTES];
	if (options->json) {
		struct tb_json_object object = tb_json_object_new();
		tb_json_add_text(&object, "kind", "facts");
		tb_json_add_text(&object, "format", trace->reader->name);
		tb_json_add(&object, "facts", facts_json(trace->facts));
		tb_json_add_text(&object, "refusal", trace->refusal.text);
		return info_print_json(tb_json_object_take(&object), error);
	}
	fprintf(options->text, "%s: %s, not a job\n",
		tb_visible(info_name(options->file), shown, sizeof shown),
		trace->reader->name);
	print_facts(options, trace->facts);
	info_line(options, "no job", "%s",
		tb_visible(trace->refusal.text, shown, sizeof shown));
	return TB_OK;
}

static json_t *job_json(const struct tb_job *job, const struct tb_job_summary *summary,
	const struct tb_facts *facts)
{
	struct tb_json_object object = tb_json_object_new();
	tb_json_add_text(&object, "kind", "job");
	tb_json_add_text(&object, "format", job->form);
	tb_json_add_count(&object, "nodes", job->n_ranks);
	tb_json_add_count(&object, "operations", job->n_ops);
	tb_json_add_count(&object, "messages", summary->n_sends);
	tb_json_add_count(&object, "receives", summary->n_recvs);
	tb_json_add_count(&object, "calcs", summary->n_calcs);
	tb_json_add_count(&object, "dependencies", summary->n_dependencies);
	tb_json_add_count(&object, "bytes", summary->send_bytes);
	tb_json_add_count(&object, "calc_ns", summary->calc_ns);
	tb_json_add_count(&object, "call_ns", summary->call_ns);
	tb_json_add_count(&object, "pairs", summary->n_pairs);
	tb_json_add_count(&object, "hosts", count_hosts(job));
	tb_json_add(&object, "recorded", info_recorded_json(job->recorded));
	tb_json_add(&object, "facts", facts_json(facts));
	tb_json_add(&object, "notes", job_notes_json(job));
	return tb_json_object_take(&object);
}

static const char *calc_text(uint64_t ns, char text[static 48])
{
	// In picoseconds the sum may exceed a tb_time_ps.
	double ps = (double)ns * (double)TB_PS_PER_NS;
	return tb_format_time(ps < 9e18 ? (tb_time_ps)ps : TB_TIME_NEVER, text, 48);
}

int info_show_job(const struct info_options *options, const struct tb_trace *trace,
	struct tb_error *error)
{
	const struct tb_job *job = trace->job;
	struct tb_job_summary summary;
	char text[3][48];
	tb_job_summarize(job, &summary);
	if (options->json)
		return info_print_json(job_json(job, &summary, trace->facts), error);
	char shown[INFO_NAME_BYTES];
	fprintf(options->text, "%s: job (%s)\n",
		tb_visible(info_name(options->file), shown, sizeof shown), job->form);
	info_line(options, "ranks", "%s, %s",
		tb_format_count(job->n_ranks, text[0], sizeof text[0]),
		tb_format_counted(
			summary.n_pairs, "ordered pair", text[1], sizeof text[1]));
	uint32_t n_hosts = count_hosts(job);
	if (n_hosts)
		info_line(options, "hosts", "%s",
			tb_format_count(n_hosts, text[0], sizeof text[0]));
	info_line(options, "sends", "%s of %s in all",
		tb_format_count(summary.n_sends, text[0], sizeof text[0]),
		tb_format_size(summary.send_bytes, text[1], sizeof text[1]));
	info_line(options, "receives", "%s",
		tb_format_count(summary.n_recvs, text[0], sizeof text[0]));
	info_line(options, "calcs", "%s of %s in all%s%s%s",
		tb_format_count(summary.n_calcs, text[0], sizeof text[0]),
		calc_text(summary.calc_ns, text[1]), summary.call_ns ? ", " : "",
		summary.call_ns == 0 ? ""
		: summary.call_ns == summary.calc_ns
			? "all of it"
			: calc_text(summary.call_ns, text[2]),
		summary.call_ns ? " the library's, in collective calls" : "");
	info_line(options, "requires", "%s",
		tb_format_count(summary.n_dependencies, text[0], sizeof text[0]));
	// NCCL chooses by what its adapters and links are.
	if (strstr(job->notes ? job->notes : "", "library nccl:"))
		info_line(options, "counted",
			"for NCCL on no network in particular: 'replay' expands the "
			"calls for the one of its -n, perhaps with other algorithms and "
			"channels, and other sends");
	if (job->recorded)
		info_print_recorded(options, job->recorded);
	print_facts(options, trace->facts);
	tb_cmd_put_notes(options->text, job->notes, "  ", SIZE_MAX);
	return TB_OK;
}
