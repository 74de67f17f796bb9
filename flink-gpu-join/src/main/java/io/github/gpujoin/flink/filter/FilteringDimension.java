// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.flink.api.explain.Distribution;
import java.io.Serializable;

/**
 * A dimension whose keys filter the facts. Serialized with the job.
 *
 * @param number of the dimension in the join
 * @param name of the dimension
 * @param factColumn index of its key in the packed facts
 * @param distribution as planned: of a partitioned dimension each subtask knows some keys only
 */
public record FilteringDimension(int number, String name, int factColumn, Distribution distribution)
        implements Serializable {}
