// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.run;

import org.apache.flink.util.ExceptionUtils;
import org.apache.flink.util.SerializedThrowable;

/** Finds the message that explains a failed job among the causes of its exception. */
public final class Failures {

    /** Start of Flink's message that names an invalid option; its cause omits the option. */
    private static final String INVALID_OPTION = "Could not parse value";

    private Failures() {}

    /**
     * Returns the first line of the root cause's message, or the class name if it has no message.
     * Messages of exceptions from the cluster lose their class name.
     *
     * <p>The search ends at Flink's exception for an invalid option, because its cause does not
     * name the option.
     */
    public static String rootMessage(Throwable failure) {
        Throwable root = ExceptionUtils.stripExecutionException(failure);
        while (root.getCause() != null && root.getCause() != root && !namesInvalidOption(root)) {
            root = root.getCause();
        }
        String message = root.getMessage();
        if (message == null || message.isBlank()) {
            return root.getClass().getSimpleName();
        }
        if (root instanceof SerializedThrowable serialized) {
            // The message starts with the class name of the exception thrown on the cluster.
            String type = serialized.getOriginalErrorClassName() + ": ";
            message = message.startsWith(type) ? message.substring(type.length()) : message;
        }
        return message.strip().lines().findFirst().orElse(message);
    }

    private static boolean namesInvalidOption(Throwable failure) {
        return failure.getMessage() != null && failure.getMessage().startsWith(INVALID_OPTION);
    }
}
