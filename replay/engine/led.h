// What rank 0 has the engines of the other processes do. Private to replay/engine/.
#ifndef TB_LED_H
#define TB_LED_H

#include "peer_streams.h"

enum tb_led_word {
	TB_LED_RUN,	   // so many windows
	TB_LED_PAUSE_AT,   // that instant
	TB_LED_CHECKPOINT, // and the next two: no number
	TB_LED_FINISH,
	TB_LED_END
};

struct tb_led_order {
	enum tb_led_word word;
	uint64_t n;
};

// tb_led_order_send gives an order to all others; `peers` NULL, or a rank that does not
// lead: nobody. TB_ENOMEM.
int tb_led_order_send(struct tb_peer_streams *peers, enum tb_led_word word, uint64_t n,
	struct tb_error *error) TB_MUST_USE;

// tb_led_next waits for the next order. TB_ENOMEM, TB_EIO.
int tb_led_next(struct tb_peer_streams *peers, struct tb_led_order *order,
	struct tb_error *error) TB_MUST_USE;

#endif
