// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.record.RecordField;
import io.github.gpujoin.flink.record.RecordLayout;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.jspecify.annotations.Nullable;

/**
 * Converts chunks of a snapshot to chunks of the job that restores it: columns by name, values by
 * {@link ValueMigration}. Rows, their order and the header stay, so positions in logs and row
 * numbers within chunks stay valid. Not thread-safe.
 */
public final class ChunkMigration {

    /** Leaves chunks as they are. */
    static final ChunkMigration NONE = new ChunkMigration(List.of(), Set.of());

    /**
     * The facts first, then each dimension, null for a dimension whose rows are dropped; empty if
     * no side changes.
     */
    private final List<@Nullable SideMigration> sides;

    /** Numbers of dimensions whose rows of the snapshot are dropped. */
    private final Set<Integer> readAgain;

    private ChunkMigration(List<@Nullable SideMigration> sides, Set<Integer> readAgain) {
        this.sides = sides;
        this.readAgain = readAgain;
    }

    /**
     * @param readAgain numbers of dimensions whose rows are dropped
     * @param classes of the user's job
     * @throws IllegalStateException with the side and the column that cannot be restored
     */
    static ChunkMigration of(
            SavedColumns saved, JoinColumns now, Set<Integer> readAgain, ClassLoader classes) {
        requireSameSides(saved, now);
        List<@Nullable SideMigration> sides = new ArrayList<>();
        for (int i = 0; i < now.sides().size(); i++) {
            sides.add(
                    readAgain.contains(i + ChunkDescriptor.FACTS)
                            ? null
                            : SideMigration.of(
                                    saved.sides().get(i), now.sides().get(i), i == 0, classes));
        }
        return sides.stream().allMatch(side -> side != null && side.asIs)
                ? NONE
                : new ChunkMigration(sides, readAgain);
    }

    private static void requireSameSides(SavedColumns saved, JoinColumns now) {
        List<String> were = saved.sides().stream().map(SavedColumns.Side::name).toList();
        List<String> are = now.sides().stream().map(JoinColumns.Side::name).toList();
        if (!were.equals(are)) {
            throw new IllegalStateException(
                    String.format(
                            "The sides of the join were %s and are %s. Keep their order and names,"
                                    + " .named(...), or start without the snapshot.",
                            were, are));
        }
        for (int i = 0; i < are.size(); i++) {
            SavedColumns.Side was = saved.sides().get(i);
            JoinColumns.Side is = now.sides().get(i);
            if (!was.key().equals(is.key()) || !was.kind().equals(is.kind())) {
                throw new IllegalStateException(
                        String.format(
                                "Dimension '%s' was joined on %s (%s) and now is on %s (%s). Keep"
                                        + " key and kind, or start without the snapshot.",
                                is.name(), was.key(), was.kind(), is.key(), is.kind()));
            }
        }
    }

    /** Whether chunks stay as they are. */
    public boolean isNone() {
        return sides.isEmpty();
    }

    /** Numbers of dimensions that are read again: their rows are dropped. */
    public Set<Integer> readAgain() {
        return readAgain;
    }

    /**
     * @param bytes of a chunk of the snapshot
     * @return null if the chunk is dropped
     * @throws SuppressRestartsException if the chunk lacks a column of the job
     */
    byte @Nullable [] migrate(byte[] bytes) throws IOException {
        if (isNone()) {
            return bytes;
        }
        int dimension = LoggedChunks.dimensionOf(bytes, sides.size() - 1);
        SideMigration side = sides.get(dimension - ChunkDescriptor.FACTS);
        return side == null ? null : side.migrate(bytes);
    }

    /**
     * @param sources column of the snapshot for each column of the job, -1 for a new column; a new
     *     {@link RecordLayout#NULL_KEYS} is 0
     * @param values for each column of the job, null for a new column
     */
    private record SideMigration(
            String side,
            boolean asIs,
            ChunkSchema from,
            ChunkSchema to,
            int[] sources,
            @Nullable ValueMigration[] values) {

        static SideMigration of(
                SavedColumns.Side saved,
                JoinColumns.Side now,
                boolean isFacts,
                ClassLoader classes) {
            String side = isFacts ? "the facts" : "dimension '" + now.name() + "'";
            requireOwnColumns(saved, now, side);
            List<RecordField> fields = now.fields();
            int[] sources = new int[fields.size()];
            @Nullable ValueMigration[] values = new ValueMigration[fields.size()];
            for (int i = 0; i < sources.length; i++) {
                sources[i] = saved.indexOf(fields.get(i).name());
                if (sources[i] >= 0) {
                    values[i] =
                            ValueMigration.of(
                                    saved.columns().get(sources[i]), fields.get(i), side, classes);
                }
            }
            ChunkSchema to = now.schema();
            boolean asIs =
                    saved.schema().equals(to)
                            && Arrays.stream(values).allMatch(v -> v == ValueMigration.AS_IS);
            return new SideMigration(side, asIs, saved.schema(), to, sources, values);
        }

        /** A join without the columns that the join adds would misread the rows. */
        private static void requireOwnColumns(
                SavedColumns.Side saved, JoinColumns.Side now, String side) {
            List<String> were =
                    saved.columns().stream()
                            .map(SavedColumns.SavedColumn::name)
                            .filter(RecordLayout::isReserved)
                            .toList();
            List<String> are =
                    now.fields().stream()
                            .map(RecordField::name)
                            .filter(RecordLayout::isReserved)
                            .toList();
            List<String> required = new ArrayList<>(are);
            if (!were.contains(RecordLayout.NULL_KEYS)) {
                // A key field that is boxed now adds the column. No key in state is null.
                required.remove(RecordLayout.NULL_KEYS);
            }
            if (!were.equals(required)) {
                throw new IllegalStateException(
                        String.format(
                                "Rows of %s had the join's own columns %s and now have %s. Keep"
                                        + " keys, .changelog(), .versioned() and .ttl(...), or start"
                                        + " without the snapshot.",
                                side, were, are));
            }
        }

        byte[] migrate(byte[] bytes) throws IOException {
            if (asIs) {
                return bytes;
            }
            Chunk chunk = ChunkDecoder.decode(from, bytes);
            requireAll();
            int rowBytes = Math.max(1, to.fixedRowBytes() + 8 * to.variableWidthColumnCount());
            ChunkBuilder builder =
                    new ChunkBuilder(
                            to, Math.toIntExact(Math.max(1L, (long) rowBytes * chunk.rowCount())));
            byte[] @Nullable [] variableWidth = new byte[from.size()][];
            for (int row = 0; row < chunk.rowCount(); row++) {
                readVariableWidth(chunk, row, variableWidth);
                for (int column = 0; column < sources.length; column++) {
                    if (sources[column] < 0) {
                        builder.putInt(column, 0);
                    } else {
                        copy(chunk, row, column, variableWidth[sources[column]], builder);
                    }
                }
                builder.endRow();
            }
            return builder.seal(
                            chunk.dimension(), chunk.partition(), chunk.epoch(), chunk.sequence())
                    .bytes();
        }

        private void requireAll() {
            for (int missing = 0; missing < sources.length; missing++) {
                if (sources[missing] >= 0
                        || to.column(missing).name().equals(RecordLayout.NULL_KEYS)) {
                    continue;
                }
                String message =
                        String.format(
                                "Column '%s' of %s is not in the snapshot, which holds rows without"
                                        + " it: %s.\n"
                                        + "Remove the column from the job, read the rows again with"
                                        + " a higher .generation(n) (PairJoin: .buildGeneration(n)),"
                                        + " or start without the snapshot.",
                                to.column(missing).name(), side, from);
                throw new SuppressRestartsException(new IllegalStateException(message));
            }
        }

        /** Reads variable-width and nullable values of a row, by column. */
        private void readVariableWidth(Chunk chunk, int row, byte[] @Nullable [] variableWidth) {
            if (!from.hasVariableWidth()) {
                return;
            }
            long at = chunk.variableWidthStart(row);
            for (int column = 0; column < variableWidth.length; column++) {
                if (from.column(column).isFixed()) {
                    continue;
                }
                int length = Memory.getInt(chunk.array(), at);
                at += Integer.BYTES;
                boolean isNull = length == ChunkDescriptor.NULL_LENGTH;
                variableWidth[column] = isNull ? null : copy(chunk, at, length);
                at += isNull ? 0 : length;
            }
        }

        private static byte[] copy(Chunk chunk, long at, int lengthBytes) {
            byte[] copy = new byte[lengthBytes];
            Memory.copy(chunk.array(), at, copy, Memory.BYTES, lengthBytes);
            return copy;
        }

        private void copy(
                Chunk chunk,
                int row,
                int column,
                byte @Nullable [] variableWidth,
                ChunkBuilder builder)
                throws IOException {
            int source = sources[column];
            if (from.column(source).isFixed()) {
                copyFixed(chunk, row, column, builder);
            } else if (variableWidth == null) {
                builder.addNull();
            } else {
                byte[] value = values[column].migrate(variableWidth);
                builder.addBytes(value, 0, value.length);
            }
        }

        /** A fixed column may have become a nullable one, or a narrower one. */
        private void copyFixed(Chunk chunk, int row, int column, ChunkBuilder builder) {
            Column target = to.column(column);
            int width = from.column(sources[column]).type().widthBytes();
            long at = chunk.columnStart(sources[column]) + (long) width * row;
            long bits = Memory.getInteger(chunk.array(), at, width);
            if (target.isFixed()) {
                builder.putInteger(column, bits);
            } else {
                builder.addInteger(target.type().widthBytes(), bits);
            }
        }
    }
}
