// What two runs were made from, setting by setting, and where they differ.
#ifndef TB_SETTINGS_H
#define TB_SETTINGS_H

#include "run.h"

struct tb_difference {
	// A parameter of the network goes by its key in presets, an option with dashes.
	char name[32];
	char a[80], b[80]; // of long ones the part that differs, with "..." around it
	const char *whole_a, *whole_b; // NULL: a and b are whole; the run owns them
	bool follows;		       // from others, or only one of the networks has it
};

#define TB_DIFFERENCES_MOST 48

// tb_run_differences stores the settings that differ, at most TB_DIFFERENCES_MOST, in the
// order in which one would ask for them, those that follow last; it returns how many.
int tb_run_differences(const struct tb_run_info *a, const struct tb_run_info *b,
	struct tb_difference differences[TB_DIFFERENCES_MOST]);

// tb_options_alike returns whether two runs' options are the same but for those named in
// `skipped` and their values, "--seed 1" or "seed=1"; the last of them is NULL.
bool tb_options_alike(const char *a, const char *b, const char *const *skipped);

#endif
