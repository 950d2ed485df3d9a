// What happened on neighbouring links in a time bin, packed into one value of the store:
// the text of a JSON array, so that SQLite alone can read it, through the view link_bin.
//
// A pack holds up to TB_PACK_LINKS links, those whose numbers are the same by
// TB_PACK_LINKS: [[link,wait_ps,stall_ps,...],...], ascending, without blanks, in the
// order of TB_LINK_FIGURES; zeros at the end are left out. So the figures of one link
// need not be looked for among all. Cost: some 400 instructions a link to write, as many
// to read; a row of a table takes 4,700.
#ifndef TB_LINK_PACK_H
#define TB_LINK_PACK_H

#include "link_figures.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>

#define TB_PACK_LINKS 1024

// Brackets and commas, and numbers of up to 20 digits.
#define TB_PACK_MOST (2 + TB_PACK_LINKS * (3 + (1 + TB_N_FIGURES) * 21))

// tb_link_pack_write packs those of `n` samples, sorted by link, that lie in the pack of
// the first one, all-zero ones left out, into `text`, which has room for TB_PACK_MOST
// bytes. It stores how many bytes those are, 0 when all were left out, and returns how
// many samples they were.
size_t tb_link_pack_write(const struct tb_link_sample *samples, size_t n,
	char text[TB_PACK_MOST], size_t *n_bytes);

struct tb_link_pack { // being read
	const char *at, *end;
	uint64_t first, last; // that may follow, both included
	bool begun;
};

// tb_link_pack_open begins to read pack number `pack`, whose text it borrows.
struct tb_link_pack tb_link_pack_open(uint64_t pack, const char *text, size_t n_bytes);

// tb_link_pack_next reads the next sample, without rates: 1, 0 at the end, or TB_EFORMAT
// when this is no such text.
int tb_link_pack_next(
	struct tb_link_pack *pack, struct tb_link_sample *sample) TB_MUST_USE;

#endif
