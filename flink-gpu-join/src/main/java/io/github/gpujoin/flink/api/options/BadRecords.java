// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.options;

import org.apache.flink.annotation.PublicEvolving;

/**
 * What a join does with a bad record: one whose filter or key function throws, or whose fields do
 * not match their types. A join with a sink for bad records ({@code .badRecords(...)}) ignores this
 * option.
 */
@PublicEvolving
public enum BadRecords {
    /** The job fails with the reason. */
    FAIL,
    /** The join drops the record and counts it in the metric {@code badRecords} of its packer. */
    SKIP
}
