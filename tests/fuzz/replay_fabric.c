// Whatever a fabric's file holds, it becomes a network, which is written and read back as
// the same, or it is refused.
#include "cabling.h"
#include "cabling_build.h"
#include "fabric_file_write.h"
#include "fabric_formats.h"
#include "fabric_readers.h"
#include "preset.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef int read_function(struct tb_cabling *cabling, FILE *stream);

static struct tb_network *read_text(read_function *read, const void *data, size_t size)
{
	struct tb_error error;
	struct tb_network_params params;
	struct tb_network *net = NULL;
	struct tb_cabling cabling = {.file = "fuzz", .error = &error};
	const struct tb_cabling_options options = {
		.params = &params, .leaves_out_routes = true};
	void *copy = malloc(size + 1);
	FILE *stream = copy ? fmemopen(memcpy(copy, data, size), size, "r") : NULL;
	if (stream && tb_network_preset(&params, "ib-hdr", &error) == TB_OK &&
		read(&cabling, stream) == TB_OK)
		(void)!tb_cabling_build(&net, &cabling, &options, &error);
	if (stream)
		fclose(stream);
	tb_cabling_fini(&cabling);
	free(copy);
	return net;
}

static void write_back(const struct tb_network *net, read_function *read,
	enum tb_fabric_file_format format)
{
	struct tb_error error;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	if (!stream)
		return;
	int status = tb_fabric_file_write(stream, net, format, &error);
	fclose(stream);
	if (status == TB_OK && read) {
		struct tb_network *again = read_text(read, text, size);
		if (!again || tb_network_n_nodes(again) != tb_network_n_nodes(net) ||
			tb_network_n_links(again) != tb_network_n_links(net))
			abort();
		tb_network_free(again);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tb_fabric_format *format;
	for (size_t i = 0; (format = tb_fabric_format(i)) && size > 0; i++) {
		struct tb_network *net = read_text(format->read, data, size);
		if (!net)
			continue;
		write_back(net, tb_ibnetdiscover_read, TB_FABRIC_FILE_IBNETDISCOVER);
		write_back(net, tb_edge_list_read, TB_FABRIC_FILE_EDGES);
		write_back(net, NULL, TB_FABRIC_FILE_DOT);
		write_back(net, NULL, TB_FABRIC_FILE_GRAPH);
		tb_network_free(net);
	}
	return 0;
}
