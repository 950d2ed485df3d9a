// A network in which no packet waits for another (docs/model.md, "The ideal network").
#ifndef TB_IDEAL_MODEL_H
#define TB_IDEAL_MODEL_H

#include "switching.h"

extern const struct tb_switching tb_ideal;

#endif
