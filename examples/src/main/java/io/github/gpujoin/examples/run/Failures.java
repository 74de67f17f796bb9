// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.run;

import org.apache.flink.util.ExceptionUtils;
import org.apache.flink.util.SerializedThrowable;

/** Finds, among the causes of a failed job, the sentence that tells a user what is wrong. */
public final class Failures {

    /** How Flink says which option has a wrong value; its cause says no more than why. */
    private static final String WRONG_OPTION = "Could not parse value";

    private Failures() {}

    /** One line that names the root cause, or the option that it comes from. */
    public static String sentence(Throwable failure) {
        Throwable root = ExceptionUtils.stripExecutionException(failure);
        while (root.getCause() != null && root.getCause() != root && !isOfAnOption(root)) {
            root = root.getCause();
        }
        String message = root.getMessage();
        if (message == null || message.isBlank()) {
            return root.getClass().getSimpleName();
        }
        if (root instanceof SerializedThrowable serialized) {
            // Such a message begins with the class of what was thrown on the cluster.
            String type = serialized.getOriginalErrorClassName() + ": ";
            message = message.startsWith(type) ? message.substring(type.length()) : message;
        }
        return message.strip().lines().findFirst().orElse(message);
    }

    private static boolean isOfAnOption(Throwable failure) {
        return failure.getMessage() != null && failure.getMessage().startsWith(WRONG_OPTION);
    }
}
