// What made a store, or was asked for its version.
#ifndef TB_VERSION_H
#define TB_VERSION_H

// The version, and in builds from a checkout the commit: "0.2.0+1f0c9a7b3", with ".dirty"
// behind it where files differed from that. Stores keep it, as results may change between
// commits of a version (TB_VERSION).
extern const char tb_version[];

#endif
