// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/* Native methods of DiSNI that neither this project nor DiSNI's endpoints use. */
#include "disni.h"

DISNI(jint, modifyQP)(JNIEnv* env, jobject self, jlong qp_address, jlong attributes_address) {
    (void)self;
    (void)qp_address;
    (void)attributes_address;
    disni_throw_unsupported(
        env, "Unsupported change of a queue pair's state. Use the connection manager.");
    return -1;
}

DISNI(jint, queryOdpSupport)(JNIEnv* env, jobject self, jlong context_address) {
    (void)self;
    (void)context_address;
    disni_throw_unsupported(env, "On-demand paging is unsupported. Registered memory is pinned.");
    return -1;
}

DISNI(jint, expPrefetchMr)
(JNIEnv* env, jobject self, jlong region_address, jlong address, jint length) {
    (void)self;
    (void)region_address;
    (void)address;
    (void)length;
    disni_throw_unsupported(env, "Prefetching is unsupported. Registered memory is pinned.");
    return -1;
}

#define AFFINITY(type, name) JNIEXPORT type JNICALL Java_com_ibm_disni_util_NativeAffinity__1##name

AFFINITY(void, setAffinity)(JNIEnv* env, jclass type, jlong mask) {
    (void)type;
    (void)mask;
    disni_throw_unsupported(env, "Thread affinity is unsupported. Use taskset or a cpuset.");
}

AFFINITY(jlong, getAffinity)(JNIEnv* env, jclass type) {
    (void)type;
    disni_throw_unsupported(env, "Thread affinity is unsupported. Use taskset or a cpuset.");
    return -1;
}
