#include "report_cells.h"

#include <stdlib.h>
#include <string.h>

struct tb_report_cell *tb_report_cell(struct tb_report_writer *writer)
{
	writer->next->bar = -1;
	return writer->next++;
}

// end_whole removes a UTF-8 character that was cut off at the end of the buffer.
void tb_report_end_whole(char *text, size_t size)
{
	size_t length = strlen(text);
	if (length + 1 < size)
		return;
	size_t start = length;
	while (start > 0 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
		start--;
	// A first byte 110xxxxx is followed by 1 byte, 1110xxxx by 2, 11110xxx by 3.
	unsigned char first = start > 0 ? (unsigned char)text[start - 1] : 0;
	size_t follow = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
	if (follow > length - start)
		text[start - 1] = '\0';
}

void tb_report_put_text(struct tb_report_writer *writer, const char *text)
{
	struct tb_report_cell *at = tb_report_cell(writer);
	snprintf(at->text, sizeof at->text, "%s", text);
}

void tb_report_put_count(struct tb_report_writer *writer, uint64_t count)
{
	struct tb_report_cell *at = tb_report_cell(writer);
	tb_format_count(count, at->text, sizeof at->text);
	at->value = (double)count;
}

char *tb_report_format_time(double time_ps, char *buffer, size_t size)
{
	tb_time_ps time = time_ps < 9.2e18 ? (tb_time_ps)time_ps : TB_TIME_NEVER;
	return tb_format_time(time, buffer, size);
}

struct tb_report_cell *tb_report_put_time(struct tb_report_writer *writer, double time_ps)
{
	struct tb_report_cell *at = tb_report_cell(writer);
	tb_report_format_time(time_ps, at->text, sizeof at->text);
	at->value = time_ps;
	return at;
}

void tb_report_put_size(struct tb_report_writer *writer, uint64_t bytes)
{
	struct tb_report_cell *at = tb_report_cell(writer);
	tb_format_size(bytes, at->text, sizeof at->text);
	at->value = (double)bytes;
}

void tb_report_put_real(struct tb_report_writer *writer, double value, const char *unit)
{
	struct tb_report_cell *at = tb_report_cell(writer);
	snprintf(at->text, sizeof at->text, "%.1f%s", value, unit);
	at->value = value;
}

// put_slowdown writes two decimals below 10, none from 10 on.
void tb_report_put_slowdown(
	struct tb_report_writer *writer, double slowdown, double worst)
{
	struct tb_report_cell *at = tb_report_cell(writer);
	snprintf(at->text, sizeof at->text, "%.*f", slowdown < 10 ? 2 : 0, slowdown);
	at->value = slowdown;
	at->bar = worst > 0 ? 100 * slowdown / worst : -1;
}

void tb_report_put_node(
	struct tb_report_writer *writer, const struct tb_run *run, struct tb_node node)
{
	struct tb_report_cell *at = tb_report_cell(writer);
	const char *name = tb_run_node_name(run, node);
	if (*name)
		snprintf(at->text, sizeof at->text, "node %u (%s)", node.id, name);
	else
		snprintf(at->text, sizeof at->text, "node %u", node.id);
	tb_report_end_whole(at->text, sizeof at->text);
	at->value = node.id;
}

const char *tb_report_job_name(
	const struct tb_run *run, uint32_t job, char *buffer, size_t size)
{
	const char *name = tb_run_job_name(run, job);
	if (*name)
		snprintf(buffer, size, "%s", name);
	else
		snprintf(buffer, size, "job %u", job);
	tb_report_end_whole(buffer, size);
	return buffer;
}

void tb_report_put_job(
	struct tb_report_writer *writer, const struct tb_run *run, uint32_t job)
{
	struct tb_report_cell *at = tb_report_cell(writer);
	tb_report_job_name(run, job, at->text, sizeof at->text);
	at->value = job;
}

// put_flow writes "melt: 3 > 15", without the job when the run has only one.
void tb_report_put_flow(struct tb_report_writer *writer, const struct tb_run *run,
	uint32_t job, struct tb_node source, struct tb_node destination)
{
	struct tb_report_cell *at = tb_report_cell(writer);
	char name[40];
	bool told = tb_run_info(run)->n_jobs > 1;
	if (told)
		snprintf(at->text, sizeof at->text, "%s: node %u > node %u",
			tb_report_job_name(run, job, name, sizeof name), source.id,
			destination.id);
	else
		snprintf(at->text, sizeof at->text, "node %u > node %u", source.id,
			destination.id);
}

int tb_report_table_open(struct tb_report_table *table, struct tb_report_writer *writer)
{
	while (table->n_columns < TB_REPORT_COLUMNS &&
		table->columns[table->n_columns].title)
		table->n_columns++;
	table->cells = calloc(
		table->n_rows * (size_t)table->n_columns + 1, sizeof *table->cells);
	writer->next = table->cells;
	return table->cells ? TB_OK : TB_ENOMEM;
}

int tb_report_open_table(struct tb_report *report, const struct tb_report_table *table,
	struct tb_report_writer *writer)
{
	struct tb_report_table *opened = &report->tables[report->n_tables];
	*opened = *table;
	if (table->title == table->heading)
		opened->title = opened->heading;
	int status = tb_report_table_open(opened, writer);
	report->n_tables += status == TB_OK;
	return status;
}

void tb_report_remark_rest(
	struct tb_report_table *table, uint64_t n, const char *what, const char *meaning)
{
	char all[32];
	if (n > table->n_rows)
		snprintf(table->remark, sizeof table->remark,
			"The first %zu of %s %s.%s%s", table->n_rows,
			tb_format_count(n, all, sizeof all), what, *meaning ? " " : "",
			meaning);
	else
		snprintf(table->remark, sizeof table->remark, "%s", meaning);
}

struct tb_report_cell *tb_report_put_mean(
	struct tb_report_writer *writer, uint64_t sum_ps, uint64_t n)
{
	return tb_report_put_time(writer, n ? (double)sum_ps / (double)n : 0);
}
