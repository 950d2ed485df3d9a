#include "infer.h"

#include "format.h"
#include "frame.h"
#include "infer_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_RECORDS 262144 // from which ports are measured
#define PATH_NOTED_NS  INT64_C(1000000)

struct inferring {
	struct tb_packets *packets;
	struct tb_packet_record *sample;
	size_t n_sample;
	struct tb_passages *ports;
	struct tb_halves *halves;
	struct tb_message_finder *messages;
	struct tb_message_list list;
	struct tb_causes causes[1 + TB_N_BOUNDS]; // those that are likely first
	uint32_t n_bounds;
	struct tb_rendezvous rendezvous;
	struct tb_infer_report report;
	int64_t first_ns, last_ns;
	uint32_t n_nodes;
	// Of the job that is being made; NULL: a node is a rank.
	uint32_t *rank_of;
	uint32_t n_ranks;
};

struct tb_packets_options tb_infer_options(const struct tb_packets_options *options)
{
	struct tb_packets_options wanted =
		options ? *options : (struct tb_packets_options){0};
	wanted.keep_acks = true;
	wanted.keep_retransmissions = true;
	wanted.time_scale = 0;
	return wanted;
}

// read_sample reads the first records of the capture, in which the rates of the ports
// are measured.
static int read_sample(struct inferring *inferring, struct tb_error *error)
{
	int status = 1;
	inferring->sample = malloc(SAMPLE_RECORDS * sizeof *inferring->sample);
	if (!inferring->sample)
		return tb_fail_memory(error, "the messages");
	while (inferring->n_sample < SAMPLE_RECORDS && status == 1) {
		status = tb_packets_next_record(inferring->packets,
			&inferring->sample[inferring->n_sample], error);
		inferring->n_sample += status == 1;
	}
	if (status < 0)
		return status;
	return tb_passages_new(&inferring->ports, inferring->sample,
		       inferring->n_sample) == TB_OK &&
			       tb_halves_new(&inferring->halves, inferring->ports,
				       inferring->sample, inferring->n_sample) == TB_OK
		       ? TB_OK
		       : tb_fail_memory(error, "the messages");
}

static int infer_take_record(
	struct inferring *inferring, const struct tb_packet_record *record)
{
	struct tb_passage passage;
	if (inferring->report.n_records++ == 0)
		inferring->first_ns = record->at_ns;
	inferring->last_ns = record->at_ns;
	if (record->source.id >= inferring->n_nodes)
		inferring->n_nodes = record->source.id + 1;
	if (record->destination.id >= inferring->n_nodes)
		inferring->n_nodes = record->destination.id + 1;
	int status = tb_passages_add(inferring->ports, record, &passage);
	// The sample was looked at before.
	if (status == TB_OK && inferring->report.n_records > inferring->n_sample)
		status = tb_halves_add(inferring->halves, record, &passage);
	if (status != TB_OK)
		return status;
	const struct tb_captured_path path = tb_halves_to(
		inferring->halves, record->source.id, record->destination.id);
	passage.path_ns = path.half_ns;
	passage.path_most_ns = path.most_ns;
	passage.path_known = path.known || record->transport == TB_TRANSPORT_RC;
	if (path.half_ns > TB_PATH_SLACK_NS)
		passage.delivered_ns += path.half_ns - TB_PATH_SLACK_NS;
	return tb_message_finder_add(inferring->messages, record, &passage);
}

static int infer_take_records(struct inferring *inferring, struct tb_error *error)
{
	struct tb_packet_record record;
	int status = TB_OK, more = 1;
	for (size_t i = 0; status == TB_OK && i < inferring->n_sample; i++)
		status = infer_take_record(inferring, &inferring->sample[i]);
	while (status == TB_OK) {
		more = tb_packets_next_record(inferring->packets, &record, error);
		if (more != 1)
			return more;
		status = infer_take_record(inferring, &record);
	}
	if (status == TB_ECAPACITY)
		return tb_fail(error, status,
			"more than 2147483647 messages: choose a span with --from and "
			"--to");
	return tb_fail_memory(error, "the messages");
}

// is_message_of_job returns whether a message is of the job for which the ranks are.
static bool is_message_of_job(const struct inferring *inferring, size_t message)
{
	return tb_inferred_rank(inferring->rank_of,
		       inferring->list.rows[message].source) != TB_ID_NONE;
}

static void count_causes(
	const struct inferring *inferring, struct tb_infer_report *report)
{
	for (size_t i = 0; i < inferring->list.n; i++) {
		const struct tb_caused *of = &inferring->causes[0].of[i];
		if (!is_message_of_job(inferring, i))
			continue;
		report->n_hidden += of->hidden;
		report->n_untold += of->untold;
		if (inferring->list.rows[i].reopens) {
			report->n_closed++;
			report->closed_ns += of->gap_ns;
		}
		report->n_recurring += of->kind == TB_CAUSE_RECURRING;
		report->n_nearest += of->kind == TB_CAUSE_NEAREST;
		report->n_first += of->kind == TB_CAUSE_FIRST;
	}
}

// mean_path_ns returns how long messages took one way on the captured path.
static int64_t mean_path_ns(const struct inferring *inferring)
{
	double sum_ns = 0;
	for (size_t i = 0; i < inferring->list.n; i++) {
		const struct tb_inferred_message *row = &inferring->list.rows[i];
		uint32_t from = row->source, to = row->destination;
		sum_ns += (double)tb_halves_to(inferring->halves, from, to).half_ns;
		sum_ns += (double)tb_halves_to(inferring->halves, to, from).half_ns;
	}
	return (int64_t)(sum_ns / 2 / (double)inferring->list.n);
}

static int find_messages(struct inferring *inferring, struct tb_error *error)
{
	if (tb_message_finder_new(&inferring->messages) != TB_OK)
		return tb_fail_memory(error, "the messages");
	int status = read_sample(inferring, error);
	if (status == TB_OK)
		status = infer_take_records(inferring, error);
	if (status != TB_OK)
		return status;
	struct tb_infer_report *report = &inferring->report;
	if (tb_message_finder_end(inferring->messages, &inferring->list, report) !=
			TB_OK ||
		tb_causes_find(inferring->causes, inferring->n_bounds, &inferring->list,
			inferring->n_nodes, inferring->first_ns) != TB_OK ||
		tb_rendezvous_find(&inferring->rendezvous, &inferring->causes[0],
			&inferring->list, inferring->n_nodes,
			inferring->first_ns) != TB_OK)
		return tb_fail_memory(error, "the messages");
	const struct tb_packets_summary *seen = tb_packets_summary(inferring->packets);
	report->n_unplaced = seen->n_unplaced;
	report->n_endpoints_unplaced = seen->n_endpoints_unplaced;
	report->squeezed_ps = seen->squeezed_ps;
	report->is_cut = seen->is_cut;
	if (inferring->list.n == 0) {
		char endpoints[48], records[48];
		if (report->n_unplaced && report->n_records == 0)
			return tb_fail(error, TB_EUSAGE,
				"nothing is left of it: %s of %s have no node in the map",
				tb_format_counted(report->n_unplaced, "record", records,
					sizeof records),
				tb_format_counted(report->n_endpoints_unplaced,
					"endpoint", endpoints, sizeof endpoints));
		return tb_fail(error, TB_EFORMAT,
			"no message is left of %llu records: a job needs payload between "
			"two "
			"endpoints",
			(unsigned long long)report->n_records);
	}
	tb_passages_report(inferring->ports, report);
	report->path_ns = mean_path_ns(inferring);
	int64_t span_ns = inferring->last_ns - inferring->first_ns;
	report->span_ps = span_ns > TB_TIME_NEVER / TB_PS_PER_NS ? TB_TIME_NEVER
								 : span_ns * TB_PS_PER_NS;
	count_causes(inferring, report);
	return TB_OK;
}

static void note_ports(FILE *stream, const struct tb_infer_report *report)
{
	char rate[32], bucket[32];
	if (report->port_bytes_per_s == 0) {
		fputs("no node sent enough full frames in a row to show the rate of its "
		      "port: queues in the captured network are not accounted for\n",
			stream);
		return;
	}
	fprintf(stream, "the nodes' ports carried %s",
		tb_format_rate((double)report->port_bytes_per_s, rate, sizeof rate));
	if (report->bucket_bytes)
		fprintf(stream, " and let %s pass at once after a pause",
			tb_format_size(report->bucket_bytes, bucket, sizeof bucket));
	fputs(" (median, from the spacing of full frames)\n", stream);
}

// note_count writes a sentence about messages, of one or of several, unless there are
// none.
static void note_count(
	FILE *stream, uint64_t n, uint64_t of, const char *one, const char *several)
{
	char number[48], share[40];
	if (n == 0)
		return;
	fprintf(stream, "%s (%s) %s\n",
		tb_format_counted(n, "message", number, sizeof number),
		tb_format_percent(100.0 * (double)n / (double)of, share, sizeof share),
		n == 1 ? one : several);
}

static void print_left_out(FILE *stream, const struct tb_infer_report *report)
{
	char number[48], size[48];
	if (report->n_unplaced)
		fprintf(stream, "%s of %s without a node: left out\n",
			tb_format_counted(
				report->n_unplaced, "record", number, sizeof number),
			tb_format_counted(report->n_endpoints_unplaced, "endpoint", size,
				sizeof size));
	if (report->squeezed_ps == TB_TIME_NEVER)
		fputs("pauses of 106 days or more in all were taken out\n", stream);
	else if (report->squeezed_ps)
		fprintf(stream, "pauses of %s in all were taken out\n",
			tb_format_time(report->squeezed_ps, size, sizeof size));
}

static void note_closed(FILE *stream, const struct tb_infer_report *report)
{
	char number[48], time[48];
	if (report->n_closed)
		fprintf(stream,
			"receivers closed their windows %s, for %s in all: their "
			"time, not computation\n",
			tb_format_counted(
				report->n_closed, "time", number, sizeof number),
			tb_format_time(
				report->closed_ns * TB_PS_PER_NS, time, sizeof time));
}

static void note_causes(FILE *stream, const struct tb_infer_report *report)
{
	uint64_t n = report->n_messages;
	note_count(stream, report->n_recurring, n,
		"waits for what comes before it in every repetition",
		"wait for what comes before them in every repetition");
	note_count(stream, report->n_nearest, n,
		"waits for the last delivery before it, for want of a rule that recurs",
		"wait for the last delivery before them, for want of a rule that recurs");
	note_count(stream, report->n_first, n, "waits for nothing that was captured",
		"wait for nothing that was captured");
	note_count(stream, report->n_hidden, n,
		"stood behind others of its node, so that the computation before it is "
		"the usual one or the least possible",
		"stood behind others of their node, so that the computation before them "
		"is the usual one or the least possible");
}

// notes_of states what was inferred and what could not be, one sentence per line; NULL
// when there is no memory.
static char *notes_of(const struct tb_infer_report *report)
{
	char number[48], size[48];
	char *text = NULL;
	size_t length = 0;
	uint64_t n = report->n_messages;
	FILE *stream = open_memstream(&text, &length);
	if (!stream)
		return NULL;
	fprintf(stream, "%s of %s%s inferred from packets\n",
		tb_format_counted(n, "message", number, sizeof number),
		tb_format_size(report->bytes, size, sizeof size),
		n == 1 ? " was" : " in all were");
	if (report->is_cut)
		fprintf(stream, "the capture breaks off: the %s before that count\n",
			tb_format_counted(
				report->n_records, "record", number, sizeof number));
	print_left_out(stream, report);
	note_ports(stream, report);
	if (report->path_ns >= PATH_NOTED_NS)
		fprintf(stream,
			"the captured path took %s one way (mean of messages), which is "
			"not in the job\n",
			tb_format_time(
				report->path_ns * TB_PS_PER_NS, size, sizeof size));
	note_causes(stream, report);
	note_closed(stream, report);
	note_count(stream, report->n_split, n,
		"was cut from a longer run by the sizes of others",
		"were cut from longer runs by the sizes of others");
	note_count(stream, report->n_unfinished, n,
		"was not known to be whole when the capture ended",
		"were not known to be whole when the capture ended");
	note_count(stream, report->n_missing, n, "has bytes that were not captured",
		"have bytes that were not captured");
	note_count(stream, report->n_unnumbered, n, "is a datagram, taken for a message",
		"are datagrams, each taken for a message");
	if (fclose(stream) == 0)
		return text;
	free(text);
	return NULL;
}

// name_ranks keeps which endpoint each rank was.
static int name_ranks(const struct inferring *inferring, struct tb_job *job)
{
	job->endpoints = calloc(job->n_ranks + 1u, sizeof *job->endpoints);
	for (uint32_t i = 0; job->endpoints && i < inferring->n_nodes; i++) {
		uint32_t rank = tb_inferred_rank(inferring->rank_of, i);
		if (rank != TB_ID_NONE &&
			!(job->endpoints[rank] = strdup(tb_packets_node_name(
				  inferring->packets, (struct tb_node){i}))))
			return TB_ENOMEM;
	}
	return job->endpoints ? TB_OK : TB_ENOMEM;
}

// add_bounds adds the bounds. They keep the captured order: what rule L14 makes of it is
// doubtful.
static int add_bounds(struct inferring *inferring, const struct tb_infer_report *report,
	struct tb_job *job, struct tb_error *error)
{
	const struct tb_rendezvous none = {
		.of = calloc(inferring->list.n + 1, sizeof *none.of)};
	struct tb_job_bounds *bounds =
		calloc(1, sizeof *bounds + inferring->n_bounds * sizeof(struct tb_job *));
	job->bounds = bounds;
	int status = none.of && bounds ? TB_OK : tb_fail_memory(error, "the messages");
	for (uint32_t i = 0; status == TB_OK && i < inferring->n_bounds; i++) {
		const struct tb_inferred from = {.list = &inferring->list,
			.n_ranks = inferring->n_ranks,
			.rank_of = inferring->rank_of,
			.causes = &inferring->causes[1 + i],
			.rendezvous = &none};
		status = tb_infer_build(&bounds->jobs[i], &from, "", error);
		bounds->n += status == TB_OK;
	}
	if (bounds) {
		bounds->n_calls = report->n_messages;
		bounds->n_hidden = report->n_hidden;
		bounds->n_untold = report->n_untold;
	}
	free(none.of);
	return status;
}

static int build_inferred_job(struct inferring *inferring,
	const struct tb_infer_report *report, const char *name, struct tb_job **job,
	struct tb_error *error)
{
	const struct tb_inferred from = {.list = &inferring->list,
		.n_ranks = inferring->n_ranks,
		.rank_of = inferring->rank_of,
		.causes = &inferring->causes[0],
		.rendezvous = &inferring->rendezvous,
		.timed = report,
		.begin_ns = inferring->first_ns};
	struct tb_job *made = NULL;
	int status = tb_infer_build(&made, &from, name, error);
	if (status != TB_OK)
		return status;
	status = inferring->n_bounds ? add_bounds(inferring, report, made, error) : TB_OK;
	if (status != TB_OK) {
		tb_job_free(made);
		return status;
	}
	made->form = "capture";
	made->notes = notes_of(report);
	if (!made->notes || name_ranks(inferring, made) != TB_OK) {
		tb_job_free(made);
		return tb_fail_memory(error, "the messages");
	}
	*job = made;
	return TB_OK;
}

// check_apart refuses jobs that exchange messages: each is a job by itself, in which
// nothing could wait for the other.
static int check_apart(const struct inferring *inferring, struct tb_error *error)
{
	const struct tb_packets *packets = inferring->packets;
	for (size_t i = 0; i < inferring->list.n; i++) {
		const struct tb_inferred_message *row = &inferring->list.rows[i];
		uint32_t from = tb_packets_job_of(packets, (struct tb_node){row->source});
		uint32_t to =
			tb_packets_job_of(packets, (struct tb_node){row->destination});
		if (from != to)
			return tb_fail(error, TB_EUSAGE,
				"'%s' sends to '%s' of the same capture (%s to %s): in a "
				"closed loop each job is by itself, so give them one "
				"name in the map",
				tb_packets_job_name(packets, from),
				tb_packets_job_name(packets, to),
				tb_packets_node_name(
					packets, (struct tb_node){row->source}),
				tb_packets_node_name(
					packets, (struct tb_node){row->destination}));
	}
	return TB_OK;
}

// choose_ranks numbers the nodes of a job.
static void choose_ranks(struct inferring *inferring, uint32_t job)
{
	inferring->n_ranks = 0;
	for (uint32_t i = 0; i < inferring->n_nodes; i++)
		inferring->rank_of[i] =
			tb_packets_job_of(inferring->packets, (struct tb_node){i}) == job
				? inferring->n_ranks++
				: TB_ID_NONE;
}

// report_job counts anew what is known by message; the rest is of the whole capture.
static struct tb_infer_report report_job(const struct inferring *inferring)
{
	struct tb_infer_report report = {
		.n_records = inferring->report.n_records,
		.is_cut = inferring->report.is_cut,
		.squeezed_ps = inferring->report.squeezed_ps,
		.n_unplaced = inferring->report.n_unplaced,
		.n_endpoints_unplaced = inferring->report.n_endpoints_unplaced,
		.port_bytes_per_s = inferring->report.port_bytes_per_s,
		.bucket_bytes = inferring->report.bucket_bytes,
		.path_ns = inferring->report.path_ns,
		.span_ps = inferring->report.span_ps,
	};
	for (size_t i = 0; i < inferring->list.n; i++) {
		if (!is_message_of_job(inferring, i))
			continue;
		tb_inferred_count(&report, &inferring->list.rows[i]);
	}
	count_causes(inferring, &report);
	return report;
}

// attach_congestion gives the first job what the capture recorded, of all its jobs. Ranks
// of several jobs are no nodes of the capture.
static int attach_congestion(const struct tb_packets *packets, uint32_t n_jobs,
	struct tb_job *job, struct tb_error *error)
{
	int status = tb_packets_congestion(packets, &job->congestion, error);
	for (size_t i = 0; status == TB_OK && n_jobs > 1 && i < job->congestion->n_pairs;
		i++)
		job->congestion->pairs[i].source_node =
			job->congestion->pairs[i].destination_node = TB_ID_NONE;
	return status;
}

static void inferring_fini(struct inferring *inferring)
{
	free(inferring->sample);
	free(inferring->rank_of);
	tb_passages_free(inferring->ports);
	tb_halves_free(inferring->halves);
	tb_message_finder_free(inferring->messages);
	free(inferring->list.rows);
	for (uint32_t i = 0; i <= TB_N_BOUNDS; i++)
		tb_causes_fini(&inferring->causes[i]);
	tb_rendezvous_fini(&inferring->rendezvous);
}

int tb_infer_job(struct tb_packets *packets, bool bounded, struct tb_job **job,
	struct tb_infer_report *report, struct tb_error *error)
{
	struct inferring inferring = {
		.packets = packets, .n_bounds = bounded ? TB_N_BOUNDS : 0};
	int status = find_messages(&inferring, error);
	inferring.n_ranks = inferring.n_nodes;
	struct tb_job *made = NULL;
	if (status == TB_OK)
		status = build_inferred_job(
			&inferring, &inferring.report, "", &made, error);
	if (status == TB_OK)
		status = tb_packets_congestion(packets, &made->congestion, error);
	if (status == TB_OK && report)
		*report = inferring.report;
	inferring_fini(&inferring);
	if (status == TB_OK)
		*job = made;
	else
		tb_job_free(made);
	return status;
}

int tb_infer_jobs(struct tb_packets *packets, bool bounded, struct tb_job **jobs,
	struct tb_error *error)
{
	struct inferring inferring = {
		.packets = packets, .n_bounds = bounded ? TB_N_BOUNDS : 0};
	int status = find_messages(&inferring, error);
	if (status == TB_OK) {
		uint32_t n = tb_packets_n_jobs(inferring.packets);
		inferring.rank_of = calloc(
			inferring.n_nodes + UINT64_C(1), sizeof *inferring.rank_of);
		status = inferring.rank_of ? check_apart(&inferring, error)
					   : tb_fail_memory(error, "the messages");
		for (uint32_t i = 0; status == TB_OK && i < n; i++) {
			choose_ranks(&inferring, i);
			const struct tb_infer_report report = report_job(&inferring);
			if (report.n_messages)
				status = build_inferred_job(&inferring, &report,
					tb_packets_job_name(inferring.packets, i),
					&jobs[i], error);
		}
		for (uint32_t i = 0; status == TB_OK && i < n; i++)
			if (jobs[i]) {
				status = attach_congestion(
					inferring.packets, n, jobs[i], error);
				break;
			}
		for (uint32_t i = 0; status != TB_OK && i < n; i++) {
			tb_job_free(jobs[i]);
			jobs[i] = NULL;
		}
	}
	inferring_fini(&inferring);
	return status;
}
