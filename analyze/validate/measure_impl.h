// The tables that tb_measure_find searches.
#ifndef TB_MEASURE_IMPL_H
#define TB_MEASURE_IMPL_H

#include "measure.h"

// Measures of times; the last entry has a NULL id.
extern const struct tb_measure tb_measures_timed[];

#endif
