// How the rows of keys are written; see struct tb_preset_key. Private to this room.
#ifndef TB_KEY_ROWS_H
#define TB_KEY_ROWS_H

#include "circuit_params.h"
#include "credit_params.h"
#include "ethernet_params.h"
#include "preset_keys.h"

#include <stddef.h>

#define AT(field)	  offsetof(struct tb_network_params, field)
#define AT_CIRCUIT(field) (AT(circuit_room) + offsetof(struct tb_circuit_params, field))
#define AT_CREDIT(field)  (AT(credit_room) + offsetof(struct tb_credit_params, field))
#define AT_ETHERNET(field)                                                               \
	(AT(ethernet_room) + offsetof(struct tb_ethernet_params, field))
#define AT_HOST(field) offsetof(struct tb_host_params, field)

#define TEXT(form)	    TB_FORM_##form, NULL, 0, 0
#define CHOICE(words, last) TB_FORM_CHOICE, words, 0, last
#define YES_OR_NO	    CHOICE(tb_yes_no_words, 1)
#define COUNT(min, max)	    TB_FORM_COUNT, NULL, min, max
#define SIZE(min, max)	    TB_FORM_SIZE, NULL, min, max
#define TIME(min, max)	    TB_FORM_TIME, NULL, min, max
#define RATE		    TB_FORM_RATE, NULL, 1000000, 1000000000000
#define REAL		    TB_FORM_REAL, NULL, 0, 0

static const char *const tb_yes_no_words[] = {"no", "yes", NULL};

#endif
