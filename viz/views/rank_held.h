// The panel's sheets of what held a span up, and of the spans that a link held up.
// Private to viz/views/.
#ifndef TB_RANK_HELD_H
#define TB_RANK_HELD_H

#include "detail.h"

// tb_ranks_span_sheet writes the sheet of a span or call (TB_PICK_SPAN); false when it is
// none any more.
bool tb_ranks_span_sheet(const struct tb_detail *detail, struct tb_pick pick);
// tb_ranks_link_sheet adds the spans that the selected link held up, while the view of
// ranks is shown.
void tb_ranks_link_sheet(const struct tb_detail *detail);
// tb_ranks_span_name returns the name of a span or call.
const char *tb_ranks_span_name(const struct tb_pane *pane, struct tb_pick pick);

#endif
