/*
 * The two calls of the CUDA driver that GPUDirect needs and JCuda does not have, by the driver API's
 * manual. They act in the context that the memory was allocated in.
 */
#ifndef GPUJOIN_CUDA_H
#define GPUJOIN_CUDA_H

#include "disni.h"

#include <stddef.h>
#include <stdint.h>

/*
 * A dma-buf of device memory, whose pages are all the caller's; its own to close. It throws and gives
 * -1 where the driver refuses.
 */
int cuda_export_dma_buf(JNIEnv *env, uint64_t address, size_t length);

/* Makes what cards wrote to the GPU that has this memory visible to what it does from now on. */
void cuda_flush_writes(JNIEnv *env, uint64_t address);

#endif
