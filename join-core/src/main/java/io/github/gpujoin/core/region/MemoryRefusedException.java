// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.region;

import org.jspecify.annotations.Nullable;

/** No memory could be reserved or allocated. */
public final class MemoryRefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * @param sentence fault, values, remedy
     */
    public MemoryRefusedException(String sentence, @Nullable Throwable cause) {
        super(sentence, cause);
    }
}
