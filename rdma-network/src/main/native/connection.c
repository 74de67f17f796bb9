// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/* Connection manager: event channels, identifiers, addresses, queue pairs (librdmacm). */
#include "disni.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/* Scatter-gather elements of a work request; DiSNI does not pass its maximum to this library. */
#define MAX_SGE 4

#define NO_EVENT (-1)

DISNI(jlong, createEventChannel)(JNIEnv* env, jobject self) {
    (void)self;
    struct rdma_event_channel* channel = rdma_create_event_channel();

    if (channel != NULL && disni_set_nonblocking(channel->fd) != 0) {
        int error = errno;

        rdma_destroy_event_channel(channel);
        disni_throw(env, "fcntl on the event channel", error);
        return 0;
    }
    return disni_created(env, channel, "rdma_create_event_channel");
}

DISNI(jint, destroyEventChannel)(JNIEnv* env, jobject self, jlong channel_address) {
    (void)self;
    struct rdma_event_channel* channel = disni_object(env, channel_address, "event channel");

    if (channel != NULL) {
        rdma_destroy_event_channel(channel);
    }
    return 0;
}

DISNI(jlong, createId)(JNIEnv* env, jobject self, jlong channel_address, jshort port_space) {
    (void)self;
    struct rdma_event_channel* channel = disni_object(env, channel_address, "event channel");
    struct rdma_cm_id* id = NULL;

    if (channel == NULL) {
        return 0;
    }
    if (rdma_create_id(channel, &id, NULL, (enum rdma_port_space)port_space) != 0) {
        disni_throw(env, "rdma_create_id", errno);
        return 0;
    }
    return disni_created(env, id, "rdma_create_id");
}

DISNI(jint, destroyCmId)(JNIEnv* env, jobject self, jlong id_address) {
    (void)self;
    struct rdma_cm_id* id = disni_object(env, id_address, "id");

    return id != NULL && rdma_destroy_id(id) != 0 ? -errno : 0;
}

DISNI(jint, destroyEp)(JNIEnv* env, jobject self, jlong id_address) {
    (void)self;
    struct rdma_cm_id* id = disni_object(env, id_address, "id");

    if (id != NULL) {
        rdma_destroy_ep(id);
    }
    return 0;
}

DISNI(void, bindAddr)(JNIEnv* env, jobject self, jlong id_address, jlong sockaddr_address) {
    (void)self;
    struct rdma_cm_id* id = disni_object(env, id_address, "id");
    struct sockaddr* address = disni_object(env, sockaddr_address, "socket address");

    if (id != NULL && address != NULL && rdma_bind_addr(id, address) != 0) {
        disni_throw(env, "rdma_bind_addr", errno);
    }
}

DISNI(void, listen)(JNIEnv* env, jobject self, jlong id_address, jint backlog) {
    (void)self;
    struct rdma_cm_id* id = disni_object(env, id_address, "id");

    if (id != NULL && rdma_listen(id, backlog) != 0) {
        disni_throw(env, "rdma_listen", errno);
    }
}

/* The source may be 0: the kernel's routes then select it. */
DISNI(void, resolveAddr)
(JNIEnv* env, jobject self, jlong id_address, jlong source_address, jlong destination_address,
 jint timeout_ms) {
    (void)self;
    struct rdma_cm_id* id = disni_object(env, id_address, "id");
    struct sockaddr* destination = disni_object(env, destination_address, "socket address");

    if (id != NULL && destination != NULL &&
        rdma_resolve_addr(id, (struct sockaddr*)(intptr_t)source_address, destination,
                          timeout_ms) != 0) {
        disni_throw(env, "rdma_resolve_addr", errno);
    }
}

DISNI(void, resolveRoute)(JNIEnv* env, jobject self, jlong id_address, jint timeout_ms) {
    (void)self;
    struct rdma_cm_id* id = disni_object(env, id_address, "id");

    if (id != NULL && rdma_resolve_route(id, timeout_ms) != 0) {
        disni_throw(env, "rdma_resolve_route", errno);
    }
}

static void copy_address(const struct sockaddr* from, void* to) {
    memcpy(to, from, sizeof(struct sockaddr_in));
}

static jint address_of(JNIEnv* env, jlong id_address, jlong to_address,
                       struct sockaddr* (*address)(struct rdma_cm_id*)) {
    struct rdma_cm_id* id = disni_object(env, id_address, "id");
    void* to = disni_object(env, to_address, "socket address");

    if (id == NULL || to == NULL) {
        return -EINVAL;
    }
    if (address(id)->sa_family != AF_INET) {
        return -EAFNOSUPPORT;
    }
    copy_address(address(id), to);
    return 0;
}

DISNI(jint, getSrcAddr)(JNIEnv* env, jobject self, jlong id_address, jlong to_address) {
    (void)self;
    return address_of(env, id_address, to_address, rdma_get_local_addr);
}

DISNI(jint, getDstAddr)(JNIEnv* env, jobject self, jlong id_address, jlong to_address) {
    (void)self;
    return address_of(env, id_address, to_address, rdma_get_peer_addr);
}

/* Returns -1 until a device is bound to the identifier; DiSNI calls again. */
DISNI(jlong, getContext)(JNIEnv* env, jobject self, jlong id_address) {
    (void)self;
    struct rdma_cm_id* id = disni_object(env, id_address, "id");

    return id == NULL || id->verbs == NULL ? -1 : (jlong)(intptr_t)id->verbs;
}

static uint32_t max_sge(struct ibv_context* context) {
    struct ibv_device_attr device;

    return ibv_query_device(context, &device) == 0 && device.max_sge < MAX_SGE
               ? (uint32_t)device.max_sge
               : MAX_SGE;
}

DISNI(jlong, createQP)
(JNIEnv* env, jobject self, jlong id_address, jlong pd_address, jlong send_cq_address,
 jlong recv_cq_address, jint type, jint max_send_wr, jint max_recv_wr, jint max_inline_data) {
    (void)self;
    struct rdma_cm_id* id = disni_object(env, id_address, "id");
    struct ibv_pd* pd = disni_object(env, pd_address, "protection domain");
    struct ibv_cq* send_cq = disni_object(env, send_cq_address, "completion queue");
    struct ibv_cq* recv_cq = disni_object(env, recv_cq_address, "completion queue");

    if (id == NULL || pd == NULL || send_cq == NULL || recv_cq == NULL) {
        return 0;
    }
    if (type != IBV_QPT_RC) {
        disni_throw_unsupported(env, "Unsupported type of queue pair. Use IBV_QPT_RC.");
        return 0;
    }
    struct ibv_qp_init_attr attributes = {
        .send_cq = send_cq,
        .recv_cq = recv_cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = (uint32_t)max_send_wr,
                .max_recv_wr = (uint32_t)max_recv_wr,
                .max_send_sge = max_sge(pd->context),
                .max_recv_sge = max_sge(pd->context),
                .max_inline_data = (uint32_t)max_inline_data},
    };

    if (rdma_create_qp(id, pd, &attributes) != 0) {
        disni_throw(env, "rdma_create_qp", errno);
        return 0;
    }
    return (jlong)(intptr_t)id->qp;
}

DISNI(jint, destroyQP)(JNIEnv* env, jobject self, jlong id_address) {
    (void)self;
    struct rdma_cm_id* id = disni_object(env, id_address, "id");

    if (id != NULL) {
        rdma_destroy_qp(id);
    }
    return 0;
}

/* Requests the maximum of outstanding reads; librdmacm reduces it to the limits of both devices. */
static struct rdma_conn_param connection_of(jint retry_count, jint rnr_retry_count) {
    return (struct rdma_conn_param){
        .responder_resources = RDMA_MAX_RESP_RES,
        .initiator_depth = RDMA_MAX_INIT_DEPTH,
        .retry_count = (uint8_t)retry_count,
        .rnr_retry_count = (uint8_t)rnr_retry_count,
    };
}

DISNI(void, connect)
(JNIEnv* env, jobject self, jlong id_address, jint retry_count, jint rnr_retry_count,
 jlong private_data_address, jbyte private_data_length) {
    (void)self;
    struct rdma_cm_id* id = disni_object(env, id_address, "id");
    struct rdma_conn_param connection = connection_of(retry_count, rnr_retry_count);

    if (private_data_length < 0 || (private_data_length > 0 && private_data_address == 0)) {
        disni_throw(env, "rdma_connect with private data out of bounds", EINVAL);
        return;
    }
    connection.private_data = (const void*)(intptr_t)private_data_address;
    connection.private_data_len = (uint8_t)private_data_length;
    if (id != NULL && rdma_connect(id, &connection) != 0) {
        disni_throw(env, "rdma_connect", errno);
    }
}

DISNI(void, accept)
(JNIEnv* env, jobject self, jlong id_address, jint retry_count, jint rnr_retry_count) {
    (void)self;
    struct rdma_cm_id* id = disni_object(env, id_address, "id");
    struct rdma_conn_param connection = connection_of(retry_count, rnr_retry_count);

    if (id != NULL && rdma_accept(id, &connection) != 0) {
        disni_throw(env, "rdma_accept", errno);
    }
}

DISNI(jint, disconnect)(JNIEnv* env, jobject self, jlong id_address) {
    (void)self;
    struct rdma_cm_id* id = disni_object(env, id_address, "id");

    return id != NULL && rdma_disconnect(id) != 0 ? -errno : 0;
}

/*
 * Returns the type of the next event, or -1 if none arrives in time; writes both identifiers.
 * Acknowledges the event here: Java later passes only its type, and reads only the copied fields.
 */
DISNI(jint, getCmEvent)
(JNIEnv* env, jobject self, jlong channel_address, jlong listen_id_address, jlong id_address,
 jint timeout_ms) {
    (void)self;
    struct rdma_event_channel* channel = disni_object(env, channel_address, "event channel");
    int64_t* listen_id = disni_object(env, listen_id_address, "event");
    int64_t* id = disni_object(env, id_address, "event");
    struct rdma_cm_event* event;

    if (channel == NULL || listen_id == NULL || id == NULL ||
        !disni_readable(env, channel->fd, timeout_ms)) {
        return NO_EVENT;
    }
    if (rdma_get_cm_event(channel, &event) != 0) {
        if (errno != EAGAIN) {
            disni_throw(env, "rdma_get_cm_event", errno);
        }
        return NO_EVENT;
    }
    jint number = (jint)event->event;

    *listen_id = (int64_t)(intptr_t)event->listen_id;
    *id = (int64_t)(intptr_t)event->id;
    if (rdma_ack_cm_event(event) != 0) {
        disni_throw(env, "rdma_ack_cm_event", errno);
    }
    return number;
}

DISNI(jint, ackCmEvent)(JNIEnv* env, jobject self, jint event) {
    (void)env;
    (void)self;
    (void)event;
    return 0;
}
