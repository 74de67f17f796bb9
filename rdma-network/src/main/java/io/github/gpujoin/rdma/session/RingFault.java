// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

/**
 * Describes the error that the JVM throws if a mapped file was truncated.
 *
 * <p>Another process of this user can truncate the file of a ring. The JVM turns the fault (SIGBUS)
 * into an {@link InternalError} at one of the thread's next safepoints, so it may surface a few
 * calls after the access. Only the session of that ring fails; the thread continues. Code must not
 * throw the error out of a task, because Flink ends the process on an InternalError.
 */
public final class RingFault {

    private RingFault() {}

    /** Returns a message with the likely cause and what to look for. */
    public static String describe(InternalError fault) {
        return "The ring's file was truncated or its memory failed: "
                + fault.getMessage()
                + ". Find out what changes files gpu-join-ring-* of this user.";
    }
}
