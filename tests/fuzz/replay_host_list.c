// Whatever a host list or a job on the command line says, reading it ends.
#include "job_spec.h"
#include "placement.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_file(const uint8_t *data, size_t size)
{
	char path[] = "/tmp/tailback-fuzz-XXXXXX";
	struct tb_hosts hosts = {0};
	struct tb_error error;
	int file = mkstemp(path);
	if (file < 0)
		return;
	ssize_t n = write(file, data, size);
	close(file);
	if (n == (ssize_t)size && tb_hosts_read(&hosts, path, NULL, &error) == TB_OK)
		tb_hosts_fini(&hosts);
	unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tb_hosts hosts = {0};
	struct tb_job_spec spec = {0};
	struct tb_error error;
	char *text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	// A range may be of millions of nodes: fine, but slow.
	if (size < 4096 && tb_hosts_parse(&hosts, text, size % 2 ? "4(x3),2" : NULL, NULL,
				   &error) == TB_OK)
		tb_hosts_fini(&hosts);
	if (tb_job_spec_parse(&spec, text, &error) == TB_OK)
		tb_job_spec_fini(&spec);
	free(text);
	read_file(data, size);
	return 0;
}
