// The two phases of collective I/O: clients exchange data so that each has a contiguous
// part of the file, and each then talks to the servers only about its own part.
//
// As in MPI-IO (Thakur, Gropp, Lusk 1999), the part of the file that a call touches is
// cut into equal domains, one per client, here of whole strips. A round moves one buffer
// of every domain.
#include "io_impl.h"
#include "order.h"

#include <stdlib.h>

void tb_io_domains(struct tb_io_writer *w)
{
	const struct tb_io_options *options = w->options;
	uint64_t strip = options->strip_bytes;
	struct tb_io_extent extent;
	w->low = UINT64_MAX;
	w->high = 0;
	for (uint32_t client = 0; client < options->n_clients; client++)
		for (uint64_t i = 0;
			options->benchmark->extent(options, client, i, &extent); i++) {
			uint64_t end = extent.offset + extent.bytes;
			w->low = tb_min_u64(w->low, extent.offset);
			w->high = end > w->high ? end : w->high;
		}
	uint64_t each = (w->high - w->low + options->n_clients - 1) / options->n_clients;
	w->domain_bytes = (each + strip - 1) / strip * strip;
}

bool tb_io_piece(const struct tb_io_writer *w, uint32_t client, uint64_t number,
	uint64_t i, struct tb_io_extent *extent)
{
	const struct tb_io_options *options = w->options;
	if (options->buffer_bytes == 0)
		return i < options->list_pieces &&
		       options->benchmark->extent(options, client,
			       number * options->list_pieces + i, extent);
	uint64_t in_domain = number * options->buffer_bytes;
	if (i > 0 || in_domain >= w->domain_bytes)
		return false;
	uint64_t offset = w->low + client * w->domain_bytes + in_domain;
	uint64_t end = tb_min_u64(w->low + (client + 1) * w->domain_bytes, w->high);
	if (offset >= end)
		return false;
	*extent = (struct tb_io_extent){
		offset, tb_min_u64(end - offset, options->buffer_bytes)};
	return true;
}

void tb_io_exchange(struct tb_io_writer *w, uint64_t round)
{
	uint32_t n = w->options->n_clients;
	bool writes = w->options->benchmark->writes;
	for (uint32_t client = 0; client < n; client++)
		if (w->fence[client] != TB_ID_NONE)
			tb_io_list(w, &w->exchanged[client], w->fence[client]);
	for (uint32_t client = 0; client < n && w->status == TB_OK; client++) {
		// Add up how many bytes of each domain's buffer of this round a client
		// has.
		const struct tb_io_options *options = w->options;
		struct tb_io_extent extent;
		for (uint32_t other = 0; other < options->n_clients; other++)
			w->towards[other] = 0;
		for (uint64_t i = 0;
			options->benchmark->extent(options, client, i, &extent); i++) {
			while (extent.bytes > 0) {
				uint64_t at = extent.offset - w->low;
				uint64_t in_domain = at % w->domain_bytes;
				uint64_t left = tb_min_u64(w->domain_bytes - in_domain,
					options->buffer_bytes -
						in_domain % options->buffer_bytes);
				uint64_t bytes = tb_min_u64(extent.bytes, left);
				if (in_domain / options->buffer_bytes == round)
					w->towards[at / w->domain_bytes] += bytes;
				extent.offset += bytes;
				extent.bytes -= bytes;
			}
		}
		for (uint32_t i = 1; i < n; i++) {
			uint32_t other = (client + i) % n;
			uint32_t from = writes ? client : other;
			uint32_t to = writes ? other : client;
			if (w->towards[other] == 0)
				continue;
			struct tb_io_message message = tb_io_send(w, from, to,
				w->towards[other], w->fence[from], TB_ID_NONE);
			tb_io_list(w, &w->exchanged[from], message.sent);
			tb_io_list(w, &w->exchanged[to], message.received);
		}
	}
	for (uint32_t client = 0; client < n; client++)
		w->fence[client] = tb_io_join(w, client, &w->exchanged[client]);
}
