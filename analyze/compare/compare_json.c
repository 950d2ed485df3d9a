// The comparison as JSON, and the schema of that: schemas/compare.schema.json.
#include "compare_impl.h"
#include "json.h"

#include <string.h>

static void put_hottest(struct tb_datum *at)
{
	const struct tb_compare_side *item = at->item;
	at->unknown = item->sums->hottest == TB_ID_NONE;
	if (!at->unknown)
		at->word = tb_run_links(item->run)[item->sums->hottest].name;
}

#define TAKE(name, from, figure)                                                         \
	static void name(struct tb_datum *at)                                            \
	{                                                                                \
		const struct tb_compare_side *item = at->item;                           \
		at->from = figure;                                                       \
	}

TAKE(put_id, whole, item->info->id)
TAKE(put_input, word, item->info->input_name)
TAKE(put_network, word, item->info->network_name)
TAKE(put_complete, whole, item->info->complete)
TAKE(put_simulated, whole, item->info->simulated_ps)
TAKE(put_messages, whole, (int64_t)item->info->n_messages)
TAKE(put_undelivered, whole, (int64_t)item->info->n_undelivered)
TAKE(put_packets, whole, (int64_t)item->info->n_packets)
TAKE(put_bytes, whole, (int64_t)item->info->delivered_bytes)
TAKE(put_wait, real, item->sums->wait_ps)
TAKE(put_longest, whole, (int64_t)item->sums->longest_wait_ps)
TAKE(put_blocked, whole, (int64_t)item->sums->n_blocked)
TAKE(put_waiting, whole, (int64_t)item->sums->n_waiting)
TAKE(put_latency, real, item->sums->latency_ps)
TAKE(put_slowdown, real, item->sums->slowdown)

static void put_side_wait_known(struct tb_datum *at)
{
	const struct tb_compare_side *item = at->item;
	enum tb_known known = tb_run_sum_known(item->run, TB_WAIT);
	at->word = tb_known_name(known);
}

static const struct tb_column side_columns[] = {
	{"store", NULL, "Its file", TB_DATUM_TEXT,
		TB_MEMBER(struct tb_compare_side, store)},
	{"run", NULL, "Its number there, from 1", TB_DATUM_ID, .put = put_id},
	{"input", NULL, NULL, TB_DATUM_TEXT, .put = put_input},
	{"network", NULL, NULL, TB_DATUM_TEXT, .put = put_network},
	{"complete", NULL, "It came to its end", TB_DATUM_FLAG, .put = put_complete},
	{"simulated_ps", NULL, NULL, TB_DATUM_TIME, .put = put_simulated},
	{"messages", NULL, "Delivered", TB_DATUM_COUNT, .put = put_messages,
		.flags = TB_COLUMN_NULL},
	{"undelivered", NULL, "Messages given up because of dead links", TB_DATUM_COUNT,
		.put = put_undelivered},
	{"packets", NULL, NULL, TB_DATUM_COUNT, .put = put_packets,
		.flags = TB_COLUMN_NULL},
	{"delivered_bytes", NULL, NULL, TB_DATUM_SIZE, .put = put_bytes,
		.flags = TB_COLUMN_NULL},
	{"wait_ps", NULL, "Over all headers", TB_DATUM_MEAN, .put = put_wait,
		.flags = TB_COLUMN_NULL},
	{"wait_known", NULL, "How well that is known: not all links may be measured",
		TB_DATUM_TEXT, .put = put_side_wait_known, .word = tb_known_name},
	{"longest_wait_ps", NULL, "Of one header", TB_DATUM_TIME, .put = put_longest,
		.flags = TB_COLUMN_NULL},
	{"blocked", NULL, "Headers that had to wait", TB_DATUM_COUNT, .put = put_blocked,
		.flags = TB_COLUMN_NULL},
	{"links_that_waited", NULL, NULL, TB_DATUM_COUNT, .put = put_waiting},
	{"latency_ps", NULL, "Mean of a message", TB_DATUM_MEAN, .put = put_latency,
		.flags = TB_COLUMN_NULL},
	{"slowdown", NULL, "Of all messages together; 0: not known", TB_DATUM_RATIO,
		.put = put_slowdown, .flags = TB_COLUMN_NULL},
	{"hottest_link", NULL, "null: none waited", TB_DATUM_TEXT, .put = put_hottest,
		.flags = TB_COLUMN_NULL},
};

// known_of_side: what counters do not tell is null; of waits, what was measured is a
// bound where not all links were.
static enum tb_known known_of_side(const struct tb_datum *at)
{
	static const char *const unknown[] = {
		"messages", "longest_wait_ps", "blocked", "latency_ps", "slowdown"};
	const struct tb_compare_side *item = at->item;
	const char *key = at->column->key;
	if (!tb_run_is_measured(item->info))
		return TB_EXACT;
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
		if (strcmp(unknown[i], key) == 0)
			return TB_NOT_MEASURED;
	return strcmp(key, "packets") == 0 ? tb_run_received_known(item->run, TB_PACKETS)
	       : strcmp(key, "delivered_bytes") == 0
		       ? tb_run_received_known(item->run, TB_BYTES)
	       : strcmp(key, "wait_ps") == 0 ? tb_run_sum_known(item->run, TB_WAIT)
					     : TB_EXACT;
}

static const struct tb_table_type run = {"run", NULL, "A run and its sums.",
	TB_COLUMNS(side_columns), .known = known_of_side};

static json_t *run_object(const struct tb_compare *compare, int which)
{
	const struct tb_compare_side of = {compare->runs[which].store,
		compare->runs[which].run, compare->info[which], &compare->outcome[which]};
	return tb_table_object(&run, &of);
}

// How many rows there are of which a list has the first.
static const struct tb_column total_columns[] = {
	{"links_changed", NULL, "Of which links lists the first", TB_DATUM_COUNT,
		TB_MEMBER(struct tb_compare, n_links_moved)},
	{"flows_changed", NULL, "Of which flows lists the first", TB_DATUM_COUNT,
		TB_MEMBER(struct tb_compare, n_flows_moved)},
	{"roots_changed", NULL, "Of which congestion_roots lists the first",
		TB_DATUM_COUNT, TB_MEMBER(struct tb_compare, n_roots_moved)},
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
