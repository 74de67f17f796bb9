// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.options;

import org.apache.flink.annotation.PublicEvolving;

/** What happens to a row of a dimension that arrives after the dimension was complete. */
@PublicEvolving
public enum LateDimensionRows {
    /** The job fails and names the dimension. */
    FAIL,
    /** The row is dropped and counted. */
    DROP
}
