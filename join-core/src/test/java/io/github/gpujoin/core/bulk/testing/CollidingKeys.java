// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk.testing;

import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkKeyEncoder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.core.layout.testing.TestChunks;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Keys of two integers of 8 bytes that differ and have equal words. {@link BulkKeyEncoder} hashes
 * their 24 key bytes word by word with a bijection, so whoever knows its constants can choose the
 * second integer such that the last step has the same argument for any first one.
 */
public final class CollidingKeys {

    private static final int KEY_BYTES = 24;

    private CollidingKeys() {}

    /** Returns an input whose key columns are the first two of three. */
    public static BulkInput input(String name) {
        ChunkSchema schema =
                ChunkSchema.of(
                        Column.of("first", ColumnType.INT64),
                        Column.of("second", ColumnType.INT64),
                        Column.of("row", ColumnType.INT32));
        return new BulkInput(name, schema, List.of(0, 1));
    }

    /**
     * Returns the second integer of a key.
     *
     * @param word number of the word: keys with the same number have equal words
     */
    public static long second(long first, long word) {
        long length = Long.BYTES;
        long hash = SlotHash.hash(KEY_BYTES ^ (length | first << Integer.SIZE));
        return word ^ SlotHash.hash(hash ^ (first >>> Integer.SIZE | length << Integer.SIZE));
    }

    /**
     * Returns rows of random keys, which repeat.
     *
     * @param firsts first integers are from 0 to {@code firsts - 1}
     */
    public static List<Chunk> chunks(
            BulkInput input, Random random, int rows, int firsts, int words) {
        List<Chunk> chunks = new ArrayList<>();
        for (int from = 0; from < rows; from += 100) {
            List<Object[]> values = new ArrayList<>();
            for (int row = from; row < Math.min(rows, from + 100); row++) {
                long first = random.nextInt(firsts);
                values.add(new Object[] {first, second(first, random.nextInt(words)), row});
            }
            chunks.add(TestChunks.of(input.schema(), ChunkDescriptor.FACTS, values));
        }
        return chunks;
    }
}
