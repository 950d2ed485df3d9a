#include "call_figures.h"

#include <math.h>

#define CALL_LOCALS(type)                                                                \
	type calls = (type)of->calls, sum_ps = (type)of->sum_ps,                         \
	     longest_ps = (type)of->longest_ps, waited_ps = (type)of->waited_ps,         \
	     ranks = (type)of->ranks, run_ps = (type)of->run_ps;

double tb_calls_figure_of(const struct tb_call_figures *of, enum tb_calls_figure figure)
{
	CALL_LOCALS(double)
	double value = NAN;
	switch (figure) {
#define ROW(ID, formula, ...)                                                            \
	case TB_CALLS_##ID:                                                              \
		value = (formula);                                                       \
		break;
		TB_CALL_COLUMNS(ROW)
#undef ROW
	case TB_N_CALLS_FIGURES:
		break;
	}
	return isfinite(value) ? value : (double)NAN;
}

int64_t tb_calls_figure_whole(
	const struct tb_call_figures *of, enum tb_calls_figure figure)
{
	CALL_LOCALS(int64_t)
	(void)ranks, (void)run_ps; // of shares alone
#define CASE(ID, formula)                                                                \
	case TB_CALLS_##ID:                                                              \
		return (formula);
#define ROW(ID, formula, kind, ...) TB_IF_WHOLE_##kind(CASE(ID, formula))
	switch ((int)figure) {
		TB_CALL_COLUMNS(ROW)
	default:
		return 0;
	}
#undef ROW
#undef CASE
}
