// The inside of a study of routes. Private to analyze/fabric.
#ifndef TB_ROUTE_STUDY_IMPL_H
#define TB_ROUTE_STUDY_IMPL_H

#include "route_study.h"

// tb_route_study_patterns fills in shifts and bisections. `weight` is one over the rate
// of each link.
int tb_route_study_patterns(struct tb_route_study *study,
	const struct tb_route_study_options *options, const double *weight,
	struct tb_error *error) TB_MUST_USE;

#endif
