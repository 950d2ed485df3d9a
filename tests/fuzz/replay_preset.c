// A preset that is taken is written as one that is read as the same, and so is one whose
// hosts a hosts.ini with these bytes has.
#include "fuzz_file.h"
#include "preset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

// hosts_from returns the text of a network whose hosts a file of these bytes has, NULL
// where it is refused.
static char *hosts_from(const uint8_t *data, size_t *size)
{
	char folder[48], path[64];
	struct tb_error error;
	struct tb_network_params params;
	char *text = NULL;
	snprintf(folder, sizeof folder, "%s/fuzz_hosts.XXXXXX", fuzz_folder());
	if (!mkdtemp(folder))
		return NULL;
	snprintf(path, sizeof path, "%s/hosts.ini", folder);
	FILE *file = fopen(path, "w");
	if (file && fwrite(data, 1, *size, file) == *size) {
		fflush(file);
		setenv("TAILBACK_NETWORKS", folder, 1);
		if (tb_network_preset(&params, "ib-hdr,host=mpi@fuzz", &error) == TB_OK)
			text = written(&params, size);
		unsetenv("TAILBACK_NETWORKS");
	}
	if (file)
		fclose(file);
	unlink(path);
	rmdir(folder);
	return text;
}

static void check_again(char *once, size_t size)
{
	char *twice = once ? read_and_write(once, &size) : NULL;
	if (once && (!twice || strcmp(once, twice) != 0))
		abort();
	free(once);
	free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = size;
	char *preset = read_and_write(data, &n);
	check_again(preset, n);
	n = size;
	char *hosts = hosts_from(data, &n);
	check_again(hosts, n);
	return 0;
}
