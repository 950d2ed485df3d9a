#include "rows.h"

#include "markup.h"
#include "order.h"
#include "select.h"
#include "series.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int tb_rows_init(struct tb_rows *rows, const struct tb_viewer_data *data)
{
	uint32_t n = data->info->n_links;
	*rows = (struct tb_rows){.data = data,
		.list = calloc(n ? n : 1, sizeof *rows->list),
		.sparks = calloc(1, sizeof *rows->sparks)};
	return rows->list && rows->sparks ? TB_OK : TB_ENOMEM;
}

void tb_rows_fini(struct tb_rows *rows)
{
	free(rows->list);
	free(rows->sparks);
	*rows = (struct tb_rows){.list = NULL};
}

static int rows_by_key(const void *one, const void *other)
{
	const struct tb_list_row *a = one;
	const struct tb_list_row *b = other;
	return a->key != b->key ? TB_ORDER(b->key, a->key)
				: TB_ORDER(a->link.id, b->link.id);
}

const struct tb_link_sample *tb_rows_sample(const struct tb_rows *rows, uint32_t link)
{
	return &(rows->other ? rows->other : rows->data->samples)[link];
}

struct tb_link_known tb_rows_known(const struct tb_rows *rows, uint32_t link)
{
	return tb_run_links(rows->other ? rows->other_run : rows->data->run)[link].known;
}

enum tb_metric tb_rows_metric(const struct tb_rows *rows)
{
	return rows->column < TB_COLUMN_METRIC
		       ? rows->data->metric
		       : (enum tb_metric)(rows->column - TB_COLUMN_METRIC);
}

struct tb_scale tb_rows_scale(const struct tb_rows *rows, const struct tb_style *style)
{
	return tb_style_scale(
		style, tb_quantity_of(tb_rows_metric(rows)), (double)rows->largest);
}

// rows_key returns the sort key of a link with this value of the metric.
static uint64_t rows_key(const struct tb_rows *rows, uint32_t link, uint64_t value)
{
	uint64_t key = rows->column == TB_COLUMN_NAME ? ~(uint64_t)link : value;
	return rows->rising ? ~key : key;
}

const char *tb_rows_kind(enum tb_link_kind kind)
{
	static const char *const names[] = {[TB_LINK_INJECTION] = "injection",
		[TB_LINK_UP] = "up",
		[TB_LINK_DOWN] = "down",
		[TB_LINK_EJECTION] = "ejection"};
	return names[kind];
}

static bool rows_is_dead(const struct tb_rows *rows, uint32_t link)
{
	return tb_viewer_data_is_dead(
		rows->data, tb_run_links(rows->data->run)[link].dead_at_ps);
}

// rows_passes is true when every word of the filter is in the link's name or is its kind.
static bool rows_passes(const struct tb_rows *rows, uint32_t link)
{
	const struct tb_run_link *at = &tb_run_links(rows->data->run)[link];
	const char *word = rows->filter;
	while (*(word += strspn(word, " "))) {
		char wanted[sizeof rows->filter];
		size_t length = strcspn(word, " ");
		memcpy(wanted, word, length);
		wanted[length] = '\0';
		if (!strcasestr(at->name, wanted) &&
			strcasecmp(tb_rows_kind(at->at.kind), wanted) != 0 &&
			!(rows_is_dead(rows, link) && strcasecmp("dead", wanted) == 0))
			return false;
		word += length;
	}
	return true;
}

void tb_rows_read(struct tb_rows *rows)
{
	enum tb_metric metric = tb_rows_metric(rows);
	uint32_t n_links = rows->data->info->n_links, n = 0;
	bool dead = strcasestr(rows->filter, "dead") != NULL;
	rows->largest = 0;
	for (uint32_t i = 0; i < n_links; i++) {
		uint64_t value = tb_metric_of(tb_rows_sample(rows, i), metric);
		rows->largest = value > rows->largest ? value : rows->largest;
		if ((value == 0 && !(dead && rows_is_dead(rows, i))) ||
			(rows->outside && rows->outside[i]) ||
			(rows->filter[0] && !rows_passes(rows, i)))
			continue;
		rows->list[n++] = (struct tb_list_row){{i}, rows_key(rows, i, value)};
	}
	rows->n = n;
	rows->n_ranked = 0;
	tb_rows_rank(rows, 1);
}

void tb_rows_rank(struct tb_rows *rows, double n)
{
	uint32_t wanted = n < rows->n ? (uint32_t)n : rows->n;
	uint32_t done = rows->n_ranked;
	if (wanted <= done)
		return;
	wanted = wanted < done * 2 ? done * 2
				   : wanted; // doubling keeps the number of sorts small
	tb_select_first(rows->list + done, rows->n - done, sizeof *rows->list,
		wanted - done, rows_by_key);
	rows->n_ranked = wanted < rows->n ? wanted : rows->n;
}

void tb_rows_order(struct tb_rows *rows, enum tb_list_column column)
{
	rows->rising = column == rows->column && !rows->rising;
	rows->column = column;
	rows->scroll = 0;
	tb_rows_read(rows);
}

// Count the rows before it, because not all of them are sorted yet.
uint32_t tb_rows_of(const struct tb_rows *rows, struct tb_pick pick)
{
	uint32_t link = pick.index, n = 0;
	bool found = false;
	if (pick.kind != TB_PICK_LINK || link >= rows->data->info->n_links)
		return rows->n;
	uint64_t value = tb_metric_of(tb_rows_sample(rows, link), tb_rows_metric(rows));
	const struct tb_list_row row = {{link}, rows_key(rows, link, value)};
	for (uint32_t i = 0; i < rows->n; i++) {
		n += rows_by_key(&rows->list[i], &row) < 0;
		found |= rows->list[i].link.id == link;
	}
	return found ? n : rows->n;
}

bool tb_rows_step(struct tb_rows *rows, struct tb_pick pick, int by, struct tb_link *link)
{
	uint32_t row = tb_rows_of(rows, pick);
	if (rows->n == 0)
		return false;
	if (row == rows->n)
		row = 0;
	else if (by < 0)
		row -= row > 0;
	else
		row += row + 1 < rows->n;
	tb_rows_rank(rows, row + 1.0);
	*link = rows->list[row].link;
	return true;
}

void tb_rows_put_csv(struct tb_rows *rows, FILE *stream)
{
	const struct tb_viewer_data *data = rows->data;
	tb_rows_rank(rows, rows->n);
	fputs("rank,link,kind", stream);
	for (int metric = 0; metric < TB_N_ALL_METRICS; metric++)
		fprintf(stream, ",%s", tb_link_figures[metric].column);
	fputs(",window_begin_ps,window_end_ps\n", stream);
	for (uint32_t i = 0; i < rows->n; i++) {
		uint32_t id = rows->list[i].link.id;
		const struct tb_run_link *link = &tb_run_links(data->run)[id];
		fprintf(stream, "%" PRIu32 ",", i + 1);
		tb_csv_put(stream, link->name);
		fputc(',', stream);
		tb_csv_put(stream, tb_rows_kind(link->at.kind));
		for (int i_metric = 0; i_metric < TB_N_ALL_METRICS; i_metric++) {
			enum tb_metric metric = (enum tb_metric)i_metric;
			fputc(',', stream);
			if (!tb_run_unmeasured(link->known, metric))
				fprintf(stream, "%" PRIu64,
					tb_metric_of(&data->samples[id], metric));
		}
		fprintf(stream, ",%" PRId64 ",%" PRId64 "\n",
			tb_window_begin_ps(data->info, data->window),
			tb_window_end_ps(data->info, data->window));
	}
}

#define MOST_LOOKS 4096 // into the store per question: about 8 ms

static struct tb_spark_question *rows_of_run(struct tb_question *question)
{
	return (struct tb_spark_question *)question;
}

static int read_sparks(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_spark_question *asked = rows_of_run(question);
	uint64_t looks = tb_run_info(run)->n_bins, n_looks = 0;
	looks = looks < TB_SERIES_LOOKS ? looks : TB_SERIES_LOOKS;
	for (asked->n_read = 0; asked->n_read < asked->n && n_looks < MOST_LOOKS;
		n_looks += looks) {
		struct tb_link link = asked->links[asked->n_read];
		// A line that cannot be read is flat: the window's numbers report why.
		(void)!tb_spark_read(
			&asked->lines[asked->n_read++], run, link, asked->metric, error);
	}
	return TB_OK;
}

static void rows_taken(struct tb_question *question, struct tb_run *run)
{
	struct tb_spark_question *asked = rows_of_run(question);
	(void)run;
	question->state = TB_UNASKED;
	for (uint32_t i = 0; asked->metric == asked->sparks->metric && i < asked->n_read;
		i++)
		tb_sparks_keep(asked->sparks, &asked->lines[i]);
}

void tb_spark_question_init(struct tb_spark_question *asked, struct tb_sparks *sparks)
{
	*asked = (struct tb_spark_question){.question = {.what = "sparklines",
						    .read = read_sparks,
						    .taken = rows_taken},
		.sparks = sparks};
}

void tb_spark_question_ask(struct tb_spark_question *asked, struct tb_reader *reader)
{
	const struct tb_sparks *sparks = asked->sparks;
	if (asked->question.state == TB_ASKED || sparks->n_wanted == 0)
		return;
	asked->n = sparks->n_wanted < TB_SPARKS_A_QUESTION ? sparks->n_wanted
							   : TB_SPARKS_A_QUESTION;
	asked->metric = sparks->metric;
	memcpy(asked->links, sparks->wanted, asked->n * sizeof *asked->links);
	tb_reader_ask(reader, &asked->question);
}
