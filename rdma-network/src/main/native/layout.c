// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Layouts of the C structures that DiSNI's Java side writes (work requests) and reads
 * (completions). It queries sizes and two offsets; the other offsets are constants in NatIbvSendWR,
 * NatIbvRecvWR, NatIbvSge, NatPollCqCall and SockAddrIn, which the assertions below check.
 */
#include "disni.h"

#include <netinet/in.h>
#include <stddef.h>

#define DISNI_VERSION 32

#define AT(type, field, offset)                                                     \
    _Static_assert(offsetof(struct type, field) == (offset), "DiSNI writes " #field \
                                                             " at"                  \
                                                             " " #offset)

_Static_assert(sizeof(void*) == 8, "DiSNI writes pointers of 8 bytes");

AT(ibv_send_wr, wr_id, 0);
AT(ibv_send_wr, next, 8);
AT(ibv_send_wr, sg_list, 16);
AT(ibv_send_wr, num_sge, 24);
AT(ibv_send_wr, opcode, 28);
AT(ibv_send_wr, send_flags, 32);
AT(ibv_send_wr, imm_data, 36);
/* From the offset of the address, Java writes 8 bytes of address, 4 of key and 4 reserved. */
AT(ibv_send_wr, wr.rdma.rkey, offsetof(struct ibv_send_wr, wr.rdma.remote_addr) + 8);

AT(ibv_recv_wr, wr_id, 0);
AT(ibv_recv_wr, next, 8);
AT(ibv_recv_wr, sg_list, 16);
AT(ibv_recv_wr, num_sge, 24);

AT(ibv_sge, addr, 0);
AT(ibv_sge, length, 8);
AT(ibv_sge, lkey, 12);
_Static_assert(sizeof(struct ibv_sge) == 16,
               "DiSNI writes the elements of a list one after another");

AT(ibv_wc, wr_id, 0);
AT(ibv_wc, status, 8);
AT(ibv_wc, opcode, 12);
AT(ibv_wc, vendor_err, 16);
AT(ibv_wc, byte_len, 20);
AT(ibv_wc, imm_data, 24);
AT(ibv_wc, qp_num, 28);
AT(ibv_wc, src_qp, 32);
AT(ibv_wc, wc_flags, 36);
AT(ibv_wc, pkey_index, 40);
AT(ibv_wc, slid, 42);
AT(ibv_wc, sl, 44);
AT(ibv_wc, dlid_path_bits, 45);

AT(sockaddr_in, sin_family, 0);
AT(sockaddr_in, sin_port, 2);
AT(sockaddr_in, sin_addr, 4);

#define NUMBER(name, value)                         \
    DISNI(jint, name)(JNIEnv * env, jobject self) { \
        (void)env;                                  \
        (void)self;                                 \
        return (jint)(value);                       \
    }

NUMBER(getVersion, DISNI_VERSION)
NUMBER(getSockAddrInSize, sizeof(struct sockaddr_in))
NUMBER(getIbvRecvWRSize, sizeof(struct ibv_recv_wr))
NUMBER(getIbvSendWRSize, sizeof(struct ibv_send_wr))
NUMBER(getIbvSgeSize, sizeof(struct ibv_sge))
NUMBER(getIbvWCSize, sizeof(struct ibv_wc))
NUMBER(getRemoteAddressOffset, offsetof(struct ibv_send_wr, wr.rdma.remote_addr))
NUMBER(getRKeyOffset, offsetof(struct ibv_send_wr, wr.rdma.rkey))
