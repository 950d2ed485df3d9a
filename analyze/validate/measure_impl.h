// Tables of measures that tb_measure_find looks through.
#ifndef TB_MEASURE_IMPL_H
#define TB_MEASURE_IMPL_H

#include "measure.h"

// Those of times; ends with a NULL id.
extern const struct tb_measure tb_measures_timed[];

#endif
