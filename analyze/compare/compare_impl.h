// What the parts of a comparison share. Private to analyze/.
#ifndef TB_COMPARE_IMPL_H
#define TB_COMPARE_IMPL_H

#include "chance.h"
#include "compare.h"
#include "job_times.h"
#include "job_waits.h"
#include "movers.h"
#include "recorded.h"
#include "report_impl.h"
#include "seed_moves.h"
#include "settings.h"

// A flow of both runs.
struct tb_flow_mover {
	struct tb_flow_sample of[2];
};

// A job of both runs.
struct tb_job_mover {
	char name[80];
	uint32_t at[2]; // its number in either run
	struct tb_job_times times[2];
	uint64_t n_undelivered[2]; // its messages that were given up
	struct tb_flow_sample sent[2];
	bool same_work;	   // else its times do not compare
	bool maybe_chance; // changed so little that another seed may undo it
	char verdict[480]; // a sentence or two
};

// The parts of the run time: its causes, of which what the network held up behind
// messages of the same node is a part of its own (pressed.h).
enum { TB_PART_PRESSED = TB_PATH_CAUSES, TB_COMPARE_PARTS };

// Groups of links: of nodes, into the network and from it, and of each level those up
// from it and those down to it.
enum { TB_GROUP_UP = 2, TB_COMPARE_GROUPS = TB_GROUP_UP + 2 * 16 };
#define TB_GROUP_FULL 90.0 // percent of the run that a full link is busy

struct tb_compare_group {
	uint32_t n_used, n_full;
	double root_ps; // of the wait, for which they are the roots
};

// The sums of a run.
struct tb_compare_sums {
	double wait_ps;
	uint64_t n_waiting; // links
	uint64_t n_blocked;
	uint64_t longest_wait_ps;
	uint32_t hottest;  // link, TB_ID_NONE when none waited
	double latency_ps; // of a message, mean
	double slowdown;   // of all messages together, 0: unknown
	struct tb_compare_group groups[TB_COMPARE_GROUPS];
	tb_time_ps parts[TB_COMPARE_PARTS]; // of the run time, along its critical path
};

// A pair of jobs, of the same names in both runs.
struct tb_job_pair_mover {
	const char *victim, *culprit;
	struct tb_listed_wait of[2]; // 0 where a run lacks the pair
};

// What ranks called in both runs: of one kind, size and number of members.
struct tb_call_mover {
	const char *kind;
	const char *algorithm[2]; // "" none; "several"
	uint64_t bytes;
	uint32_t n_members; // 0: unknown
	struct tb_call_figures of[2];
};

// A rank of both runs.
struct tb_load_mover {
	uint32_t job, rank;
	struct tb_node nodes[2];
	tb_time_ps computed_ps[2], waited_ps[2];
	double more_percent; // computed in B; NAN: it computed nothing in A
};

#define TB_PLACEMENT "placement" // what differs of where ranks sit begins with it

#define TB_COMPARE_LISTS 12
extern const struct tb_table_type *const tb_compare_lists[TB_COMPARE_LISTS];

// Where the words continue; what has no room is cut off.
struct tb_words {
	char *at;
	size_t left;
};

// A run and its sums: an object of JSON, and a column of what came of it.
struct tb_compare_side {
	const char *store;
	const struct tb_run *run;
	struct tb_run_info info; // a copy
	struct tb_compare_sums sums;
	const struct tb_compare *of;
};

// A time that was recorded, and what both runs made of it.
struct tb_recorded_mover {
	uint32_t job;
	const char *name; // of a kind of call, or "whole run"
	int64_t recorded_ps, simulated_ps[2];
	bool known[2];
};

struct tb_compare {
	struct tb_compared runs[2];
	// Of two runs of counters: waits of the links that both know exactly.
	double common_wait_ps[2];
	uint32_t n_common;
	double rerouted_percent; // of bytes between switches, at least
	const struct tb_run_info *info[2];
	struct tb_difference differences[TB_DIFFERENCES_MOST];
	int n_differences;
	struct tb_compare_sums outcome[2];
	struct tb_link_pairs pairs;
	struct tb_mover *links;
	struct tb_link_sample (*link_figures)[2]; // of `links`, in both runs
	uint32_t n_links, n_links_moved;
	struct tb_mover *roots;
	struct tb_listed_wait (*root_waits)[2]; // of `roots`, in both runs
	uint32_t n_roots, n_roots_moved;
	struct tb_job_pair_mover *job_pairs; // of runs of several jobs
	uint32_t n_job_pairs, n_job_pairs_moved;
	struct tb_flow_mover *flows;
	uint32_t n_flows, n_flows_moved;
	uint32_t n_flows_only[2]; // in one run alone
	struct tb_call_spans call_spans[2];
	struct tb_call_mover *calls;
	uint32_t n_calls, n_calls_moved;
	bool same_calls; // as many of each kind, size and number of members
	struct tb_job_mover *jobs;
	uint32_t n_jobs, n_jobs_matched;
	struct {
		uint32_t n;
		char name[80]; // of the first
	} alone[2];	       // jobs that the other run lacks
	bool maybe_chance;     // of a listed job
	bool random_places;    // a job of either run is placed at random
	struct tb_recorded of_traces[2];
	struct tb_recorded_mover *recorded;
	size_t n_recorded, recorded_room;
	struct tb_recorded_beside *ranks; // of of_traces
	size_t n_ranks;
	struct tb_rank_loads loads[2];
	struct tb_load_mover *load_movers;
	uint32_t n_load_movers, n_loads_moved;
	double more_percent; // computed in B, of the rank in the middle
	uint32_t top;	     // entries of a list; 0: all
	struct tb_table tables[TB_COMPARE_LISTS]; // in the order of tb_compare_lists
	size_t n_equal; // runs of other seeds, which came out the same on either side
	struct tb_chance chance; // n_pairs is 0 for one run each
	char verdict[1600];
};

// tb_compare_same_work returns whether times compare (tb_compare_why_not).
bool tb_compare_same_work(const struct tb_compare *compare);

// tb_compare_same_waits returns whether waits are of the same things: one of a fluid is a
// message's, else a packet's.
bool tb_compare_same_waits(const struct tb_compare *compare);

// tb_compare_is_of_counters returns whether both runs were measured by counters.
bool tb_compare_is_of_counters(const struct tb_compare *compare);

// tb_compare_seed_moves returns by which share the seed alone moves a figure in either
// run; infinity where it is not known, as jobs are placed at random.
double tb_compare_seed_moves(
	const struct tb_compare *compare, enum tb_seed_figure figure);

// tb_compare_is_drawn returns whether packets waited for links that the seed chose.
bool tb_compare_is_drawn(const struct tb_compare *compare);

// tb_compare_is_chance returns whether a seed that moves a figure by the factor 1 +
// moves, up or down, may have moved it so far; tb_compare_is_small whether a wait changed
// by too little for a factor (seed_moves.h).
bool tb_compare_is_chance(double before, double after, double moves);
bool tb_compare_is_small(const struct tb_compare *compare, double before, double after);

// tb_words_append_range appends what a change would be with other seeds: "19.8 to 32.5 %
// less", of a change that is no chance.
void tb_words_append_range(struct tb_words *words, double before, double after,
	double moves, const char *less, const char *more);

// tb_compare_flow_order orders flows by source, destination and job.
int tb_compare_flow_order(const struct tb_flow_sample *a, const struct tb_flow_sample *b);

uint32_t tb_compare_group_of(const struct tb_run *run, uint32_t link);

// tb_compare_read_roots makes samples, n_links of them, whose wait is that of all headers
// that a link as a root holds up; to be freed with free(), on failure too. Their
// n_packets is how many waits that are.
int tb_compare_read_roots(struct tb_run *run, struct tb_link_sample **samples,
	struct tb_error *error) TB_MUST_USE;

// tb_compare_gather_calls finds the calls that take another time in B.
int tb_compare_gather_calls(
	struct tb_compare *compare, uint32_t top, struct tb_error *error) TB_MUST_USE;
extern const struct tb_table_type tb_compare_list_calls;

// tb_compare_gather_loads finds the ranks that compute for longer, or less, in B.
int tb_compare_gather_loads(
	struct tb_compare *compare, uint32_t top, struct tb_error *error) TB_MUST_USE;
extern const struct tb_table_type tb_compare_list_loads;
// tb_words_append_load says which rank's computing changed, where the others' did not.
void tb_words_append_load(struct tb_words *words, const struct tb_compare *compare);

// tb_compare_add_difference adds one before those that follow from others; NULL: no room.
struct tb_difference *tb_compare_add_difference(
	struct tb_compare *compare, const char *name);
// tb_compare_same_host returns whether nodes of A and B are the same host: by name where
// both have one.
bool tb_compare_same_host(
	const struct tb_compare *compare, struct tb_node of_a, struct tb_node of_b);
// tb_compare_add_cables has cables of other speed, and of one network alone, among what
// differs; tb_words_append_cables names them, and returns whether there are any.
void tb_compare_add_cables(struct tb_compare *compare);
bool tb_words_append_cables(struct tb_words *words, const struct tb_compare *compare);
// tb_compare_predict marks the pairs of links that differing cables concern: those of
// another speed, or dead or absent on one side, and those between switches that are on
// the same lower switch as one of the latter. TB_ENOMEM.
int tb_compare_predict(const struct tb_compare *compare, bool *is_predicted) TB_MUST_USE;

// tb_compare_pass_verdict_of_seeds appends what differs beyond chance, and judges the
// jobs.
void tb_compare_pass_verdict_of_seeds(struct tb_compare *compare, struct tb_words *words);
extern const struct tb_table_type tb_compare_list_chance;

// tb_compare_gather_recorded reads what the traces recorded.
int tb_compare_gather_recorded(
	struct tb_compare *compare, struct tb_error *error) TB_MUST_USE;
extern const struct tb_table_type tb_compare_list_recorded, tb_compare_list_ranks;

extern const struct tb_table_type tb_compare_list_outcome, tb_compare_list_differences,
	tb_compare_list_links;

// tb_compare_link_name returns the name that the links of a pair share.
const char *tb_compare_link_name(
	const struct tb_compare *compare, const struct tb_link_pair *pair);

// tb_compare_put_run writes the line of a run that is compared: what it is called in the
// comparison, its store, and `n_more` runs of other seeds; in text, Markdown or HTML.
void tb_compare_put_run(FILE *stream, enum tb_format format, const char *label,
	const struct tb_compared *of, size_t n_more);

// tb_compare_put_change puts how a figure changed against A.
void tb_compare_put_change(struct tb_datum *datum, double before, double after);

// tb_compare_alike returns whether nothing differs: no setting, link or flow.
bool tb_compare_alike(const struct tb_compare *compare);

// tb_compare_same_bytes returns whether the inputs of both runs are known to be the same
// files, whatever they are called; tb_compare_other_bytes whether they are known to
// differ.
bool tb_compare_same_bytes(const struct tb_compare *compare);
bool tb_compare_other_bytes(const struct tb_compare *compare);

// tb_compare_gather_blame finds the roots and the pairs of jobs that changed most.
int tb_compare_gather_blame(
	struct tb_compare *compare, uint32_t top, struct tb_error *error) TB_MUST_USE;

// tb_compare_judge_jobs writes a verdict on each job.
void tb_compare_judge_jobs(struct tb_compare *compare);
// tb_compare_gather_jobs matches the jobs and judges each; at most `top`, 0: all.
int tb_compare_gather_jobs(
	struct tb_compare *compare, uint32_t top, struct tb_error *error) TB_MUST_USE;

// tb_compare_tabulate fills tables and verdict from the other members.
void tb_compare_tabulate(struct tb_compare *compare);

void tb_compare_pass_verdict(struct tb_compare *compare);

// tb_compare_part_words says what a part of the run time is called in what came of it.
const char *tb_compare_part_words(unsigned cause);

int tb_compare_write_json(const struct tb_compare *compare, FILE *stream) TB_MUST_USE;

// Two captures whose bytes and messages differ by no more are taken to be of one program;
// how its bytes are cut into messages depends on when they came.
#define TB_SAME_BYTES	 0.02
#define TB_SAME_MESSAGES 0.1

// A change of less than this share shows as 0.0 %, and is called none.
#define TB_WORDS_NO_CHANGE 0.0005

// A decrease by more than this share is not shown in digits, which would be 100.0 %.
#define TB_WORDS_ALL 0.999

// From so many times as long on, times are compared so and not in percent, which nobody
// reads of large ones.
#define TB_WORDS_TIMES 2

void tb_words_append(struct tb_words *words, const char *format, ...) TB_PRINTF(2, 3);

// tb_words_append_times compares two times: "12.3 % less (1.234 ms against 1.4 ms)", "123
// times as long (...)". It returns what stands before the other, "than" or "as".
const char *tb_words_append_times(struct tb_words *words, double before_ps,
	double after_ps, const char *less, const char *more);

#endif
