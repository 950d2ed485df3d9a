#include "link_figures.h"

#include "figure_kinds.h"
#include "spans.h"

#include <stddef.h>

#define ROW(ID, field, column, type, adds, kind, ...)                                    \
	[TB_##ID] = {TB_ADDS_##adds, TB_KIND_##kind, column, __VA_ARGS__},
const struct tb_link_figure tb_link_figures[TB_N_ALL_METRICS] = {TB_LINK_FIGURES(ROW)
#undef ROW
#define ROW(ID, field, formula, adds, kind, compared, key, ...)                          \
	[TB_##ID] = {TB_ADDS_##adds, TB_KIND_##kind, key TB_PS_##kind, __VA_ARGS__},
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

const char *tb_span_name(uint32_t kind)
{
	static const char *const names[TB_SPAN_KINDS] = {[TB_SPAN_COMPUTE] = "compute",
		[TB_SPAN_SEND] = "send",
		[TB_SPAN_RECEIVE] = "receive",
		[TB_SPAN_WAIT] = "wait"};
	return kind < TB_SPAN_KINDS ? names[kind] : NULL;
}

const char *tb_path_name(uint32_t cause)
{
	static const char *const names[TB_PATH_CAUSES] = {[TB_PATH_START] = "start",
		[TB_PATH_COMPUTE] = "compute",
		[TB_PATH_CLOSED] = "closed window",
		[TB_PATH_QUEUE] = "own queue",
		[TB_PATH_SOFTWARE] = "software",
		[TB_PATH_TRANSFER] = "transfer",
		[TB_PATH_HELD_UP] = "held up",
		[TB_PATH_TIMEOUT] = "time-out",
		[TB_PATH_PACED] = "paced",
		[TB_PATH_ACKNOWLEDGE] = "acknowledge",
		[TB_PATH_LOST] = "lost",
		[TB_PATH_END] = "end"};
	return cause < TB_PATH_CAUSES ? names[cause] : NULL;
}
