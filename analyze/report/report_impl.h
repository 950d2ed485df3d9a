// What the parts of a report share. Private to analyze/.
#ifndef TB_REPORT_IMPL_H
#define TB_REPORT_IMPL_H

#include "call_spans.h"
#include "findings.h"
#include "flow_sum.h"
#include "flows.h"
#include "grouped.h"
#include "job_times.h"
#include "json.h"
#include "link_queue.h"
#include "matrix.h"
#include "recorded.h"
#include "report.h"
#include "report_parts.h"
#include "roots.h"
#include "run_capture.h"
#include "table.h"
#include "wait_figures.h"

// A line of the summary: "waited" "1.234 ms on 34 of 64 links".
struct tb_report_fact {
	const char *name;
	char text[1024];
};

#define TB_REPORT_FACTS 12
#define TB_REPORT_TITLE 4096 // bytes of its names of files

// The lists of a report, in the order in which people read them.
#define TB_REPORT_LISTS 30
extern const struct tb_table_type *const tb_report_lists[TB_REPORT_LISTS];
extern const struct tb_table_type tb_list_findings, tb_list_notes, tb_list_hot_links,
	tb_list_switches, tb_list_regions, tb_list_flows, tb_list_jobs, tb_list_job_times,
	tb_list_job_pairs, tb_list_job_matrix, tb_list_blame, tb_list_groups,
	tb_list_grouped, tb_list_roots, tb_list_root_jobs, tb_list_job_links,
	tb_list_left_out, tb_list_recorded, tb_list_recorded_kinds,
	tb_list_recorded_ranks, tb_list_uncompared, tb_list_bounds, tb_list_path,
	tb_list_path_links, tb_list_timeouts, tb_list_recorded_pairs,
	tb_list_recorded_pauses, tb_list_recorded_bins, tb_list_calls, tb_list_ranks;

// What captures recorded of congestion, as rows of lists; names are the evidence's.
struct tb_report_congestion {
	struct tb_report_pair {
		uint32_t job, pair;
		struct tb_congestion_pair of;
	} * pairs;
	struct tb_report_bin {
		uint32_t job;
		tb_time_ps bin_ps;
		struct tb_congestion_bin of;
	} * bins;
	struct tb_report_pause {
		uint32_t job;
		struct tb_congestion_pause of;
		const char *source;
	} * pauses;
	size_t n_pairs, n_bins, n_pauses;
	struct tb_congestion_counts all;
	struct tb_flow_times times;
};

struct tb_report {
	struct tb_run *run;
	const struct tb_run_info *info;
	bool has_capture; // `capture` is known
	struct tb_run_capture capture;
	struct tb_hot_link *hot_links;
	uint32_t n_hot_links;		  // listed
	struct tb_link_queue *hot_queues; // of these
	uint32_t n_waiting;		  // links that waited at all
	double wait_ps;			  // of all links
	uint32_t n_active;		  // nodes that sent or received packets
	struct tb_matrix matrix;
	const struct tb_matrix_box **switches; // listed, by wait
	uint32_t n_switches, n_switches_waiting;
	struct tb_flow *flows;
	uint32_t n_flows;
	uint64_t n_flows_all;
	uint32_t top; // entries of a list; 0: all
	struct tb_jobs jobs;
	struct tb_job_times *times; // of each
	uint64_t *wait_by_link;	    // n_links of the run, by which packets came in
	uint64_t *waited_for;	    // likewise, as hot links are led by
	uint64_t received_bytes;    // on the wire, by all nodes
	struct tb_recorded recorded;
	struct tb_report_congestion congestion;
	const struct tb_rank_load **ranks; // of the evidence, that compute longest first
	struct tb_roots roots;
	struct tb_root_jobs root_jobs; // of these
	struct tb_job_pairs job_pairs; // all
	struct tb_job_links job_links; // of the hot links
	struct tb_heavy_waits heaviest;
	struct tb_wait_place *places; // of each of the heaviest
	struct tb_groups groups[TB_GROUPINGS];
	struct tb_grouped grouped;
	uint64_t *wait_by_bin;			 // n_bins
	struct tb_table tables[TB_REPORT_LISTS]; // in the order of tb_report_lists
	struct tb_report_fact facts[TB_REPORT_FACTS];
	int n_facts;
	struct tb_evidence evidence;
	struct tb_findings findings;
};

// tb_report_gather_congestion makes rows of what the evidence has. TB_ENOMEM.
int tb_report_gather_congestion(struct tb_report *report) TB_MUST_USE;
void tb_report_congestion_fini(struct tb_report_congestion *congestion);

// tb_report_state fills the facts.
void tb_report_state(struct tb_report *report);

// tb_report_n_listed returns how many of `n` rows people are shown.
size_t tb_report_n_listed(const struct tb_report *report, size_t n);

// tb_report_any_alone returns whether it is known what any job takes by itself.
bool tb_report_any_alone(const struct tb_report *report);

// tb_report_percent_of_wait returns the share of a wait in that of all links,
// report_percent_of_blame that in all waits that are blamed on somebody.
double tb_report_percent_of_wait(const struct tb_report *report, uint64_t wait_ps);

// tb_report_name_culprit gives a column the run's word for those that hold others up;
// TB_REPORT_CULPRIT is what the schema says.
#define TB_REPORT_CULPRIT "Whose packets held what they waited for"
// tb_report_place_words says what the places of waits of a list are (wait_places.h).
const char *tb_report_place_words(const struct tb_report *report, bool some_are_switches);
void tb_report_name_culprit(struct tb_column *column, const void *of);

// tb_report_adapt_job takes a column of jobs away from a run of one.
void tb_report_adapt_job(struct tb_column *column, const void *of);

// tb_put_link puts the name of the link whose number is the column's member.
void tb_put_link(struct tb_datum *datum);

// tb_report_job_name writes the name of a job for people, tb_report_flow_name that of a
// flow, "melt: node 3 > node 15", without the job when the run has only one. Both return
// `buffer`.
const char *tb_report_job_name(
	const struct tb_run *run, uint32_t job, char *buffer, size_t size);
const char *tb_report_flow_name(const struct tb_run *run, uint32_t job,
	struct tb_node source, struct tb_node destination, char *buffer, size_t size);

// tb_put_flow_figure puts a figure of a flow or of a sum of them.
void tb_put_flow_figure(struct tb_datum *datum, const struct tb_flow_sample *flow,
	enum tb_flow_figure figure);

// tb_report_sent returns the sum of a job's flows.
struct tb_flow_sample tb_report_sent(const struct tb_job_figures *job);

// What is divided may be unknown.
#define TB_NULL_TIME	0
#define TB_NULL_COUNT	0
#define TB_NULL_SIZE	0
#define TB_NULL_MEAN	TB_COLUMN_NULL
#define TB_NULL_RATIO	TB_COLUMN_NULL
#define TB_NULL_PACKETS TB_COLUMN_NULL
#define TB_NULL_PERCENT TB_COLUMN_NULL
#define TB_NULL_SHARE	TB_COLUMN_NULL

// tb_put_listed_wait puts a figure of a listed wait.
void tb_put_listed_wait(struct tb_datum *datum, const struct tb_listed_wait *wait,
	enum tb_listed_figure figure);

// The lists of waits (wait_figures.h), for TB_WAIT_COLUMN, and whether its rows may have
// waited longer than they say.
enum tb_wait_list { TB_OF_ROOTS, TB_OF_HELD, TB_OF_PAIRS, TB_OF_GROUPS, TB_OF_BLAME };
void tb_report_put_wait(struct tb_datum *datum);
void tb_report_adapt_wait(struct tb_column *column, const void *of);

// clang-format off
#define TB_WAIT_COLUMN(list, ID, kind, key, title, meaning)                              \
	{key TB_PS_##kind, title, meaning, TB_DATUM_##kind,                              \
		.put = tb_report_put_wait, .adapt = tb_report_adapt_wait,                \
		.flags = TB_NULL_##kind |                                                \
			 (TB_LISTED_##ID == TB_LISTED_WAIT ? TB_COLUMN_BAR : 0),         \
		.which = (list) * TB_N_LISTED_FIGURES + TB_LISTED_##ID},
#define TB_WAIT_IN_NO(...)
#define TB_WAIT_IN_KEY(...) TB_WAIT_COLUMN(__VA_ARGS__)
#define TB_WAIT_IN_ALL(...) TB_WAIT_COLUMN(__VA_ARGS__)
// clang-format on

// tb_put_part puts a part of a job's run time, column->which, which may be negative. The
// bar is its share of the run time.
void tb_put_part(struct tb_datum *datum, const struct tb_job_times *times);

// tb_whole_ps returns a sum of times as a count: that of a foreign file may not fit.
int64_t tb_whole_ps(double time_ps);

// The findings at the beginning of a report, and what is worth trying; the same sentences
// in each format.
void tb_report_findings_text(
	const struct tb_findings *findings, unsigned width, FILE *stream);
void tb_report_findings_markdown(const struct tb_findings *findings, FILE *stream);
void tb_report_findings_html(const struct tb_findings *findings, FILE *stream);

// The opening of a short report: what was found as one paragraph, in so many characters,
// and the first of what is worth trying.
#define TB_PARAGRAPH_MOST 1200
void tb_report_paragraph(const struct tb_findings *findings, size_t most, bool markdown,
	unsigned width, FILE *stream);
void tb_report_remedies(
	const struct tb_findings *findings, bool markdown, unsigned width, FILE *stream);

// The notes of the run, as many as lists have entries.
size_t tb_report_n_notes(const struct tb_report *report);
int tb_report_notes_text(
	const struct tb_report *report, unsigned width, FILE *stream) TB_MUST_USE;
void tb_report_notes_markdown(const struct tb_report *report, FILE *stream);
void tb_report_notes_html(const struct tb_report *report, FILE *stream);

int tb_report_write_text(const struct tb_report *report,
	const struct tb_report_form *form, FILE *stream) TB_MUST_USE;
int tb_report_write_github(const struct tb_report *report, FILE *stream) TB_MUST_USE;
void tb_report_write_markdown(const struct tb_report *report, FILE *stream);
int tb_report_write_json(const struct tb_report *report, FILE *stream) TB_MUST_USE;
int tb_report_write_html(const struct tb_report *report,
	const struct tb_report_figures *figures, FILE *stream) TB_MUST_USE;

// tb_put_calls_figure puts a figure of calls of one sort (call_figures.h).
void tb_put_calls_figure(struct tb_datum *at, const struct tb_call_figures *calls,
	enum tb_calls_figure figure);

#endif
