// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.run;

import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.util.ExceptionUtils;
import org.apache.flink.util.SerializedThrowable;
import org.jspecify.annotations.Nullable;

/** Finds the message that explains a failed job among the causes of its exception. */
public final class Failures {

    private static final String OWN_PACKAGES = "io.github.gpujoin.";

    /** Lines of a message of this project at most. */
    private static final int MAX_LINES = 2;

    /** Start of Flink's message that names an invalid option; its cause omits the option. */
    private static final String INVALID_OPTION = "Could not parse value";

    private Failures() {}

    /**
     * Returns the message of the innermost exception that this project has thrown, in one line,
     * since it names the remedy. If Flink or another library has failed by itself, returns the
     * first line of the root cause's message, or the class name if it has no message. Messages of
     * exceptions from the cluster lose their class name.
     *
     * <p>The search ends at Flink's exception for an invalid option, because its cause does not
     * name the option.
     */
    public static String message(Throwable failure) {
        Throwable root = ExceptionUtils.stripExecutionException(failure);
        Throwable own = isOwn(root) ? root : null;
        while (root.getCause() != null && root.getCause() != root && !namesInvalidOption(root)) {
            root = root.getCause();
            own = isOwn(root) ? root : own;
        }
        return own == null
                ? firstLines(textOf(root), 1, root)
                : firstLines(textOf(own), MAX_LINES, own);
    }

    private static String firstLines(String text, int count, Throwable failure) {
        String lines = text.strip().lines().limit(count).collect(Collectors.joining(" "));
        return lines.isEmpty() ? failure.getClass().getSimpleName() : lines;
    }

    private static String textOf(Throwable failure) {
        String message = failure.getMessage() == null ? "" : failure.getMessage();
        // The message of an exception from the cluster starts with its class name.
        String type = typeOf(failure) + ": ";
        return message.startsWith(type) ? message.substring(type.length()) : message;
    }

    /** Whether code of this project has thrown an exception with a message of its own. */
    private static boolean isOwn(Throwable failure) {
        StackTraceElement[] trace = failure.getStackTrace();
        return trace.length > 0
                && trace[0].getClassName().startsWith(OWN_PACKAGES)
                && !isWrapper(failure, failure.getCause());
    }

    /** Whether an exception only repeats its cause. */
    private static boolean isWrapper(Throwable failure, @Nullable Throwable cause) {
        String text = textOf(failure);
        return text.isBlank()
                || typeOf(failure).equals(SuppressRestartsException.class.getName())
                || cause != null
                        && Set.of(textOf(cause), typeOf(cause) + ": " + textOf(cause))
                                .contains(text);
    }

    private static boolean namesInvalidOption(Throwable failure) {
        return textOf(failure).startsWith(INVALID_OPTION);
    }

    /** Returns the class name of an exception as it was thrown. */
    private static String typeOf(Throwable failure) {
        return failure instanceof SerializedThrowable serialized
                ? serialized.getOriginalErrorClassName()
                : failure.getClass().getName();
    }
}
