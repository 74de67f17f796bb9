// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.options;

import org.apache.flink.annotation.PublicEvolving;

/** What becomes of a record that cannot be read. */
@PublicEvolving
public enum BadRecords {
    /** The job fails, and says why. */
    FAIL,
    /** The record is left out, and counted. */
    SKIP
}
