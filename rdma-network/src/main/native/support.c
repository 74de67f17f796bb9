// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
#include "disni.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void throw_new(JNIEnv* env, const char* class_name, const char* message) {
    if ((*env)->ExceptionCheck(env)) {
        return;
    }
    jclass type = (*env)->FindClass(env, class_name);
    if (type != NULL) {
        (*env)->ThrowNew(env, type, message);
    }
}

void disni_throw(JNIEnv* env, const char* call, int error) {
    char message[256];
    char text[128];

    /* The GNU variant of strerror_r: its result need not be in the buffer. */
    snprintf(message, sizeof message, "%s failed: errno=%d (%s)", call, error,
             strerror_r(error, text, sizeof text));
    throw_new(env, "java/io/IOException", message);
}

void disni_throw_result(JNIEnv* env, const char* call, const char* kind, int result) {
    char message[256];

    snprintf(message, sizeof message, "%s failed: %s=%d", call, kind, result);
    throw_new(env, "java/io/IOException", message);
}

void disni_throw_unsupported(JNIEnv* env, const char* message) {
    throw_new(env, "java/lang/UnsupportedOperationException", message);
}

void* disni_object(JNIEnv* env, jlong address, const char* kind) {
    if (address == 0) {
        char message[128];

        snprintf(message, sizeof message,
                 "Native object is closed or was never created: missing=%s", kind);
        throw_new(env, "java/io/IOException", message);
    }
    return (void*)(intptr_t)address;
}

jlong disni_created(JNIEnv* env, const void* object, const char* call) {
    if (object == NULL) {
        disni_throw(env, call, errno);
    }
    return (jlong)(intptr_t)object;
}

int disni_readable(JNIEnv* env, int fd, int timeout_ms) {
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    int ready;

    do {
        ready = poll(&wanted, 1, timeout_ms);
    } while (ready < 0 && errno == EINTR);
    if (ready < 0) {
        disni_throw(env, "poll", errno);
        return 0;
    }
    return ready > 0;
}

int disni_set_nonblocking(int fd) {
    int flags = fcntl(fd, F_GETFL);

    return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}
