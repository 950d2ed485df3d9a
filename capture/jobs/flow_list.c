// Reads flow lists: first all lines, since a trigger may be declared below its use, then
// makes a job of the flows.
#include "flow_list.h"

#include "array.h"
#include "map.h"
#include "order.h"
#include "text_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS	  " \t\r\n\v\f"
#define FLOWS_MAX (UINT32_C(1) << 29)
#define NONE	  UINT32_MAX

enum trigger_kind { UNDECLARED, ONESHOT, MULTISHOT, BARRIER };

struct trigger {
	uint32_t id;
	enum trigger_kind kind;
	uint32_t count;	     // of a barrier
	uint32_t first_flow; // list of those that fire it: flow * N_ENDS + end, or NONE
	uint32_t n_flows;
	uint64_t line;
};

// The two events of a flow; each can fire a trigger.
enum { SENT, RECEIVED, N_ENDS };

struct flow {
	uint32_t source, destination;
	uint64_t bytes;
	tb_time_ps start_ps;
	uint32_t begins;	// trigger that begins it, or NONE
	uint32_t fires[N_ENDS]; // triggers that it fires, or NONE
	uint32_t next[N_ENDS];	// next in the trigger's list of flows that fire it
	uint32_t send, recv;	// operations of the ranks
	uint64_t line;
};

struct flow_list_reading {
	const char *name;
	struct tb_error *error;
	uint64_t line;
	bool begun; // "Nodes" was read, or the number of flows of ns-3
	bool is_ns3;
	bool declares; // at least one trigger; without, all are as they are used
	uint32_t n_nodes;
	uint64_t n_declared[2]; // "Connections" and "Triggers"
	struct flow *flows;
	uint32_t n_flows;
	size_t flows_room;
	struct trigger *triggers;
	uint32_t n_triggers;
	size_t triggers_room;
	struct tb_map trigger_of; // id to index
	struct tb_map flow_of;	  // id to index, of flows that have one
	struct tb_job_builder *builder;
};

#define REFUSE(reading, ...)                                                             \
	tb_fail_at((reading)->error, TB_EFORMAT, (reading)->name, TB_PLACE_LINE,         \
		(reading)->line, __VA_ARGS__)

static int flows_no_memory(const struct flow_list_reading *reading)
{
	return tb_fail_memory_in(
		reading->error, reading->name, "%" PRIu32 " flows", reading->n_flows);
}

static int read_flow_number(const struct flow_list_reading *reading, const char *what,
	const char *text, uint64_t most, uint64_t *number)
{
	if (!text)
		return REFUSE(reading, "'%s' needs a number behind it", what);
	if (tb_parse_count(text, 0, most, number) != TB_OK)
		return REFUSE(reading, "'%s %s': expected a whole number up to %" PRIu64,
			what, text, most);
	return TB_OK;
}

static int find_trigger(struct flow_list_reading *reading, const char *word,
	const char *text, uint32_t *place)
{
	uint64_t id = 0;
	int status = read_flow_number(reading, word, text, UINT32_MAX - 1, &id);
	if (status != TB_OK || tb_map_find(&reading->trigger_of, id, place))
		return status;
	if (TB_ARRAY_MORE(reading, triggers) != TB_OK ||
		tb_map_put(&reading->trigger_of, id, reading->n_triggers) != TB_OK)
		return flows_no_memory(reading);
	reading->triggers[reading->n_triggers] = (struct trigger){
		.id = (uint32_t)id, .first_flow = NONE, .line = reading->line};
	*place = reading->n_triggers++;
	return TB_OK;
}

// read_flow_decimal also takes what scripts write, "2e6" or "12.5", rounded.
static int read_flow_decimal(const struct flow_list_reading *reading, const char *what,
	const char *text, uint64_t most, uint64_t *number)
{
	double real;
	if (!text || !strpbrk(text, ".eE"))
		return read_flow_number(reading, what, text, most, number);
	if (tb_parse_real(text, 0, (double)(most - 1023), &real) != TB_OK)
		return REFUSE(reading, "'%s %s': expected a number from 0 to %" PRIu64,
			what, text, most);
	*number = (uint64_t)(real + 0.5);
	return TB_OK;
}

// read_flow_word reads a word of a flow's line and the number after it. `seen` has a bit
// for each word that the line had.
static int read_flow_word(struct flow_list_reading *reading, struct flow *flow,
	unsigned *seen, const char *word, const char *text)
{
	static const char *const words[] = {"send_done_trigger", "recv_done_trigger",
		"trigger", "size", "start", "id", "prio"};
	enum {
		TRIGGER = N_ENDS,
		SIZE,
		START,
		ID,
		N_WORDS = sizeof words / sizeof *words
	};
	uint64_t number = 0;
	unsigned i = 0;
	while (i < N_WORDS && strcmp(word, words[i]) != 0)
		i++;
	if (i == N_WORDS)
		return REFUSE(reading,
			"'%s' is no word of a flow: expected id, start, trigger, size, "
			"send_done_trigger, recv_done_trigger or prio",
			word);
	if (*seen & 1U << i)
		return REFUSE(reading, "'%s' stands here a second time", word);
	*seen |= 1U << i;
	if (i < N_ENDS)
		return find_trigger(reading, word, text, &flow->fires[i]);
	if (i == TRIGGER)
		return find_trigger(reading, word, text, &flow->begins);
	if (i == SIZE)
		return read_flow_decimal(reading, word, text, INT64_MAX, &flow->bytes);
	if (i == ID) {
		// Read the id of the flow that is being read: of no other, as htsim
		// demands; 0 is none.
		uint64_t id = 0;
		uint32_t other = 0;
		int status = read_flow_number(reading, "id", text, INT64_MAX, &id);
		if (status != TB_OK || id == 0)
			return status;
		if (tb_map_find(&reading->flow_of, id, &other))
			return REFUSE(reading,
				"the flow of line %" PRIu64 " has id %s too",
				reading->flows[other].line, text);
		return tb_map_put(&reading->flow_of, id, reading->n_flows) == TB_OK
			       ? TB_OK
			       : flows_no_memory(reading);
	}
	int status =
		i == START
			? read_flow_decimal(reading, word, text, INT64_MAX - 1, &number)
			: read_flow_number(reading, word, text, INT64_MAX - 1, &number);
	if (i == START)
		flow->start_ps = (tb_time_ps)number;
	return status;
}

// read_flow_ends reads "2->11".
static int read_flow_ends(
	const struct flow_list_reading *reading, char *text, struct flow *flow)
{
	char *arrow = strstr(text, "->");
	uint64_t source = 0, destination = 0;
	*arrow = '\0';
	if (tb_parse_count(text, 0, reading->n_nodes - 1, &source) != TB_OK ||
		tb_parse_count(arrow + 2, 0, reading->n_nodes - 1, &destination) != TB_OK)
		return REFUSE(reading, "'%s->%s': expected nodes from 0 to %" PRIu32,
			text, arrow + 2, reading->n_nodes - 1);
	if (source == destination)
		return REFUSE(reading, "a flow from node %s to itself", text);
	flow->source = (uint32_t)source;
	flow->destination = (uint32_t)destination;
	return TB_OK;
}

// keep_flow adds a flow that was read.
static int keep_flow(struct flow_list_reading *reading, struct flow flow)
{
	if (flow.bytes == 0)
		return REFUSE(reading,
			"a flow of no size has no end, which a job needs: expected size "
			"BYTES");
	if (flow.begins != NONE && flow.start_ps > 0)
		return REFUSE(reading, "a flow begins at a time or with a trigger");
	if (reading->n_flows == FLOWS_MAX)
		return REFUSE(reading, "more than %" PRIu32 " flows", FLOWS_MAX);
	if (TB_ARRAY_MORE(reading, flows) != TB_OK)
		return flows_no_memory(reading);
	for (uint32_t end = 0; end < N_ENDS; end++) {
		if (flow.fires[end] == NONE)
			continue;
		struct trigger *trigger = &reading->triggers[flow.fires[end]];
		flow.next[end] = trigger->first_flow;
		trigger->first_flow = reading->n_flows * N_ENDS + end;
		trigger->n_flows++;
	}
	reading->flows[reading->n_flows++] = flow;
	return TB_OK;
}

static int read_flow(struct flow_list_reading *reading, char *ends, char *rest)
{
	struct flow flow = {.begins = NONE,
		.fires = {NONE, NONE},
		.next = {NONE, NONE},
		.line = reading->line};
	unsigned seen = 0;
	int status = read_flow_ends(reading, ends, &flow);
	for (char *word; status == TB_OK && (word = strtok_r(rest, BLANKS, &rest));)
		status = read_flow_word(
			reading, &flow, &seen, word, strtok_r(rest, BLANKS, &rest));
	return status == TB_OK ? keep_flow(reading, flow) : status;
}

static int end_flow_line(const struct flow_list_reading *reading, char *rest)
{
	const char *word = strtok_r(rest, BLANKS, &rest);
	return word ? REFUSE(reading, "'%.40s': expected nothing more", word) : TB_OK;
}

// read_trigger reads "id 7 barrier count 16".
static int read_trigger(struct flow_list_reading *reading, char *rest)
{
	static const char *const kinds[] = {"", "oneshot", "multishot", "barrier"};
	const char *id = strtok_r(rest, BLANKS, &rest);
	uint32_t place = 0;
	if (!id || strcmp(id, "id") != 0)
		return REFUSE(reading, "expected 'trigger id NUMBER KIND'");
	int status = find_trigger(reading, "id", strtok_r(rest, BLANKS, &rest), &place);
	if (status != TB_OK)
		return status;
	struct trigger *trigger = &reading->triggers[place];
	if (trigger->kind != UNDECLARED)
		return REFUSE(
			reading, "trigger %" PRIu32 " is declared twice", trigger->id);
	const char *kind = strtok_r(rest, BLANKS, &rest);
	for (int i = ONESHOT; kind && i <= BARRIER; i++)
		if (strcmp(kind, kinds[i]) == 0)
			trigger->kind = (enum trigger_kind)i;
	reading->declares = true;
	if (trigger->kind == UNDECLARED)
		return REFUSE(reading, "a trigger is oneshot, multishot or barrier");
	if (trigger->kind != BARRIER)
		return end_flow_line(reading, rest);
	const char *word = strtok_r(rest, BLANKS, &rest);
	uint64_t count = 0;
	if (!word || strcmp(word, "count") != 0)
		return REFUSE(reading, "a barrier has 'count NUMBER'");
	status = read_flow_number(
		reading, word, strtok_r(rest, BLANKS, &rest), UINT32_MAX, &count);
	trigger->count = (uint32_t)count;
	return status == TB_OK ? end_flow_line(reading, rest) : status;
}

static int read_node_count(struct flow_list_reading *reading, char *rest)
{
	uint64_t n = 0;
	int status = read_flow_number(
		reading, "Nodes", strtok_r(rest, BLANKS, &rest), TB_RANKS_MAX, &n);
	if (status == TB_OK && n == 0)
		return REFUSE(reading, "a flow list without nodes");
	reading->begun = true;
	reading->n_nodes = (uint32_t)n;
	return status == TB_OK ? end_flow_line(reading, rest) : status;
}

// read_ns3_flow reads "1 0 3 100 200000 2.0": source, destination, priority group, port
// (not in all versions), bytes, seconds.
static int read_ns3_flow(struct flow_list_reading *reading, char *word, char *rest)
{
	char *words[7];
	uint64_t number[5] = {0};
	double start_s = 0;
	size_t n = 0;
	for (; word && n < 7; word = strtok_r(rest, BLANKS, &rest))
		words[n++] = word;
	bool is_flow = n == 5 || n == 6;
	for (size_t i = 0; i + 1 < n && is_flow; i++)
		is_flow = tb_parse_count(words[i], 0, INT64_MAX, &number[i]) == TB_OK;
	if (!is_flow || number[0] >= TB_RANKS_MAX || number[1] >= TB_RANKS_MAX ||
		tb_parse_real(words[n - 1], 0, 9e6, &start_s) != TB_OK)
		return REFUSE(reading,
			"expected a flow as in '1 0 3 100 200000 2.0': source, "
			"destination, group, port, bytes and seconds");
	if (number[0] == number[1])
		return REFUSE(
			reading, "a flow from node %" PRIu64 " to itself", number[0]);
	for (size_t i = 0; i < 2; i++)
		if (number[i] >= reading->n_nodes)
			reading->n_nodes = (uint32_t)number[i] + 1;
	return keep_flow(reading, (struct flow){.source = (uint32_t)number[0],
					  .destination = (uint32_t)number[1],
					  .bytes = number[n - 2],
					  .start_ps = (tb_time_ps)(start_s * 1e12 + 0.5),
					  .begins = NONE,
					  .fires = {NONE, NONE},
					  .next = {NONE, NONE},
					  .line = reading->line});
}

static int read_flow_line(struct flow_list_reading *reading, char *text)
{
	static const char *const counts[] = {"Connections", "Triggers"};
	char *rest;
	text[strcspn(text, "#")] = '\0';
	char *word = strtok_r(text, BLANKS, &rest);
	if (!word)
		return TB_OK;
	if (reading->is_ns3)
		return read_ns3_flow(reading, word, rest);
	// "Nodes" comes first, and is the only word by which the format is recognised;
	// ns-3's begin with the number of flows.
	if (!reading->begun &&
		tb_parse_count(word, 1, FLOWS_MAX, &reading->n_declared[0]) == TB_OK) {
		reading->begun = reading->is_ns3 = true;
		return strtok_r(rest, BLANKS, &rest) ? TB_EFOREIGN : TB_OK;
	}
	if (!reading->begun)
		return strcmp(word, "Nodes") == 0 ? read_node_count(reading, rest)
						  : TB_EFOREIGN;
	for (int i = 0; i < 2; i++)
		if (strcmp(word, counts[i]) == 0) {
			if (reading->n_declared[i])
				return REFUSE(
					reading, "'%s' stands here a second time", word);
			int status = read_flow_number(reading, word,
				strtok_r(rest, BLANKS, &rest), INT64_MAX,
				&reading->n_declared[i]);
			return status == TB_OK ? end_flow_line(reading, rest) : status;
		}
	if (strcmp(word, "trigger") == 0)
		return read_trigger(reading, rest);
	if (strstr(word, "->"))
		return read_flow(reading, word, rest);
	return REFUSE(reading,
		"'%.40s': expected a flow as in '2->11 start 0 size 2000000', or a "
		"trigger",
		word);
}

static int read_flow_lines(struct flow_list_reading *reading, FILE *stream)
{
	struct tb_text_lines lines;
	int status = TB_OK, found = 1;
	tb_text_lines_init(&lines, stream, reading->name, reading->error);
	while (status == TB_OK && (found = tb_text_lines_next(&lines)) > 0) {
		reading->line = lines.number;
		status = read_flow_line(reading, lines.text);
	}
	tb_text_lines_fini(&lines);
	if (found == TB_EFORMAT && !reading->begun) // no text: perhaps another format
		return tb_fail_in(reading->error, TB_EFOREIGN, reading->name,
			"is no list of flows");
	status = found < 0 ? found : status;
	return status == TB_OK && !reading->begun ? TB_EFOREIGN : status;
}

static int check_counts(const struct flow_list_reading *reading)
{
	if (reading->n_declared[0] && reading->n_declared[0] != reading->n_flows)
		return tb_fail_in(reading->error, TB_EFORMAT, reading->name,
			"declares '%s%" PRIu64 "' but has %s",
			reading->is_ns3 ? "" : "Connections ", reading->n_declared[0],
			TB_COUNTED_TEXT(reading->n_flows, "flow"));
	uint32_t n_found = 0;
	for (uint32_t i = 0; i < reading->n_triggers; i++)
		n_found += reading->triggers[i].kind != UNDECLARED;
	if (reading->n_declared[1] && reading->n_declared[1] != n_found)
		return tb_fail_in(reading->error, TB_EFORMAT, reading->name,
			"declares 'Triggers %" PRIu64 "' but has %s",
			reading->n_declared[1], TB_COUNTED_TEXT(n_found, "trigger"));
	return TB_OK;
}

static int check_trigger(struct flow_list_reading *reading, const struct flow *flow)
{
	const struct trigger *trigger = &reading->triggers[flow->begins];
	reading->line = flow->line;
	if (trigger->kind == UNDECLARED && reading->declares)
		return REFUSE(reading,
			"the flow waits for trigger %" PRIu32 ", which is not declared",
			trigger->id);
	if (trigger->n_flows == 0)
		return REFUSE(reading,
			"the flow waits for trigger %" PRIu32 ", which nothing fires",
			trigger->id);
	if (trigger->kind == BARRIER && trigger->count != trigger->n_flows)
		return REFUSE(reading,
			"the flow waits for barrier %" PRIu32 " of %" PRIu32 ", which %s",
			trigger->id, trigger->count,
			TB_COUNTED_TEXT(trigger->n_flows, "flow fires|flows fire"));
	if (trigger->kind != BARRIER && trigger->n_flows > 1)
		return REFUSE(reading,
			"the flow waits for the first of %" PRIu32
			" flows that fire trigger %" PRIu32 ", which a job cannot",
			trigger->n_flows, trigger->id);
	return TB_OK;
}

// add_flow_deps makes a flow's send wait for the operations that fire its trigger.
static int add_flow_deps(struct flow_list_reading *reading, const struct flow *flow)
{
	int status = check_trigger(reading, flow);
	uint32_t cause = reading->triggers[flow->begins].first_flow;
	while (status == TB_OK && cause != NONE) {
		const struct flow *first = &reading->flows[cause / N_ENDS];
		uint32_t end = cause % N_ENDS;
		uint32_t node = end == SENT ? first->source : first->destination;
		if (node != flow->source)
			return REFUSE(reading,
				"a flow of node %" PRIu32 " waits for trigger %" PRIu32
				" of node %" PRIu32 ", which a job cannot",
				flow->source, reading->triggers[flow->begins].id, node);
		tb_job_depend(reading->builder, node, flow->send,
			end == SENT ? first->send : first->recv, false);
		cause = first->next[end];
	}
	return status;
}

// One end of a flow at a node. They are sorted by node, so that the builder gets rank
// after rank, and by start, so that the clock of the node advances.
struct flow_end {
	uint32_t node, flow;
	tb_time_ps start_ps;
	bool receives;
};

TB_ORDER_BY(by_node_and_start, struct flow_end,
	TB_UP(node) TB_UP(receives) TB_UP(start_ps) TB_UP(flow))

// The clock of a node: a chain of calcs, each of which ends at the next start time.
struct clock {
	uint32_t op; // last calc, or NONE
	uint64_t at_ns;
};

static void wind_clock(struct tb_job_builder *builder, uint32_t node, tb_time_ps start_ps,
	struct clock *clock)
{
	uint64_t at_ns = ((uint64_t)start_ps + TB_PS_PER_NS / 2) / TB_PS_PER_NS;
	if (at_ns <= clock->at_ns)
		return;
	struct tb_op calc = {
		.kind = TB_OP_CALC, .amount = at_ns - clock->at_ns, .cpu = 1};
	uint32_t before = clock->op;
	clock->op = tb_job_add(builder, node, &calc);
	clock->at_ns = at_ns;
	if (before != NONE)
		tb_job_depend(builder, node, clock->op, before, false);
}

static int make_flow_job(struct flow_list_reading *reading, struct tb_job **job)
{
	struct flow_end *ends = malloc(((size_t)reading->n_flows * 2 + 1) * sizeof *ends);
	if (!ends)
		return flows_no_memory(reading);
	int status = check_counts(reading);
	TB_THEN(status,
		tb_job_builder_new(&reading->builder, reading->n_nodes, reading->error));
	if (status == TB_OK) {
		uint32_t n = 2 * reading->n_flows;
		for (uint32_t i = 0; i < reading->n_flows; i++) {
			const struct flow *flow = &reading->flows[i];
			ends[2 * i] =
				(struct flow_end){flow->source, i, flow->start_ps, false};
			ends[2 * i + 1] =
				(struct flow_end){flow->destination, i, 0, true};
		}
		qsort(ends, n, sizeof *ends, by_node_and_start);
		struct clock clock = {NONE, 0};
		for (uint32_t i = 0; i < n; i++) {
			if (i > 0 && ends[i].node != ends[i - 1].node)
				clock = (struct clock){NONE, 0};
			const struct flow_end *end = &ends[i];
			struct flow *flow = &reading->flows[end->flow];
			struct tb_op op = {
				.kind = end->receives ? TB_OP_RECV : TB_OP_SEND,
				.amount = flow->bytes,
				.peer = end->receives ? flow->source : flow->destination,
				.tag = end->flow};
			tb_job_builder_set_line(reading->builder, flow->line);
			if (!end->receives)
				wind_clock(reading->builder, end->node, flow->start_ps,
					&clock);
			uint32_t at = tb_job_add(reading->builder, end->node, &op);
			*(end->receives ? &flow->recv : &flow->send) = at;
			if (!end->receives && clock.op != NONE)
				tb_job_depend(
					reading->builder, end->node, at, clock.op, false);
		}
	}
	free(ends);
	for (uint32_t i = 0; status == TB_OK && i < reading->n_flows; i++)
		if (reading->flows[i].begins != NONE)
			status = add_flow_deps(reading, &reading->flows[i]);
	TB_THEN(status,
		tb_job_finish(reading->builder, reading->name, job, reading->error));
	tb_job_builder_free(reading->builder);
	return status;
}

// begin_at_first has flows of ns-3 count from the first of them: its scripts begin at 2
// s.
static tb_time_ps begin_at_first(struct flow_list_reading *reading)
{
	tb_time_ps first_ps = reading->n_flows ? reading->flows[0].start_ps : 0;
	for (uint32_t i = 1; i < reading->n_flows; i++)
		first_ps = tb_min_i64(first_ps, reading->flows[i].start_ps);
	for (uint32_t i = 0; i < reading->n_flows; i++)
		reading->flows[i].start_ps -= first_ps;
	return first_ps;
}

bool tb_flow_list_is_ns3(struct tb_bytes text)
{
	char line[128] = "", *rest, *word;
	size_t n = 0, at = 0;
	while (at < text.n && text.data[at] >= '0' && text.data[at] <= '9')
		at++;
	if (at == 0 || at > 9)
		return false;
	while (at < text.n && text.data[at] && strchr(" \t\r", text.data[at]))
		at++;
	if (at == text.n || text.data[at] != '\n')
		return false;
	while (at < text.n && text.data[at] && strchr(BLANKS, text.data[at]))
		at++;
	while (at < text.n && text.data[at] != '\n' && n + 1 < sizeof line)
		line[n++] = (char)text.data[at++];
	uint64_t number;
	double real;
	n = 0;
	for (word = strtok_r(line, BLANKS, &rest); word;
		word = strtok_r(rest, BLANKS, &rest), n++)
		if (n < 4 ? tb_parse_count(word, 0, INT64_MAX, &number) != TB_OK
			  : tb_parse_real(word, 0, 1e18, &real) != TB_OK)
			return false;
	return n == 5 || n == 6;
}

int tb_flow_list_read(
	struct tb_job **job, FILE *stream, const char *name, struct tb_error *error)
{
	struct flow_list_reading reading = {.name = name, .error = error};
	int status = read_flow_lines(&reading, stream);
	tb_time_ps first_ps =
		status == TB_OK && reading.is_ns3 ? begin_at_first(&reading) : 0;
	TB_THEN(status, make_flow_job(&reading, job));
	if (status == TB_OK && first_ps > 0 &&
		asprintf(&(*job)->notes,
			"the first flow starts at %s, which is the job's beginning",
			TB_TIME_TEXT(first_ps)) < 0)
		(*job)->notes = NULL;
	if (status == TB_EFOREIGN)
		(void)tb_fail_in(error, TB_EFOREIGN, name, "is no flow list");
	free(reading.flows);
	free(reading.triggers);
	tb_map_fini(&reading.trigger_of);
	tb_map_fini(&reading.flow_of);
	return status;
}
