// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk;

/** One of the two inputs of a {@link BulkJoin}. Either may become the build side. */
public enum JoinSide {
    LEFT,
    RIGHT;

    public JoinSide other() {
        return this == LEFT ? RIGHT : LEFT;
    }
}
