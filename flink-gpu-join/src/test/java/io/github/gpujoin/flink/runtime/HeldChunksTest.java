// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.slot.CountedSlot;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HeldChunksTest {

    private static final ChunkSchema SCHEMA = ChunkSchema.of(Column.of("id", ColumnType.INT64));

    private final HeldChunks held = new HeldChunks();
    private final List<Long> released = new ArrayList<>();

    /** A chunk in a slot whose release fails if the id is negative. */
    private Chunk inSlot(long id) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 8);
        builder.putLong(0, id);
        builder.endRow();
        byte[] bytes =
                builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0).bytes();
        Region region = Region.allocate(bytes.length);
        Memory.copy(bytes, Memory.BYTES, null, region.address(), bytes.length);
        CountedSlot slot =
                new CountedSlot(region, region.address()) {
                    @Override
                    protected void released() {
                        released.add(id);
                        if (id < 0) {
                            throw new IllegalStateException("Slot was overwritten: id=" + id);
                        }
                    }
                };
        region.close();
        return Chunk.inSlot(SCHEMA, slot, bytes.length);
    }

    @Test
    void shouldReleaseEachChunkOnce() throws Exception {
        Chunk first = inSlot(1);
        held.hold(first);
        held.hold(inSlot(2));
        held.release(first);
        held.release(first);
        held.close();
        held.close();

        assertThat(released).containsExactly(1L, 2L);
    }

    @Test
    void shouldReleaseAllChunksIfSomeReleasesFail() {
        long openBefore = Region.openCount();
        for (long id : new long[] {-1, 2, -3, 4}) {
            held.hold(inSlot(id));
        }

        assertThatThrownBy(held::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("Slot was overwritten: id=-")
                .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
        assertThat(released).containsExactlyInAnyOrder(-1L, 2L, -3L, 4L);
        assertThat(Region.openCount()).isEqualTo(openBefore);
    }
}
