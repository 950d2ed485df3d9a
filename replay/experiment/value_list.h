// Lists and ranges of values as people write them: "0.1, 0.5", "1..5" (steps of 1; sizes
// double),
// "0.1..1 step 0.1", "1K..1M x2".
#ifndef TB_VALUE_LIST_H
#define TB_VALUE_LIST_H

#include "status.h"

#include <stddef.h>

// How a value is written.
enum tb_value_form { TB_VALUE_WORD, TB_VALUE_COUNT, TB_VALUE_SIZE, TB_VALUE_REAL };

struct tb_value_list { // a zeroed one is empty
	char **texts;
	size_t n, room;
};

// tb_value_list_parse appends what `text` lists, ranges written out. Numbers of a range
// are written as whole numbers (COUNT, SIZE) or with up to ten digits; what stands alone
// is kept as it is. On failure the error has a sentence about `text`, without a place.
int tb_value_list_parse(struct tb_value_list *list, enum tb_value_form form,
	const char *text, struct tb_error *error) TB_MUST_USE;

// tb_value_list_networks appends the networks that `text` lists: what follows a comma and
// has a '=' is a change of the network before it. Errors as tb_value_list_parse.
int tb_value_list_networks(
	struct tb_value_list *list, const char *text, struct tb_error *error) TB_MUST_USE;
void tb_value_list_fini(struct tb_value_list *list);

#endif
