// A shape that is taken has one text, which is read as the same shape; a list of changes
// of a network is read or refused.
#include "network.h"
#include "preset.h"
#include "shape.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_shape(const char *text)
{
	struct tb_shape shape, again;
	char one[TB_SHAPE_TEXT], other[TB_SHAPE_TEXT];
	if (tb_shape_parse(&shape, text, NULL) != TB_OK)
		return;
	if (tb_shape_parse(&again, tb_shape_text(&shape, one), NULL) != TB_OK ||
		strcmp(one, tb_shape_text(&again, other)) != 0 ||
		memcmp(&shape, &again, sizeof shape) != 0)
		abort();
	uint32_t n = tb_shape_n_nodes(&shape);
	for (uint32_t level = 0; level < shape.n_levels; level++)
		if (n == 0 || tb_shape_n_switches(&shape, level) == 0 ||
			tb_shape_n_down(&shape, level) == 0)
			abort();
}

static void check_changes(const char *text)
{
	struct tb_network_params params;
	struct tb_error error;
	char *name = NULL;
	if (asprintf(&name, "qsnet,%s", text) < 0)
		return;
	if (tb_network_preset(&params, name, &error) == TB_OK && params.shape[0])
		check_shape(params.shape);
	free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	check_shape(text);
	check_changes(text);
	free(text);
	return 0;
}
