// A preset that is taken is written as one that is read as the same.
#include "fuzz_file.h"
#include "preset.h"
#include "preset_write.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// written returns the text of parameters, to be freed.
static char *written(const struct tb_network_params *params, size_t *size)
{
	char *text = NULL;
	FILE *stream = open_memstream(&text, size);
	if (!stream)
		return NULL;
	tb_preset_write(params, stream);
	fclose(stream);
	return text;
}

static char *read_and_write(const void *data, size_t *size)
{
	char path[FUZZ_FILE_PATH];
	struct tb_error error;
	struct tb_network_params params;
	if (!fuzz_input_file(data, *size, path) ||
		tb_network_preset(&params, path, &error) != TB_OK)
		return NULL;
	return written(&params, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *once = read_and_write(data, &size);
	if (!once)
		return 0;
	char *twice = read_and_write(once, &size);
	if (!twice || strcmp(once, twice) != 0)
		abort();
	free(once);
	free(twice);
	return 0;
}
