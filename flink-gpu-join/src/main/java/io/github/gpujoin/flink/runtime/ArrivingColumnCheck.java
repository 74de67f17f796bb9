// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.record.RecordField;
import io.github.gpujoin.flink.state.JoinColumns;
import org.apache.flink.runtime.execution.SuppressRestartsException;

/**
 * Rejects chunks that packers of another version of the job wrote. Channels of an unaligned
 * checkpoint hold such chunks, and no migration applies to them. Readers of chunks compare schemas;
 * this class compares the types of serialized columns, which a schema does not contain.
 */
final class ArrivingColumnCheck {

    private final JoinColumns columns;

    /** {@link RecordField#typesOf} the facts and each dimension. */
    private final long[] types;

    ArrivingColumnCheck(JoinColumns columns) {
        this.columns = columns;
        this.types =
                columns.sides().stream()
                        .mapToLong(side -> RecordField.typesOf(side.fields()))
                        .toArray();
    }

    /**
     * @param chunk of a packer; chunks without a partition are from the replica log and migrated
     * @throws SuppressRestartsException if the types of its columns differ from the job's
     */
    void check(Chunk chunk) {
        int side = chunk.dimension() - ChunkDescriptor.FACTS;
        boolean isKnown =
                chunk.partition() != ChunkDescriptor.UNPARTITIONED
                        && chunk.epoch() != 0
                        && types[side] != 0;
        if (isKnown && chunk.epoch() != types[side]) {
            String message =
                    "Chunk in flight of '%s' was written with other types than %s."
                            .formatted(
                                    columns.sides().get(side).name(),
                                    columns.sides().get(side).fields().stream()
                                            .map(RecordField::type)
                                            .toList());
            throw new SuppressRestartsException(
                    new IllegalStateException(
                            message
                                    + "\nRestore the job from a savepoint or an aligned checkpoint."));
        }
    }
}
