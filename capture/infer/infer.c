#include "infer.h"

#include "format.h"
#include "infer_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_RECORDS 262144 // from which ports are measured

struct inferring {
	struct tb_packets *packets;
	struct tb_packet_record *sample;
	size_t n_sample;
	struct tb_passages *ports;
	struct tb_message_finder *messages;
	struct tb_message_list list;
	struct tb_causes causes[1 + TB_N_BOUNDS]; // those that are likely first
	uint32_t n_bounds;
	struct tb_rendezvous rendezvous;
	struct tb_infer_report report;
	int64_t first_ns, last_ns;
	uint32_t n_nodes;
};

struct tb_packets_options tb_infer_options(const struct tb_packets_options *options)
{
	struct tb_packets_options wanted =
		options ? *options : (struct tb_packets_options){0};
	wanted.keep_acks = true;
	wanted.keep_retransmissions = true;
	return wanted;
}

static int no_memory(struct tb_error *error)
{
	return tb_fail_memory(error, "the messages");
}

// read_sample reads the first records of the capture, in which the rates of the ports
// are measured.
static int read_sample(struct inferring *inferring, struct tb_error *error)
{
	int status = 1;
	inferring->sample = malloc(SAMPLE_RECORDS * sizeof *inferring->sample);
	if (!inferring->sample)
		return no_memory(error);
	while (inferring->n_sample < SAMPLE_RECORDS && status == 1) {
		status = tb_packets_next_record(inferring->packets,
			&inferring->sample[inferring->n_sample], error);
		inferring->n_sample += status == 1;
	}
	if (status < 0)
		return status;
	return tb_passages_new(
		       &inferring->ports, inferring->sample, inferring->n_sample) == TB_OK
		       ? TB_OK
		       : no_memory(error);
}

static int take(struct inferring *inferring, const struct tb_packet_record *record)
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
	return status == TB_OK
		       ? tb_message_finder_add(inferring->messages, record, &passage)
		       : status;
}

static int take_all(struct inferring *inferring, struct tb_error *error)
{
	struct tb_packet_record record;
	int status = TB_OK, more = 1;
	for (size_t i = 0; status == TB_OK && i < inferring->n_sample; i++)
		status = take(inferring, &inferring->sample[i]);
	while (status == TB_OK) {
		more = tb_packets_next_record(inferring->packets, &record, error);
		if (more != 1)
			return more;
		status = take(inferring, &record);
	}
	if (status == TB_ECAPACITY)
		return tb_fail(error, status,
			"more than 2147483647 messages: choose a span with --from and "
			"--to");
	return no_memory(error);
}

static void count_causes(struct inferring *inferring)
{
	struct tb_infer_report *report = &inferring->report;
	for (size_t i = 0; i < inferring->list.n; i++) {
		const struct tb_caused *of = &inferring->causes[0].of[i];
		report->n_hidden += of->hidden;
		report->n_recurring += of->kind == TB_CAUSE_RECURRING;
		report->n_nearest += of->kind == TB_CAUSE_NEAREST;
		report->n_first += of->kind == TB_CAUSE_FIRST;
	}
}

static int find_messages(struct inferring *inferring, struct tb_error *error)
{
	if (tb_message_finder_new(&inferring->messages) != TB_OK)
		return no_memory(error);
	int status = read_sample(inferring, error);
	if (status == TB_OK)
		status = take_all(inferring, error);
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
		return no_memory(error);
	if (inferring->list.n == 0)
		return tb_fail(error, TB_EFORMAT,
			"no message is left of %llu records: a job needs payload between "
			"two endpoints",
			(unsigned long long)report->n_records);
	report->is_cut = tb_packets_summary(inferring->packets)->is_cut;
	tb_passages_report(inferring->ports, report);
	int64_t span_ns = inferring->last_ns - inferring->first_ns;
	report->span_ps = span_ns > TB_TIME_NEVER / TB_PS_PER_NS ? TB_TIME_NEVER
								 : span_ns * TB_PS_PER_NS;
	count_causes(inferring);
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

// note_count writes a sentence about messages, unless there are none.
static void note_count(FILE *stream, uint64_t n, uint64_t of, const char *what)
{
	char number[32], share[40];
	if (n == 0)
		return;
	fprintf(stream, "%s messages (%s) %s\n",
		tb_format_count(n, number, sizeof number),
		tb_format_percent(100.0 * (double)n / (double)of, share, sizeof share),
		what);
}

// notes_of states what was inferred and what could not be, one sentence per line; NULL
// when there is no memory.
static char *notes_of(const struct tb_infer_report *report)
{
	char number[32], size[32];
	char *text = NULL;
	size_t length = 0;
	uint64_t n = report->n_messages;
	FILE *stream = open_memstream(&text, &length);
	if (!stream)
		return NULL;
	fprintf(stream, "%s messages of %s in all were inferred from packets\n",
		tb_format_count(n, number, sizeof number),
		tb_format_size(report->bytes, size, sizeof size));
	if (report->is_cut)
		fprintf(stream,
			"the capture breaks off: the %s records before that count\n",
			tb_format_count(report->n_records, number, sizeof number));
	note_ports(stream, report);
	note_count(stream, report->n_recurring, n,
		"wait for what comes before them in every repetition");
	note_count(stream, report->n_nearest, n,
		"wait for the last delivery before them, for want of a rule that recurs");
	note_count(stream, report->n_first, n, "wait for nothing that was captured");
	note_count(stream, report->n_hidden, n,
		"stood behind others of their node, so that the computation before them "
		"is the usual one or the least possible");
	note_count(stream, report->n_split, n,
		"were cut from longer runs by the sizes of others");
	note_count(stream, report->n_unfinished, n,
		"were not known to be whole when the capture ended");
	note_count(stream, report->n_missing, n, "have bytes that were not captured");
	note_count(stream, report->n_unnumbered, n,
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
	for (uint32_t i = 0; job->endpoints && i < job->n_ranks; i++)
		if (!(job->endpoints[i] = strdup(tb_packets_node_name(
			      inferring->packets, (struct tb_node){i}))))
			return TB_ENOMEM;
	return job->endpoints ? TB_OK : TB_ENOMEM;
}

// add_bounds adds the bounds. They keep the captured order: what rule L14 makes of it is
// doubtful.
static int add_bounds(
	struct inferring *inferring, struct tb_job *job, struct tb_error *error)
{
	const struct tb_rendezvous none = {
		.of = calloc(inferring->list.n + 1, sizeof *none.of)};
	struct tb_job_bounds *bounds =
		calloc(1, sizeof *bounds + inferring->n_bounds * sizeof(struct tb_job *));
	job->bounds = bounds;
	int status = none.of && bounds ? TB_OK : no_memory(error);
	for (uint32_t i = 0; status == TB_OK && i < inferring->n_bounds; i++) {
		const struct tb_inferred from = {&inferring->list, inferring->n_nodes,
			&inferring->causes[1 + i], &none, NULL, 0};
		status = tb_infer_build(&bounds->jobs[i], &from, error);
		bounds->n += status == TB_OK;
	}
	if (bounds) {
		bounds->n_calls = inferring->report.n_messages;
		bounds->n_hidden = inferring->report.n_hidden;
	}
	free(none.of);
	return status;
}

static int make_job(
	struct inferring *inferring, struct tb_job **job, struct tb_error *error)
{
	const struct tb_inferred from = {&inferring->list, inferring->n_nodes,
		&inferring->causes[0], &inferring->rendezvous, &inferring->report,
		inferring->first_ns};
	struct tb_job *made = NULL;
	int status = tb_infer_build(&made, &from, error);
	if (status != TB_OK)
		return status;
	status = inferring->n_bounds ? add_bounds(inferring, made, error) : TB_OK;
	if (status != TB_OK) {
		tb_job_free(made);
		return status;
	}
	made->form = "capture";
	made->notes = notes_of(&inferring->report);
	if (!made->notes || name_ranks(inferring, made) != TB_OK) {
		tb_job_free(made);
		return no_memory(error);
	}
	*job = made;
	return TB_OK;
}

int tb_infer_job(struct tb_packets *packets, bool bounded, struct tb_job **job,
	struct tb_infer_report *report, struct tb_error *error)
{
	struct inferring inferring = {
		.packets = packets, .n_bounds = bounded ? TB_N_BOUNDS : 0};
	int status = find_messages(&inferring, error);
	if (status == TB_OK)
		status = make_job(&inferring, job, error);
	if (status == TB_OK && report)
		*report = inferring.report;
	free(inferring.sample);
	tb_passages_free(inferring.ports);
	tb_message_finder_free(inferring.messages);
	free(inferring.list.rows);
	for (uint32_t i = 0; i <= TB_N_BOUNDS; i++)
		tb_causes_fini(&inferring.causes[i]);
	tb_rendezvous_fini(&inferring.rendezvous);
	return status;
}
