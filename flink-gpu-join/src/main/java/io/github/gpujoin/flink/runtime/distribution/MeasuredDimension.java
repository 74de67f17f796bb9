// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.distribution;

import io.github.gpujoin.core.layout.Chunk;
import java.io.Serializable;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.util.OutputTag;

/**
 * The dimension of a join that is distributed by its measured size: partitioned while it is loaded,
 * then replicated if it is small. Serialized with the job. See docs/decisions/0004.
 *
 * @param join prefix of the uids of the join's operators
 * @param number of the dimension
 * @param maxBytes size up to which it is replicated
 */
public record MeasuredDimension(String join, int number, String name, long maxBytes)
        implements Serializable {

    /** Output for chunks that go to the owner of their partition. */
    public static OutputTag<Chunk> partitions(TypeInformation<Chunk> type) {
        return new OutputTag<>("partitions", type);
    }
}
