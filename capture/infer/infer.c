#include "infer.h"

#include "format.h"
#include "frame.h"
#include "infer_impl.h"
#include "order.h"
#include "text_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_RECORDS 262144 // from which ports are measured
#define PATH_NOTED_NS  INT64_C(1000000)

struct inferring {
	struct tb_packets *packets;
	struct tb_error *error;
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
	// Of the job that is being made; NULL: a node is a rank, and it is the only job.
	uint32_t *rank_of;
	uint32_t n_ranks;
};

// rank_of returns the rank of a node, TB_ID_NONE for one of another job.
static uint32_t rank_of(const struct inferring *inferring, uint32_t node)
{
	return inferring->rank_of ? inferring->rank_of[node] : node;
}

// is_message_of_job returns whether a message is of the job for which the ranks are.
static bool is_message_of_job(const struct inferring *inferring, size_t message)
{
	return rank_of(inferring, inferring->list.rows[message].source) != TB_ID_NONE;
}

static int infer_no_memory(const struct inferring *inferring)
{
	return tb_fail_memory(inferring->error, "the messages");
}

// Builds a job of messages and their causes.

#define REACTION_NS 1 // to what answers: next to nothing, but in order
#define N_CPUS	    256
#define NONE	    UINT32_MAX

// The operations of a message, by index within their ranks.
struct message_ops {
	uint32_t calc; // NONE: there is none
	uint32_t send, recv, tag;
};

struct infer_building {
	const struct inferring *from;
	const struct tb_causes *causes;
	const struct tb_rendezvous *rendezvous;
	const struct tb_infer_report *report;
	struct tb_job_builder *builder;
	struct message_ops *ops; // by message
	uint32_t *rounds;	 // by round: its computation
	uint32_t *n_calcs;	 // by rank
	uint64_t (*order)[2];	 // by place: key, message
};

// What a capture recorded of the times of its messages.

static uint64_t since_ps(int64_t at_ns, int64_t begin_ns)
{
	int64_t ns = at_ns > begin_ns ? at_ns - begin_ns : 0;
	int64_t most = TB_TIME_NEVER / TB_PS_PER_NS;
	return (uint64_t)(ns < most ? ns : most) * TB_PS_PER_NS;
}

// place_calls counts the messages of each sender, and where its first one stands.
static void place_calls(
	struct tb_recorded_calls *recorded, const struct inferring *inferring)
{
	for (size_t i = 0; i < inferring->list.n; i++) {
		uint32_t rank = rank_of(
			inferring, tb_message_list_at(&inferring->list, i)->source);
		if (rank != TB_ID_NONE)
			recorded->first[rank + 1]++;
	}
	for (uint32_t rank = 0; rank < recorded->n_ranks; rank++)
		recorded->first[rank + 1] += recorded->first[rank];
}

// infer_keep_times gives the job the recorded times of its messages. TB_ENOMEM.
static int infer_keep_times(const struct infer_building *building, struct tb_job *job)
{
	const struct inferring *from = building->from;
	const struct tb_infer_report *report = building->report;
	struct tb_recorded_calls *made = calloc(1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	made->n_ranks = job->n_ranks;
	made->on_wire = true;
	made->bytes_per_s = report->port_bytes_per_s;
	made->bucket_bytes = report->bucket_bytes;
	made->path_ns = report->path_ns;
	made->of_rdma = 2 * report->n_rdma > report->n_records; // most records
	made->first = calloc(job->n_ranks + UINT64_C(1), sizeof *made->first);
	made->array.beside = tb_packets_beside(from->packets);
	size_t *next = malloc((job->n_ranks + UINT64_C(1)) * sizeof *next);
	int status = made->first && next
			     ? tb_disk_array_resize(&made->array,
				       (from->list.n + 1) * sizeof *made->calls)
			     : TB_ENOMEM;
	made->calls = (void *)made->array.memory;
	if (status == TB_OK) {
		place_calls(made, from);
		for (uint32_t rank = 0; rank < job->n_ranks; rank++)
			next[rank] = made->first[rank];
		status = tb_call_times_begin(&made->times, made->n_ranks);
		for (size_t i = 0; status == TB_OK && i < from->list.n; i++) {
			const struct tb_inferred_message *row =
				tb_message_list_at(&from->list, i);
			uint32_t source = rank_of(from, row->source);
			uint32_t destination = rank_of(from, row->destination);
			if (source == TB_ID_NONE)
				continue;
			uint64_t left_ps = since_ps(row->left_ns, from->first_ns);
			// Without the captured path.
			int64_t path_ns = row->path_ns > TB_PATH_SLACK_NS
						  ? row->path_ns - TB_PATH_SLACK_NS
						  : 0;
			int64_t at_ns = row->delivered_ns - path_ns > row->last_ns
						? row->delivered_ns - path_ns
						: row->last_ns;
			uint64_t delivered_ps = since_ps(at_ns, from->first_ns);
			made->calls[next[source]++] = (struct tb_timed_call){
				(job->first_op[source] + building->ops[i].send) |
					TB_DEP_START,
				job->first_op[destination] + building->ops[i].recv,
				TB_TIMED_MESSAGE};
			status = tb_call_times_add(&made->times, source, TB_TIMED_MESSAGE,
				row->bytes, left_ps,
				delivered_ps > left_ps ? delivered_ps : left_ps);
		}
		tb_call_times_end(&made->times);
	}
	free(next);
	if (status == TB_OK)
		job->recorded = made;
	else
		tb_recorded_calls_free(made);
	return status;
}

// build_calc adds computation. Gaps of different messages overlap as they did, so each
// has a processor; but rounds and answers share the first, as a rank does not answer
// while it computes (rule L14).
static uint32_t build_calc(
	struct infer_building *building, uint32_t rank, int64_t ns, bool shared)
{
	struct tb_op calc = {.kind = TB_OP_CALC, .amount = (uint64_t)ns};
	if (!shared)
		calc.cpu = (uint8_t)(1 + building->n_calcs[rank]++ % (N_CPUS - 1));
	return tb_job_add(building->builder, rank, &calc);
}

static void add_computation(struct infer_building *building, uint32_t message)
{
	const struct tb_asked *asked = &building->rendezvous->of[message];
	uint32_t rank =
		rank_of(building->from, building->from->list.rows[message].source);
	int64_t gap_ns = building->causes->of[message].gap_ns;
	uint32_t *calc = &building->ops[message].calc;
	*calc = NONE;
	if (asked->role == TB_ROLE_ANSWER || asked->role == TB_ROLE_DATA) {
		*calc = build_calc(building, rank, REACTION_NS, true);
	} else if (building->from->list.rows[message].reopens) {
		const struct tb_op closed = {.kind = TB_OP_CALC,
			.amount = (uint64_t)gap_ns,
			.cpu = (uint8_t)(1 + building->n_calcs[rank]++ % (N_CPUS - 1)),
			.closed = true};
		*calc = tb_job_add(building->builder, rank, &closed);
	} else if (asked->role != TB_ROLE_REQUEST) {
		if (gap_ns > 0)
			*calc = build_calc(building, rank, gap_ns, false);
	} else {
		const struct tb_round *round =
			&building->rendezvous->rounds[asked->round];
		if (round->first_request == message)
			building->rounds[asked->round] = build_calc(building, rank,
				round->gap_ns > 0 ? round->gap_ns : 0, true);
	}
}

// add_causes makes an operation wait for causes.
static void add_causes(const struct infer_building *building,
	const struct tb_cause *causes, uint32_t n, uint32_t rank, uint32_t op)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct message_ops *cause = &building->ops[causes[i].message];
		uint32_t on = causes[i].is_call ? cause->send : cause->recv;
		// A program goes on once it has called: it does not wait for delivery.
		tb_job_depend(building->builder, rank, op, on, causes[i].is_call);
	}
}

static void depend_in_round(const struct infer_building *building, uint32_t message)
{
	const struct tb_asked *asked = &building->rendezvous->of[message];
	uint32_t rank =
		rank_of(building->from, building->from->list.rows[message].source);
	uint32_t send = building->ops[message].send, calc = building->ops[message].calc;
	if (asked->round != NONE) {
		const struct tb_round *round =
			&building->rendezvous->rounds[asked->round];
		uint32_t computed = building->rounds[asked->round];
		tb_job_depend(building->builder, rank, send, computed, false);
		if (round->first_request == message)
			add_causes(building, building->causes->rows + round->first,
				round->n, rank, computed);
	}
	if (asked->role != TB_ROLE_ANSWER)
		return;
	tb_job_depend(
		building->builder, rank, calc, building->ops[asked->replied].recv, false);
	tb_job_depend(building->builder, rank, send, calc, false);
}

static void depend_message(const struct infer_building *building, uint32_t message)
{
	const struct tb_asked *asked = &building->rendezvous->of[message];
	const struct tb_caused *of = &building->causes->of[message];
	uint32_t rank =
		rank_of(building->from, building->from->list.rows[message].source);
	uint32_t send = building->ops[message].send, calc = building->ops[message].calc;
	if (asked->role == TB_ROLE_REQUEST || asked->role == TB_ROLE_ANSWER) {
		depend_in_round(building, message);
		return;
	}
	add_causes(building, building->causes->rows + of->first, of->n, rank,
		calc != NONE ? calc : send);
	if (calc != NONE)
		tb_job_depend(building->builder, rank, send, calc, false);
}

static int order_by_start(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	if (x[0] != y[0])
		return x[0] < y[0] ? -1 : 1;
	return TB_ORDER(x[1], y[1]);
}

// sort_starts orders messages as they left, but the answers of a round before its
// requests: a rank looks at what has come first.
static void sort_starts(const struct infer_building *building)
{
	const struct tb_rendezvous *rendezvous = building->rendezvous;
	uint64_t(*order)[2] = building->order;
	size_t n = building->from->list.n;
	for (size_t i = 0; i < n; i++) {
		const struct tb_asked *asked = &rendezvous->of[i];
		bool is_first = asked->role == TB_ROLE_ANSWER && asked->round != NONE;
		uint64_t at =
			is_first ? rendezvous->rounds[asked->round].first_request : i;
		order[i][0] = 2 * at + !is_first;
		order[i][1] = i;
	}
	qsort(order, n, sizeof *order, order_by_start);
}

static void cool_building(const struct infer_building *building, size_t i)
{
	tb_message_list_cool(&building->from->list, i);
	if (i % TB_COOLED_MESSAGES == 0)
		tb_causes_cool(building->causes);
}

static void build_operations(struct infer_building *building)
{
	size_t n = building->from->list.n;
	sort_starts(building);
	for (size_t i = 0; i < n; i++)
		if (is_message_of_job(building->from, building->order[i][1])) {
			uint32_t message = (uint32_t)building->order[i][1];
			cool_building(building, i);
			const struct tb_inferred_message *row =
				&building->from->list.rows[message];
			struct tb_op send = {.kind = TB_OP_SEND,
				.amount = row->bytes,
				.peer = rank_of(building->from, row->destination),
				.tag = building->ops[message].tag};
			struct tb_op recv = {.kind = TB_OP_RECV,
				.amount = row->bytes,
				.peer = rank_of(building->from, row->source),
				.tag = building->ops[message].tag};
			add_computation(building, message);
			building->ops[message].send =
				tb_job_add(building->builder, recv.peer, &send);
			building->ops[message].recv =
				tb_job_add(building->builder, send.peer, &recv);
		}
	for (uint32_t i = 0; i < n; i++) {
		cool_building(building, i);
		if (is_message_of_job(building->from, i))
			depend_message(building, i);
	}
}

// number_tags numbers the messages of each ordered pair.
static int number_tags(const struct infer_building *building)
{
	const struct tb_message_list *list = &building->from->list;
	uint64_t(*keys)[2] = malloc((list->n + 1) * sizeof *keys);
	if (!keys)
		return TB_ENOMEM;
	for (size_t i = 0; i < list->n; i++) {
		const struct tb_inferred_message *row = tb_message_list_at(list, i);
		keys[i][0] = (uint64_t)row->source << 32 | row->destination;
		keys[i][1] = i;
	}
	qsort(keys, list->n, sizeof *keys, order_by_start);
	uint32_t tag = 0;
	for (size_t i = 0; i < list->n; i++) {
		tag = i > 0 && keys[i][0] == keys[i - 1][0] ? tag + 1 : 0;
		building->ops[keys[i][1]].tag = tag;
	}
	free(keys);
	return TB_OK;
}

static int build_job(
	struct infer_building *building, const char *name, struct tb_job **job)
{
	const struct inferring *from = building->from;
	size_t n = from->list.n;
	struct tb_job *made = NULL;
	building->ops = malloc(n * sizeof *building->ops);
	building->order = malloc(n * sizeof *building->order);
	building->rounds =
		malloc((building->rendezvous->n_rounds + 1) * sizeof *building->rounds);
	building->n_calcs = calloc(from->n_ranks, sizeof *building->n_calcs);
	if (!building->ops || !building->order || !building->rounds ||
		!building->n_calcs || number_tags(building) != TB_OK)
		return infer_no_memory(from);
	int status = tb_job_builder_new(&building->builder, from->n_ranks, from->error);
	if (status != TB_OK)
		return status;
	tb_job_builder_keep(building->builder, tb_packets_beside(from->packets));
	build_operations(building);
	free(building->order); // early: the checks need the memory
	building->order = NULL;
	cool_building(building, 0);
	status = tb_job_finish(building->builder, name, &made, from->error);
	if (status == TB_OK && infer_keep_times(building, made) != TB_OK)
		status = infer_no_memory(from);
	if (status == TB_OK) {
		tb_job_cool(made);
		*job = made;
	} else {
		tb_job_free(made);
	}
	return status;
}

// infer_build makes the job called `name`.
static int infer_build(struct tb_job **job, const struct inferring *from,
	const struct tb_causes *causes, const struct tb_rendezvous *rendezvous,
	const struct tb_infer_report *report, const char *name)
{
	struct infer_building building = {.from = from,
		.causes = causes,
		.rendezvous = rendezvous,
		.report = report};
	int status = build_job(&building, name, job);
	tb_job_builder_free(building.builder);
	free(building.ops);
	free(building.order);
	free(building.rounds);
	free(building.n_calcs);
	return status;
}

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
static int read_sample(struct inferring *inferring)
{
	int status = 1;
	inferring->sample = malloc(SAMPLE_RECORDS * sizeof *inferring->sample);
	if (!inferring->sample)
		return infer_no_memory(inferring);
	while (inferring->n_sample < SAMPLE_RECORDS && status == 1) {
		status = tb_packets_next_record(inferring->packets,
			&inferring->sample[inferring->n_sample], inferring->error);
		inferring->n_sample += status == 1;
	}
	if (status < 0)
		return status;
	return tb_passages_new(&inferring->ports, inferring->sample,
		       inferring->n_sample) == TB_OK &&
			       tb_halves_new(&inferring->halves, inferring->ports,
				       inferring->sample, inferring->n_sample) == TB_OK
		       ? TB_OK
		       : infer_no_memory(inferring);
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
	inferring->report.n_rdma += record->transport == TB_TRANSPORT_RC;
	passage.path_known = path.known || record->transport == TB_TRANSPORT_RC;
	if (path.half_ns > TB_PATH_SLACK_NS)
		passage.delivered_ns += path.half_ns - TB_PATH_SLACK_NS;
	return tb_message_finder_add(inferring->messages, record, &passage);
}

static int infer_take_records(struct inferring *inferring)
{
	struct tb_packet_record record;
	int status = TB_OK, more = 1;
	for (size_t i = 0; status == TB_OK && i < inferring->n_sample; i++)
		status = infer_take_record(inferring, &inferring->sample[i]);
	free(inferring->sample);
	inferring->sample = NULL;
	while (status == TB_OK) {
		more = tb_packets_next_record(
			inferring->packets, &record, inferring->error);
		if (more != 1)
			return more;
		status = infer_take_record(inferring, &record);
	}
	if (status == TB_ECAPACITY)
		return tb_fail(inferring->error, status,
			"more than 2147483647 messages: choose a span with --from and "
			"--to");
	return infer_no_memory(inferring);
}

static void count_causes(
	const struct inferring *inferring, struct tb_infer_report *report)
{
	for (size_t i = 0; i < inferring->list.n; i++) {
		const struct tb_caused *of = &inferring->causes[0].of[i];
		if (!is_message_of_job(inferring, i))
			continue;
		report->n_hidden += of->hidden;
		report->n_untold += of->gap_may_be_path;
		if (tb_message_list_at(&inferring->list, i)->reopens) {
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
		const struct tb_inferred_message *row =
			tb_message_list_at(&inferring->list, i);
		uint32_t from = row->source, to = row->destination;
		sum_ns += (double)tb_halves_to(inferring->halves, from, to).half_ns;
		sum_ns += (double)tb_halves_to(inferring->halves, to, from).half_ns;
	}
	return (int64_t)(sum_ns / 2 / (double)inferring->list.n);
}

static int find_messages(struct inferring *inferring)
{
	if (tb_message_finder_new(
		    &inferring->messages, tb_packets_beside(inferring->packets)) != TB_OK)
		return infer_no_memory(inferring);
	int status = read_sample(inferring);
	TB_THEN(status, infer_take_records(inferring));
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
		return infer_no_memory(inferring);
	const struct tb_packets_summary *seen = tb_packets_summary(inferring->packets);
	report->n_unplaced = seen->n_unplaced;
	report->n_endpoints_unplaced = seen->n_endpoints_unplaced;
	report->squeezed_ps = seen->squeezed_ps;
	report->is_cut = seen->is_cut;
	if (inferring->list.n == 0) {
		if (report->n_unplaced && report->n_records == 0)
			return tb_fail(inferring->error, TB_EUSAGE,
				"nothing is left of it: %s of %s have no node in the map",
				TB_COUNTED_TEXT(report->n_unplaced, "record"),
				TB_COUNTED_TEXT(
					report->n_endpoints_unplaced, "endpoint"));
		return tb_fail(inferring->error, TB_EFORMAT,
			"no message is left of %llu records: a job needs payload between "
			"two endpoints",
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
	char rate[32];
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
			TB_SIZE_TEXT(report->bucket_bytes));
	fputs(" (median, from the spacing of full frames)\n", stream);
}

// note_count writes a sentence about messages, of one or of several, unless there are
// none.
static void note_count(
	FILE *stream, uint64_t n, uint64_t of, const char *one, const char *several)
{
	char share[40];
	if (n == 0)
		return;
	fprintf(stream, "%s (%s) %s\n", TB_COUNTED_TEXT(n, "message"),
		tb_format_percent(100.0 * (double)n / (double)of, share, sizeof share),
		n == 1 ? one : several);
}

static void print_left_out(FILE *stream, const struct tb_infer_report *report)
{
	if (report->n_unplaced)
		fprintf(stream, "%s of %s without a node: left out\n",
			TB_COUNTED_TEXT(report->n_unplaced, "record"),
			TB_COUNTED_TEXT(report->n_endpoints_unplaced, "endpoint"));
	if (report->squeezed_ps == TB_TIME_NEVER)
		fputs("pauses of 106 days or more in all were taken out\n", stream);
	else if (report->squeezed_ps)
		fprintf(stream, "pauses of %s in all were taken out\n",
			TB_TIME_TEXT(report->squeezed_ps));
}

// notes_of states what was inferred and what could not be, one sentence per line; NULL
// when there is no memory.
static char *notes_of(const struct tb_infer_report *report)
{
	char *text = NULL;
	size_t length = 0;
	uint64_t n = report->n_messages;
	FILE *stream = open_memstream(&text, &length);
	if (!stream)
		return NULL;
	fprintf(stream, "%s of %s%s inferred from packets\n",
		TB_COUNTED_TEXT(n, "message"), TB_SIZE_TEXT(report->bytes),
		n == 1 ? " was" : " in all were");
	if (report->is_cut)
		fprintf(stream, "the capture breaks off: the %s before that count\n",
			TB_COUNTED_TEXT(report->n_records, "record"));
	print_left_out(stream, report);
	note_ports(stream, report);
	if (report->path_ns >= PATH_NOTED_NS)
		fprintf(stream,
			"the captured path took %s one way (mean of messages), which is "
			"not in the job\n",
			TB_TIME_TEXT(report->path_ns * TB_PS_PER_NS));
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
	if (report->n_closed)
		fprintf(stream,
			"%s waited until the receiver opened its window, %s in all "
			"from what came before: its time, not computation\n",
			TB_COUNTED_TEXT(report->n_closed, "message"),
			TB_TIME_TEXT(report->closed_ns * TB_PS_PER_NS));
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
	return tb_text_written(stream, &text);
}

// name_ranks keeps which endpoint each rank was.
static int name_ranks(const struct inferring *inferring, struct tb_job *job)
{
	job->endpoints = calloc(job->n_ranks + 1u, sizeof *job->endpoints);
	for (uint32_t i = 0; job->endpoints && i < inferring->n_nodes; i++) {
		uint32_t rank = rank_of(inferring, i);
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
	struct tb_job *job)
{
	const struct tb_rendezvous none = {
		.of = calloc(inferring->list.n + 1, sizeof *none.of)};
	struct tb_job_bounds *bounds =
		calloc(1, sizeof *bounds + inferring->n_bounds * sizeof(struct tb_job *));
	job->bounds = bounds;
	int status = none.of && bounds ? TB_OK : infer_no_memory(inferring);
	for (uint32_t i = 0; status == TB_OK && i < inferring->n_bounds; i++) {
		status = infer_build(&bounds->jobs[i], inferring,
			&inferring->causes[1 + i], &none, report, "");
		bounds->n += status == TB_OK;
		if (!inferring->rank_of) // the next job needs the memory
			tb_causes_fini(&inferring->causes[1 + i]);
	}
	if (bounds) {
		bounds->are_hypotheses = true;
		bounds->own = bounds->n;
		bounds->n_calls = report->n_messages;
		bounds->n_hidden = report->n_hidden;
		bounds->n_untold = report->n_untold;
	}
	free(none.of);
	return status;
}

static int build_inferred_job(struct inferring *inferring,
	const struct tb_infer_report *report, const char *name, struct tb_job **job)
{
	struct tb_job *made = NULL;
	int status = infer_build(&made, inferring, &inferring->causes[0],
		&inferring->rendezvous, report, name);
	if (status != TB_OK)
		return status;
	if (!inferring->rank_of) {
		tb_causes_fini(&inferring->causes[0]);
		tb_rendezvous_fini(&inferring->rendezvous);
	}
	status = inferring->n_bounds ? add_bounds(inferring, report, made) : TB_OK;
	if (status != TB_OK) {
		tb_job_free(made);
		return status;
	}
	made->form = "capture";
	made->notes = notes_of(report);
	if (!made->notes || name_ranks(inferring, made) != TB_OK) {
		tb_job_free(made);
		return infer_no_memory(inferring);
	}
	*job = made;
	return TB_OK;
}

// check_apart refuses jobs that exchange messages: each is a job by itself, in which
// nothing could wait for the other.
static int check_apart(const struct inferring *inferring)
{
	const struct tb_packets *packets = inferring->packets;
	for (size_t i = 0; i < inferring->list.n; i++) {
		const struct tb_inferred_message *row =
			tb_message_list_at(&inferring->list, i);
		uint32_t from = tb_packets_job_of(packets, (struct tb_node){row->source});
		uint32_t to =
			tb_packets_job_of(packets, (struct tb_node){row->destination});
		if (from != to)
			return tb_fail(inferring->error, TB_EUSAGE,
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

static void inferring_fini(struct inferring *inferring)
{
	free(inferring->sample);
	free(inferring->rank_of);
	tb_passages_free(inferring->ports);
	tb_halves_free(inferring->halves);
	tb_message_finder_free(inferring->messages);
	tb_disk_array_fini(&inferring->list.array);
	for (uint32_t i = 0; i <= TB_N_BOUNDS; i++)
		tb_causes_fini(&inferring->causes[i]);
	tb_rendezvous_fini(&inferring->rendezvous);
}

int tb_infer_job(struct tb_packets *packets, bool bounded, struct tb_job **job,
	struct tb_infer_report *report, struct tb_error *error)
{
	struct inferring inferring = {.packets = packets,
		.error = error,
		.n_bounds = bounded ? TB_N_BOUNDS : 0};
	int status = find_messages(&inferring);
	inferring.n_ranks = inferring.n_nodes;
	struct tb_job *made = NULL;
	TB_THEN(status, build_inferred_job(&inferring, &inferring.report, "", &made));
	TB_THEN(status, tb_packets_congestion(packets, &made->congestion, error));
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
	struct inferring inferring = {.packets = packets,
		.error = error,
		.n_bounds = bounded ? TB_N_BOUNDS : 0};
	int status = find_messages(&inferring);
	if (status == TB_OK) {
		uint32_t n = tb_packets_n_jobs(inferring.packets);
		inferring.rank_of = calloc(
			inferring.n_nodes + UINT64_C(1), sizeof *inferring.rank_of);
		status = inferring.rank_of ? check_apart(&inferring)
					   : infer_no_memory(&inferring);
		for (uint32_t i = 0; status == TB_OK && i < n; i++) {
			// Number the nodes of a job.
			inferring.n_ranks = 0;
			for (uint32_t node = 0; node < inferring.n_nodes; node++)
				inferring.rank_of[node] =
					tb_packets_job_of(inferring.packets,
						(struct tb_node){node}) == i
						? inferring.n_ranks++
						: TB_ID_NONE;
			// Count anew what is known by message; the rest is of the whole
			// capture.
			struct tb_infer_report report = {
				.n_records = inferring.report.n_records,
				.is_cut = inferring.report.is_cut,
				.squeezed_ps = inferring.report.squeezed_ps,
				.n_unplaced = inferring.report.n_unplaced,
				.n_endpoints_unplaced =
					inferring.report.n_endpoints_unplaced,
				.port_bytes_per_s = inferring.report.port_bytes_per_s,
				.bucket_bytes = inferring.report.bucket_bytes,
				.path_ns = inferring.report.path_ns,
				.n_rdma = inferring.report.n_rdma,
				.span_ps = inferring.report.span_ps,
			};
			for (size_t j = 0; j < inferring.list.n; j++) {
				if (!is_message_of_job(&inferring, j))
					continue;
				tb_inferred_count(&report, &inferring.list.rows[j]);
			}
			count_causes(&inferring, &report);
			if (report.n_messages)
				status = build_inferred_job(&inferring, &report,
					tb_packets_job_name(inferring.packets, i),
					&jobs[i]);
		}
		for (uint32_t i = 0; status == TB_OK && i < n; i++)
			if (jobs[i]) {
				// Give the first job what the capture recorded, of all
				// its jobs. Ranks of several jobs are no nodes of the
				// capture.
				struct tb_job *job = jobs[i];
				status = tb_packets_congestion(
					inferring.packets, &job->congestion, error);
				for (size_t k = 0; status == TB_OK && n > 1 &&
						   k < job->congestion->n_pairs;
					k++)
					job->congestion->pairs[k].source_node =
						job->congestion->pairs[k]
							.destination_node = TB_ID_NONE;
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
