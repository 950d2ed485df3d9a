// Rows of whole numbers packed into one value of the store: the text of a JSON array of
// arrays, so that SQLite alone can read it, through a view.
//
// [[key,number,number,...],...], without blanks; zeros at the end of a row are left out,
// but for its keys. Cost: some 50 instructions a number to write, as many to read; a row
// of a table takes 3,000 to 7,000. Private to analyze/.
#ifndef TB_ROW_PACK_H
#define TB_ROW_PACK_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The most bytes of `rows` rows of `numbers` numbers: brackets and commas, and numbers of
// up to 20 digits.
#define TB_ROW_PACK_MOST(rows, numbers) (2 + (rows) * (3 + (numbers)*21))

// tb_row_pack_put puts a row, with what parts it from the one before, behind a text that
// began at `text`; returns its new end. The first `n_keys` numbers, at least 1, are put
// even when they are 0.
char *tb_row_pack_put(
	char *text, char *end, const uint64_t *numbers, int n_keys, int n_numbers);

// tb_row_pack_end ends a text; returns its end. A text without rows stays empty.
char *tb_row_pack_end(char *text, char *end);

struct tb_row_pack { // being read
	const char *at, *end;
	bool begun;
	bool picks; // rows whose last key is not `picked` are passed over unread
	uint64_t picked;
};

// tb_row_pack_open begins to read a text, which it borrows. The caller may set `picks`.
struct tb_row_pack tb_row_pack_open(const char *text, size_t n_bytes);

// tb_row_pack_next reads the next row: 1, 0 at the end, or TB_EFORMAT when this is no
// such text, a row has fewer numbers than keys or more than `n_numbers`, or a number is
// more than a column of a table may hold. Of rows passed over it has the keys, and zeros.
int tb_row_pack_next(struct tb_row_pack *pack, uint64_t *numbers, int n_keys,
	int n_numbers) TB_MUST_USE;

#endif
