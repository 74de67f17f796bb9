// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs jcstress, in JVMs of its own, on the stress tests of this package. */
class RingStressTest {

    private static final int LIMIT_S = 120;

    /** A single JVM mode: the one whose compiler reorders most instructions. */
    private static final String JVM =
            "-Xmx256m -XX:+UseSerialGC -XX:-TieredCompilation -XX:+UnlockDiagnosticVMOptions"
                    + " -XX:+StressLCM -XX:+StressGCM";

    /** {@link RingPublicationStress} and {@link RingReuseStress}. */
    private static final int TESTS = 2;

    @TempDir private Path directory;

    @Test
    void shouldShowOnlyAcceptableOutcomesUnderStress() throws Exception {
        Path output = directory.resolve("output.txt");
        Process stress =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                classPath(),
                                "org.openjdk.jcstress.Main",
                                "-t",
                                "io.github.gpujoin.core.ring",
                                "-f",
                                "1",
                                "-iters",
                                "1",
                                "-time",
                                "100",
                                "-c",
                                "2",
                                "-jvmArgs",
                                JVM,
                                "-sc",
                                "false",
                                "-r",
                                directory.toString())
                        .directory(directory.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start();
        try {
            assertThat(stress.waitFor(LIMIT_S, TimeUnit.SECONDS))
                    .as("jcstress ends in %d s; its output:%n%s", LIMIT_S, tail(output))
                    .isTrue();
            String report = Files.readString(output);
            assertThat(stress.exitValue()).as(report).isZero();
            assertThat(report).contains(TESTS + " matching test results");
            assertThat(report)
                    .containsPattern("\\(Results: (\\d+) planned; \\1 passed, 0 failed, ");
        } finally {
            stress.destroyForcibly();
        }
    }

    private static String classPath() {
        return System.getProperty(
                "surefire.test.class.path", System.getProperty("java.class.path"));
    }

    private static String tail(Path output) throws IOException {
        String text = Files.readString(output);
        return text.substring(Math.max(0, text.length() - 4000));
    }
}
