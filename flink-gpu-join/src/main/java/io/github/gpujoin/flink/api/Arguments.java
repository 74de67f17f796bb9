// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import java.util.Objects;

/** Checks of arguments of the public API. */
final class Arguments {

    private Arguments() {}

    /**
     * Returns the values, none of which is null.
     *
     * @param name of the parameter
     */
    static String[] requireNoNull(String[] values, String name) {
        Objects.requireNonNull(values, name);
        for (int i = 0; i < values.length; i++) {
            int index = i;
            Objects.requireNonNull(values[i], () -> name + "[" + index + "]");
        }
        return values;
    }
}
