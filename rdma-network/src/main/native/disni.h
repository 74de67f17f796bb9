/*
 * Native half of DiSNI 2.1 (com.ibm.disni.verbs.impl.NativeDispatcher) over libibverbs and
 * librdmacm: written from the Java signatures and the rdma-core manual pages.
 *
 * Objects travel to Java and back as addresses. Failures are told in one of two ways, as the Java
 * side expects them: what creates, posts, polls or waits throws java.io.IOException with the
 * call's name and errno; what ends or tears down returns 0 or the negative errno, so that a chain
 * of closes is never cut short.
 *
 * Threads: libibverbs is thread-safe; DiSNI's Java side is not where one event channel is used by
 * several threads.
 */
#ifndef GPUJOIN_DISNI_H
#define GPUJOIN_DISNI_H

#include <infiniband/verbs.h>
#include <jni.h>
#include <rdma/rdma_cma.h>

/* Java_..._NativeDispatcher__1name is the JNI name of NativeDispatcher._name. */
#define DISNI(type, name) \
    JNIEXPORT type JNICALL Java_com_ibm_disni_verbs_impl_NativeDispatcher__1##name

/* The address that Java hands back. It throws and gives NULL where Java hands 0. */
void *disni_object(JNIEnv *env, jlong address, const char *kind);

/* Throws IOException: "CALL failed: errno=NUMBER (TEXT)". */
void disni_throw(JNIEnv *env, const char *call, int error);

/* Throws IOException: "CALL failed: KIND=NUMBER", of a library with results of its own. */
void disni_throw_result(JNIEnv *env, const char *call, const char *kind, int result);

void disni_throw_unsupported(JNIEnv *env, const char *message);

/* Throws errno if the call gave no object; else the object's address for Java. */
jlong disni_created(JNIEnv *env, const void *object, const char *call);

/*
 * Whether the descriptor became readable within the time. It throws where poll fails.
 * A negative timeout waits for ever.
 */
int disni_readable(JNIEnv *env, int fd, int timeout_ms);

/*
 * Lets reads of an event descriptor fail with EAGAIN rather than block: disni_readable says that
 * there was an event, and another thread may have taken it.
 */
int disni_set_nonblocking(int fd);

#endif
