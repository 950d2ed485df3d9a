// Filling the tables of a report, cell by cell. Private to analyze/.
#ifndef TB_REPORT_CELLS_H
#define TB_REPORT_CELLS_H

#include "report_impl.h"

// Where the next cell of a table goes, column by column.
struct tb_report_writer {
	struct tb_report_cell *next;
};

// tb_report_table_open counts the columns and makes room for the rows, which the caller
// frees: table->cells. TB_ENOMEM.
int tb_report_table_open(
	struct tb_report_table *table, struct tb_report_writer *writer) TB_MUST_USE;

// tb_report_table_text and tb_report_table_markdown write a table with its title. Write
// errors show in ferror(stream).
void tb_report_table_text(const struct tb_report_table *table, FILE *stream);
void tb_report_table_markdown(const struct tb_report_table *table, FILE *stream);

// tb_report_markdown escapes what would be taken for markup: in names of files and
// endpoints all of it can occur.
void tb_report_markdown(FILE *stream, const char *text);

// tb_report_open_table appends a table with room for its rows; TB_ENOMEM.
int tb_report_open_table(struct tb_report *report, const struct tb_report_table *table,
	struct tb_report_writer *writer) TB_MUST_USE;

// tb_report_remark_rest says behind a table of which list it shows the first.
void tb_report_remark_rest(
	struct tb_report_table *table, uint64_t n, const char *what, const char *meaning);

// tb_report_cell is the next cell, without bar; the others fill it.
struct tb_report_cell *tb_report_cell(struct tb_report_writer *writer);
void tb_report_put_text(struct tb_report_writer *writer, const char *text);
void tb_report_put_count(struct tb_report_writer *writer, uint64_t count);
struct tb_report_cell *tb_report_put_time(
	struct tb_report_writer *writer, double time_ps);
void tb_report_put_size(struct tb_report_writer *writer, uint64_t bytes);
void tb_report_put_real(struct tb_report_writer *writer, double value, const char *unit);
// tb_report_put_slowdown keeps two digits behind the point where they tell something.
void tb_report_put_slowdown(
	struct tb_report_writer *writer, double slowdown, double worst);
void tb_report_put_node(
	struct tb_report_writer *writer, const struct tb_run *run, struct tb_node node);
void tb_report_put_job(
	struct tb_report_writer *writer, const struct tb_run *run, uint32_t job);
// tb_report_put_flow writes "melt: 3 > 15", without the job when there is but one.
void tb_report_put_flow(struct tb_report_writer *writer, const struct tb_run *run,
	uint32_t job, struct tb_node source, struct tb_node destination);

// tb_report_job_name is what people call a job, in `buffer`.
const char *tb_report_job_name(
	const struct tb_run *run, uint32_t job, char *buffer, size_t size);

// tb_report_end_whole takes a character away that the end of its buffer cut in two.
void tb_report_end_whole(char *text, size_t size);

// The tables that stand in files of their own.
int tb_report_tabulate_jobs(struct tb_report *report) TB_MUST_USE;
int tb_report_tabulate_job_blame(struct tb_report *report) TB_MUST_USE;
int tb_report_tabulate_roots(struct tb_report *report) TB_MUST_USE;
int tb_report_tabulate_triples(struct tb_report *report) TB_MUST_USE;
int tb_report_tabulate_blame(struct tb_report *report) TB_MUST_USE;

#endif
