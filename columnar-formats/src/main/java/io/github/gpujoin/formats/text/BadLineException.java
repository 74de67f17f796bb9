// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

/** A line has a malformed field; the message tells what was expected. */
final class BadLineException extends Exception {

    private static final long serialVersionUID = 1L;

    private final int lineStart;

    /**
     * @param lineStart offset of the line in its block
     */
    BadLineException(int lineStart, String message) {
        super(message, null, false, false);
        this.lineStart = lineStart;
    }

    int lineStart() {
        return lineStart;
    }
}
