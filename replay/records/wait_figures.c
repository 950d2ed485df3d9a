#include "wait_figures.h"

#include <math.h>

double tb_listed_figure_of(
	const struct tb_listed_wait *wait, enum tb_listed_figure figure)
{
	double value = NAN, whole_ps = wait->whole_ps;
	double wait_ps = (double)wait->wait_ps, error_ps = (double)wait->error_ps;
	double waits = (double)wait->waits, links = (double)wait->links;
	switch (figure) {
#define ROW(ID, formula, ...)                                                            \
	case TB_LISTED_##ID:                                                             \
		value = (formula);                                                       \
		break;
		TB_WAIT_COLUMNS(ROW)
#undef ROW
	case TB_N_LISTED_FIGURES:
		break;
	}
	return isfinite(value) && value >= 0 ? value : (double)NAN;
}

int64_t tb_listed_figure_whole(
	const struct tb_listed_wait *wait, enum tb_listed_figure figure)
{
	int64_t wait_ps = wait->wait_ps, error_ps = wait->error_ps;
	int64_t waits = wait->waits, links = wait->links;
	if (wait_ps > 0 && error_ps > INT64_MAX - wait_ps) // of a foreign store
		error_ps = INT64_MAX - wait_ps;
#define CASE(ID, formula)                                                                \
	case TB_LISTED_##ID:                                                             \
		return (formula);
#define ROW(ID, formula, kind, ...) TB_IF_WHOLE_##kind(CASE(ID, formula))
	switch ((int)figure) {
		TB_WAIT_COLUMNS(ROW)
	default:
		return 0;
	}
#undef ROW
#undef CASE
}
