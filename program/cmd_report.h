// What the files of tailback report share.
#ifndef TB_CMD_REPORT_H
#define TB_CMD_REPORT_H

#include <stdint.h>

// tb_cmd_report_try replays what might help a run (0: the newest), within bounds, and
// keeps in the store what that gained. Where nothing can be tried it prints a note: the
// report is none the worse.
void tb_cmd_report_try(const char *store, int64_t run);

#endif
