// Virtual cut-through with credits: InfiniBand and lossless Ethernet (docs/credits.md).
#ifndef TB_CREDITS_MODEL_H
#define TB_CREDITS_MODEL_H

#include "switching.h"

extern const struct tb_switching tb_credits;

#endif
