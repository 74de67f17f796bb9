// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

/** A life in which the join did something wrong. */
final class LifeFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    LifeFailure(String message) {
        super(message);
    }

    LifeFailure(String message, Throwable cause) {
        super(message, cause);
    }
}
