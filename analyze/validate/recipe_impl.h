// The jobs that recipes write. Private to analyze/validate.
#ifndef TB_RECIPE_IMPL_H
#define TB_RECIPE_IMPL_H

#include "status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { TB_RECIPE_NUMBERS = 3 };

struct tb_recipe_words {
	char word[64]; // an operation, a pattern, or a file
	uint64_t numbers[TB_RECIPE_NUMBERS];
	double lead_s; // of a file: how long before the timed part it begins
};

struct tb_recipe_kind {
	const char *name;
	bool has_word;
	int n_numbers;
	const char *suffix;					 // of the job's file
	void (*write)(FILE *to, const struct tb_recipe_words *); // NULL: it is a file
	double (*figure)(double seconds, const struct tb_recipe_words *words);
};

// The last one has a NULL name.
extern const struct tb_recipe_kind tb_recipe_kinds[];

// tb_recipe_pattern stores the share of its link that a sender of a pattern gets at full
// load, on a network as tb_network_open reads it.
int tb_recipe_pattern(double *share, const char *pattern, const char *network,
	struct tb_error *error) TB_MUST_USE;

#endif
