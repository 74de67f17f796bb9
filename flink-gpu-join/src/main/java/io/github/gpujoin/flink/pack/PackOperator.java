package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.layout.KeyHash;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.FlinkRuntimeException;

/** Packs records into chunks. Copies all it needs out of a record before the next one comes. */
public final class PackOperator<T> extends AbstractPackOperator<T, T> {

    private static final long serialVersionUID = 1L;

    private final RecordLayout<T> layout;

    private transient RecordEncoder<T> encoder;
    private transient RecordEncoder.Target[] targets;

    /**
     * @param filter of records, null to keep all
     * @throws IllegalArgumentException where the packing's partition column is no key
     */
    public PackOperator(RecordLayout<T> layout, FilterFunction<T> filter, Packing packing) {
        super(layout.schema(), filter, packing);
        this.layout = layout;
    }

    @Override
    public void open() throws Exception {
        super.open();
        encoder = layout.encoder();
        targets = new RecordEncoder.Target[Math.max(1, packing.partitions())];
    }

    @Override
    public void processElement(StreamRecord<T> element) throws Exception {
        T record = element.getValue();
        rowsIn.inc();
        if (!keeps(record)) {
            rowsFiltered.inc();
            return;
        }
        int partition = 0;
        RecordEncoder.Target target;
        try {
            if (!encoder.accept(record)) {
                nullKeyRows.inc();
                return;
            }
            if (packing.isPartitioned()) {
                long hash = KeyHash.hash(encoder.key(record, packing.partitionColumn()));
                partition = KeyHash.partition(hash, packing.partitions());
            }
            long timestamp = element.hasTimestamp() ? element.getTimestamp() : Long.MIN_VALUE;
            target = target(partition);
            encoder.encode(record, timestamp, target);
        } catch (Exception e) {
            throw new FlinkRuntimeException(
                    "a record of a side of the join cannot be packed: side=" + packing.side(), e);
        }
        if (target.hasOneRow() || target.isFull()) {
            sink.added(partition, 1);
        }
    }

    private RecordEncoder.Target target(int partition) {
        RecordEncoder.Target target = targets[partition];
        if (target == null) {
            target = encoder.target(sink.builder(partition));
            targets[partition] = target;
        }
        return target;
    }
}
