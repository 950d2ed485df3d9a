// Readers of fabrics of which a file gives names instead of GUIDs: what simulators and
// resource managers take. Private to this room, as cabling_impl.h, which has the others.
//
// Each `is` returns whether a line is one that no other file has. Each `read` adds what
// the stream holds: TB_EFORMAT with the line that cannot be understood, TB_EIO,
// TB_ENOMEM; its cost is linear in what it adds.
#ifndef TB_FABRIC_READERS_H
#define TB_FABRIC_READERS_H

#include "cabling.h"

#include <stdio.h>

// The nets of ibsim, a simulator of InfiniBand: as the text of ibnetdiscover, with names
// in place of GUIDs, and Hca for Ca.
//
//     Switch 8 "leaf0"
//     [1] "n0"[1]
//     [8] "spine"[1] w=8 s=4
//
//     Hca 2 "n0"
//     [1] "leaf0"[1]
//
// `w`, `s` and `e` behind a port, or `width`, `speed` and `extspeed` on a line of their
// own for what follows, are masks of widths, speeds and extended speeds, of which the
// highest counts. As in ibsim a port that a mask leaves out has 4x, SDR; a file without
// any gives no rates. `module "m"` puts "m#" before the names that follow. What else is
// for the simulator is refused where it changes cables: aliases, include, do.
bool tb_ibsim_net_is(const char *line);
int tb_ibsim_net_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

// Slurm's topology.conf: a tree of switches, with lists of hosts (name_ranges.h).
//
//     SwitchName=leaf0 Nodes=node[00-15]
//     SwitchName=spine Switches=leaf[0-3] LinkSpeed=400Gbit/s
//
// Keys are of any case, and a line goes on behind a backslash. The file has no ports:
// they are numbered in its order. LinkSpeed, whose unit Slurm leaves open, is that of the
// line's cables where it is a rate.
bool tb_slurm_topology_is(const char *line);
int tb_slurm_topology_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

// The topologies of htsim, a simulator of datacenter networks (csg-htsim,
// fat_tree_topology.cpp): trees of two or three tiers.
//
//     Nodes 8
//     Tiers 3
//     Podsize 4
//     Tier 0
//     Downlink_speed_Gbps 200
//     Radix_Down 2
//     Radix_Up 2
//     Downlink_Latency_ns 1000
//     Switch_Latency_ns 100
//
// and so on. Tier 0 has the switches of hosts. Those of tier 1 are a pod's: each joins
// all of tier 0 in it, by `Bundle` cables. Switch i of a pod's tier 1 joins those of tier
// 2 whose number is i modulo the switches of tier 1 in a pod. The speed and latency of a
// tier are those of its cables down. A cable's latency is that of the cable, and half of
// each of its switches', so that the sum along every path is htsim's. They are called
// n0, tor0, agg0 and core0.
bool tb_htsim_topology_is(const char *line);
int tb_htsim_topology_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

// Neighbours as lldpd's 'lldpcli show neighbors' prints them with -f json or json0, of
// one device or several: an object by the names of devices, or documents below headings
// "# NAME", or "==> NAME.json <==", which 'tail -n +1 *.json' prints. Without either the
// file's name is the device's.
//
// A cable is told by one end or both, which may know a port by other names. A device is a
// switch by the capabilities that its neighbours see, unless it has but one cable. The
// rate follows from a port's type (MAU), "100GbaseCR4", where that is told. A document
// has at most 4 MiB.
bool tb_lldp_neighbors_is(const char *line);
int tb_lldp_neighbors_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

// The most cables of such a file: a short one should not take much memory.
#define TB_FABRIC_CABLES_MOST (UINT32_C(1) << 17)

#endif
