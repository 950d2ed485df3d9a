// What the benchmarks of paper 004, section 7, read and write.
#include "io.h"

#include "nearest.h"

#include <string.h>

// A tile of MPI-Tile-IO: 1024 x 768 elements of 32 bytes; four make the 96 MB of 7.4.
#define TILE_ROW_BYTES UINT64_C(32768)
#define TILE_ROWS      UINT64_C(768)

// BT's class A: 64^3 cells of five doubles (NAS Parallel Benchmarks 2.4).
#define BT_GRID	      64
#define BT_CELL_BYTES 40

// 7.2: each client a block at its own place.
static bool block_extent(const struct tb_io_options *options, uint32_t client, uint64_t i,
	struct tb_io_extent *extent)
{
	*extent = (struct tb_io_extent){
		client * options->block_bytes, options->block_bytes};
	return i == 0;
}

// tiles_across is the number of tiles in a row of tiles, as near to a square as it goes.
static uint32_t tiles_across(uint32_t n_tiles)
{
	uint32_t down = 1;
	for (uint32_t n = 1; n * n <= n_tiles; n++)
		if (n_tiles % n == 0)
			down = n;
	return n_tiles / down;
}

// 7.4: each client a tile, row by row.
static bool tile_extent(const struct tb_io_options *options, uint32_t client, uint64_t i,
	struct tb_io_extent *extent)
{
	uint32_t across = tiles_across(options->n_clients);
	uint64_t row = client / across * TILE_ROWS + i;
	*extent = (struct tb_io_extent){
		(row * across + client % across) * TILE_ROW_BYTES, TILE_ROW_BYTES};
	return i < TILE_ROWS;
}

// bt_side is how many cubes a side of the grid is cut into.
static uint32_t bt_side(uint32_t n_clients)
{
	uint32_t side = 1;
	while (side * side < n_clients)
		side++;
	return side;
}

// bt_start is where the n-th of `side` parts of the grid begins.
static uint32_t bt_start(uint32_t n, uint32_t side)
{
	uint32_t each = BT_GRID / side, larger = BT_GRID % side;
	return n * each + (n < larger ? n : larger);
}

// 7.5: a client has a cube in each layer of cubes, on a diagonal (BT's multi-partition);
// a row of its cells in x is contiguous in the file, where x runs fastest. Rows ascend
// layer by layer, so they ascend in the file.
static bool bt_extent(const struct tb_io_options *options, uint32_t client, uint64_t i,
	struct tb_io_extent *extent)
{
	uint32_t side = bt_side(options->n_clients);
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
	{"write", "each client writes a block at a place of its own", .writes = true,
		.blocks = true, .n_repeats = 1, .extent = block_extent},
	{"read", "each client reads it", .blocks = true, .n_repeats = 1,
		.extent = block_extent},
	{"tile-write", "MPI-Tile-IO: each client writes a tile of 1024 x 768 x 32 B",
		.writes = true, .n_repeats = 1, .extent = tile_extent},
	{"tile-read", "each client reads it", .n_repeats = 1, .extent = tile_extent},
	{"bt", "BT-IO class A: 40 times the clients write 64^3 cells of 40 B",
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
	size_t nearest =
		tb_nearest(name, &tb_io_benchmarks->name, n, sizeof *tb_io_benchmarks);
	return tb_fail(error, TB_EUSAGE,
		"no I/O benchmark is called '%s'; the nearest is '%s'", name,
		tb_io_benchmarks[nearest].name);
}
