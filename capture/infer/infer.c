#include "infer.h"

#include "format.h"
#include "infer_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_RECORDS 262144 // from which ports are measured
#define REACTION_NS    1      // to what answers: next to nothing, but in order
#define N_CPUS	       256
#define NONE	       UINT32_MAX

struct inferring {
	struct tb_packets *packets;
	struct tb_packet_record *sample;
	size_t n_sample;
	struct tb_passages *ports;
	struct tb_message_finder *messages;
	struct tb_message_list list;
	struct tb_causes causes;
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
		const struct tb_caused *of = &inferring->causes.of[i];
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
		tb_causes_find(&inferring->causes, &inferring->list, inferring->n_nodes,
			inferring->first_ns) != TB_OK ||
		tb_rendezvous_find(&inferring->rendezvous, &inferring->causes,
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

// What a job is built from: operations, by index within their ranks.
struct infer_building {
	struct tb_job_builder *builder;
	uint32_t *calc, *send, *recv; // by message; a calc of NONE: there is none
	uint32_t *tags;		      // by message
	uint32_t *rounds;	      // by round: its computation
	uint32_t *n_calcs;	      // by rank
	uint64_t (*order)[2];	      // by place: key, message
};

static int add_op(struct infer_building *building, uint32_t rank, const struct tb_op *op,
	uint32_t *index, struct tb_error *error)
{
	return tb_job_add(building->builder, rank, op, index, error);
}

// add_calc adds computation. Gaps of different messages overlap as they did, so each has
// a processor; but rounds and answers share the first, as a rank does not answer while it
// computes (rule L14).
static int add_calc(struct infer_building *building, uint32_t rank, int64_t ns,
	bool shared, uint32_t *index, struct tb_error *error)
{
	struct tb_op calc = {.kind = TB_OP_CALC, .amount = (uint64_t)ns};
	if (!shared)
		calc.cpu = (uint8_t)(1 + building->n_calcs[rank]++ % (N_CPUS - 1));
	return add_op(building, rank, &calc, index, error);
}

static int add_computation(const struct inferring *inferring,
	struct infer_building *building, uint32_t message, struct tb_error *error)
{
	const struct tb_asked *asked = &inferring->rendezvous.of[message];
	uint32_t rank = inferring->list.rows[message].source;
	int64_t gap_ns = inferring->causes.of[message].gap_ns;
	uint32_t *calc = &building->calc[message];
	*calc = NONE;
	if (asked->role == TB_ROLE_ANSWER || asked->role == TB_ROLE_DATA)
		return add_calc(building, rank, REACTION_NS, true, calc, error);
	if (asked->role != TB_ROLE_REQUEST)
		return gap_ns > 0 ? add_calc(building, rank, gap_ns, false, calc, error)
				  : TB_OK;
	const struct tb_round *round = &inferring->rendezvous.rounds[asked->round];
	if (round->first_request != message)
		return TB_OK;
	return add_calc(building, rank, round->gap_ns > 0 ? round->gap_ns : 0, true,
		&building->rounds[asked->round], error);
}

static int add_message(const struct inferring *inferring, struct infer_building *building,
	uint32_t message, struct tb_error *error)
{
	const struct tb_inferred_message *row = &inferring->list.rows[message];
	struct tb_op send = {.kind = TB_OP_SEND,
		.amount = row->bytes,
		.peer = row->destination,
		.tag = building->tags[message]};
	struct tb_op recv = {.kind = TB_OP_RECV,
		.amount = row->bytes,
		.peer = row->source,
		.tag = building->tags[message]};
	int status = add_computation(inferring, building, message, error);
	if (status == TB_OK)
		status = add_op(
			building, row->source, &send, &building->send[message], error);
	if (status == TB_OK)
		status = add_op(building, row->destination, &recv,
			&building->recv[message], error);
	return status;
}

// depend makes an operation wait for causes.
static int depend(const struct infer_building *building, const struct tb_cause *causes,
	uint32_t n, uint32_t rank, uint32_t op, struct tb_error *error)
{
	int status = TB_OK;
	for (uint32_t i = 0; status == TB_OK && i < n; i++) {
		uint32_t on = causes[i].is_call ? building->send[causes[i].message]
						: building->recv[causes[i].message];
		// A program goes on once it has called: it does not wait for delivery.
		status = tb_job_depend(
			building->builder, rank, op, on, causes[i].is_call, error);
	}
	return status;
}

static int depend_in_round(const struct inferring *inferring,
	const struct infer_building *building, uint32_t message, struct tb_error *error)
{
	const struct tb_asked *asked = &inferring->rendezvous.of[message];
	uint32_t rank = inferring->list.rows[message].source;
	uint32_t send = building->send[message], calc = building->calc[message];
	int status = TB_OK;
	if (asked->round != NONE) {
		const struct tb_round *round =
			&inferring->rendezvous.rounds[asked->round];
		uint32_t computed = building->rounds[asked->round];
		status = tb_job_depend(
			building->builder, rank, send, computed, false, error);
		if (status == TB_OK && round->first_request == message)
			status = depend(building, inferring->causes.rows + round->first,
				round->n, rank, computed, error);
	}
	if (status != TB_OK || asked->role != TB_ROLE_ANSWER)
		return status;
	status = tb_job_depend(building->builder, rank, calc,
		building->recv[asked->replied], false, error);
	return status == TB_OK
		       ? tb_job_depend(building->builder, rank, send, calc, false, error)
		       : status;
}

static int depend_message(const struct inferring *inferring,
	const struct infer_building *building, uint32_t message, struct tb_error *error)
{
	const struct tb_asked *asked = &inferring->rendezvous.of[message];
	const struct tb_caused *of = &inferring->causes.of[message];
	uint32_t rank = inferring->list.rows[message].source;
	uint32_t send = building->send[message], calc = building->calc[message];
	if (asked->role == TB_ROLE_REQUEST || asked->role == TB_ROLE_ANSWER)
		return depend_in_round(inferring, building, message, error);
	int status = depend(building, inferring->causes.rows + of->first, of->n, rank,
		calc != NONE ? calc : send, error);
	if (status == TB_OK && calc != NONE)
		status = tb_job_depend(building->builder, rank, send, calc, false, error);
	return status;
}

static int by_key(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	if (x[0] != y[0])
		return x[0] < y[0] ? -1 : 1;
	return x[1] < y[1] ? -1 : x[1] > y[1];
}

// put_in_order orders messages as they left, but the answers of a round before its
// requests: a rank looks at what has come first.
static void put_in_order(const struct inferring *inferring, uint64_t (*order)[2])
{
	const struct tb_rendezvous *rendezvous = &inferring->rendezvous;
	for (size_t i = 0; i < inferring->list.n; i++) {
		const struct tb_asked *asked = &rendezvous->of[i];
		bool is_first = asked->role == TB_ROLE_ANSWER && asked->round != NONE;
		uint64_t at =
			is_first ? rendezvous->rounds[asked->round].first_request : i;
		order[i][0] = 2 * at + !is_first;
		order[i][1] = i;
	}
	qsort(order, inferring->list.n, sizeof *order, by_key);
}

static int add_all(struct inferring *inferring, struct infer_building *building,
	struct tb_error *error)
{
	size_t n = inferring->list.n;
	int status = TB_OK;
	put_in_order(inferring, building->order);
	for (size_t i = 0; status == TB_OK && i < n; i++)
		status = add_message(
			inferring, building, (uint32_t)building->order[i][1], error);
	for (uint32_t i = 0; status == TB_OK && i < n; i++)
		status = depend_message(inferring, building, i, error);
	return status;
}

// number_tags numbers the messages of each ordered pair.
static int number_tags(const struct tb_message_list *list, uint32_t *tags)
{
	uint64_t(*keys)[2] = malloc((list->n + 1) * sizeof *keys);
	if (!keys)
		return TB_ENOMEM;
	for (size_t i = 0; i < list->n; i++) {
		keys[i][0] =
			(uint64_t)list->rows[i].source << 32 | list->rows[i].destination;
		keys[i][1] = i;
	}
	qsort(keys, list->n, sizeof *keys, by_key);
	uint32_t tag = 0;
	for (size_t i = 0; i < list->n; i++) {
		tag = i > 0 && keys[i][0] == keys[i - 1][0] ? tag + 1 : 0;
		tags[keys[i][1]] = tag;
	}
	free(keys);
	return TB_OK;
}

static int build(struct inferring *inferring, struct infer_building *building,
	struct tb_job **job, struct tb_error *error)
{
	size_t n = inferring->list.n;
	struct tb_job *made = NULL;
	building->calc = malloc(n * sizeof *building->calc);
	building->send = malloc(n * sizeof *building->send);
	building->recv = malloc(n * sizeof *building->recv);
	building->tags = malloc(n * sizeof *building->tags);
	building->order = malloc(n * sizeof *building->order);
	building->rounds =
		malloc((inferring->rendezvous.n_rounds + 1) * sizeof *building->rounds);
	building->n_calcs = calloc(inferring->n_nodes, sizeof *building->n_calcs);
	if (!building->calc || !building->order || !building->rounds || !building->send ||
		!building->recv || !building->tags || !building->n_calcs ||
		number_tags(&inferring->list, building->tags) != TB_OK)
		return no_memory(error);
	int status = tb_job_builder_new(&building->builder, inferring->n_nodes, error);
	if (status == TB_OK)
		status = add_all(inferring, building, error);
	if (status == TB_OK)
		status = tb_job_finish(building->builder, "", &made, error);
	const struct tb_inferred_times times = {.list = &inferring->list,
		.send = building->send,
		.recv = building->recv,
		.begin_ns = inferring->first_ns,
		.port_bytes_per_s = inferring->report.port_bytes_per_s,
		.bucket_bytes = inferring->report.bucket_bytes};
	if (status == TB_OK && tb_infer_keep_times(&times, made) != TB_OK)
		status = no_memory(error);
	if (status == TB_OK)
		*job = made;
	else
		tb_job_free(made);
	return status;
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

static int make_job(
	struct inferring *inferring, struct tb_job **job, struct tb_error *error)
{
	struct infer_building building = {0};
	struct tb_job *made = NULL;
	int status = build(inferring, &building, &made, error);
	tb_job_builder_free(building.builder);
	free(building.calc);
	free(building.order);
	free(building.rounds);
	free(building.send);
	free(building.recv);
	free(building.tags);
	free(building.n_calcs);
	if (status != TB_OK)
		return status;
	made->form = "capture";
	made->notes = notes_of(&inferring->report);
	if (!made->notes || name_ranks(inferring, made) != TB_OK) {
		tb_job_free(made);
		return no_memory(error);
	}
	*job = made;
	return TB_OK;
}

int tb_infer_job(struct tb_packets *packets, struct tb_job **job,
	struct tb_infer_report *report, struct tb_error *error)
{
	struct inferring inferring = {.packets = packets};
	int status = find_messages(&inferring, error);
	if (status == TB_OK)
		status = make_job(&inferring, job, error);
	if (status == TB_OK && report)
		*report = inferring.report;
	free(inferring.sample);
	tb_passages_free(inferring.ports);
	tb_message_finder_free(inferring.messages);
	free(inferring.list.rows);
	tb_causes_fini(&inferring.causes);
	tb_rendezvous_fini(&inferring.rendezvous);
	return status;
}
