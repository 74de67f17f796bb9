// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(RegionLeakExtension.class)
class BitUnpackingTest {

    private static final int COUNT = 1000;

    static IntStream widths() {
        return IntStream.rangeClosed(0, BitUnpacking.MAX_BITS);
    }

    @ParameterizedTest(name = "{0} bits")
    @MethodSource("widths")
    void shouldUnpackCodesOfEveryWidth(int bits) {
        Random random = new Random(bits);
        long[] codes = random.longs(COUNT).map(code -> low(code, bits)).toArray();
        long base = random.nextLong();
        try (Region packed = Region.allocateZeroed((long) COUNT * bits / 8 + 9);
                Region target = Region.allocate(8L * COUNT + 8)) {
            write(pack(codes, bits), packed.address());
            for (int widthBytes : new int[] {8, 4, 2, 1}) {
                long end = target.address() + (long) widthBytes * COUNT;
                Memory.putLong(end, 77);
                BitUnpacking.unpack(
                        packed.address(), bits, base, COUNT, target.address(), widthBytes);
                int unused = Long.SIZE - 8 * widthBytes;
                for (int i = 0; i < COUNT; i++) {
                    long at = target.address() + (long) widthBytes * i;
                    assertThat(Memory.getInteger(null, at, widthBytes))
                            .isEqualTo(base + codes[i] << unused >> unused);
                }
                assertThat(Memory.getLong(end)).isEqualTo(77);
            }
        }
    }

    @Test
    void shouldWriteTheNumbersOfAllBits() {
        Random random = new Random(1);
        BitSet bits = new BitSet();
        random.ints(300, 0, 640).forEach(bits::set);
        bits.set(64, 128);
        bits.set(639);
        int count = bits.cardinality();
        try (Region mask = Region.allocateZeroed(80);
                Region target = Region.allocate(4L * count)) {
            write(bits.toByteArray(), mask.address());
            assertThat(BitUnpacking.count(mask.address(), 10)).isEqualTo(count);
            BitUnpacking.writeNumbers(mask.address(), 10, 5000, target.address());
            int[] numbers =
                    IntStream.range(0, count)
                            .map(i -> Memory.getInt(target.address() + 4L * i))
                            .toArray();
            assertThat(numbers).isEqualTo(bits.stream().map(bit -> 5000 + bit).toArray());
            for (int bit = 0; bit < 640; bit++) {
                assertThat(BitUnpacking.bit(mask.address(), bit))
                        .isEqualTo((byte) (bits.get(bit) ? 1 : 0));
            }
        }
    }

    private static long low(long code, int bits) {
        return bits == 0 ? 0 : code >>> Long.SIZE - bits;
    }

    /** Packs codes by their definition: as one large number. */
    private static byte[] pack(long[] codes, int bits) {
        BigInteger packed = BigInteger.ZERO;
        for (int i = codes.length; i-- > 0; ) {
            packed = packed.shiftLeft(bits).or(BigInteger.valueOf(codes[i]));
        }
        byte[] bigEndian = packed.toByteArray();
        byte[] littleEndian = new byte[bigEndian.length];
        for (int i = 0; i < bigEndian.length; i++) {
            littleEndian[i] = bigEndian[bigEndian.length - 1 - i];
        }
        return Arrays.copyOf(littleEndian, (codes.length * bits + 7) / 8);
    }

    private static void write(byte[] bytes, long address) {
        Memory.copy(bytes, Memory.BYTES, null, address, bytes.length);
    }
}
