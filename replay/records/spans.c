#include "spans.h"

const char *tb_span_name(uint32_t kind)
{
	static const char *const names[TB_SPAN_KINDS] = {[TB_SPAN_COMPUTE] = "compute",
		[TB_SPAN_SEND] = "send",
		[TB_SPAN_RECEIVE] = "receive",
		[TB_SPAN_WAIT] = "wait"};
	return kind < TB_SPAN_KINDS ? names[kind] : NULL;
}

const char *tb_path_name(uint32_t cause)
{
	static const char *const names[TB_PATH_CAUSES] = {[TB_PATH_START] = "start",
		[TB_PATH_COMPUTE] = "compute",
		[TB_PATH_CLOSED] = "closed window",
		[TB_PATH_QUEUE] = "own queue",
		[TB_PATH_SOFTWARE] = "software",
		[TB_PATH_TRANSFER] = "transfer",
		[TB_PATH_HELD_UP] = "held up",
		[TB_PATH_ACKNOWLEDGE] = "acknowledge",
		[TB_PATH_LOST] = "lost",
		[TB_PATH_END] = "end"};
	return cause < TB_PATH_CAUSES ? names[cause] : NULL;
}
