// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.query;

import java.math.BigDecimal;
import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/**
 * A column of a query's result.
 *
 * @param decimals digits after the point where the value is a scaled integer, otherwise 0
 */
public record ResultColumn(String name, Kind kind, int decimals) {

    /** How a value is written. */
    public enum Kind {
        /** As it is. */
        PLAIN,
        /** A 64-bit count of units of {@code 10^-decimals}. */
        DECIMAL,
        /** Days since 1970, written {@code yyyy-mm-dd}. */
        DATE
    }

    static ResultColumn plain(String name) {
        return new ResultColumn(name, Kind.PLAIN, 0);
    }

    static ResultColumn decimal(String name, int decimals) {
        return new ResultColumn(name, Kind.DECIMAL, decimals);
    }

    static ResultColumn date(String name) {
        return new ResultColumn(name, Kind.DATE, 0);
    }

    /** Text of a value; null stays null. */
    @Nullable String format(Object value) {
        if (value == null) {
            return null;
        }
        return switch (kind) {
            case PLAIN -> value.toString();
            case DECIMAL -> BigDecimal.valueOf((Long) value, decimals).toPlainString();
            case DATE -> LocalDate.ofEpochDay((Integer) value).toString();
        };
    }
}
