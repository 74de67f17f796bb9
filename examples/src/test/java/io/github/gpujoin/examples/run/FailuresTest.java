// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.util.SerializedThrowable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Exceptions that this test creates count as those of this project. */
class FailuresTest {

    /** Thrown by the JDK. */
    private static final Throwable FOREIGN = catchThrowable(() -> Integer.parseInt("x"));

    private static Stream<Throwable> failuresWithARemedy() {
        Exception own = new IOException("Fault: value=1.\nFirst remedy, or\nsecond one.", FOREIGN);
        return Stream.of(
                own,
                new ExecutionException(own),
                new RuntimeException(own),
                new UncheckedIOException((IOException) own),
                new SuppressRestartsException(own),
                new SerializedThrowable(own),
                new SerializedThrowable(new SuppressRestartsException(new RuntimeException(own))));
    }

    @ParameterizedTest
    @MethodSource("failuresWithARemedy")
    void shouldShowTwoLinesOfAMessageOfThisProjectInOne(Throwable failure) {
        assertThat(Failures.message(failure)).isEqualTo("Fault: value=1. First remedy, or");
    }

    @Test
    void shouldShowTheInnermostMessageOfThisProject() {
        Exception inner = new IOException("inner", FOREIGN);
        assertThat(Failures.message(new IllegalStateException("outer", inner))).isEqualTo("inner");
    }

    @Test
    void shouldShowTheRootCauseIfThisProjectOnlyWrapsIt() {
        String root = "For input string: \"x\"";
        assertThat(Failures.message(FOREIGN)).isEqualTo(root);
        assertThat(Failures.message(new RuntimeException(FOREIGN))).isEqualTo(root);
        assertThat(Failures.message(new SerializedThrowable(new RuntimeException(FOREIGN))))
                .isEqualTo(root);
        assertThat(Failures.message(new IllegalStateException()))
                .isEqualTo("IllegalStateException");
    }

    @Test
    void shouldNameAnInvalidOptionAndItsValues() {
        Configuration config =
                Configuration.fromMap(Map.of("gpu-join.ring.sharing", "taskmanager"));
        Throwable failure = catchThrowable(() -> GpuJoinOptions.check(config));
        assertThat(failure).as("the cause that Flink's SQL client prints").hasNoCause();
        assertThat(Failures.message(failure))
                .isEqualTo(
                        "Wrong value: gpu-join.ring.sharing=taskmanager. Use one of none,"
                                + " task_manager, auto.");
    }

    @Test
    void shouldNameAnInvalidOptionOfFlink() {
        Configuration config = Configuration.fromMap(Map.of("parallelism.default", "many"));
        assertThat(
                        Failures.message(
                                catchThrowable(() -> config.get(CoreOptions.DEFAULT_PARALLELISM))))
                .isEqualTo("Could not parse value 'many' for key 'parallelism.default'.");
    }
}
