// Reads the records of a lane (tbt_format.h) one after another, checking all bounds.
#ifndef TB_TBT_RECORDS_H
#define TB_TBT_RECORDS_H

#include "bytes.h"
#include "status.h"
#include "tbt_format.h"

struct tb_tbt_record {
	enum tb_tbt_kind kind; // never TIME or MORE
	uint64_t enter_ns, leave_ns;
	uint64_t fields[TB_TBT_FIELDS_MAX];
	const uint64_t *list; // until the next record
	size_t n_list;
};

// A place among the records. A zeroed struct with `bytes` begins; tb_tbt_cursor_fini
// frees it.
struct tb_tbt_cursor {
	struct tb_bytes bytes;
	size_t at; // after the last whole record
	uint64_t now_ns;
	uint64_t *list;
	size_t n_list, list_room;
};

// tb_tbt_next reads a record: 1; 0 at the end of the bytes or a kind of 0; TB_EFORMAT,
// with the offset within the lane, for what is no whole record; TB_ENOMEM.
int tb_tbt_next(struct tb_tbt_cursor *cursor, struct tb_tbt_record *record,
	struct tb_error *error) TB_MUST_USE;

void tb_tbt_cursor_fini(struct tb_tbt_cursor *cursor);

#endif
