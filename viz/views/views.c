#include "views.h"

const struct tb_view *const tb_views[] = {&tb_view_head, &tb_view_tabs, &tb_view_matrix,
	&tb_view_tree, &tb_view_links, &tb_view_flows, &tb_view_roots, &tb_view_blame,
	&tb_view_pair, &tb_view_findings, &tb_view_levels, &tb_view_list, &tb_view_detail,
	&tb_view_time, NULL};
