// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Replaces the text group columns of dimensions by integer codes, since engines aggregate integers
 * only: in build chunks before an engine receives them, and back in the groups that it returns.
 *
 * <pre>
 *   build chunk (text) -- encode --> engine of {@link #spec()} -- groups (codes) -- decode --> texts
 * </pre>
 *
 * <p>All text group columns of a join share one dictionary, which numbers texts in the order of
 * their first appearance. So codes differ from run to run and belong in no snapshot. Engines that
 * share tables, or whose groups are merged, need codes of the same object. The dictionary only
 * grows, until {@link #close()}.
 *
 * <p>Thread-safe.
 */
public final class GroupCodes implements AutoCloseable {

    private final JoinSpec spec;

    /** By dimension; null for a dimension without text group columns. */
    private final List<@Nullable ChunkCoder> coders = new ArrayList<>();

    private final TextDictionary dictionary;

    /**
     * @param join whose group columns may be text
     * @param memory bounds the dictionary's bytes on the heap
     */
    public GroupCodes(JoinSpec join, MemoryReservations memory) {
        this.spec = codedSpec(join);
        this.dictionary = new TextDictionary(memory);
        for (int d = 0; d < join.dimensions().size(); d++) {
            ChunkSchema texts = join.dimensions().get(d).schema();
            ChunkSchema codes = spec.dimensions().get(d).schema();
            coders.add(texts.equals(codes) ? null : new ChunkCoder(texts, codes, dictionary));
        }
    }

    /**
     * Returns the join of the engine: the same columns at the same places, with INT32 codes for
     * text group columns; the given join itself if it has none.
     */
    public static JoinSpec codedSpec(JoinSpec join) {
        if (!join.hasTextGroups()) {
            return join;
        }
        List<DimensionSpec> coded = new ArrayList<>();
        for (int d = 0; d < join.dimensions().size(); d++) {
            DimensionSpec dimension = join.dimensions().get(d);
            List<Column> columns = new ArrayList<>(dimension.schema().columns());
            for (JoinColumn group : join.aggregation().groupColumns()) {
                if (group.side() == d && group.type(join) == ColumnType.STRING) {
                    String name = columns.get(group.column()).name();
                    columns.set(group.column(), Column.of(name, ColumnType.INT32));
                }
            }
            coded.add(dimension.withSchema(ChunkSchema.of(columns)));
        }
        return new JoinSpec(
                join.factSchema(),
                coded,
                join.filters(),
                join.aggregation(),
                join.nullKeysColumn());
    }

    /** Returns the join of the engine, as {@link #codedSpec} does. */
    public JoinSpec spec() {
        return spec;
    }

    /**
     * Returns a build chunk for the engine: the same rows in the same order, with codes; the given
     * chunk itself if its dimension has no text group column.
     *
     * @throws MemoryRefusedException if the memory has no room for a new text
     */
    public Chunk encode(Chunk chunk) {
        ChunkCoder coder = coders.get(chunk.dimension());
        return coder == null ? chunk : coder.encode(chunk.onHeap());
    }

    /**
     * Returns groups of the engine with {@linkplain GroupRows#groupText texts}. The result reads
     * the dictionary, so it must be used before {@link #close()}.
     */
    public GroupRows decode(GroupRows groups) {
        return groups.withTexts(dictionary);
    }

    /** Releases the memory of the dictionary. A later call has no effect. */
    @Override
    public void close() {
        dictionary.close();
    }
}
