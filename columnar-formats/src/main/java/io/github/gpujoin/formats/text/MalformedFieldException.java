// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

/** A field does not hold a value of its type. Only the caller knows which field it is. */
final class MalformedFieldException extends Exception {

    static final MalformedFieldException INSTANCE = new MalformedFieldException();

    private static final long serialVersionUID = 1L;

    private MalformedFieldException() {
        super("malformed field", null, false, false);
    }
}
