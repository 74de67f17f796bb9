// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import io.github.gpujoin.core.engine.DimensionSpec;
import java.io.Serializable;
import org.apache.flink.types.Row;
import org.apache.flink.util.OutputTag;

/**
 * A join of each fact with the version of a dimension that was valid at its event time. Serialized
 * with the job.
 *
 * @param dimension number of the dimension, by whose key facts are sent
 * @param versionTimeColumn fixed INT64 column of the dimension, event time in ms
 * @param factTimeColumn fixed INT64 column of the facts, event time in ms
 * @param factKeyBytesColumn variable-width column of the facts, the full key if the dimension's key
 *     is a hash; else {@link DimensionSpec#EXACT_KEY}
 * @param joinsLateRows whether rows whose event time is already joined are joined at the next
 *     watermark, with the versions that are still kept, as Flink's temporal join does; else they
 *     are dropped
 * @param lateFacts side output of facts whose event time is already joined
 * @param lateVersions side output of versions whose event time is already joined
 */
public record EventTimeJoin(
        int dimension,
        int versionTimeColumn,
        int factTimeColumn,
        int factKeyBytesColumn,
        boolean joinsLateRows,
        OutputTag<Row> lateFacts,
        OutputTag<Row> lateVersions)
        implements Serializable {}
