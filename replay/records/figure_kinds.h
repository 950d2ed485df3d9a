// Kinds of figures that rows of lists name: TIME and MEAN are picoseconds, of which a
// MEAN has decimals; COUNT; SIZE, bytes; RATE, per second; RATIO; PACKETS, a mean
// number of them; PERCENT, which may exceed 100; SHARE, percent of a whole.
#ifndef TB_FIGURE_KINDS_H
#define TB_FIGURE_KINDS_H

// What follows a key in picoseconds.
#define TB_PS_TIME    "_ps"
#define TB_PS_MEAN    "_ps"
#define TB_PS_COUNT   ""
#define TB_PS_SIZE    ""
#define TB_PS_RATE    ""
#define TB_PS_RATIO   ""
#define TB_PS_PACKETS ""
#define TB_PS_PERCENT ""
#define TB_PS_SHARE   ""

// TB_IF_WHOLE keeps what is of whole numbers.
#define TB_IF_WHOLE_TIME(item)	item
#define TB_IF_WHOLE_COUNT(item) item
#define TB_IF_WHOLE_SIZE(item)	item
#define TB_IF_WHOLE_MEAN(item)
#define TB_IF_WHOLE_RATIO(item)
#define TB_IF_WHOLE_PACKETS(item)
#define TB_IF_WHOLE_PERCENT(item)
#define TB_IF_WHOLE_SHARE(item)

#endif
