// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.config;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.util.TimeUtils;

/** The least and the most value of options, which hold wherever an option is read. */
final class OptionBounds {

    /** Values from the least to the most, both allowed; {@code null} where there is no such end. */
    private record Range<T extends Comparable<T>>(ConfigOption<T> option, T least, T most) {

        boolean contains(T value) {
            return value.compareTo(least) >= 0 && (most == null || value.compareTo(most) <= 0);
        }

        @Override
        public String toString() {
            String from = "at least " + text(least);
            return most == null ? from : from + " and at most " + text(most);
        }
    }

    private final Map<String, Range<?>> ranges = new HashMap<>();
    private final Map<String, String> words = new HashMap<>();

    <T extends Comparable<T>> OptionBounds atLeast(ConfigOption<T> option, T least) {
        return range(option, least, null);
    }

    <T extends Comparable<T>> OptionBounds range(ConfigOption<T> option, T least, T most) {
        ranges.put(option.key(), new Range<>(option, least, most));
        return this;
    }

    /** Bounds that whoever uses the option checks. */
    OptionBounds inWords(ConfigOption<?> option, String bounds) {
        words.put(option.key(), bounds);
        return this;
    }

    /**
     * The option's value.
     *
     * @return {@code null} where it is not set and has no default
     * @throws IllegalConfigurationException where it is out of its bounds
     */
    <T extends Comparable<T>> T read(ReadableConfig config, ConfigOption<T> option) {
        @SuppressWarnings("unchecked") // put under the key by an option of the same type
        Range<T> range = (Range<T>) ranges.get(option.key());
        T value = config.get(option);
        if (value != null && range != null && !range.contains(value)) {
            throw new IllegalConfigurationException(
                    "Option out of range: %s=%s. Set %s.", option.key(), text(value), range);
        }
        return value;
    }

    /**
     * Reads every option that has a least value.
     *
     * @throws IllegalConfigurationException where one is out of its bounds
     */
    void check(ReadableConfig config) {
        for (Range<?> range : ranges.values()) {
            read(config, range.option());
        }
    }

    /** The bounds in words, where the option has any. */
    Optional<String> describe(ConfigOption<?> option) {
        return Optional.ofNullable(ranges.get(option.key()))
                .map(Range::toString)
                .or(() -> Optional.ofNullable(words.get(option.key())));
    }

    /** A value as one would write it in config.yaml. */
    static String text(Object value) {
        return value instanceof Duration duration
                ? TimeUtils.formatWithHighestUnit(duration)
                : String.valueOf(value);
    }
}
