// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.configuration.ConfigOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The page is what the options say; if not, its head says how to make it anew. */
class OptionsPageTest {

    private static final Path PAGE = Path.of("..", "docs", "options.md");

    @Test
    void shouldBeWhatTheOptionsSay() throws IOException {
        if (Boolean.getBoolean("gpu-join.update-docs")) {
            Files.writeString(PAGE, OptionsPage.markdown());
        }
        assertThat(PAGE).hasContent(OptionsPage.markdown());
    }

    static Iterable<ConfigOption<?>> options() {
        return GpuJoinOptions.all();
    }

    @ParameterizedTest
    @MethodSource("options")
    void shouldSayTheBoundsAndTheMeaningOfEachOption(ConfigOption<?> option) {
        assertThat(option.key()).matches("gpu-join(\\.[a-z]+(-[a-z]+)*)+");
        assertThat(OptionsPage.bounds(option)).isNotEqualTo("any");
        assertThat(option.description().getBlocks()).isNotEmpty();
    }
}
