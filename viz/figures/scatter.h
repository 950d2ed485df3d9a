// A run of counters beside a replay as a picture: a mark for each link of both, the
// measured stall to the right, the simulated upwards, in percent of that of all links.
// Links on the diagonal agree; those that disagree most have their names.
#ifndef TB_SCATTER_H
#define TB_SCATTER_H

#include "agreement.h"
#include "picture.h"

// tb_scatter_picture prepares it. TB_ENOMEM.
int tb_scatter_picture(struct tb_picture *picture, const struct tb_agreement *agreement,
	enum tb_theme theme) TB_MUST_USE;

#endif
