#include "fabric_file_write.h"

#include "outline.h"

int tb_fabric_file_write(FILE *stream, const struct tb_network *network,
	enum tb_fabric_file_format format, struct tb_error *error)
{
	struct tb_outline outline;
	int status = tb_outline_init(&outline, network, error);
	if (status != TB_OK)
		return status;
	if (format == TB_FABRIC_FILE_IBNETDISCOVER)
		status = tb_outline_ibnetdiscover(stream, &outline, error);
	else if (format == TB_FABRIC_FILE_EDGES)
		tb_outline_edges(stream, &outline);
	else if (format == TB_FABRIC_FILE_DOT)
		tb_outline_dot(stream, &outline);
	else
		status = tb_outline_graph(stream, &outline, error);
	tb_outline_fini(&outline);
	return status;
}
