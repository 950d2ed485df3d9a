// What the parts of a report share. Private to analyze/.
#ifndef TB_REPORT_IMPL_H
#define TB_REPORT_IMPL_H

#include "findings.h"
#include "flows.h"
#include "grouped.h"
#include "job_times.h"
#include "json.h"
#include "matrix.h"
#include "report.h"
#include "roots.h"
#include "run_capture.h"

// A table as printed, the same for text, Markdown and HTML.
struct tb_report_column {
	const char *title;
	const char *meaning; // a sentence, shown on hover
	bool number;	     // aligned right
};

struct tb_report_cell {
	char text[80];
	double value; // of a number, to sort by
	double bar;   // 0..100, negative: none
};

#define TB_REPORT_COLUMNS 14

struct tb_report_table {
	const char *id; // also the anchor in HTML
	const char *title;
	char heading[80]; // storage for a title that depends on the numbers
	char remark[160]; // what the list omits, and what its numbers mean
	int n_columns;
	struct tb_report_column columns[TB_REPORT_COLUMNS];
	size_t n_rows;
	struct tb_report_cell *cells; // n_rows * n_columns
};

#define TB_REPORT_TABLES 10

// A line of the summary: "waited" "1.234 ms on 34 of 64 links".
struct tb_report_fact {
	const char *name;
	char text[160];
};

#define TB_REPORT_FACTS 10

struct tb_report {
	struct tb_run *run;
	const struct tb_run_info *info;
	bool has_capture; // `capture` is known
	struct tb_run_capture capture;
	struct tb_hot_link *hot_links;
	uint32_t n_hot_links; // listed
	uint32_t n_waiting;   // links that waited at all
	double wait_ps;	      // of all links
	uint32_t n_active;    // nodes that sent or received packets
	struct tb_matrix matrix;
	const struct tb_matrix_box **switches; // listed, by wait
	uint32_t n_switches, n_switches_waiting;
	struct tb_flow *flows;
	uint32_t n_flows;
	uint64_t n_flows_all;
	uint32_t top; // entries of a list; 0: all
	struct tb_jobs jobs;
	struct tb_job_times *times; // of each
	uint64_t *wait_by_link;	    // n_links of the run
	struct tb_roots roots;
	struct tb_root_jobs root_jobs; // of these
	struct tb_job_pairs job_pairs; // all
	struct tb_job_links job_links; // of the hot links
	struct tb_heavy_waits heaviest;
	struct tb_groups groups[TB_GROUPINGS];
	struct tb_grouped grouped;
	uint64_t *wait_by_bin; // n_bins
	struct tb_report_table tables[TB_REPORT_TABLES];
	int n_tables; // without empty ones
	struct tb_report_fact facts[TB_REPORT_FACTS];
	int n_facts;
	struct tb_evidence evidence;
	struct tb_findings findings;
};

// tb_report_format_time is tb_format_time for sums too large for a tb_time_ps.
char *tb_report_format_time(double time_ps, char *buffer, size_t size);

// tb_report_idle writes how much idle time of the captures was taken out: "2.000 s of
// idle time taken out"; "" when that is not known. It returns `buffer`.
char *tb_report_idle(const struct tb_report *report, char *buffer, size_t size);

// tb_report_per_node writes what was delivered per second and node that sent or received
// packets, and tb_report_active which nodes those are: "per node", or "per node of 12
// that took part". Both return `buffer`.
char *tb_report_per_node(const struct tb_report *report, char *buffer, size_t size);
char *tb_report_active(const struct tb_report *report, char *buffer, size_t size);

// tb_report_tabulate fills tables and facts from the other members.
int tb_report_tabulate(struct tb_report *report) TB_MUST_USE;

// tb_report_n_regions returns how many congestion regions are listed.
uint32_t tb_report_n_regions(const struct tb_report *report);

// tb_report_any_alone returns whether it is known what any job takes by itself.
bool tb_report_any_alone(const struct tb_report *report);

// tb_report_percent_of_link returns the share of a wait in all at a link,
// tb_report_percent_of_blame that in all waits of the run.
double tb_report_percent_of_link(
	const struct tb_report *report, struct tb_link link, uint64_t wait_ps);
double tb_report_percent_of_blame(const struct tb_report *report, uint64_t wait_ps);

// The findings at the beginning of a report, and what is worth trying; the same sentences
// in each format. The JSON is NULL when memory runs out.
void tb_report_findings_text(const struct tb_findings *findings, FILE *stream);
void tb_report_findings_markdown(const struct tb_findings *findings, FILE *stream);
void tb_report_findings_html(const struct tb_findings *findings, FILE *stream);
json_t *tb_report_findings_array(const struct tb_report *report);

// The notes of the run, as many as lists have entries.
size_t tb_report_n_notes(const struct tb_report *report);
void tb_report_notes_text(const struct tb_report *report, FILE *stream);
void tb_report_notes_markdown(const struct tb_report *report, FILE *stream);
void tb_report_notes_html(const struct tb_report *report, FILE *stream);
json_t *tb_report_notes_array(const struct tb_report *report);

void tb_report_write_text(const struct tb_report *report, FILE *stream);
void tb_report_write_markdown(const struct tb_report *report, FILE *stream);
int tb_report_write_csv(
	const struct tb_report *report, const char *list, FILE *stream) TB_MUST_USE;
int tb_report_write_json(const struct tb_report *report, FILE *stream) TB_MUST_USE;
void tb_report_write_html(const struct tb_report *report,
	const struct tb_report_figures *figures, FILE *stream);

#endif
