#include "link_figures.h"

#include <stddef.h>

#define ROW(ID, field, column, type, adds, kind, ...)                                    \
	[TB_##ID] = {TB_ADDS_##adds, TB_KIND_##kind, column, __VA_ARGS__},
const struct tb_link_figure tb_link_figures[TB_N_ALL_METRICS] = {TB_LINK_FIGURES(ROW)
#undef ROW
#define ROW(ID, field, value, view, adds, kind, compared, key, ending, ...)              \
	[TB_##ID] = {TB_ADDS_##adds, TB_KIND_##kind, key ending, __VA_ARGS__},
		TB_LINK_DERIVED(ROW)
#undef ROW
#define ROW(ID, field, ...) [TB_##ID] = {TB_ADDS_SUM, TB_KIND_TIME, __VA_ARGS__},
			TB_LINK_WAIT(ROW)};
#undef ROW

#define ROW(ID, field, ...)                                                              \
	_Static_assert(offsetof(struct tb_link_sample, field) ==                         \
			       offsetof(struct tb_link_sample, figures) +                \
				       TB_##ID * sizeof(uint64_t),                       \
		"fields and figures are the same");
TB_LINK_FIGURES(ROW)
TB_LINK_DERIVED(ROW)
TB_LINK_WAIT(ROW)
#undef ROW
