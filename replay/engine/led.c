#include "led.h"

#include <string.h>

int tb_led_order_send(struct tb_peer_streams *peers, enum tb_led_word word, uint64_t n,
	struct tb_error *error)
{
	const struct tb_led_order order = {word, n};
	if (!peers || tb_peer_streams_rank(peers) > 0)
		return TB_OK;
	for (uint32_t rank = 1; rank < tb_peer_streams_n(peers); rank++)
		if (tb_peer_streams_put(peers, rank, &order, sizeof order) != TB_OK)
			return tb_fail_memory(error, "orders to other processes");
	return TB_OK;
}

int tb_led_next(
	struct tb_peer_streams *peers, struct tb_led_order *order, struct tb_error *error)
{
	const unsigned char *bytes = NULL;
	size_t n = 0;
	int status = tb_peer_streams_take(peers, 0, &bytes, &n);
	if (status != TB_OK || n != sizeof *order)
		return tb_fail(error, TB_EIO, "rank 0 was not understood");
	memcpy(order, bytes, sizeof *order);
	return TB_OK;
}
