// The jobs of two runs: which gained, by how much, and by which part of its run time.
#include "compare_impl.h"
#include "findings.h"
#include "job_seat.h"
#include "rank_seats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Below this share of it a change is not shown, as the digits are the same.
#define SAME_SHARE TB_WORDS_NO_CHANGE
// Below this share of it a change is neither gain nor loss. Of captures the messages
// count, since their frames are posted when they were captured; of a job whose run time
// changes less they are told, but no gain or loss.
#define MATTERS_SHARE (TB_FINDING_PAYS / 100)

// The jobs of a run and their times.
struct side {
	struct tb_jobs jobs;
	struct tb_job_times *times;
};

// last_of is a name without the folder: a trace that is replayed alone is called by its
// whole path.
static const char *last_of(const char *name)
{
	const char *slash = strrchr(name, '/');
	return slash && slash[1] ? slash + 1 : name;
}

static int open_side(struct side *side, struct tb_run *run, struct tb_error *error)
{
	int status = tb_jobs_init(&side->jobs, run, error);
	return status ? status : tb_job_times_init(&side->times, &side->jobs, run, error);
}

static void close_side(struct side *side)
{
	tb_jobs_fini(&side->jobs);
	free(side->times);
}

// find_job_like returns the number of the job of this name, as many as there are when
// none has it. Mostly it is `like`, that of the job in the other run.
static uint32_t find_job_like(const struct side *side, const char *name, uint32_t like)
{
	uint32_t n = side->jobs.n;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = (uint32_t)(((uint64_t)like + i) % n);
		if (strcmp(last_of(side->jobs.jobs[at].name), last_of(name)) == 0)
			return at;
	}
	return n;
}

// part_change stores by how much a part of the run time, or of the mean latency, changed.
static bool part_change(const struct tb_job_times times[2], enum tb_job_part part,
	bool by_run, double *change_ps)
{
	tb_time_ps a = 0, b = 0;
	double of_a = 0, of_b = 0;
	bool known = by_run ? tb_job_times_part(&times[0], part, &a) &&
				      tb_job_times_part(&times[1], part, &b)
			    : tb_job_times_latency_part(&times[0], part, &of_a) &&
				      tb_job_times_latency_part(&times[1], part, &of_b);
	*change_ps = by_run ? (double)(b - a) : of_b - of_a;
	return known;
}

// append_parts writes ": the others cost it 1.2 ms less, the network costs it 3 us more".
static void append_parts(
	struct tb_words *words, const struct tb_job_times times[2], bool by_run)
{
	static const struct {
		enum tb_job_part part;
		const char *text;
	} parts[] = {{TB_JOB_OTHERS, "the others cost it"},
		{TB_JOB_NETWORK, "the network costs it"},
		{TB_JOB_IDEAL, "on an ideal network it takes"}};
	const char *between = ": ";
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		char time[32];
		double change_ps = 0;
		if (!part_change(times, parts[i].part, by_run, &change_ps) ||
			fabs(change_ps) < 1)
			continue;
		tb_words_append(words, "%s%s %s %s", between, parts[i].text,
			tb_format_long_time(fabs(change_ps), time, sizeof time),
			change_ps < 0 ? "less" : "more");
		between = ", ";
	}
}

// append_waits_for says which other job the packets of one wait for longer in B, or less,
// where that changed most.
static void append_waits_for(
	struct tb_words *words, const struct tb_compare *compare, const char *name)
{
	char time[32];
	// Most changed first.
	for (uint32_t i = 0; i < compare->n_job_pairs; i++) {
		const struct tb_job_pair_mover *pair = &compare->job_pairs[i];
		double change_ps =
			(double)pair->of[1].wait_ps - (double)pair->of[0].wait_ps;
		if (strcmp(last_of(pair->victim), name) != 0 ||
			strcmp(pair->victim, pair->culprit) == 0)
			continue;
		tb_words_append(words, ", its packets wait %s %s for those of %s",
			tb_format_long_time(fabs(change_ps), time, sizeof time),
			change_ps < 0 ? "less" : "more", last_of(pair->culprit));
		return;
	}
}

static bool is_within(double a, double b, double share)
{
	return fabs(b - a) <= share * a;
}

static void append_taken(struct tb_words *words, double a, double b)
{
	if (is_within(a, b, SAME_SHARE))
		tb_words_append(words, "as long");
	else
		tb_words_append_times(words, a, b, "less", "longer");
}

// Of inferred jobs a range of the run time is known. Which times of two ranges go
// together is not stored, so their ends are compared: the least of one with the least of
// the other, and the most.

// has_ranges returns whether each run has one job, with a range.
static bool has_ranges(const struct tb_compare *compare)
{
	return compare->info[0]->n_jobs == 1 && compare->info[1]->n_jobs == 1 &&
	       compare->info[0]->n_calls && compare->info[1]->n_calls &&
	       compare->info[0]->least_ps > 0 && compare->info[0]->most_ps > 0;
}

// say_nothing_by_ranges: an end of the ranges changes by too little, or the other way.
static bool say_nothing_by_ranges(const struct tb_compare *compare)
{
	const struct tb_run_info *a = compare->info[0], *b = compare->info[1];
	if (!has_ranges(compare))
		return false;
	double change = (double)b->simulated_ps / (double)a->simulated_ps - 1;
	double least = (double)b->least_ps / (double)a->least_ps - 1;
	double most = (double)b->most_ps / (double)a->most_ps - 1;
	return fabs(least) <= MATTERS_SHARE || fabs(most) <= MATTERS_SHARE ||
	       (least < 0) != (change < 0) || (most < 0) != (change < 0);
}

// append_ranges appends what both runs lie between; false when that is not known.
static bool append_ranges(struct tb_words *words, const struct tb_compare *compare)
{
	char time[2][32];
	if (!has_ranges(compare))
		return false;
	for (int i = 0; i < 2; i++)
		tb_words_append(words, "%s %s to %s",
			i ? " in A, in B" : "; what was captured allows",
			tb_format_time(compare->info[i]->least_ps, time[0], 32),
			tb_format_time(compare->info[i]->most_ps, time[1], 32));
	return true;
}

// judge_job_mover writes a sentence on a job of both runs: what a colleague would say of
// it.
static void judge_job_mover(struct tb_job_mover *pair, const struct tb_compare *compare)
{
	struct tb_words words = {pair->verdict, sizeof pair->verdict};
	if (pair->n_undelivered[0] || pair->n_undelivered[1]) {
		// Say what a job lost: the times of what arrived tell no gain.
		tb_words_append(&words, "Job %s lost messages: ", pair->name);
		for (int i = 0; i < 2; i++) {
			char count[32];
			const char *text =
				pair->n_undelivered[i]
					? tb_format_count(pair->n_undelivered[i], count,
						  sizeof count)
					: "none";
			tb_words_append(
				&words, "%s in %c%s", text, 'A' + i, i ? "" : ", ");
		}
		tb_words_append(
			&words, "; what its other messages take is no gain or loss.");
	} else if (!pair->same_work) {
		// Say that a job carried other messages, so that its times do not
		// compare.
		tb_words_append(&words, "Job %s carried different work: ", pair->name);
		for (int i = 0; i < 2; i++) {
			char count[48], size[32];
			tb_words_append(&words, "%s of %s in %c%s",
				tb_format_counted(pair->sent[i].n_messages, "message",
					count, sizeof count),
				tb_format_size(pair->sent[i].bytes, size, sizeof size),
				'A' + i, i ? "" : ", ");
		}
		tb_words_append(&words, "; how long it takes is no gain or loss.");
	} else {
		// Say whether a job whose messages all arrived gains.
		const struct tb_job_time *a = &pair->times[0].run,
					 *b = &pair->times[1].run;
		double run_a = (double)a->run_ps;
		double run_b = (double)b->run_ps;
		bool by_run = !is_within(run_a, run_b, MATTERS_SHARE);
		double from = by_run ? run_a : a->mean_latency_ps;
		double to = by_run ? run_b : b->mean_latency_ps;
		bool same = is_within(from, to, MATTERS_SHARE);
		bool counts = by_run || strcmp(compare->info[0]->input_kind, "job") != 0;
		double moves = tb_compare_seed_moves(
			compare, by_run ? TB_SEED_RUN_TIME : TB_SEED_LATENCY);
		bool of_ranges = by_run && !same && say_nothing_by_ranges(compare);
		pair->maybe_chance =
			!same && (of_ranges || tb_compare_is_chance(from, to, moves));
		tb_words_append(&words, "Job %s %s: it takes ", pair->name,
			same || !counts	     ? (is_within(run_a, run_b, SAME_SHARE)
							       ? "neither gains nor loses"
							       : "hardly changes")
			: pair->maybe_chance ? "has no verdict"
			: to < from	     ? "gains"
					     : "loses");
		append_taken(&words, run_a, run_b);
		if (!by_run) {
			tb_words_append(&words, ", %s its messages take ",
				same || counts ? "and" : "though");
			append_taken(&words, a->mean_latency_ps, b->mean_latency_ps);
		}
		if (!same)
			append_parts(&words, pair->times, by_run);
		if (!same)
			append_waits_for(&words, compare, pair->name);
		bool ranged = by_run && !same && append_ranges(&words, compare);
		if (of_ranges)
			tb_words_append(&words, ", so it may as well change nothing");
		else if (pair->maybe_chance && isinf(moves))
			tb_words_append(&words, "; another seed is another placement");
		else if (pair->maybe_chance)
			tb_words_append(&words,
				"; in measured runs seeds alone moved that by up to %.3g "
				"%%",
				100 * moves);
		else if (!same && counts && !ranged && moves > 0 && from > 0 &&
			 tb_compare_is_drawn(compare)) {
			tb_words_append(&words, "; with other seeds ");
			tb_words_append_range(&words, from, to, moves, "less", "longer");
		}
		tb_words_append(&words, ".");
	}
}

void tb_compare_judge_jobs(struct tb_compare *compare)
{
	compare->maybe_chance = false;
	for (uint32_t i = 0; i < compare->n_jobs_matched; i++) {
		struct tb_job_mover *job = &compare->jobs[i];
		judge_job_mover(job, compare);
		compare->maybe_chance |= i < compare->n_jobs && job->maybe_chance;
	}
}

const char *tb_compare_slowest_job(const struct tb_compare *compare)
{
	const char *verdict = "";
	tb_time_ps longest_ps = -1;
	for (uint32_t i = 0; i < compare->n_jobs && !tb_compare_alike(compare); i++)
		for (int k = 0; k < 2; k++) {
			const struct tb_job_mover *job = &compare->jobs[i];
			if (job->times[k].run.run_ps <= longest_ps)
				continue;
			longest_ps = job->times[k].run.run_ps;
			verdict = job->verdict;
		}
	return verdict;
}

static bool is_placed_at_random(const struct tb_jobs *jobs)
{
	for (uint32_t i = 0; i < jobs->n; i++) {
		const char *placement = jobs->jobs[i].placement;
		if (placement && strcmp(placement, "random") == 0)
			return true;
	}
	return false;
}

// nodes_used writes how many nodes each job had: "16", of several "lammps 16, io 8".
static void nodes_used(const struct tb_jobs *jobs, char *text, size_t size)
{
	struct tb_words words = {text, size};
	for (uint32_t i = 0; i < jobs->n; i++)
		tb_words_append(&words, "%s%s%s%" PRIu32, i ? ", " : "",
			jobs->n > 1 ? last_of(jobs->jobs[i].name) : "",
			jobs->n > 1 ? " " : "", jobs->jobs[i].n_nodes);
	tb_text_end_whole(text, size);
}

struct tb_difference *tb_compare_add_difference(
	struct tb_compare *compare, const char *name)
{
	int n = compare->n_differences, at = 0;
	if (n == TB_DIFFERENCES_MOST)
		return NULL;
	while (at < n && !compare->differences[at].follows)
		at++;
	struct tb_difference *made = &compare->differences[at];
	memmove(made + 1, made, (size_t)(n - at) * sizeof *made);
	*made = (struct tb_difference){.follows = false};
	snprintf(made->name, sizeof made->name, "%s", name);
	compare->n_differences++;
	return made;
}

bool tb_compare_same_host(
	const struct tb_compare *compare, struct tb_node of_a, struct tb_node of_b)
{
	const char *a = tb_run_node_name(compare->runs[0].run, of_a);
	const char *b = tb_run_node_name(compare->runs[1].run, of_b);
	return *a && *b ? strcmp(a, b) == 0 : of_a.id == of_b.id;
}

static void add_nodes_used(struct tb_compare *compare, const struct side sides[2])
{
	bool same = sides[0].jobs.n == sides[1].jobs.n;
	for (uint32_t i = 0; same && i < sides[0].jobs.n; i++)
		same = sides[0].jobs.jobs[i].n_nodes == sides[1].jobs.jobs[i].n_nodes;
	struct tb_difference *made =
		same || !sides[0].jobs.n || !sides[1].jobs.n
			? NULL
			: tb_compare_add_difference(compare, "nodes used");
	if (!made)
		return;
	nodes_used(&sides[0].jobs, made->a, sizeof made->a);
	nodes_used(&sides[1].jobs, made->b, sizeof made->b);
}

// add_placement has the first job whose ranks sit on other nodes among what differs.
static int add_placement(
	struct tb_compare *compare, const struct side sides[2], struct tb_error *error)
{
	struct tb_rank_seats seats[2] = {{.seats = NULL}, {.seats = NULL}};
	int status = TB_OK;
	for (int i = 0; i < 2 && !status; i++)
		status = tb_rank_seats_init(&seats[i], compare->runs[i].run, error);
	for (uint32_t i = 0; i < compare->n_jobs_matched && !status; i++) {
		const uint32_t *at = compare->jobs[i].at;
		const struct tb_job_figures *jobs[] = {
			&sides[0].jobs.jobs[at[0]], &sides[1].jobs.jobs[at[1]]};
		uint32_t n_moved = 0;
		char name[32] = TB_PLACEMENT;
		for (uint32_t rank = 0; rank < jobs[0]->n_ranks; rank++) {
			struct tb_node of_a = tb_rank_seats_node(&seats[0], at[0], rank);
			struct tb_node of_b = tb_rank_seats_node(&seats[1], at[1], rank);
			n_moved += of_a.id != TB_ID_NONE && of_b.id != TB_ID_NONE &&
				   !tb_compare_same_host(compare, of_a, of_b);
		}
		if (n_moved == 0 || !jobs[0]->nodes || !jobs[1]->nodes)
			continue;
		if (compare->n_jobs_matched > 1)
			snprintf(name, sizeof name, TB_PLACEMENT " of %.18s",
				compare->jobs[i].name);
		struct tb_difference *made = tb_compare_add_difference(compare, name);
		for (int k = 0; k < 2 && made && !status; k++) {
			struct tb_job_seat seat = {0};
			char leaves[48];
			status = tb_job_seat_find(
				&seat, compare->runs[k].run, at[k], error);
			snprintf(k ? made->b : made->a, sizeof made->a,
				"nodes %.30s at %s", jobs[k]->nodes,
				tb_format_counted(seat.n_leaves,
					"leaf switch|leaf switches", leaves,
					sizeof leaves));
		}
		if (made && strcmp(made->a, made->b) == 0)
			snprintf(made->b, sizeof made->b, "%u ranks on others of these",
				n_moved);
		break;
	}
	tb_rank_seats_fini(&seats[0]);
	tb_rank_seats_fini(&seats[1]);
	return status;
}

// note_alone counts the jobs of a run that the other lacks.
static void note_alone(struct tb_compare *compare, const struct side sides[2], int which)
{
	for (uint32_t i = 0; i < sides[which].jobs.n; i++) {
		const char *name = sides[which].jobs.jobs[i].name;
		if (find_job_like(&sides[!which], name, i) == sides[!which].jobs.n &&
			compare->alone[which].n++ == 0) {
			snprintf(compare->alone[which].name,
				sizeof compare->alone[which].name, "%s", last_of(name));
			tb_text_end_whole(compare->alone[which].name,
				sizeof compare->alone[which].name);
		}
	}
}

int tb_compare_gather_jobs(
	struct tb_compare *compare, uint32_t top, struct tb_error *error)
{
	struct side sides[2] = {{.times = NULL}, {.times = NULL}};
	int status = TB_OK;
	for (int i = 0; !status && i < 2; i++)
		status = open_side(&sides[i], compare->runs[i].run, error);
	if (!status) {
		compare->jobs =
			calloc((size_t)sides[0].jobs.n + 1, sizeof *compare->jobs);
		if (!compare->jobs)
			status = tb_fail_memory(error, "a comparison");
	}
	if (!status) {
		add_nodes_used(compare, sides);
		compare->random_places = is_placed_at_random(&sides[0].jobs) ||
					 is_placed_at_random(&sides[1].jobs);
		// Two runs of one job each, of the same bytes, are of one job, whatever
		// its name.
		bool only = sides[0].jobs.n == 1 && sides[1].jobs.n == 1 &&
			    tb_compare_same_bytes(compare);
		for (uint32_t i = 0; i < sides[0].jobs.n; i++) {
			uint32_t k = only ? 0
					  : find_job_like(&sides[1],
						    sides[0].jobs.jobs[i].name, i);
			if (k == sides[1].jobs.n || !sides[0].times[i].run.known ||
				!sides[1].times[k].run.known)
				continue;
			struct tb_job_mover *pair =
				&compare->jobs[compare->n_jobs_matched++];
			pair->at[0] = i;
			pair->at[1] = k;
			snprintf(pair->name, sizeof pair->name, "%s",
				last_of(sides[0].jobs.jobs[i].name));
			tb_text_end_whole(pair->name, sizeof pair->name);
			pair->times[0] = sides[0].times[i];
			pair->times[1] = sides[1].times[k];
			pair->n_undelivered[0] = sides[0].jobs.jobs[i].n_undelivered;
			pair->n_undelivered[1] = sides[1].jobs.jobs[k].n_undelivered;
			pair->sent[0] = tb_report_sent(&sides[0].jobs.jobs[i]);
			pair->sent[1] = tb_report_sent(&sides[1].jobs.jobs[k]);
			pair->same_work =
				tb_compare_same_work(compare) ||
				(pair->sent[0].n_messages == pair->sent[1].n_messages &&
					pair->sent[0].bytes == pair->sent[1].bytes);
		}
		status = add_placement(compare, sides, error);
		for (int i = 0; i < 2 && !only; i++)
			note_alone(compare, sides, i);
		uint32_t n = compare->n_jobs_matched;
		compare->n_jobs = top && top < n ? top : n;
		tb_compare_judge_jobs(compare);
	}
	close_side(&sides[0]);
	close_side(&sides[1]);
	return status;
}
