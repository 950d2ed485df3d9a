// analyze_bounds.c with 1,000 runs.
#define BOUNDS_RUNS 1000
#include "analyze_bounds.c"
