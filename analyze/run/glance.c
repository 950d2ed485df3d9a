#include "glance.h"

#include "beside.h"
#include "json.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tb_glance_start(struct tb_glance *glance, const char *trace, const char *network,
	const char *const *words, size_t n_words, struct tb_error *error)
{
	const char *arguments[TB_BESIDE_WORDS_MOST + 8] = {
		"info", "--json", "-n", network};
	size_t n_arguments = 4;
	for (size_t i = 0; i < n_words && i < TB_BESIDE_WORDS_MOST; i++)
		arguments[n_arguments++] = words[i];
	arguments[n_arguments++] = "--";
	arguments[n_arguments] = trace;
	int status = tb_temporary_init(&glance->folder, "what a trace has", error);
	if (status != TB_OK)
		return status;
	tb_temporary_file(&glance->folder, "answer", glance->file);
	tb_temporary_file(&glance->folder, "said", glance->said);
	const struct tb_child_options child = {.arguments = arguments,
		.input = -1,
		.apart = true,
		.log = glance->said,
		.output = glance->file};
	status = tb_child_start(&glance->child, &child, error);
	if (status != TB_OK)
		tb_glance_end(glance);
	return status;
}

void tb_glance_end(struct tb_glance *glance)
{
	if (glance->child.pid)
		kill(glance->child.pid, SIGKILL);
	tb_child_wait(&glance->child);
	tb_temporary_fini(&glance->folder);
}

static double glance_number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static int read_answer(const struct tb_glance *glance, struct tb_glance_answer *answer)
{
	json_t *root = json_load_file(glance->file, 0, NULL);
	const char *kind = json_string_value(json_object_get(root, "kind"));
	const json_t *load = json_object_get(root, "load");
	double n_nodes = glance_number(root, "nodes");
	if (!kind) {
		json_decref(root);
		return TB_EFORMAT;
	}
	*answer = (struct tb_glance_answer){.is_capture = strcmp(kind, "packets") == 0,
		.n_nodes = n_nodes > 0 && n_nodes < UINT32_MAX ? (uint32_t)n_nodes : 0,
		.busiest_share = glance_number(load, "busiest_share"),
		.half_scale = glance_number(load, "half_scale")};
	const char *network = json_string_value(json_object_get(root, "fitting_network"));
	snprintf(answer->network, sizeof answer->network, "%s", network ? network : "");
	json_decref(root);
	return 1;
}

int tb_glance_poll(
	struct tb_glance *glance, struct tb_glance_answer *answer, struct tb_error *error)
{
	int code = 0;
	if (!glance->child.pid || !tb_child_ended(&glance->child, &code))
		return 0;
	int status = code == 0 ? read_answer(glance, answer) : TB_EFORMAT;
	if (status < 0) {
		// Report the sentence of the process.
		char sentence[512];
		tb_beside_sentence(glance->said, sentence, sizeof sentence);
		status = tb_fail(error, TB_EFORMAT, "%s", sentence);
	}
	tb_glance_end(glance);
	return status;
}
