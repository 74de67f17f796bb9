// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Memory regions in GPU memory, which DiSNI does not support (Java: GpuRegions). Untested on
 * hardware.
 *
 * No region allows relaxed ordering: data and flag of a slot must reach the GPU in the order of
 * writing. GpuWriteVisibility (Java) explains when they become visible.
 */
#include "cuda.h"

#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

#define GPU_REGIONS(type, name) \
    JNIEXPORT type JNICALL Java_io_github_gpujoin_rdma_verbs_disni_GpuRegions_##name

typedef struct ibv_mr* (*reg_dmabuf_mr)(struct ibv_pd* pd, uint64_t offset, size_t length,
                                        uint64_t iova, int fd, int access);

static int access_of(jboolean is_written) {
    return is_written ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE : 0;
}

/* Resolved at run time: libibverbs has it since rdma-core 34; nothing else needs that version. */
GPU_REGIONS(jlong, registerDmaBuf)
(JNIEnv* env, jclass self, jlong pd_address, jlong address, jlong length, jboolean is_written) {
    (void)self;
    struct ibv_pd* pd = disni_object(env, pd_address, "protection domain");
    reg_dmabuf_mr call = (reg_dmabuf_mr)dlsym(RTLD_DEFAULT, "ibv_reg_dmabuf_mr");

    if (pd == NULL) {
        return 0;
    }
    if (call == NULL) {
        disni_throw(env, "ibv_reg_dmabuf_mr (rdma-core 34 or later)", ENOSYS);
        return 0;
    }
    int fd = cuda_export_dma_buf(env, (uint64_t)address, (size_t)length);

    if (fd < 0) {
        return 0;
    }
    /* Registers only the memory's part of the pages; remote addresses equal the device pointer. */
    jlong region = disni_created(
        env, call(pd, 0, (size_t)length, (uint64_t)address, fd, access_of(is_written)),
        "ibv_reg_dmabuf_mr");

    /* The region keeps the buffer open. */
    close(fd);
    return region;
}

/* nvidia-peermem lets ibv_reg_mr accept device pointers; without it this fails with EFAULT. */
GPU_REGIONS(jlong, registerPeerMem)
(JNIEnv* env, jclass self, jlong pd_address, jlong address, jlong length, jboolean is_written) {
    (void)self;
    struct ibv_pd* pd = disni_object(env, pd_address, "protection domain");
    void* memory = disni_object(env, address, "memory");

    if (pd == NULL || memory == NULL) {
        return 0;
    }
    if (length <= 0) {
        disni_throw(env, "ibv_reg_mr with a length below 1", EINVAL);
        return 0;
    }
    return disni_created(env, ibv_reg_mr(pd, memory, (size_t)length, access_of(is_written)),
                         "ibv_reg_mr");
}

GPU_REGIONS(jint, localKey)(JNIEnv* env, jclass self, jlong region_address) {
    (void)self;
    struct ibv_mr* region = disni_object(env, region_address, "memory region");

    return region == NULL ? 0 : (jint)region->lkey;
}

GPU_REGIONS(jint, remoteKey)(JNIEnv* env, jclass self, jlong region_address) {
    (void)self;
    struct ibv_mr* region = disni_object(env, region_address, "memory region");

    return region == NULL ? 0 : (jint)region->rkey;
}

GPU_REGIONS(void, deregister)(JNIEnv* env, jclass self, jlong region_address) {
    (void)self;
    struct ibv_mr* region = disni_object(env, region_address, "memory region");
    int error = region == NULL ? 0 : ibv_dereg_mr(region);

    if (error != 0) {
        disni_throw(env, "ibv_dereg_mr", error);
    }
}

GPU_REGIONS(void, flushWrites)(JNIEnv* env, jclass self, jlong address) {
    (void)self;
    cuda_flush_writes(env, (uint64_t)address);
}
