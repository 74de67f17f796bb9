// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.flink.record.StoredRowEncoder;
import io.github.gpujoin.flink.record.StoredRowLayout;
import io.github.gpujoin.flink.record.UnreadableRecordException;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.data.RowData;

/**
 * Packs whole internal rows, and their kinds of change, into chunks of one radix partition each.
 */
public final class StoredRowPackOperator extends AbstractPackOperator<RowData, RowData> {

    private static final long serialVersionUID = 1L;

    private final StoredRowLayout layout;

    private transient StoredRowEncoder encoder;

    /**
     * @throws IllegalArgumentException if the packing's partition column is not a key
     */
    public StoredRowPackOperator(StoredRowLayout layout, PackSpec packing) {
        super(layout.schema(), null, packing);
        this.layout = layout;
    }

    @Override
    public void open() throws Exception {
        super.open();
        encoder = layout.encoder();
    }

    @Override
    public void processElement(StreamRecord<RowData> element) throws Exception {
        RowData row = element.getValue();
        rowsIn.inc();
        try {
            if (!accepts(row)) {
                nullKeyRows.inc();
                return;
            }
            int group = groups.of(encoder.key());
            ChunkBuilder builder = sink.builder(group);
            encoder.encode(builder);
            if (builder.rowCount() == 1 || builder.isFull()) {
                sink.added(group, 1, sink.nowMs());
            }
        } catch (UnreadableRecordException e) {
            bad(row, e);
        }
    }

    /**
     * Holds the watermark until its rows are emitted. A source that reads faster than event time
     * passes emits so many that a chunk for each partition and watermark would contain few rows.
     */
    @Override
    public void processWatermark(Watermark mark) {
        sink.runBehindRows(() -> output.emitWatermark(mark));
    }

    private boolean accepts(RowData row) {
        try {
            return encoder.accept(row);
        } catch (Exception e) {
            throw PackOperator.unpackable(packing, e);
        }
    }
}
