// Wormhole switching with held circuits: QsNet (docs/model.md, rules 9 to 18).
#ifndef TB_CIRCUITS_MODEL_H
#define TB_CIRCUITS_MODEL_H

#include "switching.h"

extern const struct tb_switching tb_circuits;

#endif
