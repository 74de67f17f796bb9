/*
 * Memory regions in GPU memory, which DiSNI has no calls for (Java: GpuRegions). Untested on hardware.
 *
 * Neither way asks for relaxed ordering: data and flag of a slot must reach the GPU as they were
 * written. What makes them visible to its kernels stands at GpuWriteVisibility in Java.
 */
#include "disni.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>

#define GPU(type, name) \
    JNIEXPORT type JNICALL Java_io_github_gpujoin_rdma_verbs_disni_GpuRegions_##name

typedef struct ibv_mr *(*reg_dmabuf_mr)(struct ibv_pd *pd, uint64_t offset, size_t length,
                                        uint64_t iova, int fd, int access);

static int access_of(jboolean is_written)
{
    return is_written ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE : 0;
}

/* Looked up, for libibverbs has it from rdma-core 34 on, and the rest works with an earlier one. */
GPU(jlong, registerDmaBuf)
(JNIEnv *env, jclass self, jlong pd_address, jlong address, jlong length, jint fd, jlong offset,
 jboolean is_written)
{
    (void)self;
    struct ibv_pd *pd = disni_object(env, pd_address, "protection domain");
    reg_dmabuf_mr call = (reg_dmabuf_mr)dlsym(RTLD_DEFAULT, "ibv_reg_dmabuf_mr");

    if (pd == NULL) {
        return 0;
    }
    if (call == NULL) {
        disni_throw(env, "ibv_reg_dmabuf_mr (rdma-core 34 or later)", ENOSYS);
        return 0;
    }
    /* The card's addresses of the region are those of the device pointer. */
    struct ibv_mr *region = call(pd, (uint64_t)offset, (size_t)length, (uint64_t)address, fd,
                                 access_of(is_written));

    return disni_created(env, region, "ibv_reg_dmabuf_mr");
}

/* nvidia-peermem makes ibv_reg_mr understand device pointers; without it this fails with EFAULT. */
GPU(jlong, registerPeerMem)
(JNIEnv *env, jclass self, jlong pd_address, jlong address, jlong length, jboolean is_written)
{
    (void)self;
    struct ibv_pd *pd = disni_object(env, pd_address, "protection domain");
    void *memory = disni_object(env, address, "memory");

    if (pd == NULL || memory == NULL) {
        return 0;
    }
    return disni_created(env, ibv_reg_mr(pd, memory, (size_t)length, access_of(is_written)),
                         "ibv_reg_mr");
}

GPU(jint, localKey)(JNIEnv *env, jclass self, jlong region_address)
{
    (void)self;
    struct ibv_mr *region = disni_object(env, region_address, "memory region");

    return region == NULL ? 0 : (jint)region->lkey;
}

GPU(jint, remoteKey)(JNIEnv *env, jclass self, jlong region_address)
{
    (void)self;
    struct ibv_mr *region = disni_object(env, region_address, "memory region");

    return region == NULL ? 0 : (jint)region->rkey;
}

GPU(void, deregister)(JNIEnv *env, jclass self, jlong region_address)
{
    (void)self;
    struct ibv_mr *region = disni_object(env, region_address, "memory region");
    int error = region == NULL ? 0 : ibv_dereg_mr(region);

    if (error != 0) {
        disni_throw(env, "ibv_dereg_mr", error);
    }
}
