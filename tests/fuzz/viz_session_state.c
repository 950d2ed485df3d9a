// Reading any bytes as remembered state gives values in range.
#include "session_impl.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tb_session_state state;
	char *copy = malloc(size + 1);
	FILE *stream = NULL;
	if (!copy)
		return 0;
	for (size_t i = 0; i < size; i++)
		copy[i] = (char)data[i];
	if (size > 0)
		stream = fmemopen(copy, size, "r");
	if (stream) {
		tb_session_state_read(&state, stream, "/tmp/run.db");
		fclose(stream);
		if (state.known && (state.width < 320 || state.width > 16384 ||
					   state.look.style.theme > TB_DARK ||
					   state.look.style.colours > TB_GREYS))
			abort();
		if (state.look.of_store && state.look.metric >= TB_N_METRICS)
			abort();
	}
	free(copy);
	return 0;
}
