// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

/** Reports bytes that are not a valid chunk. The message names the field and its value. */
public final class ChunkFormatException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public ChunkFormatException(String message) {
        super(message);
    }
}
