// The parameters of a preset, in one expression, for tests of networks.
#ifndef PARAMS_OF_H
#define PARAMS_OF_H

#include "preset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static inline struct tb_network_params params_of(const char *preset)
{
	struct tb_network_params params;
	struct tb_error error = {0};
	if (tb_network_preset(&params, preset, &error) != TB_OK)
		fail_msg("%s", error.text);
	return params;
}

#endif
