// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkChecksum;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkFormatException;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Decodes arbitrary bytes behind a valid header: they are a chunk, or they are refused. */
class EncodedChunkFuzzTest {

    private static final List<Chunk> TEMPLATES =
            Stream.of(ColumnType.INT64, ColumnType.INT8, ColumnType.INT16)
                    .map(type -> ColumnShape.SORTED.chunks(type, 1, 3000, 1).get(0))
                    .toList();

    static Stream<byte[]> seeds() {
        return TEMPLATES.stream()
                .map(template -> template.schema().column(0).type())
                .flatMap(
                        type ->
                                Arrays.stream(ColumnShape.values())
                                        .map(shape -> shape.chunks(type, 1, 3000, 1).get(0)))
                .map(chunk -> new ChunkEncoder().encode(chunk));
    }

    @MethodSource("seeds")
    @FuzzTest(maxDuration = "5m")
    void shouldDecodeAChunkOrRefuseIt(byte[] input) {
        if (input == null || input.length < ChunkDescriptor.HEADER_BYTES) {
            return;
        }
        TEMPLATES.forEach(template -> assertDecodesOrRefuses(template, input));
    }

    private static void assertDecodesOrRefuses(Chunk template, byte[] input) {
        byte[] bytes = Arrays.copyOf(input, input.length & -8);
        byte[] header = new ChunkEncoder().encode(template);
        long at = Memory.BYTES;
        System.arraycopy(header, 0, bytes, 0, ChunkDescriptor.ROW_COUNT_OFFSET);
        Memory.putInt(bytes, at + ChunkDescriptor.LENGTH_OFFSET, bytes.length);
        System.arraycopy(header, ChunkDescriptor.SCHEMA_OFFSET, bytes, 16, 48);
        Memory.putLong(
                bytes,
                at + ChunkDescriptor.CHECKSUM_OFFSET,
                ChunkChecksum.of(bytes, at, bytes.length));
        try {
            Chunk chunk = ChunkDecoder.decode(template.schema(), bytes);
            assertThat(chunk.lengthBytes()).isLessThanOrEqualTo(ChunkDecoder.MAX_DECODED_BYTES);
        } catch (ChunkFormatException e) {
            assertThat(e).hasMessageContaining("=");
        }
    }
}
