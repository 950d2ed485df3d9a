// Packs: rows of whole numbers in one value of the store, which SQLite alone can read
// through a view, as JSON. Private to analyze/.
#ifndef TB_LINK_PACK_H
#define TB_LINK_PACK_H

#include "link_figures.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Rows of whole numbers packed into one value of the store: the text of a JSON array of
// arrays, so that SQLite alone can read it, through a view.
//
// [[key,number,number,...],...], without blanks; zeros at the end of a row are left out,
// but for its keys. Cost: some 30 instructions a number to write, 50 to read; a row
// of a table takes 3,000 to 7,000.

// The most bytes of `rows` rows of `numbers` numbers: brackets and commas, numbers of up
// to 20 digits, and what is written behind the last one.
#define TB_ROW_PACK_MOST(rows, numbers) (10 + (rows) * (3 + (numbers)*21))

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

// What happened on neighbouring links in a time bin, or in a run, packed, for the
// views link_bin and link_total.
//
// A pack holds up to TB_PACK_LINKS links, those whose numbers are the same by
// TB_PACK_LINKS: [[link,wait_ps,stall_ps,...],...], ascending, without blanks, in the
// order of TB_LINK_FIGURES. So the figures of one link need not be looked for among all.

#define TB_PACK_LINKS 1024

#define TB_PACK_MOST TB_ROW_PACK_MOST(TB_PACK_LINKS, 1 + TB_N_FIGURES)

// tb_link_pack_write packs those of `n` samples, sorted by link, that lie in the pack of
// the first one, all-zero ones left out, into `text`, which has room for TB_PACK_MOST
// bytes. It stores how many bytes those are, 0 when all were left out, and returns how
// many samples they were.
size_t tb_link_pack_write(const struct tb_link_sample *samples, size_t n,
	char text[TB_PACK_MOST], size_t *n_bytes);

struct tb_link_pack { // being read
	struct tb_row_pack rows;
	uint64_t first, last; // that may follow, both included
};

// tb_link_pack_open begins to read pack number `pack`, whose text it borrows.
struct tb_link_pack tb_link_pack_open(uint64_t pack, const char *text, size_t n_bytes);

// tb_link_pack_next reads the next sample, without rates: 1, 0 at the end, or TB_EFORMAT
// when this is no such text.
int tb_link_pack_next(
	struct tb_link_pack *pack, struct tb_link_sample *sample) TB_MUST_USE;

// tb_link_pack_find reads the sample of one link of a pack that was opened: 1, 0 when it
// has none, TB_EFORMAT when that is no sample. What is before and behind it is not looked
// at. Cost: a search for a few bytes, a tenth of reading all.
int tb_link_pack_find(struct tb_link_pack *pack, struct tb_link link,
	struct tb_link_sample *sample) TB_MUST_USE;

#endif
