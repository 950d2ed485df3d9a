// Whatever a dump of counters holds, it is read or refused; each port is found again.
#include "counters.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tb_error error;
	struct tb_counters counters = {0};
	char text[400];
	void *copy = malloc(size + 1);
	FILE *stream =
		copy && size ? fmemopen(memcpy(copy, data, size), size, "r") : NULL;
	if (stream)
		(void)!tb_counters_add(&counters, stream, "leaf1:eth0.txt", &error);
	for (size_t i = 0; i < counters.n; i++) {
		const struct tb_counter_port *port = &counters.ports[i];
		tb_counter_port_text(port, text, sizeof text);
		if (port->known >> TB_N_COUNTERS)
			abort();
	}
	if (stream)
		fclose(stream);
	tb_counters_fini(&counters);
	free(copy);
	return 0;
}
