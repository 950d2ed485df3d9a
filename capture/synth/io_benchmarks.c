// What the benchmarks of paper 004, section 7, read and write.
#include "io.h"

#include "nearest.h"

#include <string.h>

// A tile of MPI-Tile-IO: 1024 x 768 elements of 32 bytes; four tiles are the 96 MB of
// 7.4.
#define TILE_ROW_BYTES UINT64_C(32768)
#define TILE_ROWS      UINT64_C(768)

// BT's class A: 64^3 cells of five doubles (NAS Parallel Benchmarks 2.4).
#define BT_GRID	      64
#define BT_CELL_BYTES 40

// Paper 004, 7.2: one block per client.
static bool block_extent(const struct tb_io_options *options, uint32_t client, uint64_t i,
	struct tb_io_extent *extent)
{
	*extent = (struct tb_io_extent){
		client * options->block_bytes, options->block_bytes};
	return i == 0;
}

// Paper 004, 7.4: one tile per client, one extent per row of the tile.
static bool tile_extent(const struct tb_io_options *options, uint32_t client, uint64_t i,
	struct tb_io_extent *extent)
{
	// Lay the tiles out as close to a square as possible.
	uint32_t n_tiles = options->n_clients;
	uint32_t down = 1;
	for (uint32_t n = 1; n * n <= n_tiles; n++)
		if (n_tiles % n == 0)
			down = n;
	uint32_t across = n_tiles / down;
	uint64_t row = client / across * TILE_ROWS + i;
	*extent = (struct tb_io_extent){
		(row * across + client % across) * TILE_ROW_BYTES, TILE_ROW_BYTES};
	return i < TILE_ROWS;
}

// bt_start returns the cell at which the n-th of `side` parts of the grid begins.
static uint32_t bt_start(uint32_t n, uint32_t side)
{
	uint32_t each = BT_GRID / side, larger = BT_GRID % side;
	return n * each + (n < larger ? n : larger);
}

// Paper 004, 7.5: a client has a cube in each layer of cubes, on a diagonal (BT's
// multi-partition). In the file x varies fastest, so a row of its cells in x is
// contiguous. Going layer by layer, rows ascend in the file.
static bool bt_extent(const struct tb_io_options *options, uint32_t client, uint64_t i,
	struct tb_io_extent *extent)
{
	// `side` is into how many cubes a side of the grid is cut.
	uint32_t n_clients = options->n_clients;
	uint32_t side = 1;
	while (side * side < n_clients)
		side++;
	for (uint32_t c = 0; c < side; c++) {
		uint32_t x = (client % side + c) % side;
		uint32_t y = (client / side + side - c) % side;
		uint64_t rows = bt_start(y + 1, side) - bt_start(y, side);
		uint64_t planes = bt_start(c + 1, side) - bt_start(c, side);
		if (i >= rows * planes) {
			i -= rows * planes;
			continue;
		}
		uint64_t plane = bt_start(c, side) + i / rows;
		uint64_t row = bt_start(y, side) + i % rows;
		uint64_t cell = (plane * BT_GRID + row) * BT_GRID + bt_start(x, side);
		uint64_t n = bt_start(x + 1, side) - bt_start(x, side);
		*extent = (struct tb_io_extent){cell * BT_CELL_BYTES, n * BT_CELL_BYTES};
		return true;
	}
	return false;
}

const struct tb_io_benchmark tb_io_benchmarks[] = {
	{"write", "each client writes a block of its own", .writes = true, .blocks = true,
		.n_repeats = 1, .extent = block_extent},
	{"read", "each client reads its block", .blocks = true, .n_repeats = 1,
		.extent = block_extent},
	{"tile-write", "MPI-Tile-IO: each client writes a tile of 1024 x 768 x 32 B",
		.writes = true, .n_repeats = 1, .extent = tile_extent},
	{"tile-read", "each client reads its tile", .n_repeats = 1,
		.extent = tile_extent},
	{"bt", "BT-IO class A: the clients write 64^3 cells of 40 B, 40 times",
		.writes = true, .square = true, .n_repeats = 40, .extent = bt_extent},
	{"resize", "client 0 has the servers resize the file", .resizes = true,
		.n_repeats = 1},
	{0},
};

int tb_io_benchmark_find(const struct tb_io_benchmark **benchmark, const char *name,
	struct tb_error *error)
{
	size_t n = 0;
	for (const struct tb_io_benchmark *b = tb_io_benchmarks; b->name; b++, n++) {
		if (strcmp(b->name, name) == 0) {
			*benchmark = b;
			return TB_OK;
		}
	}
	struct tb_hint hint;
	return tb_fail(error, TB_EUSAGE, "no I/O benchmark is called '%s'%s", name,
		tb_hint_choice(&hint, name, &tb_io_benchmarks->name, n,
			sizeof *tb_io_benchmarks));
}
