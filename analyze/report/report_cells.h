// Fills the tables of a report, cell by cell. Private to analyze/.
#ifndef TB_REPORT_CELLS_H
#define TB_REPORT_CELLS_H

#include "report_impl.h"

// Where the next cell of a table goes, column by column.
struct tb_report_writer {
	struct tb_report_cell *next;
};

// tb_report_table_open counts the columns and allocates table->cells for the rows; the
// caller frees them. TB_ENOMEM.
int tb_report_table_open(
	struct tb_report_table *table, struct tb_report_writer *writer) TB_MUST_USE;

// tb_report_table_text and tb_report_table_markdown write a table with its title. Write
// errors show in ferror(stream).
void tb_report_table_text(const struct tb_report_table *table, FILE *stream);
void tb_report_table_markdown(const struct tb_report_table *table, FILE *stream);

// tb_report_markdown writes `text` with Markdown's special characters escaped: names of
// files and endpoints may contain any of them.
void tb_report_markdown(FILE *stream, const char *text);

// tb_report_open_table appends a table with room for its rows; TB_ENOMEM.
int tb_report_open_table(struct tb_report *report, const struct tb_report_table *table,
	struct tb_report_writer *writer) TB_MUST_USE;

// tb_report_remark_rest sets the table's remark: "The first 20 of 64 links." (`n`,
// `what`) if some are left out, then `meaning`.
void tb_report_remark_rest(
	struct tb_report_table *table, uint64_t n, const char *what, const char *meaning);

// tb_report_cell takes the next cell, without a bar; the functions below also fill it.
struct tb_report_cell *tb_report_cell(struct tb_report_writer *writer);
void tb_report_put_text(struct tb_report_writer *writer, const char *text);
void tb_report_put_count(struct tb_report_writer *writer, uint64_t count);
struct tb_report_cell *tb_report_put_time(
	struct tb_report_writer *writer, double time_ps);
// tb_report_put_mean puts a time that n messages took together, for one of them.
struct tb_report_cell *tb_report_put_mean(
	struct tb_report_writer *writer, uint64_t sum_ps, uint64_t n);
void tb_report_put_size(struct tb_report_writer *writer, uint64_t bytes);
void tb_report_put_real(struct tb_report_writer *writer, double value, const char *unit);
// tb_report_put_slowdown writes two decimals below 10, none from 10 on; the bar is
// relative to `worst`.
void tb_report_put_slowdown(
	struct tb_report_writer *writer, double slowdown, double worst);
// tb_report_put_part writes a part of a job's run time, which may be negative; "-" when
// it is not known. The bar is its share of the run time.
void tb_report_put_part(struct tb_report_writer *writer, const struct tb_job_times *times,
	enum tb_job_part part);
void tb_report_put_node(
	struct tb_report_writer *writer, const struct tb_run *run, struct tb_node node);
void tb_report_put_job(
	struct tb_report_writer *writer, const struct tb_run *run, uint32_t job);
// tb_report_put_flow writes "melt: 3 > 15", without the job when the run has only one.
void tb_report_put_flow(struct tb_report_writer *writer, const struct tb_run *run,
	uint32_t job, struct tb_node source, struct tb_node destination);

// tb_report_job_name writes the name of a job for people into `buffer`, which it returns.
const char *tb_report_job_name(
	const struct tb_run *run, uint32_t job, char *buffer, size_t size);

// tb_report_end_whole removes a UTF-8 character that was cut off at the end of a full
// buffer of `size` bytes.
void tb_report_end_whole(char *text, size_t size);

// The tables that have files of their own.
int tb_report_tabulate_jobs(struct tb_report *report) TB_MUST_USE;
int tb_report_tabulate_job_blame(struct tb_report *report) TB_MUST_USE;
int tb_report_tabulate_times(struct tb_report *report) TB_MUST_USE;
int tb_report_tabulate_roots(struct tb_report *report) TB_MUST_USE;
int tb_report_tabulate_heaviest(struct tb_report *report) TB_MUST_USE;
int tb_report_tabulate_grouped(struct tb_report *report) TB_MUST_USE;

#endif
