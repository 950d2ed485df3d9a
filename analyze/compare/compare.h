// What changed between two runs: their settings, their results, and the links, roots,
// pairs of jobs and flows whose figures changed most; as text, CSV, JSON, Markdown or
// HTML.
//
// Run A is the state before, run B the state after. They may differ in anything: links
// are matched by name, flows by job, source and destination; links and flows that only
// one run has are listed too. CSV contains only the links. The same stores give the same
// bytes.
#ifndef TB_COMPARE_H
#define TB_COMPARE_H

#include "format.h"
#include "run.h"
#include "seeds.h"

#include <stdio.h>

struct tb_compare; // opaque

// A run and the path of its store, by which the comparison names it.
struct tb_compared {
	struct tb_run *run;
	const char *store;
};

// tb_compare_new compares two runs; each list has at most `top` entries, 0: all. Runs and
// paths must outlive the comparison.
int tb_compare_new(struct tb_compare **compare, struct tb_compared a,
	struct tb_compared b, uint32_t top, struct tb_error *error) TB_MUST_USE;
void tb_compare_free(struct tb_compare *compare);

// tb_compare_seeds tells chance from change by several runs of either side, which differ
// only by their seed: seeds[0] of A and seeds[1] of B are pairs (tb_seeds_pair), at least
// two, and the first is that of the comparison. Verdict and lists for people then are of
// all pairs; those in JSON stay those of the first, beside what differs beyond chance.
// Without effect on different work. Errors as of tb_chance_gather (chance.h).
int tb_compare_seeds(struct tb_compare *compare, const struct tb_seeds seeds[2],
	struct tb_error *error) TB_MUST_USE;

// What a gate judges.
enum tb_gate { TB_GATE_WAIT, TB_GATE_RUN_TIME };

// tb_compare_growth returns by how many percent the wait of all headers, or the run time,
// is longer in B than in A, negative when it is shorter; infinity when headers waited in
// B but not in A. Of several seeds it is the mean.
double tb_compare_growth(const struct tb_compare *compare, enum tb_gate gate);

// tb_compare_is_by_chance returns whether the seed alone may have made that change: of
// several seeds, because it does not differ beyond chance, of one each, because seeds
// usually move as much, or place jobs at random.
bool tb_compare_is_by_chance(const struct tb_compare *compare, enum tb_gate gate);

// tb_compare_why_not returns why it cannot be judged, for a sentence; NULL: it can. Both
// runs must have carried as many messages and bytes, or one job with other collectives.
const char *tb_compare_why_not(const struct tb_compare *compare, enum tb_gate gate);

// tb_compare_verdict returns what changed, in sentences; it lives as long as `compare`.
const char *tb_compare_verdict(const struct tb_compare *compare);

// tb_compare_slowest_job returns what changed for the job that takes longest in either
// run, of those that are listed; "" when both have none in common, or all is alike.
const char *tb_compare_slowest_job(const struct tb_compare *compare);

// tb_compare_write writes to `stream`, text within `width` characters (0: any width), of
// which there are 40 lines or all lists (`full`); write errors show in ferror(stream).
// TB_ENOMEM.
int tb_compare_write(const struct tb_compare *compare, enum tb_format format, bool full,
	unsigned width, FILE *stream, struct tb_error *error) TB_MUST_USE;

// tb_compare_write_schema writes the JSON schema of a comparison: what
// schemas/compare.schema.json holds. TB_ENOMEM.
int tb_compare_write_schema(FILE *stream, struct tb_error *error) TB_MUST_USE;

#endif
