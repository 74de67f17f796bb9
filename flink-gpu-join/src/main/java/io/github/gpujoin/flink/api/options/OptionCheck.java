// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.options;

import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;

/** Refuses misspelt keys and values of the join's options, and names the ones that exist. */
final class OptionCheck {

    /** Typing errors in a key for which another key is still worth a mention. */
    private static final int MAX_EDITS = 3;

    private final List<ConfigOption<?>> options;

    OptionCheck(List<ConfigOption<?>> options) {
        this.options = options;
    }

    /**
     * Checks the keys with the join's prefix.
     *
     * @throws IllegalConfigurationException if there is no option of a key
     */
    void requireKnownKeys(ReadableConfig config) {
        if (config instanceof Configuration keys) {
            keys.keySet().stream()
                    .filter(key -> key.startsWith(GpuJoinOptions.PREFIX) && !isKnown(key))
                    .sorted()
                    .findFirst()
                    .ifPresent(
                            key -> {
                                throw new IllegalConfigurationException(unknown(key));
                            });
        }
    }

    boolean isKnown(String key) {
        return options.stream().anyMatch(option -> option.key().equals(key));
    }

    /** The message on a key without an option. */
    String unknown(String key) {
        String remedy =
                options.stream()
                        .map(ConfigOption::key)
                        .filter(known -> edits(key, known) <= MAX_EDITS)
                        .min(Comparator.comparingInt(known -> edits(key, known)))
                        .map("Did you mean %s?"::formatted)
                        .orElse("See docs/options.md.");
        return "Unknown option: %s. %s".formatted(key, remedy);
    }

    /**
     * Checks that each value is one of its option's type.
     *
     * @throws IllegalConfigurationException if one is not
     */
    void requireReadableValues(ReadableConfig config) {
        for (ConfigOption<?> option : options) {
            try {
                config.get(option);
            } catch (IllegalArgumentException e) {
                // Without Flink's exception as the cause: the SQL client shows only the root cause,
                // and Flink's names neither the option nor its value.
                throw new IllegalConfigurationException(wrongValue(config, option, e));
            }
        }
    }

    private static String wrongValue(
            ReadableConfig config, ConfigOption<?> option, IllegalArgumentException fault) {
        String value =
                config instanceof Configuration values ? values.getString(option.key(), "") : "?";
        return "Wrong value: %s=%s. %s".formatted(option.key(), value, remedy(option, fault));
    }

    private static String remedy(ConfigOption<?> option, IllegalArgumentException fault) {
        Object usual = option.defaultValue();
        if (usual instanceof Enum<?> constant) {
            return "Use one of %s.".formatted(names(constant.getDeclaringClass()));
        }
        if (usual instanceof Number) {
            return "Use a number such as %s.".formatted(usual);
        }
        if (usual instanceof MemorySize) {
            return "Use a size such as 128 kb.";
        }
        if (usual instanceof Duration) {
            return "Use a duration such as 100 ms.";
        }
        if (usual instanceof Boolean) {
            return "Use true or false.";
        }
        return (fault.getCause() == null ? fault : fault.getCause()).getMessage();
    }

    private static String names(Class<? extends Enum<?>> type) {
        return Arrays.stream(type.getEnumConstants())
                .map(constant -> constant.toString().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", "));
    }

    /** Number of characters to insert, delete or replace (Levenshtein's distance). */
    private static int edits(String from, String to) {
        int[] previous = new int[to.length() + 1];
        Arrays.setAll(previous, i -> i);
        for (int i = 1; i <= from.length(); i++) {
            int[] current = new int[to.length() + 1];
            current[0] = i;
            for (int j = 1; j <= to.length(); j++) {
                int replaced = previous[j - 1] + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                current[j] = Math.min(replaced, Math.min(previous[j], current[j - 1]) + 1);
            }
            previous = current;
        }
        return previous[to.length()];
    }
}
