// Reads rows of the view flow. Private to this room.
#ifndef TB_FLOW_ROW_H
#define TB_FLOW_ROW_H

#include "run_impl.h"

// Its columns, of a struct tb_flow_sample. Its last_post_ps is kept by sender alone.
extern const struct tb_stored_table tb_flow_rows;

// tb_flow_read reads the next row, as tb_row_read does, whose times must fit each other.
bool tb_flow_read(struct tb_row_reader *rows, struct tb_flow_sample *flow);

#endif
