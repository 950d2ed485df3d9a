// A route file never leads out of the network, and what is taken can be followed to the
// end.
#include "network_impl.h"
#include "network_open.h"
#include "route_file.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void follow(const struct tb_network *net, uint32_t from, uint32_t to)
{
	uint32_t link = net->injection[from], n = 1;
	for (; net->links[link].kind != TB_LINK_EJECTION; n++)
		link = net->routes[(size_t)net->links[link].to * net->n_nodes + to];
	if (net->links[link].to != to || n > net->longest_path)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tb_network_params params;
	struct tb_network *net = NULL;
	struct tb_error error;
	FILE *stream = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	if (!stream)
		return 0;
	if (tb_network_preset(&params, "qsnet,arity=2,levels=2", &error) == TB_OK &&
		tb_network_open(&net, &(struct tb_network_description){.params = &params},
			&error) == TB_OK &&
		tb_route_file_read(net, stream, "fuzz", &error) == TB_OK)
		for (uint32_t from = 0; from < net->n_nodes; from++)
			for (uint32_t to = 0; to < net->n_nodes; to++)
				if (from != to)
					follow(net, from, to);
	tb_network_free(net);
	fclose(stream);
	return 0;
}
