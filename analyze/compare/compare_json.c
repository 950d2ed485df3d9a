// The comparison as JSON, and the schema of that: schemas/compare.schema.json.
#include "compare_impl.h"
#include "json.h"

#include <string.h>

static void put_hottest(struct tb_datum *at)
{
	const struct tb_compare_side *item = at->item;
	at->unknown = item->sums.hottest == TB_ID_NONE;
	if (!at->unknown)
		at->word = tb_run_links(item->run)[item->sums.hottest].name;
}

static void put_packet_wait(struct tb_datum *at)
{
	const struct tb_compare_side *item = at->item;
	at->unknown = item->info.n_packets == 0;
	if (!at->unknown)
		at->real = item->sums.wait_ps / (double)item->info.n_packets;
}

static void put_side_wait_known(struct tb_datum *at)
{
	const struct tb_compare_side *item = at->item;
	enum tb_known known = tb_run_sum_known(item->run, TB_WAIT);
	at->word = tb_known_name(known);
}

static void put_side_slowdown(struct tb_datum *at)
{
	at->unknown = !(at->real > 0);
}

// put_run_bound: a run whose jobs are not inferred is as long as it is.
static void put_run_bound(struct tb_datum *at)
{
	const struct tb_compare_side *item = at->item;
	if (item->info.n_calls == 0)
		at->whole = item->info.simulated_ps;
}

static void adapt_run_bound(struct tb_column *column, const void *of)
{
	const struct tb_compare *compare = ((const struct tb_compare_side *)of)->of;
	if (compare->info[0]->n_calls == 0 && compare->info[1]->n_calls == 0)
		column->key = column->title = NULL;
}

static void put_path_part(struct tb_datum *at)
{
	at->whole =
		((const struct tb_compare_side *)at->item)->sums.parts[at->column->which];
}

static bool is_main_part(const struct tb_compare *compare, unsigned cause)
{
	bool is = false;
	for (int i = 0; i < 2; i++)
		is |= compare->outcome[i].parts[cause] >
		      compare->info[i]->simulated_ps / 100;
	return is;
}

static void adapt_path_part(struct tb_column *column, const void *of)
{
	if (!is_main_part(((const struct tb_compare_side *)of)->of, column->which))
		column->title = NULL;
}

// adapt_of_wait: where no packet waited in either run, one row says so.
static void adapt_of_wait(struct tb_column *column, const void *of)
{
	const struct tb_compare *compare = ((const struct tb_compare_side *)of)->of;
	if (!(compare->outcome[0].wait_ps > 0) && !(compare->outcome[1].wait_ps > 0))
		column->title = NULL;
}

static void adapt_carried(struct tb_column *column, const void *of)
{
	column->title = tb_run_carried_title(&((const struct tb_compare_side *)of)->info);
}

#define SIDE(member) TB_MEMBER(struct tb_compare_side, member)

// The parts of the run time along its critical path, of which people are shown those that
// take a hundredth of either run.
#define PATH_PARTS(ROW)                                                                  \
	ROW(PATH_START, "start", "before its job began")                                 \
	ROW(PATH_COMPUTE, "compute", "computing")                                        \
	ROW(PATH_CLOSED, "closed", "window closed")                                      \
	ROW(PATH_QUEUE, "queue", "behind own messages")                                  \
	ROW(PART_PRESSED, "pressed", "held up behind own messages")                      \
	ROW(PATH_SOFTWARE, "software", "hosts and libraries")                            \
	ROW(PATH_TRANSFER, "transfer", "crossing the network")                           \
	ROW(PATH_HELD_UP, "held_up", "held up")                                          \
	ROW(PATH_TIMEOUT, "timeout", "time-outs")                                        \
	ROW(PATH_PACED, "paced", "pace of congestion control")                           \
	ROW(PATH_ACKNOWLEDGE, "acknowledge", "acknowledgements")                         \
	ROW(PATH_LOST, "lost", "until given up")                                         \
	ROW(PATH_END, "end", "after the last operation")
#define PATH_PART(ID, name, title)                                                       \
	{"path_" name "_ps", title, "Of its run time, along its critical path",          \
		TB_DATUM_TIME, .put = put_path_part, .which = TB_##ID,                   \
		.adapt = adapt_path_part},

const char *tb_compare_part_words(unsigned cause)
{
#define PATH_WORDS(ID, name, title) [TB_##ID] = title,
	static const char *const words[TB_COMPARE_PARTS] = {PATH_PARTS(PATH_WORDS)};
	return words[cause];
}

// Those with a title are rows of what came of it.
static const struct tb_column side_columns[] = {
	{"store", NULL, "Its file", TB_DATUM_TEXT, SIDE(store)},
	{"run", NULL, "Its number there, from 1", TB_DATUM_ID, SIDE(info.id)},
	{"input", NULL, NULL, TB_DATUM_TEXT, SIDE(info.input_name)},
	{"network", NULL, NULL, TB_DATUM_TEXT, SIDE(info.network_name)},
	{"complete", NULL, "It came to its end", TB_DATUM_FLAG, SIDE(info.complete)},
	{"simulated_ps", "simulated time", NULL, TB_DATUM_TIME, SIDE(info.simulated_ps)},
	{"least_run_ps", "run time, at least", "Of runs with inferred jobs",
		TB_DATUM_TIME, SIDE(info.least_ps), .put = put_run_bound,
		.adapt = adapt_run_bound, .flags = TB_COLUMN_SOME},
	{"most_run_ps", "run time, at most", "Of runs with inferred jobs", TB_DATUM_TIME,
		SIDE(info.most_ps), .put = put_run_bound, .adapt = adapt_run_bound,
		.flags = TB_COLUMN_SOME},
	// clang-format off
	PATH_PARTS(PATH_PART)
	// clang-format on
	{"wait_ps", "wait of all packets", "Over all packets", TB_DATUM_MEAN,
		SIDE(sums.wait_ps), .flags = TB_COLUMN_NULL},
	{"wait_known", NULL, "How well that is known: not all links may be measured",
		TB_DATUM_TEXT, .put = put_side_wait_known, .word = tb_known_name},
	{"latency_ps", "latency of a message", "Mean per message", TB_DATUM_MEAN,
		SIDE(sums.latency_ps), .flags = TB_COLUMN_NULL},
	{"slowdown", "slowdown", "Of all messages together; null: not known",
		TB_DATUM_RATIO, SIDE(sums.slowdown), .put = put_side_slowdown,
		.flags = TB_COLUMN_NULL},
	{"packet_wait_ps", "wait per packet", "That by the packets delivered",
		TB_DATUM_MEAN, .put = put_packet_wait, .flags = TB_COLUMN_NULL,
		.adapt = adapt_of_wait},
	{"longest_wait_ps", "longest wait", "Of one packet", TB_DATUM_TIME,
		SIDE(sums.longest_wait_ps), .flags = TB_COLUMN_NULL,
		.adapt = adapt_of_wait},
	{"messages", "messages", "Delivered", TB_DATUM_COUNT, SIDE(info.n_messages),
		.flags = TB_COLUMN_NULL},
	{"undelivered", NULL, "Messages given up because of dead links", TB_DATUM_COUNT,
		SIDE(info.n_undelivered)},
	{"packets", "packets", NULL, TB_DATUM_COUNT, SIDE(info.n_packets),
		.flags = TB_COLUMN_NULL},
	{"delivered_bytes", "delivered", NULL, TB_DATUM_SIZE, SIDE(info.delivered_bytes),
		.flags = TB_COLUMN_NULL, .adapt = adapt_carried},
	{"blocked", "blocked packets", "Packets that had to wait", TB_DATUM_COUNT,
		SIDE(sums.n_blocked), .flags = TB_COLUMN_NULL, .adapt = adapt_of_wait},
	{"links_that_waited", "links that waited", "At least, where some do not know",
		TB_DATUM_COUNT, SIDE(sums.n_waiting), .flags = TB_COLUMN_NULL,
		.adapt = adapt_of_wait},
	{"hottest_link", NULL, "null: none waited", TB_DATUM_TEXT, .put = put_hottest,
		.flags = TB_COLUMN_NULL},
};

// known_of_side: what counters do not tell is null; of waits, what was measured is a
// bound where not all links were.
static enum tb_known known_of_side(const struct tb_datum *at)
{
	static const char *const unknown[] = {"messages", "packet_wait_ps",
		"longest_wait_ps", "blocked", "latency_ps", "slowdown"};
	const struct tb_compare_side *item = at->item;
	const char *key = at->column->key;
	if (!tb_run_is_measured(&item->info))
		return TB_EXACT;
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
		if (strcmp(unknown[i], key) == 0)
			return TB_NOT_MEASURED;
	enum tb_known wait = tb_run_sum_known(item->run, TB_WAIT);
	if (strcmp(key, "links_that_waited") == 0)
		return tb_run_n_unmeasured(item->run, TB_WAIT) == item->info.n_links
			       ? TB_NOT_MEASURED
		       : wait == TB_EXACT ? TB_EXACT
					  : TB_AT_LEAST;
	return strcmp(key, "packets") == 0 ? tb_run_received_known(item->run, TB_PACKETS)
	       : strcmp(key, "delivered_bytes") == 0
		       ? tb_run_received_known(item->run, TB_BYTES)
	       : strcmp(key, "wait_ps") == 0 ? wait
					     : TB_EXACT;
}

static const struct tb_table_type run = {"run", NULL, "A run and its sums.",
	TB_COLUMNS(side_columns), .known = known_of_side};

static struct tb_compare_side side_in_json(
	const struct tb_compare *compare, uint32_t which)
{
	return (struct tb_compare_side){compare->runs[which].store,
		compare->runs[which].run, *compare->info[which], compare->outcome[which],
		compare};
}

static json_t *run_object(const struct tb_compare *compare, uint32_t which)
{
	const struct tb_compare_side of = side_in_json(compare, which);
	return tb_table_object(&run, &of);
}

// titled_column returns the column of which row `row` of what came of it is, with title
// NULL behind the last.
static struct tb_column titled_column(const struct tb_compare_side *side, size_t row)
{
	const struct tb_table table = {.type = &run, .of = side};
	for (size_t i = 0; i < run.n_columns; i++) {
		struct tb_column column = tb_table_column(&table, i);
		if (column.title && row-- == 0)
			return column;
	}
	return (struct tb_column){.title = NULL};
}

static void put_outcome_name(struct tb_datum *at)
{
	const struct tb_compare_side a = side_in_json(at->of, 0),
				     b = side_in_json(at->of, 1);
	const char *title = titled_column(&a, at->row).title;
	bool same = strcmp(title, titled_column(&b, at->row).title) == 0;
	at->word = same ? title : "delivered";
}

// put_outcome_of puts the figure of a run; it returns how well that is known.
static enum tb_known put_outcome_of(struct tb_datum *at, uint32_t which)
{
	const struct tb_compare_side side = side_in_json(at->of, which);
	const struct tb_table table = {.type = &run, .of = &side};
	const struct tb_column column = titled_column(&side, at->row);
	struct tb_datum figure;
	tb_table_put(&table, &column, 0, &figure);
	at->unknown = figure.unknown;
	at->real = tb_datum_figure(&figure);
	tb_put_text(at, "%s", figure.text);
	return figure.unknown ? TB_NOT_MEASURED : known_of_side(&figure);
}

static void put_outcome(struct tb_datum *at)
{
	(void)put_outcome_of(at, at->column->which);
}

static void put_outcome_change(struct tb_datum *at)
{
	enum tb_known a = put_outcome_of(at, 0);
	double before = at->real;
	enum tb_known b = put_outcome_of(at, 1);
	double after = at->real;
	at->unknown = a != TB_EXACT || b != TB_EXACT;
	if (at->unknown)
		tb_put_text(at, "-");
	else
		tb_compare_put_change(at, before, after);
}

static const struct tb_column outcome_columns[] = {
	{NULL, "", "What", TB_DATUM_TEXT, .put = put_outcome_name},
	{NULL, "A", "In the first run", TB_DATUM_RATIO, .put = put_outcome},
	{NULL, "B", "In the second run", TB_DATUM_RATIO, .put = put_outcome, .which = 1},
	{NULL, "Change", "From A to B", TB_DATUM_RATIO, .put = put_outcome_change},
};

static void list_outcomes(struct tb_table *table)
{
	const struct tb_compare_side side = side_in_json(table->of, 0);
	while (titled_column(&side, table->n_shown).title)
		table->n_shown++;
}

const struct tb_table_type tb_compare_list_outcome = {"outcome", "What came of it", NULL,
	TB_COLUMNS(outcome_columns), .list = list_outcomes};

// How many rows there are of which a list has the first.
static const struct tb_column total_columns[] = {
	{"links_changed", NULL, "Of which links lists the first", TB_DATUM_COUNT,
		TB_MEMBER(struct tb_compare, n_links_moved)},
	{"flows_changed", NULL, "Of which flows lists the first", TB_DATUM_COUNT,
		TB_MEMBER(struct tb_compare, n_flows_moved)},
	{"roots_changed", NULL, "Of which congestion_roots lists the first",
		TB_DATUM_COUNT, TB_MEMBER(struct tb_compare, n_roots_moved)},
	{"calls_changed", NULL, "Of which calls lists the first", TB_DATUM_COUNT,
		TB_MEMBER(struct tb_compare, n_calls_moved)},
	{"job_pairs_changed", NULL, "Of which blame_by_job lists the first",
		TB_DATUM_COUNT, TB_MEMBER(struct tb_compare, n_job_pairs_moved)},
};

static const struct tb_table_type totals = {
	"totals", NULL, NULL, TB_COLUMNS(total_columns)};

int tb_compare_write_json(const struct tb_compare *compare, FILE *stream)
{
	struct tb_json_object root = tb_json_object_new();
	char key[32];
	tb_json_add_text(&root, "verdict", compare->verdict);
	tb_json_add(&root, "same_work", json_boolean(tb_compare_same_work(compare)));
	tb_json_add(&root, "seeds",
		json_integer(compare->chance.n_pairs ? (json_int_t)compare->chance.n_pairs
						     : 1));
	tb_json_add(&root, "a", run_object(compare, 0));
	tb_json_add(&root, "b", run_object(compare, 1));
	tb_json_add_all(&root, tb_table_object(&totals, compare));
	for (size_t i = 0; i < TB_COMPARE_LISTS; i++)
		if (tb_compare_lists[i]->meaning)
			tb_json_add(&root,
				tb_table_key(tb_compare_lists[i], key, sizeof key),
				tb_table_json(&compare->tables[i]));
	return tb_json_write(tb_json_object_take(&root), 17, stream);
}

int tb_compare_write_schema(FILE *stream, struct tb_error *error)
{
	struct tb_json_object root = tb_json_object_new();
	char key[32];
	tb_json_add(&root, "verdict",
		json_pack("{s:s, s:s}", "description", "What changed, in sentences.",
			"type", "string"));
	tb_json_add(&root, "same_work",
		json_pack("{s:s, s:s}", "description",
			"Both runs carried as many messages and bytes; else how long "
			"they take does not compare.",
			"type", "boolean"));
	tb_json_add(&root, "seeds",
		json_pack("{s:s, s:s, s:i}", "description",
			"Pairs of runs that are compared, which differ by their seed. "
			"What is not in beyond_chance is of the first.",
			"type", "integer", "minimum", 1));
	tb_json_add(&root, "a", tb_table_object_schema(&run));
	tb_json_add(&root, "b", tb_table_object_schema(&run));
	json_t *sums = tb_table_object_schema(&totals);
	tb_json_add_all(&root, json_incref(json_object_get(sums, "properties")));
	json_decref(sums);
	for (size_t i = 0; i < TB_COMPARE_LISTS; i++)
		if (tb_compare_lists[i]->meaning)
			tb_json_add(&root,
				tb_table_key(tb_compare_lists[i], key, sizeof key),
				tb_table_schema(tb_compare_lists[i]));
	json_t *schema = tb_schema_root("urn:tailback:compare:1", "Tailback comparison",
		"What 'tailback compare -f json' writes. Times are picoseconds of "
		"simulated time (_ps), sizes bytes; _a is of the first run, _b of the "
		"second.",
		tb_json_object_take(&root));
	return tb_json_write(schema, 6, stream) == TB_OK
		       ? TB_OK
		       : tb_fail_memory(error, "the schema");
}
