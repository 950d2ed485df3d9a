#include "matrix_data.h"

#include "markup.h"
#include "metric_text.h"
#include "run_text.h"

#include <inttypes.h>

// One row of the table.
struct row {
	const struct tb_run_switch *sw;
	const char *direction;
	const char *link; // NULL: the switch's sum
	uint32_t port;
	uint64_t value;
	double percent;
};

// Where rows go.
struct sink {
	void (*write)(void *context, const struct row *row);
	void *context;
};

static void each_cell(const struct tb_run *run, struct row *row,
	const struct tb_matrix_cell *cells, uint32_t n, const struct sink *sink)
{
	uint32_t first_port = row->port;
	for (uint32_t i = 0; i < n; i++) {
		if (cells[i].link.id == TB_ID_NONE)
			continue;
		row->port = first_port + i;
		row->link = tb_run_links(run)[cells[i].link.id].name;
		row->value = cells[i].value;
		row->percent = cells[i].percent;
		sink->write(sink->context, row);
	}
}

static void each_row(
	const struct tb_run *run, const struct tb_matrix *matrix, const struct sink *sink)
{
	for (uint32_t level = 0; level < matrix->n_rows; level++) {
		for (uint32_t i = 0; i < matrix->rows[level].n_blocks; i++) {
			const struct tb_matrix_block *block =
				&matrix->rows[level].blocks[i];
			const struct tb_run_switch *sw =
				&tb_run_switches(run)[block->sw.id];
			struct row row = {
				.sw = sw, .direction = "above", .port = block->n_below};
			each_cell(run, &row, block->above, block->n_above, sink);
			row = (struct row){
				sw, "sum", NULL, 0, block->sum, block->percent};
			sink->write(sink->context, &row);
			row = (struct row){.sw = sw, .direction = "below"};
			each_cell(run, &row, block->below, block->n_below, sink);
		}
	}
}

static void csv_row(void *context, const struct row *row)
{
	FILE *stream = context;
	fprintf(stream, "%" PRIu32 ",%s,", row->sw->at.level, row->sw->name);
	if (row->link)
		fprintf(stream, "%" PRIu32, row->port);
	fprintf(stream, ",%s,%s,%" PRIu64 ",%.3f\n", row->direction,
		row->link ? row->link : "", row->value, row->percent);
}

void tb_matrix_csv(const struct tb_run *run, const struct tb_matrix *matrix, FILE *stream)
{
	fputs("level,switch,port,direction,link,value,percent\n", stream);
	each_row(run, matrix, &(struct sink){csv_row, stream});
}

struct json {
	FILE *stream;
	const char *separator;
};

static void json_row(void *context, const struct row *row)
{
	struct json *json = context;
	fprintf(json->stream,
		"%s\n    {\"level\": %" PRIu32 ", \"switch\": \"%s\", \"port\": ",
		json->separator, row->sw->at.level, row->sw->name);
	if (row->link)
		fprintf(json->stream, "%" PRIu32, row->port);
	else
		fputs("null", json->stream);
	fprintf(json->stream, ", \"direction\": \"%s\", \"link\": ", row->direction);
	if (row->link)
		tb_json_put(json->stream, row->link);
	else
		fputs("null", json->stream);
	fprintf(json->stream, ", \"value\": %" PRIu64 ", \"percent\": %.3f}", row->value,
		row->percent);
	json->separator = ",";
}

void tb_matrix_json(const struct tb_run *run, const struct tb_matrix *matrix,
	struct tb_window window, FILE *stream)
{
	const struct tb_run_info *info = tb_run_info(run);
	struct json json = {stream, ""};
	fprintf(stream, "{\n  \"run\": %" PRId64 ",\n  \"input\": ", info->id);
	tb_json_put(stream, info->input_name);
	fputs(",\n  \"network\": ", stream);
	tb_json_put(stream, info->network_name);
	fprintf(stream,
		",\n  \"nodes\": %" PRIu32 ",\n  \"complete\": %s,\n"
		"  \"metric\": \"%s\",\n  \"unit\": \"%s\",\n"
		"  \"from_ps\": %" PRId64 ",\n  \"to_ps\": %" PRId64 ",\n"
		"  \"largest_link\": %" PRIu64 ",\n  \"largest_switch\": %" PRIu64
		",\n  \"cells\": [",
		info->n_nodes, info->complete ? "true" : "false",
		tb_metric_name(matrix->metric), tb_metric_unit(matrix->metric),
		tb_window_begin_ps(info, window), tb_window_end_ps(info, window),
		matrix->largest_link, matrix->largest_switch);
	each_row(run, matrix, &(struct sink){json_row, &json});
	fputs("\n  ]\n}\n", stream);
}
