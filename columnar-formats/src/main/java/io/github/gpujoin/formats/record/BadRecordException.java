// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.record;

import java.io.IOException;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Thrown for a record that a decoder cannot read, while the next one may be good. A source fails
 * with it or skips the record; it fails with any other exception.
 */
@PublicEvolving
public sealed class BadRecordException extends IOException permits UnexpectedNullException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message the fault and its values; the source adds topic, partition and offset
     */
    public BadRecordException(String message) {
        super(message);
    }

    /**
     * Creates the exception.
     *
     * @param message the fault and its values; the source adds topic, partition and offset
     * @param cause of the fault
     */
    public BadRecordException(String message, Throwable cause) {
        super(message, cause);
    }
}
