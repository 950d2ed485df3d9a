// What a trace holds beside its calls, for people: rings and trees of a library,
// adapters, kernels of which the sizes are unknown. A list of rows, in the order in which
// they are shown; rows of one name that follow each other belong together. One thread at
// a time per object.
#ifndef TB_FACTS_H
#define TB_FACTS_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>

struct tb_facts; // opaque

// tb_facts_new begins without rows; TB_ENOMEM. tb_facts_free: NULL is fine.
int tb_facts_new(struct tb_facts **facts, struct tb_error *error) TB_MUST_USE;
void tb_facts_free(struct tb_facts *facts);

// tb_facts_add appends a row. `name` is a constant of at most 12 letters; the text is cut
// at 4 KiB. Where memory ends, nothing is added any more, and tb_facts_check returns
// TB_ENOMEM.
void tb_facts_add(struct tb_facts *facts, const char *name, const char *format, ...)
	TB_PRINTF(3, 4);
int tb_facts_check(const struct tb_facts *facts, struct tb_error *error) TB_MUST_USE;

// tb_facts_at stores name and text of row i, which live as long as the facts, and returns
// whether there is one.
bool tb_facts_at(
	const struct tb_facts *facts, size_t i, const char **name, const char **text);

#endif
