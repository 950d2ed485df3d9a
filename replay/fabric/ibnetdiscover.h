// Reads what InfiniBand's ibnetdiscover prints (infiniband-diags; also kept as .topo).
//
// The text lists switches, then host channel adapters and routers. An entry is a line
//
//     Switch  24 "S-005442ba00003080"    # "ISR9024 Voltaire" base port 0 lid 6 lmc 0
//     Ca      2 "H-0008f10403960984"     # "node7 HCA-1"
//
// with the number of ports, the GUID and what the device calls itself, and a line for
// each port with a cable: of a switch
//
//     [22] "H-0008f10403961354"[1](8f10403961355)  # "node7 HCA-1" lid 4 4xSDR
//     [10] "S-0008f10400410015"[1]                 # "SW-6IB4 Voltaire" lid 3 4xSDR
//
// its number, the peer's GUID, the peer's port (and the GUID of that, if it is no
// switch), the peer's name and LID, and the cable's width and speed; of an adapter
//
//     [1](8f10403960985) "S-0008f10400410015"[6]   # lid 16 lmc 1 "SW-6IB4" lid 3 4xSDR
//
// the port's own GUID, LID and LMC before those of the switch. Lines of any other kind
// (remarks, vendors, chassis, error messages that got between) are passed over.
#ifndef TB_IBNETDISCOVER_H
#define TB_IBNETDISCOVER_H

#include "cabling.h"

#include <stdio.h>

// tb_ibnetdiscover_is returns whether a line is one that no other file has.
bool tb_ibnetdiscover_is(const char *line);

// tb_ibnetdiscover_read adds what the stream holds. TB_EFORMAT with the line that cannot
// be understood; TB_EIO; TB_ENOMEM. Cost: linear.
int tb_ibnetdiscover_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

#endif
