#include "element_types.h"

#include <string.h>

// Names that c10/core/ScalarType.h prints; those of C++, which stand in the shapes that a
// profiler records; and those of NCCL (src/nccl.h.in), which its profiler prints.
static const struct {
	const char *name;
	uint32_t bytes;
} element_types[] = {
	{"Byte", 1},
	{"Char", 1},
	{"Bool", 1},
	{"QInt8", 1},
	{"QUInt8", 1},
	{"Float8_e5m2", 1},
	{"Float8_e4m3fn", 1},
	{"Float8_e5m2fnuz", 1},
	{"Float8_e4m3fnuz", 1},
	{"Float8_e8m0fnu", 1},
	{"Float4_e2m1fn_x2", 1},
	{"Short", 2},
	{"UInt16", 2},
	{"Half", 2},
	{"BFloat16", 2},
	{"Int", 4},
	{"UInt32", 4},
	{"QInt32", 4},
	{"Float", 4},
	{"ComplexHalf", 4},
	{"Long", 8},
	{"UInt64", 8},
	{"Double", 8},
	{"ComplexFloat", 8},
	{"ComplexDouble", 16},
	{"bool", 1},
	{"signed char", 1},
	{"unsigned char", 1},
	{"c10::Float8_e5m2", 1},
	{"c10::Float8_e4m3fn", 1},
	{"c10::Float8_e5m2fnuz", 1},
	{"c10::Float8_e4m3fnuz", 1},
	{"short", 2},
	{"short int", 2},
	{"c10::Half", 2},
	{"c10::BFloat16", 2},
	{"int", 4},
	{"float", 4},
	{"long", 8},
	{"long int", 8},
	{"double", 8},
	{"c10::complex<float>", 8},
	{"c10::complex<double>", 16},
	{"ncclInt8", 1},
	{"ncclChar", 1},
	{"ncclUint8", 1},
	{"ncclInt32", 4},
	{"ncclInt", 4},
	{"ncclUint32", 4},
	{"ncclInt64", 8},
	{"ncclUint64", 8},
	{"ncclFloat16", 2},
	{"ncclHalf", 2},
	{"ncclFloat32", 4},
	{"ncclFloat", 4},
	{"ncclFloat64", 8},
	{"ncclDouble", 8},
	{"ncclBfloat16", 2},
	{"ncclFloat8e4m3", 1},
	{"ncclFloat8e5m2", 1},
};

uint32_t tb_element_type_bytes(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof element_types / sizeof *element_types; i++)
		if (strlen(element_types[i].name) == n &&
			memcmp(element_types[i].name, name, n) == 0)
			return element_types[i].bytes;
	return 0;
}
