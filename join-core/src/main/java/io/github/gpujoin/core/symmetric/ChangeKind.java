// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric;

/** What a row of a changelog does, as Flink's {@code RowKind}, with the same codes. */
public enum ChangeKind {
    INSERT(true),
    UPDATE_BEFORE(false),
    UPDATE_AFTER(true),
    DELETE(false);

    private static final ChangeKind[] ALL = values();

    private final boolean isAddition;

    ChangeKind(boolean isAddition) {
        this.isAddition = isAddition;
    }

    /** Whether the row is added, rather than retracted. */
    public boolean isAddition() {
        return isAddition;
    }

    /** Returns the value in a change column and in a batch. */
    public byte code() {
        return (byte) ordinal();
    }

    /**
     * Returns the kind with a code.
     *
     * @throws IllegalArgumentException if the code is unknown
     */
    public static ChangeKind of(int code) {
        if (code < 0 || code >= ALL.length) {
            throw new IllegalArgumentException(
                    "Unknown change code: code=%d. Use 0 to %d.".formatted(code, ALL.length - 1));
        }
        return ALL[code];
    }
}
