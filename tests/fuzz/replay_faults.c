// Faults as text never read or kill beyond the network.
#include "faults.h"
#include "network_open.h"
#include "preset.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tb_network_params params;
	struct tb_network *net = NULL;
	struct tb_faults *faults = NULL;
	struct tb_error error;
	char *text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (tb_network_preset(&params, "qsnet,levels=2", &error) == TB_OK &&
		tb_network_open(&net, &(struct tb_network_description){.params = &params},
			&error) == TB_OK &&
		tb_faults_new(&faults, net, &error) == TB_OK) {
		char *rest = text;
		for (char *line; (line = strsep(&rest, "\n"));)
			(void)!tb_faults_add(faults, line, &error);
		(void)!tb_faults_check(faults, NULL, &error);
	}
	tb_faults_free(faults);
	tb_network_free(net);
	free(text);
	return 0;
}
