// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.record.RecordLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;

/** Runs a packer of records with a key and a number, with four rows a chunk. */
final class PackHarness extends OneInputStreamOperatorTestHarness<AllKinds, Chunk> {

    static final TypeInformation<AllKinds> POJO = TypeInformation.of(AllKinds.class);
    static final int ROWS_IN_A_CHUNK = 4;
    static final long FLUSH_MS = 100;

    static final RecordLayout<AllKinds> LAYOUT =
            RecordLayout.of(
                            POJO,
                            List.of("boxedLong", "anInt"),
                            List.of("boxedLong"),
                            new SerializerConfigImpl())
                    .withTimestamp();

    static final PackSpec PACKING =
            PackSpec.unpartitioned(
                    "orders",
                    2,
                    ROWS_IN_A_CHUNK * LAYOUT.schema().fixedRowBytes(),
                    Duration.ofMillis(FLUSH_MS));

    private final PackOperator<AllKinds> packer;

    private PackHarness(PackOperator<AllKinds> packer) throws Exception {
        super(packer, POJO.createSerializer(new SerializerConfigImpl()));
        this.packer = packer;
    }

    static PackHarness open(FilterFunction<AllKinds> filter, PackSpec packing) throws Exception {
        return open(new PackOperator<>(LAYOUT, filter, packing));
    }

    static PackHarness open(PackOperator<AllKinds> packer) throws Exception {
        PackHarness harness = new PackHarness(packer);
        harness.setup(ChunkTypeInfo.of(LAYOUT.schema()).createSerializer(null));
        harness.open();
        return harness;
    }

    PackOperator<AllKinds> packer() {
        return packer;
    }

    static StreamRecord<AllKinds> record(Long key, int value) {
        AllKinds record = new AllKinds();
        record.boxedLong = key;
        record.anInt = value;
        return new StreamRecord<>(record);
    }

    /** Returns the numbers of all rows of the chunks. */
    static List<Integer> values(List<Chunk> chunks) {
        List<Integer> values = new ArrayList<>();
        for (Chunk chunk : chunks) {
            for (int row = 0; row < chunk.rowCount(); row++) {
                values.add(chunk.getInt(1, row));
            }
        }
        return values;
    }
}
