// What changed between two runs, in sentences.
#include "compare_impl.h"
#include "visible.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

void tb_words_append(struct tb_words *words, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vsnprintf(words->at, words->left, format, args);
	va_end(args);
	size_t used = n < 0 ? 0 : (size_t)n < words->left ? (size_t)n : words->left - 1;
	words->at += used;
	words->left -= used;
}

const char *tb_words_append_times(struct tb_words *words, double before, double after,
	const char *less, const char *more)
{
	char a[32], b[32];
	tb_format_long_time(before, a, sizeof a);
	tb_format_long_time(after, b, sizeof b);
	double percent = before > 0 ? 100 * fabs(after - before) / before : 0;
	bool many = before > 0 && after >= TB_WORDS_TIMES * before;
	if (before == after)
		tb_words_append(words, "no %s (%s)", more, a);
	else if (before == 0)
		tb_words_append(words, "%s (%s against none)", more, b);
	else if (fabs(after - before) < TB_WORDS_NO_CHANGE * before)
		tb_words_append(words, "no %s to speak of (%s against %s)", more, b, a);
	else if (many)
		tb_words_append(words, "%.*f times as long (%s against %s)",
			after < 9.95 * before ? 1 : 0, after / before, b, a);
	else if (after == 0)
		tb_words_append(words, "no more (%s before)", a);
	else if (after / before < 1 - TB_WORDS_ALL)
		tb_words_append(words, "more than %.1f %% %s (%s against %s)",
			100 * TB_WORDS_ALL, less, b, a);
	else
		tb_words_append(words, "%.1f %% %s (%s against %s)", percent,
			after < before ? less : more, b, a);
	return many ? "as" : "than";
}

// append_lost says first how many messages each run lost, if one did.
static void append_lost(struct tb_words *words, const struct tb_run_info *const info[2])
{
	char messages[48];
	if (info[0]->n_undelivered == 0 && info[1]->n_undelivered == 0)
		return;
	for (int i = 1; i >= 0; i--) {
		uint64_t n = info[i]->n_undelivered;
		const char *between = i ? "" : "; ";
		if (n)
			tb_words_append(words, "%s%s %c %s %s not delivered (dead links)",
				between, i ? "In" : "in", 'A' + i,
				tb_format_counted(
					n, "message", messages, sizeof messages),
				n == 1 ? "was" : "were");
		else
			tb_words_append(words, "%s%c delivered all", between, 'A' + i);
	}
	tb_words_append(words, ". ");
}

static uint64_t n_asked(const struct tb_run_info *info)
{
	return info->n_messages + info->n_undelivered;
}

// is_of_one_program returns whether both runs are of what a program asked for once, which
// other hosts, libraries and algorithms of collectives turn into other messages: of one
// input that was read alike, or of traces with as many calls of each sort.
static bool is_of_one_program(const struct tb_compare *compare)
{
	static const char *const of_network[] = {"--network", "--host", "--library",
		"--collective", "--per-node", "--map", "--nodes", "--seed", "--fault",
		"--fault-file", "--routes", "--slow", NULL};
	return compare->same_calls ||
	       (tb_compare_same_bytes(compare) &&
		       tb_options_alike(compare->info[0]->options,
			       compare->info[1]->options, of_network));
}

static bool same_messages(const struct tb_compare *compare)
{
	const struct tb_run_info *a = compare->info[0], *b = compare->info[1];
	// What was given up is not among the bytes.
	bool lost = a->n_undelivered || b->n_undelivered;
	return n_asked(a) == n_asked(b) &&
	       (lost || a->delivered_bytes == b->delivered_bytes);
}

static bool within(uint64_t a, uint64_t b, double share)
{
	return fabs((double)a - (double)b) <= share * (double)(a > b ? a : b);
}

// is_captured_again returns whether both runs are of captures that carried nearly the
// same: no two captures of a program have the same packets.
static bool is_captured_again(const struct tb_compare *compare)
{
	const struct tb_run_info *a = compare->info[0], *b = compare->info[1];
	for (int i = 0; i < 2; i++)
		if (strcmp(compare->info[i]->input_kind, "job") == 0 &&
			!compare->info[i]->is_captured)
			return false;
	return within(a->delivered_bytes, b->delivered_bytes, TB_SAME_BYTES) &&
	       within(n_asked(a), n_asked(b), TB_SAME_MESSAGES);
}

bool tb_compare_same_waits(const struct tb_compare *compare)
{
	bool fluid[2];
	for (int i = 0; i < 2; i++)
		fluid[i] = strcmp(compare->info[i]->network.switching, "fluid") == 0;
	return fluid[0] == fluid[1];
}

bool tb_compare_same_work(const struct tb_compare *compare)
{
	return same_messages(compare) || is_of_one_program(compare) ||
	       is_captured_again(compare);
}

// append_work says how much each run carried.
static void append_work(struct tb_words *words, const struct tb_run_info *const info[2])
{
	char messages[48], size[32];
	for (int i = 0; i < 2; i++)
		tb_words_append(words, "%s%c %s of %s", i ? ", " : "", 'A' + i,
			tb_format_counted(
				n_asked(info[i]), "message", messages, sizeof messages),
			tb_format_size(info[i]->delivered_bytes, size, sizeof size));
}

// name_of_rank writes the name of a rank's node, else "rank 5".
static const char *name_of_rank(const struct tb_compare *compare,
	const struct tb_load_mover *of, char *buffer, size_t size)
{
	const char *name = of->nodes[1].id == TB_ID_NONE
				   ? ""
				   : tb_run_node_name(compare->runs[1].run, of->nodes[1]);
	char visible[128];
	if (*name)
		snprintf(buffer, size, "%s", tb_visible(name, visible, sizeof visible));
	else
		snprintf(buffer, size, "rank %" PRIu32, of->rank);
	return buffer;
}

// is_same_rank: captures number their hosts, and another one may have others.
static bool is_same_rank(const struct tb_compare *compare, const struct tb_load_mover *of)
{
	bool known = of->nodes[0].id != TB_ID_NONE && of->nodes[1].id != TB_ID_NONE;
	return known ? tb_compare_same_host(compare, of->nodes[0], of->nodes[1])
		     : of->nodes[0].id == of->nodes[1].id;
}

// append_by_message says of two captures with messages of one mean size, of which one may
// have gone on for longer, what a message took of the run, and which rank's computing
// made most of the change.
static void append_by_message(struct tb_words *words, const struct tb_compare *compare)
{
	const struct tb_run_info *const *info = compare->info;
	double n[2] = {(double)n_asked(info[0]), (double)n_asked(info[1])};
	char a[32], b[32], name[160];
	if (n[0] == 0 || n[1] == 0 ||
		!within((uint64_t)((double)info[0]->delivered_bytes / n[0]),
			(uint64_t)((double)info[1]->delivered_bytes / n[1]),
			TB_SAME_BYTES))
		return;
	double run[2], most[2] = {0, 0};
	const struct tb_load_mover *of = NULL;
	for (int i = 0; i < 2; i++)
		run[i] = (double)info[i]->simulated_ps / n[i];
	for (uint32_t i = 0; i < compare->n_loads_moved; i++) {
		const struct tb_load_mover *at = &compare->load_movers[i];
		double now[2] = {(double)at->computed_ps[0] / n[0],
			(double)at->computed_ps[1] / n[1]};
		if (fabs(now[1] - now[0]) <= fabs(most[1] - most[0]) ||
			!is_same_rank(compare, at))
			continue;
		of = at;
		most[0] = now[0];
		most[1] = now[1];
	}
	tb_words_append(words,
		" For each message the run takes %s in A, %s in B (%.3g times)",
		tb_format_time((tb_time_ps)run[0], a, sizeof a),
		tb_format_time((tb_time_ps)run[1], b, sizeof b), run[1] / run[0]);
	if (of && fabs(run[1] / run[0] - 1) > TB_SAME_MESSAGES &&
		(most[1] - most[0]) / (run[1] - run[0]) > 0.5)
		tb_words_append(words, "; of that %s computes %s in A, %s in B",
			name_of_rank(compare, of, name, sizeof name),
			tb_format_time((tb_time_ps)most[0], a, sizeof a),
			tb_format_time((tb_time_ps)most[1], b, sizeof b));
	tb_words_append(words, ".");
}

// append_other_work says what compares of runs of different work: of one job each the
// time per byte, else the jobs that both have.
static void append_other_work(struct tb_words *words, const struct tb_compare *compare)
{
	const struct tb_run_info *a = compare->info[0], *b = compare->info[1];
	bool several = a->n_jobs > 1 || b->n_jobs > 1;
	for (int i = 0; i < 2 && several; i++)
		if (compare->alone[i].n)
			tb_words_append(words, "%s%s%s in %c alone",
				i && compare->alone[0].n ? ", " : "; ",
				compare->alone[i].name,
				compare->alone[i].n == 1 ? " runs" : " and others run",
				'A' + i);
	tb_words_append(words, ". How long they take and wait does not compare");
	double per_byte[] = {(double)a->simulated_ps / (double)a->delivered_bytes,
		(double)b->simulated_ps / (double)b->delivered_bytes};
	if (n_asked(a) == n_asked(b) && a->n_jobs == 1 && b->n_jobs == 1 && a->complete &&
		b->complete && a->delivered_bytes && b->delivered_bytes) {
		tb_words_append(words,
			": as many messages, of %.3g times the bytes, in %.3g times the "
			"time (%.1f %% %s per byte)",
			(double)b->delivered_bytes / (double)a->delivered_bytes,
			(double)b->simulated_ps / (double)a->simulated_ps,
			100 * fabs(per_byte[1] / per_byte[0] - 1),
			per_byte[1] < per_byte[0] ? "less" : "more");
	}
	tb_words_append(words, ".");
	if (a->is_captured && b->is_captured && a->n_jobs == 1 && b->n_jobs == 1)
		append_by_message(words, compare);
}

// append_parts says what parts of the run time the change is, two at most, where they are
// most of it.
static void append_parts(struct tb_words *words, const struct tb_compare *compare)
{
	char a[32], b[32];
	const tb_time_ps *before = compare->outcome[0].parts,
			 *after = compare->outcome[1].parts;
	double run = (double)compare->info[1]->simulated_ps -
		     (double)compare->info[0]->simulated_ps;
	unsigned most[2] = {TB_COMPARE_PARTS, TB_COMPARE_PARTS};
	double shares[2] = {0, 0};
	for (unsigned i = 0; i < TB_COMPARE_PARTS; i++) {
		double of_run = ((double)after[i] - (double)before[i]) / run;
		unsigned at = of_run > shares[0] ? 0 : 1;
		if (of_run <= shares[at])
			continue;
		if (at == 0) {
			most[1] = most[0];
			shares[1] = shares[0];
		}
		most[at] = i;
		shares[at] = of_run;
	}
	int n = shares[0] > 0.5 ? 1 : 2;
	if (!(shares[0] + shares[n - 1] > 0.5) ||
		fabs(run) <= TB_WORDS_NO_CHANGE * (double)compare->info[0]->simulated_ps)
		return;
	tb_words_append(words, " Most of the change is in ");
	for (int i = 0; i < n; i++)
		tb_words_append(words, "%s'%s': %s in B, %s in A", i ? ", and in " : "",
			tb_compare_part_words(most[i]),
			tb_format_time(after[most[i]], b, sizeof b),
			tb_format_time(before[most[i]], a, sizeof a));
	tb_words_append(words, ".");
}

// run_change returns by how much B takes longer; 0 where that is nothing to speak of.
static double run_change(const struct tb_compare *compare)
{
	double a = (double)compare->info[0]->simulated_ps;
	double b = (double)compare->info[1]->simulated_ps;
	return fabs(b - a) > TB_WORDS_NO_CHANGE * a ? b - a : 0;
}

// is_open_loop returns whether both runs sent what was captured when it was captured.
static bool is_open_loop(const struct tb_compare *compare)
{
	for (int i = 0; i < 2; i++)
		if (strcmp(compare->info[i]->input_kind, "packets") != 0)
			return false;
	return true;
}

// append_open_loop says that such runs take as long as what was captured, and what the
// network takes.
static void append_open_loop(struct tb_words *words, const struct tb_compare *compare)
{
	if (!is_open_loop(compare))
		return;
	tb_words_append(words, " Frames are sent when they were captured, so that is how "
			       "long the captures are. In the network a message takes ");
	tb_words_append_times(words, compare->outcome[0].latency_ps,
		compare->outcome[1].latency_ps, "less", "longer");
	tb_words_append(words, ".");
}

static bool has_placement(const struct tb_compare *compare)
{
	bool has = false;
	for (int i = 0; i < compare->n_differences; i++)
		has |= strncmp(compare->differences[i].name, TB_PLACEMENT,
			       strlen(TB_PLACEMENT)) == 0;
	return has;
}

// append_settings names what differs, but for what other sentences tell.
static void append_settings(
	struct tb_words *words, const struct tb_compare *compare, bool has_cables)
{
	enum { NAMED = 3 };
	bool has_places =
		compare->alone[0].n || compare->alone[1].n || has_placement(compare);
	static const char *const told[] = {"input", "kind of input", "input's SHA-256",
		"seed", "nodes used", "jobs", "cables", "cables of A alone",
		"cables of B alone", "program version", "came to its end", NULL};
	int n = 0;
	for (int i = 0; i < compare->n_differences; i++) {
		const struct tb_difference *at = &compare->differences[i];
		bool is_told = at->follows ||
			       (has_cables && strcmp(at->name, "network") == 0) ||
			       (has_places && (strcmp(at->name, "--job") == 0 ||
						      strcmp(at->name, "--map") == 0));
		for (size_t k = 0; told[k] && !is_told; k++)
			is_told = strcmp(told[k], at->name) == 0;
		if (is_told || n++ >= NAMED)
			continue;
		tb_words_append(words, "%s%s: %s in A, %s in B",
			n == 1 ? " What differs is " : "; ", at->name,
			*at->a ? at->a : "-", *at->b ? at->b : "-");
	}
	if (n > NAMED)
		tb_words_append(words, "; and %d more", n - NAMED);
	if (n)
		tb_words_append(words, ".");
}

// append_saved says what one network of as many nodes has less than the other: a cable is
// two links.
static void append_saved(struct tb_words *words, const struct tb_run_info *const info[2])
{
	const struct tb_run_info *a = info[0], *b = info[1];
	bool fewer = b->n_links < a->n_links;
	const struct tb_run_info *big = fewer ? a : b, *small = fewer ? b : a;
	char switches[48], cables[48];
	if (a->n_nodes != b->n_nodes || a->n_links == b->n_links ||
		big->n_switches <= small->n_switches)
		return;
	tb_words_append(words, " %c has %s and %s fewer.", fewer ? 'B' : 'A',
		tb_format_counted(big->n_switches - small->n_switches, "switch|switches",
			switches, sizeof switches),
		tb_format_counted((big->n_links - small->n_links) / 2, "cable", cables,
			sizeof cables));
}

// append_network says how much slower than an idle network each was, and the links of
// which level cause what waits more, or less.
static void append_network(struct tb_words *words, const struct tb_compare *compare)
{
	enum { REROUTED = 5 }; // adaptive routes alone move 4 % for one slow cable
	const struct tb_compare_sums *a = &compare->outcome[0], *b = &compare->outcome[1];
	uint32_t most = 0;
	double change = 0;
	if (!has_placement(compare) && same_messages(compare) &&
		compare->info[0]->n_switches == compare->info[1]->n_switches &&
		compare->rerouted_percent >= REROUTED)
		tb_words_append(words,
			" At least %.0f %% of the bytes between switches take other "
			"links.",
			compare->rerouted_percent);
	if (a->slowdown > 0 && b->slowdown > 0 &&
		fabs(b->slowdown - a->slowdown) * 100 >= TB_FINDING_PAYS * a->slowdown)
		tb_words_append(words,
			" In the network messages take %.2f times as long as on an idle "
			"one in B, %.2f times in A.",
			b->slowdown, a->slowdown);
	const char *const ways[] = {"down to", "up from"};
	double of_wait = b->wait_ps - a->wait_ps, of_run = run_change(compare);
	for (uint32_t i = 0; i < TB_COMPARE_GROUPS; i++) {
		double share = (b->groups[i].root_ps - a->groups[i].root_ps) / of_wait;
		if (share > change) {
			most = i;
			change = share;
		}
	}
	// Where the run gets slower though packets wait less, they are not why.
	if (!(change > 0.5) || of_wait * of_run <= 0 ||
		100 * fabs(of_wait) < TB_FINDING_PAYS * fmax(a->wait_ps, b->wait_ps))
		return;
	const struct tb_compare_group *of_a = &a->groups[most], *of_b = &b->groups[most];
	char text_a[32], text_b[32];
	if (most < TB_GROUP_UP)
		tb_words_append(words, " Links %s nodes", most ? "to" : "from");
	else
		tb_words_append(words, " Links %s level %u", ways[most % 2 == 0],
			(most - TB_GROUP_UP) / 2);
	tb_words_append(words, " cause %s of the wait in B, %s in A",
		tb_format_long_time(of_b->root_ps, text_b, sizeof text_b),
		of_a->root_ps > 0
			? tb_format_long_time(of_a->root_ps, text_a, sizeof text_a)
			: "none");
	if (of_run * ((double)of_b->n_full * of_a->n_used -
			     (double)of_a->n_full * of_b->n_used) >
		0)
		tb_words_append(words,
			"; of these %u of %u are full in B (busy for %.0f %% of the run "
			"or more), %u of %u in A",
			of_b->n_full, of_b->n_used, TB_GROUP_FULL, of_a->n_full,
			of_a->n_used);
	tb_words_append(words, ".");
}

double tb_compare_seed_moves(const struct tb_compare *compare, enum tb_seed_figure figure)
{
	if (compare->n_equal)
		return 0;
	if (compare->random_places)
		return (double)INFINITY;
	double most = 0;
	// Where no packet waited for another, ways up do not matter.
	for (int i = 0; i < 2; i++)
		if (compare->outcome[i].wait_ps > 0)
			most = fmax(most, tb_seed_moves(compare->info[i], figure));
	return most;
}

bool tb_compare_is_drawn(const struct tb_compare *compare)
{
	for (int i = 0; i < 2; i++) {
		double drawn_ps = 0;
		for (uint32_t k = TB_GROUP_UP; k < TB_COMPARE_GROUPS; k++)
			drawn_ps += compare->outcome[i].groups[k].root_ps;
		if (tb_seed_moves(compare->info[i], TB_SEED_RUN_TIME) > 0 &&
			drawn_ps > TB_SEED_LEAST_WAIT *
					   (double)compare->info[i]->simulated_ps)
			return true;
	}
	return false;
}

bool tb_compare_is_chance(double before, double after, double moves)
{
	double less = fmin(before, after), more = fmax(before, after);
	return less < more && (isinf(moves) || more < (1 + moves) * less);
}

bool tb_compare_is_small(const struct tb_compare *compare, double before, double after)
{
	double run_ps = fmax((double)compare->info[0]->simulated_ps,
		(double)compare->info[1]->simulated_ps);
	double change_ps = fabs(after - before);
	return tb_compare_seed_moves(compare, TB_SEED_WAIT) > 0 && change_ps > 0 &&
	       change_ps < TB_SEED_LEAST_WAIT * run_ps;
}

void tb_words_append_range(struct tb_words *words, double before, double after,
	double moves, const char *less, const char *more)
{
	double ratio = after / before;
	double ends[] = {ratio / (1 + moves), ratio * (1 + moves)};
	if (ratio >= TB_WORDS_TIMES)
		tb_words_append(words, "%.2g to %.2g times as long", ends[0], ends[1]);
	else
		tb_words_append(words, "%.1f to %.1f %% %s",
			100 * fabs(ends[ratio < 1] - 1), 100 * fabs(ends[ratio >= 1] - 1),
			ratio < 1 ? less : more);
}

// append_doubt says which changes are no verdict: seeds usually move as much.
static void append_doubt(const struct tb_compare *compare, struct tb_words *words)
{
	if (compare->n_equal) {
		tb_words_append(words, " Each of %zu seeds gives the same.",
			compare->n_equal + 1);
		return;
	}
	double of_wait = tb_compare_seed_moves(compare, TB_SEED_WAIT);
	double of_run = tb_compare_seed_moves(compare, TB_SEED_RUN_TIME);
	double waits[] = {compare->outcome[0].wait_ps, compare->outcome[1].wait_ps};
	double runs[] = {(double)compare->info[0]->simulated_ps,
		(double)compare->info[1]->simulated_ps};
	bool small = tb_compare_is_small(compare, waits[0], waits[1]);
	bool wait = tb_compare_same_waits(compare) &&
		    (small || tb_compare_is_chance(waits[0], waits[1], of_wait));
	bool run =
		!is_open_loop(compare) && tb_compare_is_chance(runs[0], runs[1], of_run);
	// What a capture leaves open is more than what seeds move.
	bool ranged = is_open_loop(compare) ||
		      (compare->info[0]->n_calls && compare->info[1]->n_calls);
	if (!run && !ranged && of_run > 0 && runs[0] > 0 && fabs(runs[1] - runs[0]) > 0 &&
		tb_compare_is_drawn(compare)) {
		tb_words_append(words,
			" With other seeds (as they moved measured runs) it takes ");
		tb_words_append_range(words, runs[0], runs[1], of_run, "less", "longer");
		tb_words_append(words, ".");
	}
	if (!wait && !run && !compare->maybe_chance)
		return;
	if (compare->random_places) {
		// Say that nothing is a verdict: a seed is one placement of many.
		tb_words_append(words, " That is no verdict: each seed places jobs at "
				       "random elsewhere, and by how much that moves "
				       "them is not known. Replay "
				       "both with --seed 1..5 to know.");
		return;
	}
	if (wait || run) {
		tb_words_append(words,
			" That is no verdict on the %s: in measured runs seeds alone "
			"moved ",
			!run	? "wait"
			: !wait ? "run time"
				: "wait and the run time");
		if (small)
			tb_words_append(words, "waits as short as these by as much%s",
				run ? ", and " : "");
		else if (wait)
			tb_words_append(words, "waits by up to %.3g %%%s", 100 * of_wait,
				run ? " and " : "");
		if (run)
			tb_words_append(
				words, "run times by up to %.3g %%", 100 * of_run);
		tb_words_append(words, ".");
	}
	bool drawn[] = {tb_seed_moves(compare->info[0], TB_SEED_RUN_TIME) > 0,
		tb_seed_moves(compare->info[1], TB_SEED_RUN_TIME) > 0};
	if (drawn[0] && drawn[1])
		tb_words_append(words, " Replay both with --seed 1..5 to know.");
	else
		tb_words_append(words,
			" Replay %c with --seed 1..5 to know: of %c the seed decides "
			"nothing.",
			'A' + drawn[1], 'A' + !drawn[1]);
}

static void append_most(
	const struct tb_compare *compare, struct tb_words *words, bool has_cables)
{
	const struct tb_mover *most = &compare->links[0];
	char change[32];
	// What waits elsewhere for cables that slowed down is no fault of that link.
	bool is_known = most->pair.a.id != TB_ID_NONE && most->pair.b.id != TB_ID_NONE;
	if (has_cables && is_known &&
		tb_run_links(compare->runs[0].run)[most->pair.a.id].at.bytes_per_s ==
			tb_run_links(compare->runs[1].run)[most->pair.b.id]
				.at.bytes_per_s)
		return;
	// Nor does what waits less make a run longer, or a job that moved load the links
	// that it left.
	if (run_change(compare) * tb_mover_change(most) < 0 ||
		(run_change(compare) == 0 && has_placement(compare)))
		return;
	tb_format_long_time(fabs(tb_mover_change(most)), change, sizeof change);
	tb_words_append(words, " The link that changed most is %s: %s %s.",
		tb_compare_link_name(compare, &most->pair), change,
		tb_mover_change(most) < 0 ? "less" : "more");
}

// append_counters says how long ports waited in two runs of counters, on the links that
// both know.
static void append_counters(const struct tb_compare *compare, struct tb_words *words)
{
	uint32_t n_left_out = compare->pairs.n_both - compare->n_common;
	if (compare->n_common == 0) {
		tb_words_append(words,
			"Both runs were measured by counters, and of no link both know "
			"how long its port waited: their waits do not compare.");
		return;
	}
	tb_words_append(words, "Both runs were measured by counters. Ports wait ");
	const char *than = tb_words_append_times(words, compare->common_wait_ps[0],
		compare->common_wait_ps[1], "less", "longer");
	tb_words_append(words, " in B %s in A", than);
	if (n_left_out)
		tb_words_append(words,
			", over the %u of %u links on which both know how long",
			compare->n_common, compare->pairs.n_both);
	tb_words_append(words, ".");
	if (compare->common_wait_ps[0] != compare->common_wait_ps[1] && compare->n_links)
		append_most(compare, words, tb_words_append_cables(words, compare));
}

void tb_compare_pass_verdict(struct tb_compare *compare)
{
	struct tb_words words = {compare->verdict, sizeof compare->verdict};
	if (tb_run_is_measured(compare->info[0]) !=
		tb_run_is_measured(compare->info[1])) {
		// Say that one run was measured by counters: what compares it.
		int measured = tb_run_is_measured(compare->info[1]);
		tb_words_append(&words,
			"%c was measured by counters, %c simulated: how they agree is in "
			"'tailback counters %.200s --beside %.200s'.",
			'A' + measured, 'B' - measured, compare->runs[measured].store,
			compare->runs[!measured].store);
		return;
	}
	if (tb_compare_is_of_counters(compare)) {
		append_counters(compare, &words);
		return;
	}
	const struct tb_compare_sums *a = &compare->outcome[0], *b = &compare->outcome[1];
	if (!compare->info[0]->complete || !compare->info[1]->complete)
		tb_words_append(&words, "%s of what was simulated until then. ",
			compare->info[0]->complete
				? "B did not come to the end: its times are"
			: compare->info[1]->complete
				? "A did not come to the end: its times are"
				: "Neither run came to the end: times are");
	if (tb_compare_alike(compare) && !compare->chance.n_pairs) {
		tb_words_append(&words,
			"Nothing: both runs are alike in every setting, link and "
			"flow.");
		return;
	}
	append_lost(&words, compare->info);
	if (!tb_compare_same_work(compare)) {
		tb_words_append(&words, "The runs carried different work: ");
		append_work(&words, compare->info);
		append_other_work(&words, compare);
		append_settings(&words, compare, tb_words_append_cables(&words, compare));
		return;
	}
	if (compare->chance.n_pairs) {
		tb_words_append(
			&words, "B against A over %zu seeds.", compare->chance.n_pairs);
		append_settings(&words, compare, tb_words_append_cables(&words, compare));
		tb_compare_pass_verdict_of_seeds(compare, &words);
		return;
	}
	if (tb_compare_other_bytes(compare))
		tb_words_append(&words, "The runs are of different inputs. ");
	if (compare->n_differences == 0)
		tb_words_append(&words, "Both runs have the same settings. ");
	tb_words_append(&words, "The run takes ");
	const char *than =
		tb_words_append_times(&words, (double)compare->info[0]->simulated_ps,
			(double)compare->info[1]->simulated_ps, "less", "longer");
	tb_words_append(&words, " in B %s in A", than);
	bool same_waits = tb_compare_same_waits(compare);
	if ((a->wait_ps > 0 || b->wait_ps > 0) && !same_waits)
		tb_words_append(&words,
			"; waits, by message in the fluid and by packet else, do not "
			"compare");
	else if (a->wait_ps > 0 || b->wait_ps > 0) {
		tb_words_append(&words, ", %s packets wait ",
			run_change(compare) * (b->wait_ps - a->wait_ps) < 0 ? "though"
									    : "and");
		tb_words_append_times(&words, a->wait_ps, b->wait_ps, "less", "longer");
	}
	tb_words_append(&words, ".");
	bool has_cables = tb_words_append_cables(&words, compare);
	append_settings(&words, compare, has_cables);
	append_parts(&words, compare);
	append_open_loop(&words, compare);
	if (same_waits)
		append_network(&words, compare);
	tb_words_append_load(&words, compare);
	if (!same_messages(compare)) {
		tb_words_append(
			&words, is_of_one_program(compare)
					? " The same calls became other messages: "
					: " The captures carried nearly the same: ");
		append_work(&words, compare->info);
		tb_words_append(&words, ".");
	}
	append_saved(&words, compare->info);
	if (same_waits && compare->n_links > 0)
		append_most(compare, &words, has_cables);
	if (compare->n_differences &&
		tb_differ_by_seed(compare->info[0], compare->info[1]))
		tb_words_append(&words,
			" The runs differ by their seed alone: it is what "
			"seeds do to this run.");
	else
		append_doubt(compare, &words);
}
