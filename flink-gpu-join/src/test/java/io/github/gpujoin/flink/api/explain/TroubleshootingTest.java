// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Holds docs/troubleshooting.md to the code. */
class TroubleshootingTest {

    private static final Path ROOT = Path.of("..");
    private static final String PAGE = read(ROOT.resolve("docs/troubleshooting.md"));
    private static final List<String> MODULES =
            List.of(
                    "join-core",
                    "kernels",
                    "hybrid-cpu",
                    "rdma-network",
                    "flink-gpu-join",
                    "flink-sql-gpu-join");

    /** First cell of a row of the messages' table; those of Flink are marked. */
    private static final Pattern MESSAGE = Pattern.compile("(?m)^\\| `([^`]+)` \\|");

    /** Between two parts of one string in the code. */
    private static final Pattern CONCATENATION = Pattern.compile("\"\\s*\\+\\s*\"");

    static Stream<String> messages() {
        String table = PAGE.substring(PAGE.indexOf("## Messages"), PAGE.indexOf("## A job"));
        return MESSAGE.matcher(table).results().map(match -> match.group(1));
    }

    @ParameterizedTest
    @MethodSource("messages")
    void shouldQuoteOnlyMessagesThatTheCodeHas(String message) {
        assertThat(Sources.TEXT).contains(message);
    }

    @ParameterizedTest
    @EnumSource
    void shouldExplainEachReasonCode(ReasonCode code) {
        String table = PAGE.substring(PAGE.indexOf("## Reason codes"));
        assertThat(table).containsPattern("(?m)^\\| `" + code + "` \\| .+ \\| .+ \\|$");
    }

    @Test
    void shouldExplainNoReasonCodeThatThereIsNot() {
        String table = PAGE.substring(PAGE.indexOf("## Reason codes"));
        assertThat(Pattern.compile("(?m)^\\| `([A-Z_]+)`").matcher(table).results())
                .extracting(match -> match.group(1))
                .containsExactlyInAnyOrder(
                        Stream.of(ReasonCode.values()).map(Enum::name).toArray(String[]::new));
    }

    /** All code that is delivered, with strings put together. */
    private static final class Sources {
        private static final String TEXT =
                MODULES.stream()
                        .map(module -> ROOT.resolve(module).resolve("src/main/java"))
                        .flatMap(Sources::files)
                        .map(TroubleshootingTest::read)
                        .map(text -> CONCATENATION.matcher(text).replaceAll(""))
                        .collect(Collectors.joining("\n"));

        private static Stream<Path> files(Path directory) {
            try (Stream<Path> files = Files.walk(directory)) {
                return files.filter(file -> file.toString().endsWith(".java")).toList().stream();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
