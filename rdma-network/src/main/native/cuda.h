// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/*
 * The two calls of the CUDA driver that GPUDirect needs and JCuda lacks, written from the manual of
 * the driver API. They run in the context that allocated the memory.
 */
#ifndef GPUJOIN_CUDA_H
#define GPUJOIN_CUDA_H

#include "disni.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Exports device memory as a dma-buf, which the caller closes. The memory must own all its pages.
 * Throws and returns -1 if the driver refuses.
 */
int cuda_export_dma_buf(JNIEnv* env, uint64_t address, size_t length);

/* Makes earlier writes of adapters to the GPU of this address visible to its later reads. */
void cuda_flush_writes(JNIEnv* env, uint64_t address);

#endif
