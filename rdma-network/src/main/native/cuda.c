// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <unistd.h>

/* Constants and types of the CUDA driver's binary interface. */
enum {
    SUCCESS = 0,
    POINTER_CONTEXT = 1,
    HANDLE_DMA_BUF = 1,
    FLUSH_CURRENT_CONTEXT = 0,
    FLUSH_TO_OWNER = 100,
};

typedef int (*pointer_get_attribute)(void* value, int attribute, uint64_t address);
typedef int (*ctx_push_current)(void* context);
typedef int (*ctx_pop_current)(void** context);
typedef int (*mem_get_handle)(void* handle, uint64_t address, size_t length, int type,
                              unsigned long long flags);
typedef int (*flush_writes)(int target, int scope);

/*
 * Resolves a function of the driver at run time, because hosts without a GPU lack it. Throws and
 * returns NULL on failure. The library stays open; a race of threads only increases its reference
 * count.
 */
static void* find(JNIEnv* env, const char* name) {
    static _Atomic(void*) opened;
    void* driver = opened;

    if (driver == NULL) {
        driver = opened = dlopen("libcuda.so.1", RTLD_NOW);
    }
    void* call = driver == NULL ? NULL : dlsym(driver, name);

    if (driver == NULL) {
        disni_throw(env, "libcuda.so.1 (the CUDA driver)", ENOENT);
    } else if (call == NULL) {
        disni_throw(env, name, ENOSYS);
    }
    return call;
}

static int succeeded(JNIEnv* env, int result, const char* call) {
    if (result != SUCCESS) {
        disni_throw_result(env, call, "CUresult", result);
    }
    return result == SUCCESS;
}

/* Pushes the context of an address to the calling thread; leave() pops it. */
static int enter(JNIEnv* env, uint64_t address) {
    pointer_get_attribute get = (pointer_get_attribute)find(env, "cuPointerGetAttribute");
    ctx_push_current push = get == NULL ? NULL : (ctx_push_current)find(env, "cuCtxPushCurrent_v2");
    void* context = NULL;

    return push != NULL &&
           succeeded(env, get(&context, POINTER_CONTEXT, address), "cuPointerGetAttribute") &&
           succeeded(env, push(context), "cuCtxPushCurrent");
}

static void leave(JNIEnv* env) {
    ctx_pop_current pop = (ctx_pop_current)find(env, "cuCtxPopCurrent_v2");
    void* context;

    if (pop != NULL) {
        pop(&context);
    }
}

int cuda_export_dma_buf(JNIEnv* env, uint64_t address, size_t length) {
    mem_get_handle get = (mem_get_handle)find(env, "cuMemGetHandleForAddressRange");
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t pages = (length + page - 1) / page * page;
    int fd = -1;

    if (get == NULL || !enter(env, address)) {
        return -1;
    }
    if (length == 0 || length > INT64_MAX - page) {
        disni_throw(env, "cuMemGetHandleForAddressRange with a length out of bounds", EINVAL);
    } else if (!succeeded(env, get(&fd, address, pages, HANDLE_DMA_BUF, 0),
                          "cuMemGetHandleForAddressRange")) {
        fd = -1;
    }
    leave(env);
    if (fd >= 0 && (*env)->ExceptionCheck(env)) {
        close(fd);
        return -1;
    }
    return fd;
}

void cuda_flush_writes(JNIEnv* env, uint64_t address) {
    flush_writes flush = (flush_writes)find(env, "cuFlushGPUDirectRDMAWrites");

    if (flush != NULL && enter(env, address)) {
        succeeded(env, flush(FLUSH_CURRENT_CONTEXT, FLUSH_TO_OWNER), "cuFlushGPUDirectRDMAWrites");
        leave(env);
    }
}
