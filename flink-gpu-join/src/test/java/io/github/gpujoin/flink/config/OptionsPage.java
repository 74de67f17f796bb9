// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.config;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.description.HtmlFormatter;

/** Writes docs/options.md from the options themselves. */
final class OptionsPage {

    private static final String HEAD =
            """
            # Options

            Set them in Flink's `config.yaml`, as `-D key=value` of `flink run`, or in the job with
            `StreamExecutionEnvironment.configure`. A memory size has a unit (`64 kb`, `1 mb`; a bare number is
            bytes), and so has a duration (`100 ms`, `2 s`; a bare number is milliseconds). A join
            reads them when the job builds it, and rejects a value out of bounds with an exception.

            `OptionsPageTest` writes this page from the options in `GpuJoinOptions`:
            `mvn -pl flink-gpu-join -am test -Dtest=OptionsPageTest -Dsurefire.failIfNoSpecifiedTests=false -Dgpu-join.update-docs=true`

            | option | type | default | bounds | what it does |
            |---|---|---|---|---|
            """;

    private OptionsPage() {}

    static String markdown() {
        return HEAD
                + GpuJoinOptions.all().stream().map(OptionsPage::row).collect(Collectors.joining());
    }

    private static String row(ConfigOption<?> option) {
        return "| `%s` | %s | %s | %s | %s |\n"
                .formatted(
                        option.key(),
                        type(option),
                        option.hasDefaultValue() ? "`" + text(option.defaultValue()) + "`" : "none",
                        bounds(option),
                        new HtmlFormatter().format(option.description()));
    }

    /** The type's name. ConfigOption keeps it to itself, and only the default would show it. */
    static String type(ConfigOption<?> option) {
        Class<?> type = valueClass(option);
        if (type == MemorySize.class) {
            return "memory size";
        }
        if (type == Duration.class) {
            return "duration";
        }
        return type.isEnum() ? "name" : type.getSimpleName().toLowerCase(Locale.ROOT);
    }

    static String bounds(ConfigOption<?> option) {
        Class<?> type = valueClass(option);
        if (type == Boolean.class) {
            return "`true`, `false`";
        }
        return type.isEnum()
                ? Arrays.stream(type.getEnumConstants())
                        .map(value -> "`" + text(value) + "`")
                        .collect(Collectors.joining(", "))
                : JoinConfig.bounds().describe(option).orElse("any");
    }

    private static Class<?> valueClass(ConfigOption<?> option) {
        try {
            Field clazz = ConfigOption.class.getDeclaredField("clazz");
            clazz.setAccessible(true);
            return (Class<?>) clazz.get(option);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String text(Object value) {
        return value instanceof Enum<?> name
                ? name.name().toLowerCase(Locale.ROOT)
                : OptionBounds.text(value);
    }
}
