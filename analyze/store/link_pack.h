// What happened on neighbouring links in a time bin, or in a run, packed (row_pack.h), so
// that SQLite alone can read it, through the views link_bin and link_total.
//
// A pack holds up to TB_PACK_LINKS links, those whose numbers are the same by
// TB_PACK_LINKS: [[link,wait_ps,stall_ps,...],...], ascending, without blanks, in the
// order of TB_LINK_FIGURES. So the figures of one link need not be looked for among all.
#ifndef TB_LINK_PACK_H
#define TB_LINK_PACK_H

#include "link_figures.h"
#include "row_pack.h"

#include <stddef.h>

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
