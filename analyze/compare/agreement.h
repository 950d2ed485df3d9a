// A run that was measured beside one that was simulated: whether the same ports could not
// send, and carried the bytes, and which disagree most.
//
// Links are paired by name, as in a comparison. Counters hold another time than a replay,
// and what else ran in it; so stall and bytes are compared in percent of those of all
// links: by rank (Spearman), and link by link. Links of which no port counted anything
// are left out, and what was not measured of others, or is bounded from above alone, has
// no figure.
#ifndef TB_AGREEMENT_H
#define TB_AGREEMENT_H

#include "compare.h"

#include <stdio.h>

// A link of both runs; [0] measured, [1] simulated.
struct tb_agreement_row {
	struct tb_link link;		     // of the measured run
	bool has_stall, has_bytes;	     // else they were not measured
	double stall[2], bytes[2];	     // percent of those of all links
	double held[2];			     // stall in percent of the run's time
	double stall_rank[2], bytes_rank[2]; // from 1; the mean of equal ones
	double differs;			     // stall: simulated less measured
};

struct tb_agreement {
	struct tb_agreement_side {
		struct tb_compared of; // borrowed
		uint32_t n_only;       // links that this run alone has
	} sides[2];
	struct tb_agreement_row *rows; // those that disagree most first
	uint32_t n;
	uint32_t n_unmeasured;	   // links of both, left out of the rows and sums
	uint32_t n_stall, n_bytes; // rows that have these
	double stall, bytes;	   // rank correlations; NaN: all are equal
};

// tb_agreement_init compares; `names` are the stores', borrowed. TB_EUSAGE when
// `measured` was not measured or `simulated` was, or they have no measured link in
// common. tb_agreement_fini frees; a zeroed struct is fine to free.
int tb_agreement_init(struct tb_agreement *agreement, struct tb_run *measured,
	struct tb_run *simulated, const char *const names[2],
	struct tb_error *error) TB_MUST_USE;
void tb_agreement_fini(struct tb_agreement *agreement);

// tb_agreement_write writes text, CSV, JSON or Markdown; `top` rows for people, 0: all.
// Write errors show in ferror(stream). TB_ENOMEM.
int tb_agreement_write(const struct tb_agreement *agreement, enum tb_format format,
	uint32_t top, unsigned width, FILE *stream, struct tb_error *error) TB_MUST_USE;

// tb_agreement_write_schema writes the schema of its JSON.
int tb_agreement_write_schema(FILE *stream, struct tb_error *error) TB_MUST_USE;

#endif
