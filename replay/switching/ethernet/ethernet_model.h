// Ethernet as a switching model: store and forward, queues that drop, and TCP.
#ifndef TB_ETHERNET_MODEL_H
#define TB_ETHERNET_MODEL_H

#include "switching.h"

extern const struct tb_switching tb_ethernet;

#endif
