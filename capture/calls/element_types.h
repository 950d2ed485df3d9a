// Bytes of the elements of messages, by the names that traces give their types.
#ifndef TB_ELEMENT_TYPES_H
#define TB_ELEMENT_TYPES_H

#include <stddef.h>
#include <stdint.h>

// tb_element_type_bytes returns the size of an element of a type called so: by PyTorch
// ("BFloat16"), C++ ("c10::Half") or NCCL ("ncclFloat32"); 0 where it is not known.
uint32_t tb_element_type_bytes(const char *name, size_t n);

#endif
