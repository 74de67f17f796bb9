// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import org.apache.flink.util.FlinkRuntimeException;

/** A record cannot be packed; nothing of it is in a chunk. */
public final class UnreadableRecordException extends FlinkRuntimeException {

    private static final long serialVersionUID = 1L;

    public UnreadableRecordException(String fault, String side, Exception cause) {
        super(fault + ": side=" + side, cause);
    }

    /** Returns the text of a record, or the reason why it has none. */
    public static String textOf(Object record) {
        try {
            return String.valueOf(record);
        } catch (RuntimeException e) {
            return record.getClass().getName() + ", whose text cannot be made: " + e;
        }
    }

    /** All messages, from the fault to the root cause. */
    public String reason() {
        StringBuilder reason = new StringBuilder(getMessage());
        for (Throwable cause = getCause(); cause != null; cause = cause.getCause()) {
            reason.append("; ").append(cause);
        }
        return reason.toString();
    }
}
