// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.region;

import java.util.function.Consumer;

/** Closes several owners of memory or files. */
public final class Closing {

    private Closing() {}

    /**
     * Calls {@code close} for each owner, even if it fails for one. Then throws the first
     * exception, with the others suppressed.
     */
    public static <T> void all(Iterable<T> owners, Consumer<? super T> close) {
        RuntimeException first = null;
        for (T owner : owners) {
            try {
                close.accept(owner);
            } catch (RuntimeException e) {
                if (first == null) {
                    first = e;
                } else {
                    first.addSuppressed(e);
                }
            }
        }
        if (first != null) {
            throw first;
        }
    }
}
