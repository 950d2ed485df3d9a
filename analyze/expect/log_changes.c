// What changed from one log of benchmarks to another, and what that suggests.
#include "log_changes.h"

#include "array.h"
#include "hash.h"
#include "order.h"
#include "table.h"
#include "units.h"
#include "visible.h"
#include "wrap.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
	double time;   // or one over its rate
	bool is_after;
};

enum log_verdict { LOG_SLOWER, LOG_FASTER, LOG_ALIKE };

// A size of an operation in both logs.
struct log_size {
	const char *operation;
	uint32_t n_ranks;
	uint64_t bytes;
	double time_ps[2], rate[2]; // NAN: not printed
	double longer;		    // the logarithm of B's time over A's
	double scatter;		    // of that, at most so; NAN: not known
	double share, scatter_percent;
	bool is_repeated; // several runs measured it
	enum log_verdict verdict;
};

// A pair of ranks, or a group of hosts; at one size, then over all.
struct log_part {
	uint64_t part;
	const struct tb_benchmark_row *row; // one of its own
	double longer, scatter;		    // as of a size
	double time[2];
	bool is_repeated;
};

// What scatter is of: several runs in a log, both results of one run, or neighbouring
// sizes.
enum log_scatter {
	SCATTER_OF_RUNS,
	SCATTER_WITHIN_RUN,
	SCATTER_OF_SIZES,
	SCATTER_UNKNOWN
};

struct log_series {
	const struct tb_benchmark_row *row; // one of its own
	size_t first, n;		    // sizes
	enum log_scatter scatter_of;
	double share;	    // that B reaches, where it differs most
	double percent;	    // longer, beyond scatter, at most
	char text[1200];    // without full stop
	char suggests[500]; // ""
};

struct tb_log_changes {
	const struct tb_benchmark *benchmark;
	const char *files[2];
	struct log_sample *samples;
	struct log_size *sizes;
	size_t n_sizes;
	struct log_series *series;
	size_t n_series;
	char differs[800]; // of the set-ups; ""
	size_t n_wrong[2]; // rows that failed the benchmark's own check
	size_t n_alone[2]; // samples that the other log lacks, and the first of them
	const struct tb_benchmark_row *alone[2];
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

static bool is_of_log(const struct tb_benchmark_table *table, const char *file)
{
	return strcmp(table->file, file) == 0;
}

// has_groups returns whether the tables of a file are of several groups of hosts.
static bool has_groups(const struct tb_benchmark *benchmark, const char *file)
{
	uint64_t first = 0;
	for (size_t i = 0; i < tb_benchmark_n_tables(benchmark); i++) {
		const struct tb_benchmark_table *table = tb_benchmark_table(benchmark, i);
		uint64_t hash = hash_of_hosts(table);
		if (!is_of_log(table, file))
			continue;
		if (first && hash != first)
			return true;
		first = hash;
	}
	return false;
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
	order = order ? order : TB_ORDER(a->time, b->time);
	return order ? order : TB_ORDER(a->row, b->row);
}

TB_ORDER_BY(by_log_part, struct log_part, TB_UP(part))
TB_ORDER_BY(by_part_longer, struct log_part, TB_DOWN(longer) TB_UP(part))
TB_ORDER_BY(by_log_share, struct log_series, TB_UP(share) TB_UP(first))

// samples_end returns where the samples from `from` on that are alike end.
static size_t samples_end(
	const struct log_sample *samples, size_t from, size_t n, size_t n_keys)
{
	size_t end = from + 1;
	while (end < n && compare_keys(&samples[from], &samples[end], n_keys) == 0)
		end++;
	return end;
}

static int list_samples(struct tb_log_changes *changes, size_t *n)
{
	const struct tb_benchmark *benchmark = changes->benchmark;
	bool groups[2];
	for (int side = 0; side < 2; side++)
		groups[side] = has_groups(benchmark, changes->files[side]);
	changes->samples =
		malloc((tb_benchmark_n_rows(benchmark) + 1) * sizeof *changes->samples);
	if (!changes->samples)
		return TB_ENOMEM;
	for (size_t i = 0; i < tb_benchmark_n_rows(benchmark); i++) {
		const struct tb_benchmark_row *row = tb_benchmark_row(benchmark, i);
		const struct tb_benchmark_table *table = log_table(changes, row);
		bool is_after = is_of_log(table, changes->files[1]);
		if (!is_after && !is_of_log(table, changes->files[0]))
			continue;
		double time =
			isnan(row->time_ns) ? 1 / row->algorithm_rate : row->time_ns;
		// Nothing is called where nothing is moved.
		bool empty = row->kind == TB_BENCH_COLLECTIVE && !row->printed_bytes &&
			     row->op != TB_COLL_BARRIER;
		changes->n_wrong[is_after] += row->n_wrong > 0;
		if (!(time > 0) || !isfinite(time) || row->n_wrong || empty)
			continue;
		uint64_t pair = (uint64_t)row->first << 32 | row->second;
		changes->samples[(*n)++] = (struct log_sample){.row = row,
			.part = row->first != UINT32_MAX ? pair
				: groups[0] && groups[1] ? hash_of_hosts(table)
							 : 0,
			.time = time,
			.is_after = is_after};
	}
	qsort(changes->samples, *n, sizeof *changes->samples, by_keys_and_time);
	return TB_OK;
}

// median_of_samples returns the median of `n` sorted values of samples.
static double median_of_samples(const struct log_sample *samples, size_t n)
{
	return (samples[(n - 1) / 2].time + samples[n / 2].time) / 2;
}

// compare_part fills in what a part changed by, out of place and in place together.
// False: one log lacks it.
static bool compare_part(
	struct tb_log_changes *changes, size_t from, size_t to, struct log_part *part)
{
	const struct log_sample *samples = changes->samples;
	const struct tb_benchmark_row *row = samples[from].row;
	double least = INFINITY, most = -INFINITY, logs[2] = {0, 0};
	size_t n = 0;
	*part = (struct log_part){samples[from].part, row, 0, NAN, {NAN, NAN}, false};
	for (size_t i = from, end; i < to; i = end) {
		end = samples_end(samples, i, to, KEYS_OF_PLACE);
		size_t middle = samples[i].is_after
					? i
					: samples_end(samples, i, end, KEYS_OF_LOG);
		size_t begins[] = {i, middle, end};
		double times[2] = {0, 0};
		for (int side = 0; side < 2; side++) {
			const struct log_sample *at = &samples[begins[side]];
			size_t count = begins[side + 1] - begins[side];
			if (count == 0 && changes->n_alone[!side]++ == 0)
				changes->alone[!side] = samples[i].row;
			if (count > 0)
				times[side] = log(median_of_samples(at, count));
			if (count < 2)
				continue;
			// One in five that is odd, as a first run often is, is left out.
			size_t odd = count / 5;
			part->is_repeated = true;
			part->scatter = fmax(part->scatter,
				log(at[count - 1 - odd].time / at[odd].time));
		}
		if (middle == i || middle == end)
			continue;
		n++;
		logs[0] += times[0];
		logs[1] += times[1];
		least = fmin(least, times[1] - times[0]);
		most = fmax(most, times[1] - times[0]);
	}
	if (n > 1)
		part->scatter = fmax(part->scatter, most - least);
	for (int side = 0; side < 2 && n > 0; side++)
		part->time[side] = exp(logs[side] / (double)n);
	part->longer = (logs[1] - logs[0]) / (double)n;
	return n > 0;
}

// add_size makes a size of its samples: of their parts that in the middle, the lower of
// two, because where half of them became slower the others did not.
static void add_size(struct tb_log_changes *changes, size_t from, size_t to,
	struct log_part *parts, size_t *n_parts)
{
	size_t n = 0;
	for (size_t i = from, end; i < to; i = end) {
		end = samples_end(changes->samples, i, to, KEYS_OF_PART);
		n += compare_part(changes, i, end, &parts[*n_parts + n]);
	}
	if (n == 0)
		return;
	parts += *n_parts;
	*n_parts += n;
	qsort(parts, n, sizeof *parts, by_part_longer);
	const struct log_part *at = &parts[n / 2];
	const struct tb_benchmark_row *row = at->row;
	struct log_size *size = &changes->sizes[changes->n_sizes++];
	*size = (struct log_size){.operation = tb_benchmark_operation(row),
		.n_ranks = row->n_ranks,
		.bytes = row->printed_bytes,
		.longer = at->longer,
		.scatter = at->scatter,
		.is_repeated = at->is_repeated};
	bool timed = !isnan(row->time_ns), bus = !isnan(row->bus_rate) && row->n_ranks;
	for (int side = 0; side < 2; side++) {
		double time = at->time[side];
		size->time_ps[side] = timed ? time * 1e3 : (double)NAN;
		// What a tool prints of rates is rounded to 0 for short messages.
		size->rate[side] = !timed ? 1 / time
				   : bus  ? (double)row->printed_bytes / time * 1e9 *
						   tb_bus_share(row->op, row->n_ranks)
				   : row->algorithm_rate > 0
					   ? (double)row->printed_bytes / time * 1e9
					   : (double)NAN;
	}
}

// widen_scatter takes of each size the largest scatter of it and those beside it: a
// figure that was measured twice says little. Where nothing was, scatter is how uneven
// the changes are over the sizes.
static enum log_scatter widen_scatter(struct log_size *sizes, size_t n, double *own)
{
	enum log_scatter kind =
		n >= SIZES_TO_SCATTER ? SCATTER_OF_SIZES : SCATTER_UNKNOWN;
	for (size_t i = 0; i < n; i++) {
		own[i] = sizes[i].scatter;
		if (!isnan(own[i]) && kind != SCATTER_OF_RUNS)
			kind = sizes[i].is_repeated ? SCATTER_OF_RUNS
						    : SCATTER_WITHIN_RUN;
	}
	for (size_t i = 1; i + 1 < n && kind == SCATTER_OF_SIZES; i++)
		own[i] = fabs(sizes[i].longer -
			      (sizes[i - 1].longer + sizes[i + 1].longer) / 2);
	for (size_t i = 0; i < n; i++) {
		double most = own[i];
		if (i > 0)
			most = fmax(most, own[i - 1]);
		if (i + 1 < n)
			most = fmax(most, own[i + 1]);
		for (size_t k = 0; k < n && isnan(most) && kind != SCATTER_UNKNOWN; k++)
			most = fmax(most, own[k]);
		sizes[i].scatter = most;
	}
	return kind;
}

static void judge_size(struct log_size *size)
{
	double least = isnan(size->scatter)
			       ? log1p(UNKNOWN_PERCENT / 100)
			       : fmax(size->scatter, log1p(LEAST_PERCENT / 100));
	size->share = exp(-size->longer);
	size->scatter_percent = 100 * expm1(size->scatter);
	size->verdict = size->longer > least	? LOG_SLOWER
			: size->longer < -least ? LOG_FASTER
						: LOG_ALIKE;
}

// append_range appends "0.50" or "0.50 to 0.79".
static void append_range(FILE *to, double least, double most)
{
	fprintf(to, most - least < .005 ? "%.2f" : "%.2f to %.2f", least, most);
}

// The sizes of a series that share a verdict.
struct log_run {
	const struct log_size *first, *last, *farthest; // from A's speed
	size_t n;
	bool all_between, most_between, from_first, to_last;
	double least, most; // shares of A's speed
	double scatter;
};

static struct log_run run_of(
	const struct log_size *sizes, size_t n, enum log_verdict verdict)
{
	struct log_run run = {.least = INFINITY, .scatter = NAN};
	for (size_t i = 0; i < n; i++) {
		if (sizes[i].verdict != verdict)
			continue;
		run.first = run.first ? run.first : &sizes[i];
		run.last = &sizes[i];
		if (!run.farthest ||
			fabs(sizes[i].longer) > .995 * fabs(run.farthest->longer))
			run.farthest = &sizes[i];
		run.n++;
		run.least = fmin(run.least, sizes[i].share);
		run.most = fmax(run.most, sizes[i].share);
		run.scatter = fmax(run.scatter, sizes[i].scatter_percent);
	}
	run.all_between = run.n && (size_t)(run.last - run.first) + 1 == run.n;
	run.most_between = run.n && run.n >= .75 * (double)(run.last - run.first + 1);
	run.from_first = run.first == sizes;
	run.to_last = run.n && run.last == sizes + n - 1;
	return run;
}

// append_sizes appends " from 4 MiB on", or "" of all sizes.
static void append_sizes(FILE *to, const struct log_run *run, size_t n)
{
	char first[24], last[24];
	if ((run->n == n && n > 1) || run->last->bytes == 0)
		return;
	tb_format_size(run->first->bytes, first, sizeof first);
	tb_format_size(run->last->bytes, last, sizeof last);
	if (run->n == 1)
		fprintf(to, " at %s", first);
	else if (run->all_between && run->to_last)
		fprintf(to, " from %s on", first);
	else if (run->all_between && run->from_first)
		fprintf(to, " up to %s", last);
	else if (run->all_between)
		fprintf(to, " from %s to %s", first, last);
	else
		fprintf(to, " at %zu of %zu sizes from %s to %s", run->n, n, first, last);
}

static void append_scatter(
	FILE *to, enum log_scatter kind, double percent, const char *beyond)
{
	static const char *const of[] = {"what runs in one log scatter by",
		"what one run scatters by", "what neighbouring sizes scatter by"};
	if (kind == SCATTER_UNKNOWN)
		fprintf(to, "; each size stands once, so scatter is not known");
	else
		fprintf(to,
			percent < .05 ? ", %s %s (below 0.1 %%)" : ", %s %s (%.1f %%)",
			beyond, of[kind], percent);
}

// append_figures appends what a size took before and after.
static void append_figures(
	FILE *to, const struct log_series *series, const struct log_size *at)
{
	char before[24], after[24], bytes[24];
	bool rates = !isnan(at->rate[0]) && !isnan(at->rate[1]) &&
		     (at->bytes >= LARGE || isnan(at->time_ps[0]));
	bool bus = rates && !isnan(series->row->bus_rate);
	if (rates) {
		tb_format_rate(at->rate[0], before, sizeof before);
		tb_format_rate(at->rate[1], after, sizeof after);
	} else {
		tb_format_long_time(at->time_ps[0], before, sizeof before);
		tb_format_long_time(at->time_ps[1], after, sizeof after);
	}
	fprintf(to, " (%s%s, then %s, at %s)", bus ? "bus bandwidth " : "", before, after,
		tb_format_size(at->bytes, bytes, sizeof bytes));
}

// suggest_rate says what leaves such a share of a bandwidth.
static void suggest_rate(FILE *to, const struct tb_benchmark_table *table, double share)
{
	uint32_t each = table->n_hosts ? table->n_ranks / table->n_hosts : 0;
	if (fabs(share - .5) < .02)
		fprintf(to,
			"; half is what half of the adapters, links at half their rate "
			"or PCIe of half the width leave");
	else if (fabs(share - .25) < .01)
		fprintf(to, "; links at a quarter of their rate leave that");
	else if (each >= 4 && fabs(share - (each - 1.) / each) < .1 / each)
		fprintf(to,
			"; if each of the %" PRIu32
			" ranks of a host has an adapter, one that is down leaves that",
			each);
}

// suggest_cause says what the sizes that are slower suggest: a time that does not grow
// with the bytes is a latency's, one that grows as they do a bandwidth's.
static void suggest_cause(FILE *to, const struct tb_log_changes *changes,
	const struct log_series *series, const struct log_run *slow)
{
	const struct log_size *first = slow->first, *last = slow->last;
	char time[24], most[24];
	double bytes =
		log((double)last->bytes / (double)(first->bytes ? first->bytes : 1));
	double more_ps[] = {first->time_ps[1] - first->time_ps[0],
		last->time_ps[1] - last->time_ps[0]};
	double growth =
		bytes > log(7) ? log(more_ps[1] / more_ps[0]) / bytes : (double)NAN;
	bool is_inner = !slow->from_first && !slow->to_last;
	if (slow->n == 1 && series->n > 2)
		fprintf(to, "One size alone is slower: measure it again");
	else if (!slow->most_between)
		fprintf(to,
			"Slower and other sizes alternate: what ran beside, or another "
			"algorithm at some sizes, rather than a rate or a latency");
	else if (is_inner)
		fprintf(to,
			"Smaller and larger sizes are not slower: another algorithm or "
			"protocol in between (library, its version or settings)");
	else if (growth < .3 || (slow->from_first && !slow->to_last)) {
		double less = fmin(more_ps[0], more_ps[1]),
		       more = fmax(more_ps[0], more_ps[1]);
		tb_format_long_time(less, time, sizeof time);
		tb_format_long_time(more, most, sizeof most);
		fprintf(to, "A latency, not a bandwidth");
		if (!isnan(more_ps[0]))
			fprintf(to,
				more < 1.1 * less ? ": a call takes %s longer"
						  : ": a call takes %s to %s longer",
				time, most);
		fprintf(to, slow->to_last ? ", whatever its size"
					  : ", and larger ones are no slower");
	} else if (growth > .7 || slow->to_last > slow->from_first) {
		fprintf(to,
			"A bandwidth, not a latency: %s, and %.2f of the speed is left "
			"at "
			"the largest size",
			slow->from_first ? "what it takes longer grows with the bytes"
					 : "smaller sizes are no slower",
			last->share);
		if (last->share < slow->least + .05)
			suggest_rate(to, log_table(changes, series->row), last->share);
	} else if (slow->n > 2 && slow->most - slow->least < .1 * slow->most)
		fprintf(to,
			"All sizes by about the same factor: latency and bandwidth alike "
			"(more steps, a slower clock, what runs beside)");
	else if (slow->n > 2)
		fprintf(to, "Both the latency and the bandwidth");
}

// Who falls behind.

static const char *part_member(const struct tb_log_changes *changes,
	const struct tb_benchmark_row *row, uint32_t i, char name[64])
{
	const struct tb_benchmark_table *table = log_table(changes, row);
	uint32_t ranks[] = {row->first, row->second},
		 rank = i < 2 ? ranks[i] : UINT32_MAX;
	if (row->first == UINT32_MAX)
		return table->host_names && i < table->n_hosts ? table->host_names[i]
							       : NULL;
	if (rank == UINT32_MAX)
		return NULL;
	if (table->hosts && table->host_names && rank < table->n_ranks)
		return table->host_names[table->hosts[rank]];
	snprintf(name, 64, "rank %" PRIu32, rank);
	return name;
}

static bool part_has(const struct tb_log_changes *changes,
	const struct tb_benchmark_row *row, const char *name)
{
	char buffer[64];
	const char *member;
	for (uint32_t i = 0; (member = part_member(changes, row, i, buffer)); i++)
		if (strcmp(member, name) == 0)
			return true;
	return false;
}

// append_behind names the parts that are slower by more than the others, and what these
// have in common that the others lack.
static void append_behind(FILE *to, const struct tb_log_changes *changes,
	const struct log_part *parts, size_t n, size_t n_behind)
{
	char buffer[64], other[64];
	const char *member;
	bool pairs = parts->row->first != UINT32_MAX;
	fprintf(to, "%zu of %zu %s", n_behind, n, pairs ? "pairs" : "groups of hosts");
	for (uint32_t i = 0;
		n_behind > 1 && (member = part_member(changes, parts[0].row, i, buffer));
		i++) {
		size_t with = 0, of_all = 0;
		for (size_t k = 0; k < n; k++) {
			bool has = part_has(changes, parts[k].row, member);
			with += has && k < n_behind;
			of_all += has;
		}
		if (with == n_behind && of_all < n) {
			fprintf(to, ", all with %s,", member);
			break;
		}
	}
	fprintf(to, n_behind == 1 ? " reaches" : " reach");
	for (size_t k = 0; k < n_behind && k < PARTS_NAMED; k++) {
		member = part_member(changes, parts[k].row, 0, buffer);
		const char *second = part_member(changes, parts[k].row, 1, other);
		fprintf(to, "%s %.2f (%s%s%s)", k ? "," : "", exp(-parts[k].longer),
			member ? member : "", second ? " - " : "", second ? second : "");
	}
	if (n_behind > PARTS_NAMED)
		fprintf(to, " and more");
	fprintf(to, " of the speed before");
}

// merge_parts makes one of the sizes of each part, and returns how many there are.
static size_t merge_parts(struct log_part *parts, size_t n)
{
	size_t kept = 0;
	qsort(parts, n, sizeof *parts, by_log_part);
	for (size_t i = 0, end; i < n; i = end) {
		double sum = 0;
		for (end = i; end < n && parts[end].part == parts[i].part; end++)
			sum += parts[end].longer;
		parts[kept] = parts[i];
		parts[kept++].longer = sum / (double)(end - i);
	}
	qsort(parts, kept, sizeof *parts, by_part_longer);
	return kept;
}

static int describe_series(const struct tb_log_changes *changes,
	struct log_series *series, const struct log_part *parts, size_t n_parts)
{
	const struct log_size *sizes = &changes->sizes[series->first];
	size_t n = series->n, n_behind = 0;
	// What has no room is cut off, before the zero at the end.
	FILE *to = fmemopen(series->text, sizeof series->text - 1, "w");
	FILE *suggests = fmemopen(series->suggests, sizeof series->suggests - 1, "w");
	struct log_run slow = run_of(sizes, n, LOG_SLOWER),
		       fast = run_of(sizes, n, LOG_FASTER),
		       alike = run_of(sizes, n, LOG_ALIKE);
	bool is_slower = slow.n && (!fast.n || slow.least * fast.most < 1);
	const struct log_run *lead = is_slower ? &slow : fast.n ? &fast : &alike;
	const struct log_run *also = is_slower && fast.n       ? &fast
				     : lead == &fast && slow.n ? &slow
							       : NULL;
	const char *a = changes->files[0], *b = changes->files[1];
	// By more than that in the middle, and than the fastest is faster than it.
	double middle = parts[n_parts / 2].longer,
	       far = fmax(-log(BEHIND), middle - parts[n_parts - 1].longer);
	while (n_behind < n_parts && parts[n_behind].longer > middle + far)
		n_behind++;
	if (!to || !suggests) {
		if (to)
			fclose(to);
		if (suggests)
			fclose(suggests);
		return TB_ENOMEM;
	}
	series->share = is_slower ? slow.least : lead == &fast ? fast.most : alike.least;
	series->percent = slow.n ? 100 * (1 / slow.least - 1) : 0;
	if (n_behind && !is_slower) {
		fprintf(to, "%s is slower than %s in part: ", b, a);
		append_behind(to, changes, parts, n_parts, n_behind);
		fprintf(to, "; the others: %s", tb_benchmark_operation(series->row));
	} else {
		bool close = lead == &alike &&
			     alike.least > 1 / (1 + LEAST_PERCENT / 100) &&
			     alike.most < 1 + LEAST_PERCENT / 100;
		fprintf(to, "%s is %s %s", b,
			is_slower	? "slower than"
			: lead == &fast ? "faster than"
			: close		? "as fast as"
					: "not told apart from",
			a);
		append_sizes(to, lead, n);
		fprintf(to, ": %s", tb_benchmark_operation(series->row));
	}
	if (series->row->n_ranks)
		fprintf(to, ", %" PRIu32 " ranks", series->row->n_ranks);
	fprintf(to, ", reaches ");
	append_range(to, lead->least, lead->most);
	fprintf(to, " of its speed");
	if (lead != &alike)
		append_figures(to, series, lead->farthest);
	append_scatter(to, series->scatter_of, lead->scatter,
		lead == &alike ? "within" : "beyond");
	if (also) {
		fprintf(to, "; %s", also == &fast ? "faster" : "slower");
		append_sizes(to, also, n);
		fprintf(to, " (");
		append_range(to, also->least, also->most);
		fprintf(to, ")");
	}
	if (n_behind && is_slower) {
		fprintf(to, "; ");
		append_behind(to, changes, parts, n_parts, n_behind);
	}
	if (n_behind) {
		series->share = fmin(series->share, exp(-parts[0].longer));
		series->percent = fmax(series->percent, 100 * expm1(parts[0].longer));
	}
	if (is_slower)
		suggest_cause(suggests, changes, series, &slow);
	fclose(suggests);
	fclose(to);
	return TB_OK;
}

// The set-ups.

// first_table returns the first table of a file; tables of several groups of hosts differ
// in these.
static const struct tb_benchmark_table *first_table(
	const struct tb_log_changes *changes, int side)
{
	size_t i = 0;
	while (!is_of_log(
		tb_benchmark_table(changes->benchmark, i), changes->files[side]))
		i++;
	return tb_benchmark_table(changes->benchmark, i);
}

static void add_log_setting(FILE *to, const char *what, const char *a, const char *b)
{
	if (a && b && *a && *b && strcmp(a, b) != 0)
		fprintf(to, "%s%s%s, then %s", ftell(to) ? "; " : "", what, a, b);
}

// name_other_hosts names the hosts that the other log lacks: "gpu01, gpu02 and 6 more".
// A benchmark has each name once.
static const char *name_other_hosts(const struct tb_benchmark_table *table,
	const struct tb_benchmark_table *other, char text[120])
{
	const char *first[2] = {"", ""};
	char more[32] = "";
	uint32_t n = 0;
	for (uint32_t i = 0; i < table->n_hosts; i++) {
		bool has = false;
		for (uint32_t k = 0; k < other->n_hosts && !has; k++)
			has = table->host_names[i] == other->host_names[k];
		if (!has && n++ < 2)
			first[n - 1] = table->host_names[i];
	}
	if (n > 2)
		snprintf(more, sizeof more, " and %" PRIu32 " more", n - 2);
	snprintf(
		text, 120, "%.40s%s%.40s%s", first[0], n > 1 ? ", " : "", first[1], more);
	return text;
}

static void compare_setups(FILE *to, const struct tb_log_changes *changes)
{
	const struct tb_benchmark_table *a = first_table(changes, 0),
					*b = first_table(changes, 1);
	char texts[2][120];
	add_log_setting(to, "", a->tool, b->tool);
	add_log_setting(to, "version ", a->version, b->version);
	add_log_setting(to, "datatype ", a->datatype, b->datatype);
	add_log_setting(to, "adapter ", a->adapter, b->adapter);
	add_log_setting(to, "", a->device_names ? a->device_names[0] : NULL,
		b->device_names ? b->device_names[0] : NULL);
	if (a->n_hosts && b->n_hosts) {
		snprintf(texts[0], sizeof *texts, "%" PRIu32, a->n_hosts);
		snprintf(texts[1], sizeof *texts, "%" PRIu32, b->n_hosts);
		add_log_setting(to, "number of hosts ", texts[0], texts[1]);
	}
	if (!a->host_names || !b->host_names || !a->hosts || !b->hosts ||
		has_groups(changes->benchmark, changes->files[0]) ||
		has_groups(changes->benchmark, changes->files[1]))
		return;
	add_log_setting(to, "hosts ", name_other_hosts(a, b, texts[0]),
		name_other_hosts(b, a, texts[1]));
	bool moved = false;
	for (uint32_t i = 0; i < a->n_ranks && a->n_ranks == b->n_ranks; i++)
		moved |= strcmp(a->host_names[a->hosts[i]], b->host_names[b->hosts[i]]) !=
			 0;
	if (moved && !*texts[0] && !*texts[1] && a->n_hosts == b->n_hosts)
		fprintf(to, "%swhich ranks sit on which of the same hosts",
			ftell(to) ? "; " : "");
}

static int find_log_changes(struct tb_log_changes *changes)
{
	size_t n = 0;
	int status = list_samples(changes, &n);
	struct log_part *parts = malloc((n + 1) * sizeof *parts);
	double *own = malloc((n + 1) * sizeof *own);
	changes->sizes = malloc((n + 1) * sizeof *changes->sizes);
	changes->series = malloc((n + 1) * sizeof *changes->series);
	if (!parts || !own || !changes->sizes || !changes->series)
		status = TB_ENOMEM;
	for (size_t i = 0, end; status == TB_OK && i < n; i = end) {
		struct log_series *series = &changes->series[changes->n_series];
		size_t n_parts = 0, size_end;
		end = samples_end(changes->samples, i, n, KEYS_OF_SERIES);
		*series = (struct log_series){
			.row = changes->samples[i].row, .first = changes->n_sizes};
		for (size_t k = i; k < end; k = size_end) {
			size_end = samples_end(changes->samples, k, end, KEYS_OF_SIZE);
			add_size(changes, k, size_end, parts, &n_parts);
		}
		series->n = changes->n_sizes - series->first;
		if (!series->n)
			continue;
		struct log_size *sizes = &changes->sizes[series->first];
		series->scatter_of = widen_scatter(sizes, series->n, own);
		for (size_t k = 0; k < series->n; k++)
			judge_size(&sizes[k]);
		status = describe_series(
			changes, series, parts, merge_parts(parts, n_parts));
		changes->n_series++;
	}
	free(parts);
	free(own);
	FILE *differs = fmemopen(changes->differs, sizeof changes->differs - 1, "w");
	if (status == TB_OK && differs) {
		qsort(changes->series, changes->n_series, sizeof *changes->series,
			by_log_share);
		compare_setups(differs, changes);
	}
	if (!differs)
		return TB_ENOMEM;
	fclose(differs);
	return status;
}

int tb_log_changes_new(struct tb_log_changes **changes,
	const struct tb_benchmark *benchmark, const char *a, const char *b,
	struct tb_error *error)
{
	struct tb_log_changes *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "a comparison");
	made->benchmark = benchmark;
	made->files[0] = a;
	made->files[1] = b;
	if (find_log_changes(made) != TB_OK) {
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
	free(changes->sizes);
	free(changes->series);
	free(changes);
}

size_t tb_log_changes_n(const struct tb_log_changes *changes)
{
	return changes->n_series;
}

struct tb_log_change tb_log_changes_at(const struct tb_log_changes *changes, size_t i)
{
	return (struct tb_log_change){changes->series[i].share, changes->series[i].text};
}

double tb_log_changes_growth(const struct tb_log_changes *changes)
{
	double most = 0;
	for (size_t i = 0; i < changes->n_series; i++)
		most = fmax(most, changes->series[i].percent);
	return most;
}

// The sizes, as a table.

static const char *log_verdict_word(size_t i)
{
	static const char *const words[] = {"slower", "faster", "alike"};
	return i < sizeof words / sizeof *words ? words[i] : NULL;
}

static void put_log_ranks(struct tb_datum *at)
{
	at->whole = ((const struct log_size *)at->item)->n_ranks;
	at->unknown = at->whole == 0;
}

static void put_log_time(struct tb_datum *at)
{
	double ps = ((const struct log_size *)at->item)->time_ps[at->column->which];
	at->unknown = isnan(ps);
	at->whole = at->unknown ? 0 : (int64_t)(ps + .5);
}

static void put_log_rate(struct tb_datum *at)
{
	char text[24];
	at->real = ((const struct log_size *)at->item)->rate[at->column->which];
	at->unknown = isnan(at->real);
	if (!at->unknown)
		tb_put_text(at, "%s", tb_format_rate(at->real, text, sizeof text));
}

static void put_log_scatter(struct tb_datum *at)
{
	at->real = ((const struct log_size *)at->item)->scatter_percent;
	at->unknown = isnan(at->real);
}

static void put_log_verdict(struct tb_datum *at)
{
	at->word = log_verdict_word(((const struct log_size *)at->item)->verdict);
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
		.put = put_log_verdict, .word = log_verdict_word},
};

static void list_log_sizes(struct tb_table *table)
{
	table->n_rows = table->n_shown =
		((const struct tb_log_changes *)table->of)->n_sizes;
}

static const struct tb_table_type log_sizes_type = {"sizes", "Sizes", "Of both logs.",
	TB_COLUMNS(log_columns), TB_ROWS(struct tb_log_changes, sizes),
	.list = list_log_sizes};

// put_log_line writes a sentence, or a part of a list.
static void put_log_line(
	enum tb_format format, unsigned width, FILE *stream, const char *text)
{
	char line[1600];
	snprintf(line, sizeof line, "%s.", text);
	if (format == TB_FORMAT_MARKDOWN) {
		fputs("- ", stream);
		tb_markdown_put(stream, line);
		fputc('\n', stream);
	} else
		tb_wrap(stream, 0, 2, width, line);
}

// name_alone names what one log alone has: "allreduce of 32 ranks".
static const char *name_alone(
	const struct tb_log_changes *changes, int side, char name[64])
{
	const struct tb_benchmark_row *row = changes->alone[side];
	const char *operation = row ? tb_benchmark_operation(row) : "nothing";
	if (row && row->n_ranks)
		snprintf(name, 64, "%s of %" PRIu32 " ranks", operation, row->n_ranks);
	else
		snprintf(name, 64, "%s", operation);
	return name;
}

static void write_log_words(const struct tb_log_changes *changes, enum tb_format format,
	unsigned width, FILE *stream)
{
	char text[1200] = "", name[64];
	if (changes->n_wrong[0] + changes->n_wrong[1]) {
		snprintf(text, sizeof text,
			"Wrong values by the benchmark's own check: %zu rows of %s, %zu "
			"of %s; they are left out",
			changes->n_wrong[0], changes->files[0], changes->n_wrong[1],
			changes->files[1]);
		put_log_line(format, width, stream, text);
	}
	for (size_t i = 0; i < changes->n_series; i++) {
		const struct log_series *series = &changes->series[i];
		put_log_line(format, width, stream, series->text);
		if (*series->suggests)
			put_log_line(format, width, stream, series->suggests);
		if (i == 0 && *changes->differs) {
			snprintf(text, sizeof text, "The logs differ in: %s",
				changes->differs);
			put_log_line(format, width, stream, text);
		}
	}
	for (int side = 0; side < 2; side++)
		if (changes->n_alone[side]) {
			snprintf(text, sizeof text,
				"%zu rows of %s have none beside them in %s (the first: "
				"%s)",
				changes->n_alone[side], changes->files[side],
				changes->files[!side], name_alone(changes, side, name));
			put_log_line(format, width, stream, text);
		}
	const char *note = tb_benchmark_note(changes->benchmark);
	if (note)
		put_log_line(format, width, stream, note);
}

int tb_log_changes_write(const struct tb_log_changes *changes, enum tb_format format,
	unsigned width, FILE *stream, struct tb_error *error)
{
	struct tb_table table = {.type = &log_sizes_type, .of = changes};
	char texts[2][64];
	int status = TB_OK;
	if (!changes->n_series)
		return tb_fail_in(error, TB_EUSAGE, changes->files[1],
			"has no operation, size and number of ranks that %s has: %s "
			"beside %s",
			changes->files[0], name_alone(changes, 1, texts[0]),
			name_alone(changes, 0, texts[1]));
	list_log_sizes(&table);
	if (format == TB_FORMAT_CSV)
		tb_table_csv(&table, stream);
	else if (format == TB_FORMAT_MARKDOWN) {
		fputs("# What changed\n\n", stream);
		write_log_words(changes, format, width, stream);
		tb_table_markdown(&table, stream);
	} else {
		write_log_words(changes, format, width, stream);
		status = tb_table_text(&table, width, stream);
	}
	return status == TB_OK ? TB_OK : tb_fail_memory(error, "a comparison");
}
