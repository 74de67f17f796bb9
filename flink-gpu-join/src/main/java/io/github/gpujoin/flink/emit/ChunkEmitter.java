// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.emit.ColumnSource.Location;
import io.github.gpujoin.flink.pack.ColumnGather;
import java.util.Arrays;
import java.util.Objects;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.jspecify.annotations.Nullable;

/** Gathers result rows, column by column, into chunks, and emits each when it is full. */
final class ChunkEmitter implements ResultEmitter<Chunk> {

    private static final int NOT_CONSECUTIVE = -1;

    private final ChunkBuilder builder;
    private final boolean reusesMemory;
    private final FieldReader[] readers;
    private final StreamRecord<Chunk> element = new StreamRecord<>(null);

    /** Whether columns are fixed-width and copied as they are. */
    private final boolean copiesOnly;

    /** Null if chunks have plain columns. */
    private final @Nullable EncodedResults encoded;

    /** First probe row of a batch whose rows are consecutive; else {@link #probeRows} has them. */
    private int firstProbeRow = NOT_CONSECUTIVE;

    private int[] probeRows = new int[0];
    private byte[] scratch = new byte[256];
    private long sequence;

    /**
     * @param reusesMemory whether chunks are transient
     * @param keepsEncoding whether columns stay encoded where they are
     */
    ChunkEmitter(
            ResultColumns columns, int chunkBytes, boolean reusesMemory, boolean keepsEncoding) {
        this.reusesMemory = reusesMemory;
        this.builder = new ChunkBuilder(columns.schema(), chunkBytes);
        this.readers =
                columns.fields().stream()
                        .map(field -> new FieldReader(columns.spec(), field))
                        .toArray(FieldReader[]::new);
        this.copiesOnly =
                !builder.schema().hasVariableWidth()
                        && Arrays.stream(readers).allMatch(FieldReader::isRaw);
        this.encoded =
                keepsEncoding && copiesOnly
                        ? new EncodedResults(
                                builder.schema(),
                                Arrays.stream(readers)
                                        .map(FieldReader::source)
                                        .toArray(ColumnSource[]::new),
                                reusesMemory)
                        : null;
    }

    @Override
    public void emit(
            ResultBatch batch, int fromRow, int toRow, Output<StreamRecord<Chunk>> output) {
        Objects.checkFromToIndex(fromRow, toRow, batch.rowCount());
        if (encoded != null && EncodedResults.isEncoded(batch, fromRow, toRow)) {
            flush(output);
            output.collect(element.replace(encoded.of(batch, sequence++)));
            return;
        }
        for (FieldReader reader : readers) {
            reader.bind(batch);
        }
        if (copiesOnly && batch.isConsecutive()) {
            firstProbeRow = batch.rowCount() == 0 ? 0 : batch.probeRow(0);
        } else {
            firstProbeRow = NOT_CONSECUTIVE;
            loadProbeRows(batch, fromRow, toRow);
        }
        int row = fromRow;
        while (row < toRow) {
            row += append(row, Math.min(toRow - row, builder.capacityRows() - builder.rowCount()));
            if (builder.isFull()) {
                flush(output);
            }
        }
    }

    /** All of a batch: rows are copied, and leave in chunks. */
    @Override
    public int sliceRows() {
        return Integer.MAX_VALUE;
    }

    @Override
    public void flush(Output<StreamRecord<Chunk>> output) {
        if (!builder.isEmpty()) {
            output.collect(element.replace(seal()));
        }
    }

    private Chunk seal() {
        int dimension = ChunkDescriptor.FACTS;
        int partition = ChunkDescriptor.UNPARTITIONED;
        return reusesMemory
                ? builder.sealTransient(dimension, partition, 0, sequence++)
                : builder.seal(dimension, partition, 0, sequence++);
    }

    private void loadProbeRows(ResultBatch batch, int fromRow, int toRow) {
        if (probeRows.length < toRow) {
            probeRows = new int[batch.layout().capacityRows()];
        }
        long address = batch.probeRowAddress();
        for (int row = fromRow; row < toRow; row++) {
            probeRows[row] = Memory.getInt(address + 4L * row);
        }
    }

    /**
     * Appends up to {@code count} rows, fewer where their variable-width bytes fill the builder.
     */
    private int append(int row, int count) {
        for (int column = 0; column < readers.length; column++) {
            if (builder.schema().column(column).isFixed()) {
                gather(column, row, count);
            }
        }
        if (!builder.schema().hasVariableWidth()) {
            builder.advance(count);
            return count;
        }
        int appended = 0;
        while (appended < count && !builder.isFull()) {
            int length = 0;
            for (int column = 0; column < readers.length; column++) {
                if (!builder.schema().column(column).isFixed()) {
                    length = copyVariableWidth(readers[column], row + appended, length);
                }
            }
            builder.addVariableWidthRow(scratch, Memory.BYTES, Memory.BYTES + length);
            builder.endRow();
            appended++;
        }
        return appended;
    }

    private void gather(int column, int row, int count) {
        FieldReader reader = readers[column];
        int width = reader.source().type().widthBytes();
        byte[] target = builder.array();
        int targetStart = builder.columnOffset(column) + width * builder.rowCount();
        if (!reader.isRaw()) {
            convert(reader, column, row, count);
        } else if (reader.source().location() == Location.PAYLOAD_FIXED) {
            long source = reader.start() + (long) width * row;
            ColumnGather.copyRange(width, null, source, count, target, targetStart);
        } else if (firstProbeRow != NOT_CONSECUTIVE) {
            long source = reader.start() + (long) width * (firstProbeRow + row);
            ColumnGather.copyRange(width, reader.base(), source, count, target, targetStart);
        } else {
            ColumnGather.copy(
                    width,
                    reader.base(),
                    reader.start(),
                    probeRows,
                    row,
                    count,
                    target,
                    targetStart);
        }
    }

    /** A dimension's key that the facts hold in another width; the value fits, as it is equal. */
    private void convert(FieldReader reader, int column, int row, int count) {
        int sourceWidth = reader.source().type().widthBytes();
        int width = builder.schema().column(column).type().widthBytes();
        long target =
                Memory.BYTES + builder.columnOffset(column) + (long) width * builder.rowCount();
        for (int i = 0; i < count; i++) {
            long at = reader.locate(row + i, probeRows[row + i]);
            long key = Memory.getInteger(reader.base(), at, sourceWidth);
            Memory.putInteger(builder.array(), target + (long) width * i, width, key);
        }
    }

    /**
     * Copies a value with the length before it, which is how a row of variable-width values holds
     * it too.
     */
    private int copyVariableWidth(FieldReader reader, int row, int at) {
        if (reader.source().mayBeAbsent() && reader.isAbsent(row, probeRows[row])) {
            ensureScratch(at + Integer.BYTES);
            Memory.putInt(scratch, Memory.BYTES + at, ChunkDescriptor.NULL_LENGTH);
            return at + Integer.BYTES;
        }
        long source = reader.locate(row, probeRows[row]);
        if (reader.source().isFixed()) {
            return carryFixed(reader, source, at);
        }
        int length = 4 + Math.max(0, Memory.getInt(reader.base(), source));
        ensureScratch(at + length);
        Memory.copy(reader.base(), source, scratch, Memory.BYTES + at, length);
        return at + length;
    }

    /** Writes a fixed value as a variable-width one, in the width of the result's column. */
    private int carryFixed(FieldReader reader, long source, int at) {
        int width = reader.kind().columnType().widthBytes();
        ensureScratch(at + Integer.BYTES + width);
        long target = Memory.BYTES + at + Integer.BYTES;
        Memory.putInt(scratch, Memory.BYTES + at, width);
        int sourceWidth = reader.source().type().widthBytes();
        long value = Memory.getInteger(reader.base(), source, sourceWidth);
        Memory.putInteger(scratch, target, width, value);
        return at + Integer.BYTES + width;
    }

    private void ensureScratch(int length) {
        if (scratch.length < length) {
            scratch = Arrays.copyOf(scratch, Math.max(length, 2 * scratch.length));
        }
    }
}
