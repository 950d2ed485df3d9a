#include "sweep_identity.h"

#include "parameters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_parameter(const struct tb_parameter *parameter, FILE *stream)
{
	const struct tb_value *value = &parameter->value;
	fprintf(stream, "%s.%s=", parameter->section, parameter->key);
	switch (value->type) {
	case TB_VALUE_WHOLE:
		fprintf(stream, "%" PRId64 "\n", value->whole);
		break;
	case TB_VALUE_REAL:
		fprintf(stream, "%a\n", value->real); // all its bits
		break;
	case TB_VALUE_WORD:
		fprintf(stream, "%s\n", value->word);
		break;
	}
}

static void identity_write_network(const struct tb_network_params *params, FILE *stream)
{
	struct tb_parameter list[TB_PARAMETERS_MOST];
	size_t n = tb_parameters(params, list);
	fprintf(stream, "%s %s\n", params->name, params->switching);
	for (size_t i = 0; i < n; i++)
		write_parameter(&list[i], stream);
}

static void write_sweep(const struct tb_sweep *sweep, bool with_blame, FILE *stream)
{
	const char *network = "";
	fprintf(stream, "sweep " TB_VERSION "%s\n", with_blame ? " blame" : "");
	for (size_t i = 0; i < sweep->n_hints; i++)
		fprintf(stream, "%s=%s\n", sweep->hints[i].key, sweep->hints[i].text);
	for (size_t i = 0; i < sweep->n_points; i++) {
		const struct tb_sweep_point *point = &sweep->points[i];
		// Points of the same network follow each other, so it is written once.
		if (strcmp(point->network, network) != 0)
			identity_write_network(&point->params, stream);
		network = point->network;
		fprintf(stream, "%s\n", point->settings);
	}
}

int tb_sweep_identity(const struct tb_sweep *sweep, bool with_blame,
	char digest[TB_DIGEST_SIZE], struct tb_error *error)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	if (stream)
		write_sweep(sweep, with_blame, stream);
	if (!stream || fclose(stream) != 0) {
		free(text);
		return tb_fail_memory(error, "the points");
	}
	tb_digest_text(text, size, digest);
	free(text);
	return TB_OK;
}
