// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Replaces libcuda.so.1 on hosts without a GPU and treats host memory as the GPU's. It rejects the
 * arguments that the driver rejects. An export is a file descriptor that no adapter can use.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, INVALID_CONTEXT = 201, PAGE = 4096 };

static const int the_context = 0;
static _Thread_local const void* current;

int cuPointerGetAttribute(void* value, int attribute, uint64_t address) {
    if (attribute != 1 || address == 0) {
        return INVALID_VALUE;
    }
    *(const void**)value = &the_context;
    return SUCCESS;
}

int cuCtxPushCurrent_v2(const void* context) {
    if (context != &the_context || current != NULL) {
        return INVALID_CONTEXT;
    }
    current = context;
    return SUCCESS;
}

int cuCtxPopCurrent_v2(const void** context) {
    *context = current;
    current = NULL;
    return SUCCESS;
}

int cuMemGetHandleForAddressRange(int* fd, uint64_t address, size_t length, int type,
                                  unsigned long long flags) {
    if (current != &the_context) {
        return INVALID_CONTEXT;
    }
    if (address % PAGE != 0 || length == 0 || length % PAGE != 0 || type != 1 || flags != 0) {
        return INVALID_VALUE;
    }
    *fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    return SUCCESS;
}

int cuFlushGPUDirectRDMAWrites(int target, int scope) {
    if (current != &the_context) {
        return INVALID_CONTEXT;
    }
    return target == 0 && scope == 100 ? SUCCESS : INVALID_VALUE;
}
