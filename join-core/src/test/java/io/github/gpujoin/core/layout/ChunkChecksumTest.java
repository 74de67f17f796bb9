// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.testing.ChunkSamples;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.region.WordSum;
import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class ChunkChecksumTest {

    private static final long GOLDEN = 3810386942110489946L;

    private static byte[] randomBytes(long seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private static long checksum(byte[] bytes) {
        return ChunkChecksum.of(bytes, Memory.BYTES, bytes.length);
    }

    @RepeatedTest(value = 50, name = "seed={currentRepetition}")
    void shouldSumEveryWordMixedWithItsPosition(RepetitionInfo repetition) {
        int seed = repetition.getCurrentRepetition();
        byte[] bytes = randomBytes(seed, 64 + 8 * (seed - 1));
        assertThat(checksum(bytes)).isEqualTo(ChunkSamples.checksum(bytes));
    }

    @Test
    void shouldNeverChangeItsValue() {
        assertThat(checksum(randomBytes(1, 4096))).isEqualTo(GOLDEN);
    }

    @Test
    void shouldEqualTheChecksumInNativeMemory() {
        byte[] bytes = randomBytes(2, 1000);
        try (Region region = Region.allocate(bytes.length)) {
            Memory.copy(bytes, Memory.BYTES, null, region.address(), bytes.length);
            assertThat(ChunkChecksum.of(null, region.address(), bytes.length))
                    .isEqualTo(checksum(bytes));
        }
    }

    @Test
    void shouldYieldTheSumOfAllWordsWithoutReadingThem() {
        byte[] bytes = randomBytes(4, 512);
        ChunkSamples.littleEndian(bytes).putLong(ChunkDescriptor.CHECKSUM_OFFSET, checksum(bytes));
        assertThat(ChunkChecksum.wordSum(bytes, Memory.BYTES))
                .isEqualTo(WordSum.of(bytes, Memory.BYTES, bytes.length / 8, 1));
    }

    @Test
    void shouldIgnoreTheChecksumField() {
        byte[] bytes = randomBytes(3, 256);
        long before = checksum(bytes);
        ChunkSamples.littleEndian(bytes).putLong(ChunkDescriptor.CHECKSUM_OFFSET, before);
        assertThat(checksum(bytes)).isEqualTo(before);
    }

    @Test
    void shouldDetectSwappedWords() {
        byte[] bytes = randomBytes(4, 256);
        ByteBuffer buffer = ChunkSamples.littleEndian(bytes);
        long before = checksum(bytes);
        long first = buffer.getLong(64);
        buffer.putLong(64, buffer.getLong(72));
        buffer.putLong(72, first);
        assertThat(checksum(bytes)).isNotEqualTo(before);
    }
}
