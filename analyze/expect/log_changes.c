// What changed from one log of benchmarks to another, and what that suggests.
#include "log_changes.h"

#include "expect_impl.h"
#include "hash.h"
#include "order.h"
#include "table.h"
#include "units.h"
#include "wrap.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LITTLE		 4	 // of the largest change a part
#define LEAST_PERCENT	 3.0	 // that is told as a change, however little logs scatter
#define UNKNOWN_PERCENT	 10.0	 // where their scatter is not known
#define BEHIND		 0.9	 // of the others' change: a pair, or a group of hosts
#define LARGE		 1048576 // bytes, from which rates say more than times
#define PARTS_NAMED	 4
#define SIZES_TO_SCATTER 5 // of which each stands once

// A row that has a figure.
struct log_sample {
	const struct tb_benchmark_row *row;
	uint64_t part; // which pair of ranks, or group of hosts; 0: all
	double time_ns;
	bool is_after;
};

// A pair of ranks, or a group of hosts, at one size.
struct log_part {
	const struct tb_benchmark_row *row; // one of its own
	double time_ns[2];
	double longer;	  // the logarithm of B's time over A's
	double scatter;	  // of that, at most so; NAN: not known
	bool is_repeated; // several runs measured it
};

enum log_verdict { LOG_SLOWER, LOG_FASTER, LOG_ALIKE };

// A size of an operation in both logs.
struct log_size {
	struct log_part middle; // of its parts that in the middle
	double scatter;		// of it and the sizes beside it
	enum log_verdict verdict;
	const char *operation;
	uint64_t bytes;
	double share; // of A's speed
};

// The sizes of a series that share a verdict.
struct log_run {
	enum log_verdict verdict;
	size_t n, first, last;
	size_t farthest;    // from A's speed
	double least, most; // shares of it
	double scatter;
};

struct log_series {
	const struct tb_benchmark_row *row; // one of its own
	const struct log_size *sizes;
	const struct log_part *parts; // of the largest size, the slowest first
	size_t n_sizes, n_parts, n_behind;
	struct log_run lead, also; // what is said first, and beside it: n 0, nothing
	const char *scatter_of;	   // NULL: scatter is not known
	double share;		   // that B reaches, where it differs most
	size_t text;		   // where it begins in the texts
};

struct tb_log_changes {
	const struct tb_benchmark *benchmark;
	const char *files[2];
	const struct tb_benchmark_table *first[2];
	bool groups[2]; // the tables of a log are of several groups of hosts
	struct log_sample *samples;
	struct log_part *parts;
	struct log_size *sizes;
	struct log_series *series;
	uint64_t n_samples, n_sizes, n_series;
	double growth;	   // percent
	size_t n_wrong[2]; // rows that failed the benchmark's own check
	size_t n_alone[2]; // samples that the other log lacks, and the first of them
	const struct tb_benchmark_row *alone[2];
	char *texts; // sentences as they are written, each ended by a zero
	size_t n_texts;
};

static const struct tb_benchmark_table *log_table(
	const struct tb_log_changes *changes, const struct tb_benchmark_row *row)
{
	return tb_benchmark_table(changes->benchmark, row->table);
}

static uint64_t hash_of_hosts(const struct tb_benchmark_table *table)
{
	uint64_t hash = TB_HASH_BEGIN;
	for (uint32_t i = 0; table->host_names && i < table->n_hosts; i++)
		hash = tb_hash_bytes(
			hash, table->host_names[i], strlen(table->host_names[i]) + 1);
	return hash;
}

// find_tables finds the first table of each log, and whether it has several groups.
static void find_tables(struct tb_log_changes *changes)
{
	for (size_t i = 0; i < tb_benchmark_n_tables(changes->benchmark); i++)
		for (int side = 0; side < 2; side++) {
			const struct tb_benchmark_table *first = changes->first[side],
							*table = tb_benchmark_table(
								changes->benchmark, i);
			if (strcmp(table->file, changes->files[side]) != 0)
				continue;
			if (!first)
				changes->first[side] = table;
			else if (hash_of_hosts(first) != hash_of_hosts(table))
				changes->groups[side] = true;
		}
}

// How many keys of samples are alike within a series, a size of it, a part of that, and a
// place; behind them come log and time.
enum { KEYS_OF_SERIES = 5, KEYS_OF_SIZE, KEYS_OF_PART, KEYS_OF_PLACE, KEYS_OF_LOG };

static int compare_keys(
	const struct log_sample *a, const struct log_sample *b, size_t n_keys)
{
	const struct tb_benchmark_row *one = a->row, *other = b->row;
	const uint64_t keys[KEYS_OF_LOG][2] = {{one->kind, other->kind},
		{one->op, other->op}, {one->n_ranks, other->n_ranks},
		{one->rail, other->rail},
		{one->random_neighbors, other->random_neighbors},
		{one->printed_bytes, other->printed_bytes}, {a->part, b->part},
		{one->in_place, other->in_place}, {a->is_after, b->is_after}};
	for (size_t i = 0; i < n_keys; i++)
		if (keys[i][0] != keys[i][1])
			return TB_ORDER(keys[i][0], keys[i][1]);
	return 0;
}

static int by_keys_and_time(const void *one, const void *other)
{
	const struct log_sample *a = one, *b = other;
	int order = compare_keys(a, b, KEYS_OF_LOG);
	order = order ? order : TB_ORDER(a->time_ns, b->time_ns);
	return order ? order : TB_ORDER(a->row, b->row);
}

TB_ORDER_BY(by_part_longer, struct log_part, TB_DOWN(longer) TB_UP(row))
TB_ORDER_BY(by_log_share, struct log_series, TB_UP(share) TB_UP(sizes))

// samples_end returns where the samples from `from` on that are alike end.
static size_t samples_end(
	const struct tb_log_changes *changes, size_t from, size_t n_keys)
{
	const struct log_sample *samples = changes->samples;
	size_t end = from + 1;
	while (end < changes->n_samples &&
		compare_keys(&samples[from], &samples[end], n_keys) == 0)
		end++;
	return end;
}

// list_samples fills `changes->samples`, which has room for all rows.
static void list_samples(struct tb_log_changes *changes)
{
	const struct tb_benchmark *benchmark = changes->benchmark;
	for (size_t i = 0; i < tb_benchmark_n_rows(benchmark); i++) {
		const struct tb_benchmark_row *row = tb_benchmark_row(benchmark, i);
		const struct tb_benchmark_table *table = log_table(changes, row);
		bool is_after = strcmp(table->file, changes->files[1]) == 0;
		double bytes = (double)row->printed_bytes, time_ns = row->time_ns;
		if (!is_after && strcmp(table->file, changes->files[0]) != 0)
			continue;
		changes->n_wrong[is_after] += row->n_wrong > 0;
		if (isnan(time_ns))
			time_ns = 1e9 * bytes / row->algorithm_rate;
		// Nothing is called where nothing is moved.
		bool empty = row->kind == TB_BENCH_COLLECTIVE && !row->printed_bytes &&
			     row->op != TB_COLL_BARRIER;
		if (row->n_wrong || empty || !(time_ns > 0) || !isfinite(time_ns))
			continue;
		uint64_t part = changes->groups[0] && changes->groups[1]
					? hash_of_hosts(table)
					: 0;
		if (row->first != UINT32_MAX)
			part = (uint64_t)row->first << 32 | row->second;
		changes->samples[changes->n_samples++] =
			(struct log_sample){row, part, time_ns, is_after};
	}
	qsort(changes->samples, changes->n_samples, sizeof *changes->samples,
		by_keys_and_time);
}

// compare_part fills in what a part changed by, out of place and in place together.
// False: one log lacks it.
static bool compare_part(
	struct tb_log_changes *changes, size_t from, size_t to, struct log_part *part)
{
	const struct log_sample *samples = changes->samples;
	double least = INFINITY, most = -INFINITY, logs[2] = {0, 0};
	size_t n = 0;
	struct log_part made = {.row = samples[from].row, .scatter = NAN};
	for (size_t i = from, end; i < to; i = end) {
		end = samples_end(changes, i, KEYS_OF_PLACE);
		size_t middle = samples_end(changes, i, KEYS_OF_LOG);
		if (middle == end) { // all are of one log
			bool side = samples[i].is_after;
			if (changes->n_alone[side] == 0)
				changes->alone[side] = samples[i].row;
			changes->n_alone[side] += end - i;
			continue;
		}
		const size_t begins[] = {i, middle, end};
		double times[2];
		for (int side = 0; side < 2; side++) {
			const struct log_sample *at = &samples[begins[side]];
			size_t count = begins[side + 1] - begins[side];
			times[side] = log(
				(at[(count - 1) / 2].time_ns + at[count / 2].time_ns) /
				2);
			logs[side] += times[side];
			if (count < 2)
				continue;
			// One in five that is odd, as a first run often is, is left out.
			size_t odd = count / 5;
			made.is_repeated = true;
			made.scatter = fmax(made.scatter,
				log(at[count - 1 - odd].time_ns / at[odd].time_ns));
		}
		n++;
		least = fmin(least, times[1] - times[0]);
		most = fmax(most, times[1] - times[0]);
	}
	if (n == 0)
		return false;
	if (n > 1)
		made.scatter = fmax(made.scatter, most - least);
	for (int side = 0; side < 2; side++)
		made.time_ns[side] = exp(logs[side] / (double)n);
	made.longer = (logs[1] - logs[0]) / (double)n;
	*part = made;
	return true;
}

// add_size makes a size of its samples, and its parts, and returns how many these are. Of
// two parts in the middle it takes the lower, because where half of them became slower
// the others did not.
static size_t add_size(
	struct tb_log_changes *changes, size_t from, size_t to, struct log_part *parts)
{
	size_t n = 0;
	for (size_t i = from, end; i < to; i = end) {
		end = samples_end(changes, i, KEYS_OF_PART);
		n += compare_part(changes, i, end, &parts[n]);
	}
	if (n == 0)
		return 0;
	qsort(parts, n, sizeof *parts, by_part_longer);
	const struct log_part *middle = &parts[n / 2];
	changes->sizes[changes->n_sizes++] = (struct log_size){.middle = *middle,
		.operation = tb_benchmark_operation(middle->row),
		.bytes = middle->row->printed_bytes,
		.share = exp(-middle->longer)};
	return n;
}

// judge_sizes takes as scatter of each size the largest of it and those beside it: a
// figure that was measured twice says little. Where nothing was, scatter is how uneven
// the changes are over the sizes. It returns what scatter is of.
static const char *judge_sizes(struct log_size *sizes, size_t n)
{
	bool is_known = false, is_repeated = false;
	for (size_t i = 0; i < n; i++) {
		is_known |= !isnan(sizes[i].middle.scatter);
		is_repeated |= sizes[i].middle.is_repeated;
	}
	bool over_sizes = !is_known && n >= SIZES_TO_SCATTER;
	for (size_t i = 1; i + 1 < n && over_sizes; i++)
		sizes[i].middle.scatter = fabs(
			sizes[i].middle.longer -
			(sizes[i - 1].middle.longer + sizes[i + 1].middle.longer) / 2);
	for (size_t i = 0; i < n; i++) {
		double longer = sizes[i].middle.longer, most = NAN;
		for (size_t k = i ? i - 1 : 0; k < n && k <= i + 1; k++)
			most = fmax(most, sizes[k].middle.scatter);
		double least = isnan(most) ? log1p(UNKNOWN_PERCENT / 100)
					   : fmax(most, log1p(LEAST_PERCENT / 100));
		sizes[i].scatter = most;
		sizes[i].verdict = longer > least    ? LOG_SLOWER
				   : longer < -least ? LOG_FASTER
						     : LOG_ALIKE;
	}
	return is_repeated  ? "what runs in one log scatter by"
	       : is_known   ? "what one run scatters by"
	       : over_sizes ? "what neighbouring sizes scatter by"
			    : NULL;
}

static struct log_run run_of(
	const struct log_size *sizes, size_t n_sizes, enum log_verdict verdict)
{
	struct log_run run = {verdict, .least = INFINITY, .scatter = NAN};
	for (size_t i = 0; i < n_sizes; i++) {
		if (sizes[i].verdict != verdict)
			continue;
		if (run.n++ == 0)
			run.first = run.farthest = i;
		run.last = i;
		// Of sizes about as far the largest.
		if (fabs(sizes[i].middle.longer) >
			.995 * fabs(sizes[run.farthest].middle.longer))
			run.farthest = i;
		run.least = fmin(run.least, sizes[i].share);
		run.most = fmax(run.most, sizes[i].share);
		run.scatter = fmax(run.scatter, sizes[i].scatter);
	}
	return run;
}

// judge_series chooses what is said of a series, and counts the parts that are slower by
// more than that in the middle, and than the fastest is faster than it.
static void judge_series(struct tb_log_changes *changes, struct log_series *series)
{
	const struct log_part *parts = series->parts;
	size_t n = series->n_parts;
	const struct log_run slow = run_of(series->sizes, series->n_sizes, LOG_SLOWER),
			     fast = run_of(series->sizes, series->n_sizes, LOG_FASTER);
	bool is_slower = slow.n && (!fast.n || slow.least * fast.most < 1);
	series->lead = is_slower ? slow
		       : fast.n	 ? fast
				 : run_of(series->sizes, series->n_sizes, LOG_ALIKE);
	series->also = is_slower ? fast : slow;
	series->share = fast.n && !is_slower ? fast.most : series->lead.least;
	double middle = parts[n / 2].longer,
	       far = fmax(-log(BEHIND), middle - parts[n - 1].longer),
	       least = slow.n ? slow.least : 1;
	while (parts[series->n_behind].longer > middle + far)
		series->n_behind++;
	if (series->n_behind) {
		series->share = fmin(series->share, exp(-parts->longer));
		least = fmin(least, exp(-parts->longer));
	}
	changes->growth = fmax(changes->growth, 100 * (1 / least - 1));
}

// end_sentence ends a sentence in the texts.
static void end_sentence(FILE *to)
{
	fputc('.', to);
	fputc('\0', to);
}

static void append_range(FILE *to, const struct log_run *run)
{
	fprintf(to, run->most - run->least < .005 ? "%.2f" : "%.2f to %.2f", run->least,
		run->most);
}

// append_sizes appends " from 4 MiB on", or "" of all sizes.
static void append_sizes(
	FILE *to, const struct log_series *series, const struct log_run *run)
{
	const char *first = TB_SIZE_TEXT(series->sizes[run->first].bytes),
		   *last = TB_SIZE_TEXT(series->sizes[run->last].bytes);
	if ((run->n == series->n_sizes && run->n > 1) || !series->sizes[run->last].bytes)
		return;
	if (run->n == 1)
		fprintf(to, " at %s", first);
	else if (run->n < run->last - run->first + 1)
		fprintf(to, " at %zu of %zu sizes from %s to %s", run->n, series->n_sizes,
			first, last);
	else if (run->last == series->n_sizes - 1)
		fprintf(to, " from %s on", first);
	else if (run->first == 0)
		fprintf(to, " up to %s", last);
	else
		fprintf(to, " from %s to %s", first, last);
}

static double rate_of(const struct log_size *size, int side)
{
	const struct tb_benchmark_row *row = size->middle.row;
	bool bus = !isnan(row->bus_rate) && row->n_ranks;
	return isnan(row->algorithm_rate)
		       ? (double)NAN
		       : 1e9 * (double)size->bytes / size->middle.time_ns[side] *
				 (bus ? tb_bus_share(row->op, row->n_ranks) : 1);
}

// append_figures appends what a size took before and after.
static void append_figures(FILE *to, const struct log_size *size)
{
	const struct tb_benchmark_row *row = size->middle.row;
	char texts[2][24];
	bool rates = !isnan(row->algorithm_rate) &&
		     (size->bytes >= LARGE || isnan(row->time_ns));
	for (int side = 0; side < 2; side++)
		if (rates)
			tb_format_rate(rate_of(size, side), texts[side], 24);
		else
			tb_format_long_time(
				1e3 * size->middle.time_ns[side], texts[side], 24);
	fprintf(to, " (%s%s, then %s, at %s)",
		rates && !isnan(row->bus_rate) ? "bus bandwidth " : "", texts[0],
		texts[1], TB_SIZE_TEXT(size->bytes));
}

// suggest_rate says what leaves such a share of a bandwidth.
static void suggest_rate(FILE *to, const struct tb_benchmark_table *table, double share)
{
	uint32_t each = table->n_hosts ? table->n_ranks / table->n_hosts : 0;
	if (fabs(share - .5) < .02)
		fprintf(to, "; half is what half of the adapters, links at half their "
			    "rate or PCIe of half the width leave");
	else if (each >= 4 && fabs(share - (each - 1.) / each) < .1 / each)
		fprintf(to,
			"; if each of the %" PRIu32
			" ranks of a host has an adapter, one that is down leaves that",
			each);
}

// far_run leaves out, at the ends of a run, sizes that changed little beside the one that
// changed most: one of them may be noise.
static struct log_run far_run(const struct log_series *series)
{
	struct log_run run = series->lead;
	const struct log_size *sizes = series->sizes;
	double little = sizes[run.farthest].middle.longer / LITTLE;
	while (run.first < run.farthest && sizes[run.first].middle.longer < little)
		run.n -= sizes[run.first++].verdict == run.verdict;
	while (run.last > run.farthest && sizes[run.last].middle.longer < little)
		run.n -= sizes[run.last--].verdict == run.verdict;
	return run;
}

// suggest_cause says what the sizes that are slower suggest: a time that does not grow
// with the bytes is a latency's, one that grows as they do a bandwidth's.
static void suggest_cause(
	FILE *to, const struct tb_benchmark_table *table, const struct log_series *series)
{
	const struct log_run slow = far_run(series);
	const struct log_size *first = &series->sizes[slow.first],
			      *last = &series->sizes[slow.last];
	bool from_first = slow.first == 0, to_last = slow.last == series->n_sizes - 1;
	double more_ns[2] = {first->middle.time_ns[1] - first->middle.time_ns[0],
		last->middle.time_ns[1] - last->middle.time_ns[0]};
	double wider = (double)last->bytes / fmax((double)first->bytes, 1);
	double growth =
		wider > 7 ? log(more_ns[1] / more_ns[0]) / log(wider) : (double)NAN;
	char times[2][24];
	if (slow.n == 1)
		fprintf(to, "One size alone is slower: measure it again");
	else if ((double)slow.n < .75 * (double)(slow.last - slow.first + 1))
		fprintf(to,
			"Slower and other sizes alternate: what ran beside, or another "
			"algorithm at some sizes, rather than a rate or a latency");
	else if (!from_first && !to_last)
		fprintf(to,
			"Smaller and larger sizes are not slower: another algorithm or "
			"protocol in between (library, its version or settings)");
	else if (growth < .3 || !to_last) {
		fprintf(to, "A latency, not a bandwidth");
		if (!isnan(first->middle.row->time_ns))
			fprintf(to, ": a call takes %s to %s longer",
				tb_format_long_time(1e3 * more_ns[0], times[0], 24),
				tb_format_long_time(1e3 * more_ns[1], times[1], 24));
		fprintf(to, !to_last	 ? ", and larger ones are no slower"
			    : from_first ? ", whatever its size"
					 : ", and smaller ones are no slower");
	} else if (growth > .7 || !from_first) {
		fprintf(to,
			"A bandwidth, not a latency: %s, and %.2f of the speed is left "
			"at the largest size",
			from_first ? "what it takes longer grows with the bytes"
				   : "smaller sizes are no slower",
			last->share);
		if (last->share < slow.least + .05)
			suggest_rate(to, table, last->share);
	} else
		fprintf(to, slow.most - slow.least < .1 * slow.most
				    ? "All sizes by about the same factor: latency and "
				      "bandwidth alike (more steps, a slower clock, what "
				      "runs beside)"
				    : "Both the latency and the bandwidth");
	end_sentence(to);
}

// part_member returns the `i`th host of a group, or of a pair its host, or rank; NULL:
// there are no more.
static const char *part_member(const struct tb_log_changes *changes,
	const struct log_part *part, uint32_t i, char name[64])
{
	const struct tb_benchmark_row *row = part->row;
	const struct tb_benchmark_table *table = log_table(changes, row);
	if (row->first == UINT32_MAX)
		return table->host_names && i < table->n_hosts ? table->host_names[i]
							       : NULL;
	uint32_t rank = i == 0 ? row->first : i == 1 ? row->second : UINT32_MAX;
	if (rank == UINT32_MAX)
		return NULL;
	if (table->hosts && table->host_names && rank < table->n_ranks)
		return table->host_names[table->hosts[rank]];
	snprintf(name, 64, "rank %" PRIu32, rank);
	return name;
}

// count_with returns how many of the parts have a member of that name.
static size_t count_with(const struct tb_log_changes *changes,
	const struct log_part *parts, size_t n, const char *name)
{
	char buffer[64];
	const char *member;
	size_t n_with = 0;
	for (size_t k = 0; k < n; k++) {
		bool has = false;
		for (uint32_t i = 0;
			!has && (member = part_member(changes, &parts[k], i, buffer));
			i++)
			has = strcmp(member, name) == 0;
		n_with += has;
	}
	return n_with;
}

// append_behind names the parts that are slower by more than the others, and what these
// have in common that the others lack.
static void append_behind(
	FILE *to, const struct tb_log_changes *changes, const struct log_series *series)
{
	const struct log_part *parts = series->parts;
	size_t n = series->n_parts, n_behind = series->n_behind;
	char buffers[2][64];
	const char *member;
	bool pairs = parts->row->first != UINT32_MAX, found = false;
	fprintf(to, "%zu of %zu %s", n_behind, n, pairs ? "pairs" : "groups of hosts");
	for (uint32_t i = 0; n_behind > 1 && !found &&
			     (member = part_member(changes, parts, i, buffers[0]));
		i++) {
		found = count_with(changes, parts, n_behind, member) == n_behind &&
			count_with(changes, parts, n, member) < n;
		if (found)
			fprintf(to, ", all with %s,", member);
	}
	fprintf(to, n_behind == 1 ? " reaches" : " reach");
	for (size_t k = 0; k < n_behind && k < PARTS_NAMED; k++) {
		member = part_member(changes, &parts[k], 0, buffers[0]);
		const char *second = part_member(changes, &parts[k], 1, buffers[1]);
		fprintf(to, "%s %.2f (%s%s%s)", k ? "," : "", exp(-parts[k].longer),
			member ? member : "", second ? " - " : "", second ? second : "");
	}
	fprintf(to, "%s of the speed before", n_behind > PARTS_NAMED ? " and more" : "");
}

static void describe_series(
	FILE *to, const struct tb_log_changes *changes, struct log_series *series)
{
	const struct log_run *lead = &series->lead, *also = &series->also;
	bool is_slower = lead->verdict == LOG_SLOWER,
	     is_alike = lead->verdict == LOG_ALIKE,
	     in_part = series->n_behind && !is_slower,
	     close = lead->least > 1 / (1 + LEAST_PERCENT / 100) &&
		     lead->most < 1 + LEAST_PERCENT / 100;
	double scatter = 100 * expm1(lead->scatter);
	series->text = (size_t)ftell(to);
	fprintf(to, "%s is %s %s", changes->files[1],
		is_slower || in_part ? "slower than"
		: !is_alike	     ? "faster than"
		: close		     ? "as fast as"
				     : "not told apart from",
		changes->files[0]);
	if (in_part) {
		fprintf(to, " in part: ");
		append_behind(to, changes, series);
		fprintf(to, "; the others");
	} else
		append_sizes(to, series, lead);
	fprintf(to, ": %s", tb_benchmark_operation(series->row));
	if (series->row->n_ranks)
		fprintf(to, ", %" PRIu32 " ranks", series->row->n_ranks);
	fprintf(to, ", reaches ");
	append_range(to, lead);
	fprintf(to, " of its speed");
	if (!is_alike)
		append_figures(to, &series->sizes[lead->farthest]);
	if (series->scatter_of)
		fprintf(to,
			scatter < .05 ? ", %s %s (below 0.1 %%)" : ", %s %s (%.1f %%)",
			is_alike ? "within" : "beyond", series->scatter_of, scatter);
	else
		fprintf(to, "; each size stands once, so scatter is not known");
	if (also->n) {
		fprintf(to, "; %s", is_slower ? "faster" : "slower");
		append_sizes(to, series, also);
		fprintf(to, " (");
		append_range(to, also);
		fprintf(to, ")");
	}
	if (series->n_behind && is_slower) {
		fprintf(to, "; ");
		append_behind(to, changes, series);
	}
	end_sentence(to);
	if (is_slower && series->n_sizes > 1)
		suggest_cause(to, log_table(changes, series->row), series);
}

// The set-ups.

// name_other_hosts names the hosts that the other log lacks: "gpu01 and 6 more". A
// benchmark has each name once.
static const char *name_other_hosts(const struct tb_benchmark_table *table,
	const struct tb_benchmark_table *other, char text[96])
{
	const char *first = "";
	uint32_t n = 0;
	for (uint32_t i = 0; i < table->n_hosts; i++) {
		bool has = false;
		for (uint32_t k = 0; k < other->n_hosts && !has; k++)
			has = table->host_names[i] == other->host_names[k];
		if (!has && n++ == 0)
			first = table->host_names[i];
	}
	snprintf(text, 96, n > 1 ? "%.60s and %" PRIu32 " more" : "%.60s", first, n - 1);
	return text;
}

// describe_setups writes how the logs' first tables differ.
static void describe_setups(FILE *to, const struct tb_log_changes *changes)
{
	const struct tb_benchmark_table *a = changes->first[0], *b = changes->first[1];
	char counts[2][32] = {"", ""}, hosts[2][96] = {"", ""};
	bool differs = false;
	if (a->n_hosts && b->n_hosts) {
		tb_format_count(a->n_hosts, counts[0], sizeof *counts);
		tb_format_count(b->n_hosts, counts[1], sizeof *counts);
	}
	if (a->host_names && b->host_names && !changes->groups[0] &&
		!changes->groups[1]) {
		name_other_hosts(a, b, hosts[0]);
		name_other_hosts(b, a, hosts[1]);
	}
	const char *const settings[][3] = {{"", a->tool, b->tool},
		{"version ", a->version, b->version},
		{"datatype ", a->datatype, b->datatype},
		{"adapter ", a->adapter, b->adapter},
		{"", a->device_names && b->device_names ? a->device_names[0] : NULL,
			b->device_names ? b->device_names[0] : NULL},
		{"number of hosts ", counts[0], counts[1]},
		{"hosts ", hosts[0], hosts[1]}};
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		const char *const *at = settings[i];
		if (!at[1] || !at[2] || !*at[1] || !*at[2] || strcmp(at[1], at[2]) == 0)
			continue;
		fprintf(to, "%s%s%s, then %s",
			differs ? "; " : "The logs differ in: ", at[0], at[1], at[2]);
		differs = true;
	}
	if (differs)
		end_sentence(to);
}

// name_alone names what one log alone has: "allreduce of 32 ranks".
static const char *name_alone(
	const struct tb_log_changes *changes, int side, char name[64])
{
	const struct tb_benchmark_row *row = changes->alone[side];
	snprintf(name, 64, row && row->n_ranks ? "%s of %" PRIu32 " ranks" : "%s",
		row ? tb_benchmark_operation(row) : "nothing", row ? row->n_ranks : 0);
	return name;
}

static void describe_left_out(FILE *to, const struct tb_log_changes *changes,
	const char *what, const size_t n[2])
{
	if (n[0] + n[1] == 0)
		return;
	fprintf(to, "%s: %zu rows of %s, %zu of %s; they are left out", what, n[0],
		changes->files[0], n[1], changes->files[1]);
	end_sentence(to);
}

static void describe_changes(FILE *to, struct tb_log_changes *changes)
{
	const char *note = tb_benchmark_note(changes->benchmark);
	describe_left_out(to, changes, "Wrong values by the benchmark's own check",
		changes->n_wrong);
	for (size_t i = 0; i < changes->n_series; i++) {
		describe_series(to, changes, &changes->series[i]);
		if (i == 0)
			describe_setups(to, changes);
	}
	describe_left_out(to, changes, "In one log alone", changes->n_alone);
	if (note) {
		fputs(note, to);
		end_sentence(to);
	}
}

// compare_series adds the series of the samples up to `to`, and its parts behind `parts`,
// and returns how many these are.
static size_t compare_series(
	struct tb_log_changes *changes, size_t from, size_t to, struct log_part *parts)
{
	struct log_size *sizes = &changes->sizes[changes->n_sizes];
	struct log_series series = {
		.row = changes->samples[from].row, .sizes = sizes, .parts = parts};
	for (size_t i = from, end; i < to; i = end) {
		end = samples_end(changes, i, KEYS_OF_SIZE);
		size_t n_parts = add_size(changes, i, end, parts);
		series.n_parts = n_parts ? n_parts : series.n_parts;
	}
	series.n_sizes = (size_t)(&changes->sizes[changes->n_sizes] - sizes);
	if (series.n_sizes == 0)
		return 0;
	series.scatter_of = judge_sizes(sizes, series.n_sizes);
	judge_series(changes, &series);
	changes->series[changes->n_series++] = series;
	return series.n_parts;
}

static int find_log_changes(struct tb_log_changes *changes)
{
	size_t n = tb_benchmark_n_rows(changes->benchmark) + 1;
	changes->samples = malloc(n * sizeof *changes->samples);
	changes->parts = malloc(n * sizeof *changes->parts);
	changes->sizes = malloc(n * sizeof *changes->sizes);
	changes->series = malloc(n * sizeof *changes->series);
	if (!changes->samples || !changes->parts || !changes->sizes || !changes->series)
		return TB_ENOMEM;
	struct log_part *parts = changes->parts;
	find_tables(changes);
	list_samples(changes);
	for (size_t i = 0, end; i < changes->n_samples; i = end) {
		end = samples_end(changes, i, KEYS_OF_SERIES);
		parts += compare_series(changes, i, end, parts);
	}
	qsort(changes->series, changes->n_series, sizeof *changes->series, by_log_share);
	FILE *to = open_memstream(&changes->texts, &changes->n_texts);
	if (!to)
		return TB_ENOMEM;
	describe_changes(to, changes);
	return fclose(to) == 0 ? TB_OK : TB_ENOMEM;
}

int tb_log_changes_new(struct tb_log_changes **changes,
	const struct tb_benchmark *benchmark, const char *a, const char *b,
	struct tb_error *error)
{
	struct tb_log_changes *made = calloc(1, sizeof *made);
	if (made)
		*made = (struct tb_log_changes){.benchmark = benchmark, .files = {a, b}};
	if (!made || find_log_changes(made) != TB_OK) {
		tb_log_changes_free(made);
		return tb_fail_memory(error, "a comparison");
	}
	*changes = made;
	return TB_OK;
}

void tb_log_changes_free(struct tb_log_changes *changes)
{
	if (!changes)
		return;
	free(changes->samples);
	free(changes->parts);
	free(changes->sizes);
	free(changes->series);
	free(changes->texts);
	free(changes);
}

const char *tb_log_changes_text(
	const struct tb_log_changes *changes, size_t i, double *share)
{
	if (i >= changes->n_series)
		return NULL;
	*share = changes->series[i].share;
	return changes->texts + changes->series[i].text;
}

double tb_log_changes_growth(const struct tb_log_changes *changes)
{
	return changes->growth;
}

// The sizes, as a table.

static void put_log_ranks(struct tb_datum *at)
{
	at->whole = ((const struct log_size *)at->item)->middle.row->n_ranks;
	at->unknown = at->whole == 0;
}

static void put_log_time(struct tb_datum *at)
{
	const struct log_part *part = &((const struct log_size *)at->item)->middle;
	bool timed = !isnan(part->row->time_ns);
	expect_put_us(at, timed ? part->time_ns[at->column->which] / 1e3 : (double)NAN);
}

static void put_log_rate(struct tb_datum *at)
{
	expect_put_rate(at, rate_of(at->item, (int)at->column->which));
}

static void put_log_scatter(struct tb_datum *at)
{
	at->real = 100 * expm1(((const struct log_size *)at->item)->scatter);
	at->unknown = isnan(at->real);
}

static void put_log_verdict(struct tb_datum *at)
{
	static const char *const words[] = {"slower", "faster", "alike"};
	at->word = words[((const struct log_size *)at->item)->verdict];
}

static const struct tb_column log_columns[] = {
	{"operation", "operation", "That was measured", TB_DATUM_TEXT,
		TB_MEMBER(struct log_size, operation)},
	{"ranks", "ranks", "That took part; null: not known", TB_DATUM_COUNT,
		.put = put_log_ranks, .flags = TB_COLUMN_NULL},
	{"bytes", "size", "As the tool prints it", TB_DATUM_SIZE,
		TB_MEMBER(struct log_size, bytes)},
	{"a_ps", "A", "Time of one operation in the first log", TB_DATUM_TIME,
		.put = put_log_time, .flags = TB_COLUMN_NULL},
	{"b_ps", "B", "In the second", TB_DATUM_TIME, .put = put_log_time,
		.flags = TB_COLUMN_NULL, .which = 1},
	{"a_bytes_per_s", "rate in A", "Bus bandwidth, or the rate that the tool has",
		TB_DATUM_RATIO, .put = put_log_rate, .flags = TB_COLUMN_NULL},
	{"b_bytes_per_s", "in B", "The same in the second", TB_DATUM_RATIO,
		.put = put_log_rate, .flags = TB_COLUMN_NULL, .which = 1},
	{"ratio", "B/A", "Speed in B over that in A", TB_DATUM_RATIO,
		TB_MEMBER(struct log_size, share)},
	{"scatter_percent", "scatter", "What may be chance; null: not known",
		TB_DATUM_PERCENT, .put = put_log_scatter, .flags = TB_COLUMN_NULL},
	{"verdict", "verdict", "Beyond the scatter", TB_DATUM_TEXT,
		.put = put_log_verdict},
};

static const struct tb_table_type log_sizes_type = {"sizes", "Sizes", "Of both logs.",
	TB_COLUMNS(log_columns), TB_ROWS(struct tb_log_changes, sizes),
	.n = TB_COUNT(struct tb_log_changes, n_sizes)};

static void write_log_text(
	const char *text, enum tb_format format, unsigned width, FILE *stream)
{
	if (format == TB_FORMAT_TEXT)
		tb_wrap(stream, 0, 2, width, text);
	else if (format == TB_FORMAT_MARKDOWN) {
		fputs("- ", stream);
		tb_markdown_put(stream, text);
		fputc('\n', stream);
	}
}

int tb_log_changes_write(const struct tb_log_changes *changes, enum tb_format format,
	unsigned width, FILE *stream, struct tb_error *error)
{
	struct tb_table table = {.type = &log_sizes_type, .of = changes};
	char names[2][64];
	int status = TB_OK;
	if (!changes->n_series)
		return tb_fail_in(error, TB_EUSAGE, changes->files[1],
			"has no operation, size and number of ranks that %s has: %s "
			"beside %s",
			changes->files[0], name_alone(changes, 1, names[1]),
			name_alone(changes, 0, names[0]));
	tb_table_list(&table, 0);
	if (format == TB_FORMAT_MARKDOWN)
		fputs("# What changed\n\n", stream);
	for (size_t at = 0; at < changes->n_texts; at += strlen(changes->texts + at) + 1)
		write_log_text(changes->texts + at, format, width, stream);
	if (format == TB_FORMAT_CSV)
		tb_table_csv(&table, stream);
	else if (format == TB_FORMAT_MARKDOWN)
		tb_table_markdown(&table, stream);
	else
		status = tb_table_text(&table, width, stream);
	return status == TB_OK ? TB_OK : tb_fail_memory(error, "a comparison");
}
