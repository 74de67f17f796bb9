// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/* Protection domains, memory regions, completion queues, posting and polling (libibverbs). */
#include "disni.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>

#define NO_EVENT (-1)

DISNI(jlong, allocPd)(JNIEnv* env, jobject self, jlong context_address) {
    (void)self;
    struct ibv_context* context = disni_object(env, context_address, "context");

    return context == NULL ? 0 : disni_created(env, ibv_alloc_pd(context), "ibv_alloc_pd");
}

DISNI(jint, deallocPd)(JNIEnv* env, jobject self, jlong pd_address) {
    (void)self;
    struct ibv_pd* pd = disni_object(env, pd_address, "protection domain");

    return pd == NULL ? 0 : -ibv_dealloc_pd(pd);
}

DISNI(jint, getPdHandle)(JNIEnv* env, jobject self, jlong pd_address) {
    (void)self;
    struct ibv_pd* pd = disni_object(env, pd_address, "protection domain");

    return pd == NULL ? 0 : (jint)pd->handle;
}

DISNI(jint, getContextFd)(JNIEnv* env, jobject self, jlong context_address) {
    (void)self;
    struct ibv_context* context = disni_object(env, context_address, "context");

    return context == NULL ? 0 : context->cmd_fd;
}

DISNI(jint, getContextNumCompVectors)(JNIEnv* env, jobject self, jlong context_address) {
    (void)self;
    struct ibv_context* context = disni_object(env, context_address, "context");

    return context == NULL ? 0 : context->num_comp_vectors;
}

/* Writes both keys and the handle. Regions have 2 GiB - 1 at most: DiSNI passes lengths as int. */
DISNI(jlong, regMr)
(JNIEnv* env, jobject self, jlong pd_address, jlong address, jint length, jint access,
 jlong lkey_address, jlong rkey_address, jlong handle_address) {
    (void)self;
    struct ibv_pd* pd = disni_object(env, pd_address, "protection domain");
    void* memory = disni_object(env, address, "memory");
    int32_t* lkey = disni_object(env, lkey_address, "local key");
    int32_t* rkey = disni_object(env, rkey_address, "remote key");
    int32_t* handle = disni_object(env, handle_address, "handle");

    if (pd == NULL || memory == NULL || lkey == NULL || rkey == NULL || handle == NULL) {
        return 0;
    }
    if (length <= 0) {
        disni_throw(env, "ibv_reg_mr with a length outside 1 to 2147483647", EINVAL);
        return 0;
    }
    struct ibv_mr* region = ibv_reg_mr(pd, memory, (size_t)length, access);

    if (region != NULL) {
        *lkey = (int32_t)region->lkey;
        *rkey = (int32_t)region->rkey;
        *handle = (int32_t)region->handle;
    }
    return disni_created(env, region, "ibv_reg_mr");
}

DISNI(void, deregMr)(JNIEnv* env, jobject self, jlong region_address) {
    (void)self;
    struct ibv_mr* region = disni_object(env, region_address, "memory region");
    int error = region == NULL ? 0 : ibv_dereg_mr(region);

    if (error != 0) {
        disni_throw(env, "ibv_dereg_mr", error);
    }
}

DISNI(jlong, createCompChannel)(JNIEnv* env, jobject self, jlong context_address) {
    (void)self;
    struct ibv_context* context = disni_object(env, context_address, "context");

    if (context == NULL) {
        return 0;
    }
    struct ibv_comp_channel* channel = ibv_create_comp_channel(context);

    if (channel != NULL && disni_set_nonblocking(channel->fd) != 0) {
        int error = errno;

        ibv_destroy_comp_channel(channel);
        disni_throw(env, "fcntl on the completion channel", error);
        return 0;
    }
    return disni_created(env, channel, "ibv_create_comp_channel");
}

DISNI(jint, destroyCompChannel)(JNIEnv* env, jobject self, jlong channel_address) {
    (void)self;
    struct ibv_comp_channel* channel = disni_object(env, channel_address, "completion channel");

    return channel == NULL ? 0 : -ibv_destroy_comp_channel(channel);
}

DISNI(jlong, createCQ)
(JNIEnv* env, jobject self, jlong context_address, jlong channel_address, jint entries,
 jint vector) {
    (void)self;
    struct ibv_context* context = disni_object(env, context_address, "context");
    struct ibv_comp_channel* channel = disni_object(env, channel_address, "completion channel");

    if (context == NULL || channel == NULL) {
        return 0;
    }
    return disni_created(env, ibv_create_cq(context, entries, NULL, channel, vector),
                         "ibv_create_cq");
}

DISNI(jint, destroyCQ)(JNIEnv* env, jobject self, jlong cq_address) {
    (void)self;
    struct ibv_cq* cq = disni_object(env, cq_address, "completion queue");

    return cq == NULL ? 0 : -ibv_destroy_cq(cq);
}

/* Returns 0 if an event arrived, -1 on timeout. Java acknowledges the event with _ackCqEvent. */
DISNI(jint, getCqEvent)(JNIEnv* env, jobject self, jlong channel_address, jint timeout_ms) {
    (void)self;
    struct ibv_comp_channel* channel = disni_object(env, channel_address, "completion channel");
    struct ibv_cq* cq;
    void* cq_context;

    if (channel == NULL || !disni_readable(env, channel->fd, timeout_ms)) {
        return NO_EVENT;
    }
    if (ibv_get_cq_event(channel, &cq, &cq_context) != 0) {
        if (errno != EAGAIN) {
            disni_throw(env, "ibv_get_cq_event", errno);
        }
        return NO_EVENT;
    }
    return 0;
}

DISNI(jint, ackCqEvent)(JNIEnv* env, jobject self, jlong cq_address, jint events) {
    (void)self;
    struct ibv_cq* cq = disni_object(env, cq_address, "completion queue");

    if (cq != NULL) {
        ibv_ack_cq_events(cq, (unsigned)events);
    }
    return 0;
}

DISNI(jint, reqNotifyCQ)(JNIEnv* env, jobject self, jlong cq_address, jint solicited_only) {
    (void)self;
    struct ibv_cq* cq = disni_object(env, cq_address, "completion queue");
    int error = cq == NULL ? 0 : ibv_req_notify_cq(cq, solicited_only);

    if (error != 0) {
        disni_throw(env, "ibv_req_notify_cq", error);
    }
    return 0;
}

/* Writes up to that many completions as struct ibv_wc, and returns their number. */
DISNI(jint, pollCQ)(JNIEnv* env, jobject self, jlong cq_address, jint entries, jlong to_address) {
    (void)self;
    struct ibv_cq* cq = disni_object(env, cq_address, "completion queue");
    struct ibv_wc* to = disni_object(env, to_address, "completions");

    if (cq == NULL || to == NULL) {
        return 0;
    }
    if (entries < 1) {
        disni_throw(env, "ibv_poll_cq with room for no completion", EINVAL);
        return 0;
    }
    errno = 0;
    int found = ibv_poll_cq(cq, entries, to);

    if (found < 0) {
        disni_throw(env, "ibv_poll_cq", errno);
        return 0;
    }
    return found;
}

DISNI(jint, getQpNum)(JNIEnv* env, jobject self, jlong qp_address) {
    (void)self;
    struct ibv_qp* qp = disni_object(env, qp_address, "queue pair");

    return qp == NULL ? 0 : (jint)qp->qp_num;
}

/* Java's list contains neither operands of atomics nor address handles. */
static int has_unsupported_opcode(const struct ibv_send_wr* request) {
    for (; request != NULL; request = request->next) {
        if ((unsigned)request->opcode > IBV_WR_RDMA_READ) {
            return 1;
        }
    }
    return 0;
}

DISNI(void, postSend)(JNIEnv* env, jobject self, jlong qp_address, jlong list_address) {
    (void)self;
    struct ibv_qp* qp = disni_object(env, qp_address, "queue pair");
    struct ibv_send_wr* list = disni_object(env, list_address, "work request");
    struct ibv_send_wr* bad;

    if (qp == NULL || list == NULL) {
        return;
    }
    if (has_unsupported_opcode(list)) {
        disni_throw_unsupported(env, "Unsupported work request. Use writes, sends and reads.");
        return;
    }
    int error = ibv_post_send(qp, list, &bad);

    if (error != 0) {
        disni_throw(env, "ibv_post_send", error);
    }
}

DISNI(void, postRecv)(JNIEnv* env, jobject self, jlong qp_address, jlong list_address) {
    (void)self;
    struct ibv_qp* qp = disni_object(env, qp_address, "queue pair");
    struct ibv_recv_wr* list = disni_object(env, list_address, "work request");
    struct ibv_recv_wr* bad;
    int error = qp == NULL || list == NULL ? 0 : ibv_post_recv(qp, list, &bad);

    if (error != 0) {
        disni_throw(env, "ibv_post_recv", error);
    }
}
