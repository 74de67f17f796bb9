// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.github.gpujoin.benchmarks.join.Summary;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One measured case.
 *
 * @param name kind of work: lower case with hyphens
 * @param parameters what tells the case from others of its kind, and further figures, by name with
 *     unit
 * @param unit of the rounds and of the bound
 * @param rounds figures in the order in which they were taken; at least one
 * @param bound what the machine would allow, null where nothing says
 * @param boundedBy the ceiling that the bound comes from, null with it
 * @param correct whether every answer was the expected one
 * @param count rows of one answer, null where the case has none
 * @param checksum of these rows, null where they were only counted
 */
public record Figure(
        String name,
        Map<String, String> parameters,
        String unit,
        List<Double> rounds,
        @Nullable Double bound,
        @Nullable String boundedBy,
        boolean correct,
        @Nullable Long count,
        @Nullable Long checksum) {

    private static final String RESULT = "RESULT";

    public Figure {
        if (rounds.isEmpty()) {
            throw new IllegalArgumentException("a figure has at least one round: name=" + name);
        }
        parameters = new LinkedHashMap<>(parameters);
        rounds = List.copyOf(rounds);
    }

    /** Parameters in this order: name, value, name, value, ... */
    static Map<String, Object> parameters(Object... namesAndValues) {
        Map<String, Object> parameters = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            parameters.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return parameters;
    }

    /** A case without answer or bound. */
    static Figure of(String name, Map<String, ?> parameters, String unit, List<Double> rounds) {
        Map<String, String> texts = new LinkedHashMap<>();
        parameters.forEach((key, value) -> texts.put(key, String.valueOf(value)));
        return new Figure(name, texts, unit, rounds, null, null, true, null, null);
    }

    /** The same figure under another name, with a further parameter in front. */
    Figure renamed(String newName, String parameter, Object value) {
        Map<String, String> more = new LinkedHashMap<>();
        more.put(parameter, String.valueOf(value));
        more.putAll(parameters);
        return new Figure(newName, more, unit, rounds, bound, boundedBy, correct, count, checksum);
    }

    Figure boundedBy(String ceiling, double atMost) {
        return new Figure(
                name, parameters, unit, rounds, atMost, ceiling, correct, count, checksum);
    }

    Figure checked(boolean right, long rows, Long sum) {
        return new Figure(name, parameters, unit, rounds, bound, boundedBy, right, rows, sum);
    }

    @JsonIgnore
    public Summary summary() {
        return Summary.of(rounds);
    }

    /** Median over bound; NaN without a bound. */
    @JsonIgnore
    public double share() {
        return bound == null ? Double.NaN : summary().median() / bound;
    }

    /** Value of a parameter that is a number; NaN where there is none. */
    public double number(String parameter) {
        String value = parameters.get(parameter);
        return value == null ? Double.NaN : Double.parseDouble(value);
    }

    /** Whether the case is of that name and has these values: name, value, name, value, ... */
    public boolean is(String asked, Object... values) {
        boolean same = name.equals(asked);
        for (int i = 0; same && i < values.length; i += 2) {
            same = String.valueOf(values[i + 1]).equals(parameters.get((String) values[i]));
        }
        return same;
    }

    /**
     * One line for programs: {@code RESULT name parameter=value ... unit=u rounds=a,b check=ok}.
     */
    public String line() {
        StringBuilder line = new StringBuilder(RESULT).append(' ').append(name);
        parameters.forEach((key, value) -> line.append(' ').append(key).append('=').append(value));
        line.append(" unit=").append(unit).append(" median=").append(text(summary().median()));
        line.append(" rounds=")
                .append(String.join(",", rounds.stream().map(Figure::text).toList()));
        if (bound != null) {
            line.append(" bound=").append(text(bound)).append(" bounded_by=").append(boundedBy);
            line.append(" share=").append(String.format(Locale.ROOT, "%.3f", share()));
        }
        if (count != null) {
            line.append(" count=").append(count);
        }
        if (checksum != null) {
            line.append(" checksum=").append(Long.toUnsignedString(checksum));
        }
        return line.append(" check=").append(correct ? "ok" : "WRONG").toString();
    }

    private static String text(double figure) {
        return String.format(Locale.ROOT, "%.6g", figure);
    }

    /** Whether a line is one of {@link #line()}. */
    static boolean isLine(String line) {
        return line.startsWith(RESULT + " ");
    }

    /** Reads {@link #line()}; median and share are taken from the rounds. */
    static @Nullable Figure parse(String line) {
        String[] words = line.strip().split(" ");
        Map<String, String> values = new LinkedHashMap<>();
        for (int i = 2; i < words.length; i++) {
            int equals = words[i].indexOf('=');
            if (equals < 1) {
                throw new IllegalArgumentException("values have names: word=" + words[i]);
            }
            values.put(words[i].substring(0, equals), words[i].substring(equals + 1));
        }
        List<Double> rounds = new ArrayList<>();
        for (String figure : take(values, "rounds", "").split(",")) {
            rounds.add(Double.valueOf(figure));
        }
        String unit = take(values, "unit", null);
        String bound = take(values, "bound", null);
        String boundedBy = take(values, "bounded_by", null);
        String count = take(values, "count", null);
        String checksum = take(values, "checksum", null);
        boolean correct = take(values, "check", "ok").equals("ok");
        values.keySet().removeAll(List.of("median", "share"));
        return new Figure(
                words[1],
                values,
                unit,
                rounds,
                bound == null ? null : Double.valueOf(bound),
                boundedBy,
                correct,
                count == null ? null : Long.valueOf(count),
                checksum == null ? null : Long.parseUnsignedLong(checksum));
    }

    private static String take(Map<String, String> values, String key, String otherwise) {
        String value = values.remove(key);
        return value == null ? otherwise : value;
    }
}
