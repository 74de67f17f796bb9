// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Native half of DiSNI 2.1 (com.ibm.disni.verbs.impl.NativeDispatcher) over libibverbs and
 * librdmacm: written from the Java signatures and the rdma-core manual pages.
 *
 * Java holds objects as addresses. Failures are reported in two ways, as the Java side expects:
 * functions that create, post, poll or wait throw java.io.IOException with the call's name and
 * errno; functions that close return 0 or the negative errno, so that a sequence of closes always
 * completes.
 *
 * Threads: libibverbs is thread-safe. DiSNI's Java side requires that only one thread uses an event
 * channel.
 */
#ifndef GPUJOIN_DISNI_H
#define GPUJOIN_DISNI_H

#include <infiniband/verbs.h>
#include <jni.h>
#include <rdma/rdma_cma.h>

/* Java_..._NativeDispatcher__1name is the JNI name of NativeDispatcher._name. */
#define DISNI(type, name) \
    JNIEXPORT type JNICALL Java_com_ibm_disni_verbs_impl_NativeDispatcher__1##name

/* Converts an address from Java. Throws and returns NULL if it is 0. */
void* disni_object(JNIEnv* env, jlong address, const char* kind);

/* Throws IOException: "CALL failed: errno=NUMBER (TEXT)". */
void disni_throw(JNIEnv* env, const char* call, int error);

/* Throws IOException: "CALL failed: KIND=NUMBER", for libraries with their own result codes. */
void disni_throw_result(JNIEnv* env, const char* call, const char* kind, int result);

void disni_throw_unsupported(JNIEnv* env, const char* message);

/* Returns the address of an object for Java, or throws errno if the call returned none. */
jlong disni_created(JNIEnv* env, const void* object, const char* call);

/*
 * Whether the descriptor became readable before the timeout. Throws if poll fails.
 * A negative timeout waits without limit.
 */
int disni_readable(JNIEnv* env, int fd, int timeout_ms);

/*
 * Makes reads of an event descriptor fail with EAGAIN instead of blocking, because another thread
 * may have read the event after disni_readable reported it.
 */
int disni_set_nonblocking(int fd);

#endif
