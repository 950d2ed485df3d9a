// Tables that are stored packed (link_pack.h), to be read row by row in SQL:
// unpacked_flow and unpacked_total have the rows and columns of the views flow and
// link_total, and find one flow, one link, or the flows to a node without reading all.
// Private to analyze/.
//
// They are asked for one run: WHERE run = ... What a pack says is checked; a damaged one
// ends the statement, and SQLite's message has the table's name.
#ifndef TB_PACKED_TABLES_H
#define TB_PACKED_TABLES_H

#include "flow_sum.h"

#include <sqlite3.h>

// The columns of a flow in a pack, and the most bytes of a pack's text: of 8 KiB pages,
// SQLite then fills one, and has the rest beside the key.
#define TB_FLOW_FIGURE_ONE(...) +1
#define TB_FLOW_NUMBERS		(2 TB_FLOW_FIGURES(TB_FLOW_FIGURE_ONE))
#define TB_FLOW_PACK_BYTES	9108

// tb_packed_tables_register makes the tables known to a connection. Returns an SQLite
// code.
int tb_packed_tables_register(sqlite3 *db);

#endif
