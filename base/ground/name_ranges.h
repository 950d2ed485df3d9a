// Names with ranges of numbers, as resource managers write lists of hosts.
//
// "node[00-15,20]" stands for node00 to node15 and node20: brackets hold numbers and
// ranges, whose numbers have as many digits as the range begins with. A name may have
// several pairs of brackets, and go on behind them: "rack[0-1]n[0-3]-ib". Names of a list
// are separated by commas (Slurm, pdsh).
#ifndef TB_NAME_RANGES_H
#define TB_NAME_RANGES_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A bound above all numbers in brackets.
#define TB_NAME_RANGES_NUMBER_MOST (UINT32_C(1) << 24)

// tb_name_ranges_take takes a name, which lives for the call; what is not TB_OK ends the
// expansion.
typedef int tb_name_ranges_take(void *context, const char *name);

// tb_name_ranges_expand hands on the names that `name` stands for, in order; a name
// without brackets is itself. It returns what `take` did, or TB_EUSAGE with a sentence in
// `error`, without a place, for brackets that cannot be understood and for more than
// `*left` names, which it counts down; TB_ENOMEM.
int tb_name_ranges_expand(const char *name, uint64_t *left, tb_name_ranges_take *take,
	void *context, struct tb_error *error) TB_MUST_USE;

// tb_name_ranges_next cuts the first name off a list: it ends at a comma that is not in
// brackets, or at the end of the text. NULL after the last, or of no list.
char *tb_name_ranges_next(char **list);

// tb_name_ranges_format writes names in their order, with ranges of those that follow
// each other: "leaf[0-3],spine"; what does not fit is "...". Returns `buffer`, of at
// least 16 bytes.
char *tb_name_ranges_format(
	char *buffer, size_t size, const char *const *names, size_t n);

// tb_name_ranges_number reads digits of a number below TB_NAME_RANGES_NUMBER_MOST and
// skips them.
bool tb_name_ranges_number(const char **text, uint32_t *number);

#endif
