#include "matrix_picture.h"

#include "json.h"
#include "markup.h"
#include "run_text.h"

#include <inttypes.h>

// One row of the table.
struct matrix_data_row {
	const struct tb_run_switch *sw;
	enum tb_metric metric;
	const char *wait; // NULL: it tells of no wait
	const char *direction;
	const char *link; // NULL: the switch's sum
	uint32_t port;
	enum tb_known known; // of not measured ones there is no value
	uint64_t value;
	double percent;
};

// Where rows go.
struct matrix_data_sink {
	void (*write)(void *context, const struct matrix_data_row *row);
	void *context;
};

// wait_of_metric is the word for the wait of which a metric tells, NULL for others.
static const char *wait_of_metric(const struct tb_run *run, enum tb_metric metric)
{
	const struct tb_run_info *info = tb_run_info(run);
	if (metric == TB_WAIT)
		metric = info->wait;
	else if (metric == TB_BLOCKED || metric == TB_LONGEST || metric == TB_QUEUE)
		metric = info->leads;
	return metric == TB_WAIT_FOR  ? tb_wait_lead_words[TB_LEADS_FOR]
	       : metric == TB_CAME_BY ? tb_wait_lead_words[TB_LEADS_CAME_BY]
				      : NULL;
}

static void each_cell(const struct tb_run *run, struct matrix_data_row *row,
	const struct tb_matrix_cell *cells, uint32_t n,
	const struct matrix_data_sink *sink)
{
	uint32_t first_port = row->port;
	for (uint32_t i = 0; i < n; i++) {
		if (cells[i].link.id == TB_ID_NONE)
			continue;
		row->port = first_port + i;
		row->link = tb_run_links(run)[cells[i].link.id].name;
		row->known = tb_known_of(
			tb_run_links(run)[cells[i].link.id].known, row->metric);
		row->value = cells[i].value;
		row->percent = cells[i].percent;
		sink->write(sink->context, row);
	}
}

static void matrix_data_each_row(const struct tb_run *run, const struct tb_matrix *matrix,
	const struct matrix_data_sink *sink)
{
	for (uint32_t level = 0; level < matrix->n_rows; level++) {
		for (uint32_t i = 0; i < matrix->rows[level].n_boxes; i++) {
			const struct tb_matrix_box *box = &matrix->rows[level].boxes[i];
			const struct tb_run_switch *sw =
				&tb_run_switches(run)[box->sw.id];
			struct matrix_data_row row = {.sw = sw,
				.metric = matrix->metric,
				.wait = wait_of_metric(run, matrix->metric),
				.direction = "above",
				.port = box->n_below};
			each_cell(run, &row, box->above, box->n_above, sink);
			row.direction = "sum";
			row.link = NULL;
			row.port = 0;
			row.known = tb_known_of(sw->known, matrix->metric);
			row.value = box->sum;
			row.percent = box->percent;
			sink->write(sink->context, &row);
			row.direction = "below";
			each_cell(run, &row, box->below, box->n_below, sink);
			row.direction = "node";
			row.port = 0;
			each_cell(run, &row, box->nodes, box->n_nodes, sink);
		}
	}
}

static void csv_row(void *context, const struct matrix_data_row *row)
{
	FILE *stream = context;
	fprintf(stream, "%" PRIu32 ",", row->sw->at.level);
	tb_csv_put(stream, row->sw->name);
	fputc(',', stream);
	if (row->link)
		fprintf(stream, "%" PRIu32, row->port);
	fprintf(stream, ",%s,", row->direction);
	tb_csv_put(stream, row->link ? row->link : "");
	if (row->known == TB_NOT_MEASURED)
		fputs(",,", stream);
	else
		fprintf(stream, ",%" PRIu64 ",%.3f", row->value, row->percent);
	bool bounded = row->known == TB_AT_LEAST || row->known == TB_AT_MOST;
	fprintf(stream, ",%s,%s\n", row->wait ? row->wait : "",
		bounded ? tb_known_word(row->known) : "");
}

void tb_matrix_csv(const struct tb_run *run, const struct tb_matrix *matrix, FILE *stream)
{
	fputs("level,switch,port,direction,link,value,percent,wait,bound\n", stream);
	matrix_data_each_row(run, matrix, &(struct matrix_data_sink){csv_row, stream});
}

static void json_row(void *context, const struct matrix_data_row *row)
{
	json_t *port = row->link ? tb_json_count(row->port) : json_null();
	json_t *link = row->link ? tb_json_text(row->link) : json_null();
	bool lacks = row->known == TB_NOT_MEASURED;
	json_t *value = lacks ? json_null() : tb_json_count(row->value);
	json_t *percent = lacks ? json_null() : json_real(row->percent);
	const char *bound = lacks ? NULL : tb_known_word(row->known);
	tb_json_rows_put(
		context, json_pack("{s:I, s:o, s:o, s:s, s:o, s:o, s:o, s:s*}", "level",
				 (json_int_t)row->sw->at.level, "switch",
				 tb_json_text(row->sw->name), "port", port, "direction",
				 row->direction, "link", link, "value", value, "percent",
				 percent, "bound", bound));
}

int tb_matrix_json(const struct tb_run *run, const struct tb_matrix *matrix,
	struct tb_window window, FILE *stream)
{
	const struct tb_run_info *info = tb_run_info(run);
	struct tb_json_object head = tb_json_object_new();
	struct tb_json_rows rows;
	tb_json_add_count(&head, "run", (uint64_t)info->id);
	tb_json_add_text(&head, "input", info->input_name);
	tb_json_add_text(&head, "network", info->network_name);
	tb_json_add_count(&head, "nodes", info->n_nodes);
	tb_json_add(&head, "complete", json_boolean(info->complete));
	tb_json_add_text(&head, "metric", tb_link_figures[matrix->metric].name);
	tb_json_add_text(&head, "unit", tb_metric_unit(matrix->metric));
	tb_json_add_text(&head, "links", matrix->leaves ? "leaving" : "arriving");
	const char *wait = wait_of_metric(run, matrix->metric);
	tb_json_add(&head, "wait", wait ? json_string(wait) : json_null());
	tb_json_add_count(&head, "from_ps", (uint64_t)tb_window_begin_ps(info, window));
	tb_json_add_count(&head, "to_ps", (uint64_t)tb_window_end_ps(info, window));
	tb_json_add_count(&head, "largest_link", matrix->largest_link);
	tb_json_add_count(&head, "largest_switch", matrix->largest_switch);
	tb_json_rows_begin(&rows, tb_json_object_take(&head), "cells", 6, stream);
	matrix_data_each_row(run, matrix, &(struct matrix_data_sink){json_row, &rows});
	return tb_json_rows_end(&rows);
}
