// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.github.gpujoin.core.layout.testing.ChunkSamples;
import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Wraps arbitrary bytes: the chunk reads within its bounds, or wrap throws a {@link
 * ChunkFormatException}.
 *
 * <p>The build runs the seeds and the inputs in the resource directory {@code
 * ChunkFuzzTestInputs/shouldReadAnyBytesInBoundsOrSayWhatIsWrong} of this package. To search for
 * new inputs, guided by coverage and with checks of raw memory accesses:
 *
 * <pre>
 * JAZZER_FUZZ=1 mvn test -pl join-core -Dtest=ChunkFuzzTest -Djazzer.hooks=true -Djazzer.max_duration=1h
 * </pre>
 *
 * <p>Jazzer writes inputs that fail into that directory. Commit them with the fix.
 */
class ChunkFuzzTest {

    /** The first input byte selects the schema, the bits of the second the fields to repair. */
    private static final int CONTROL_BYTES = 2;

    static Stream<byte[]> seeds() {
        return IntStream.range(0, ChunkSamples.SCHEMAS.size()).mapToObj(ChunkFuzzTest::seed);
    }

    private static byte[] seed(int schema) {
        byte[] chunk = ChunkSamples.chunk(schema, 5).bytes();
        byte[] seed = new byte[CONTROL_BYTES + chunk.length];
        seed[0] = (byte) schema;
        seed[1] = -1;
        System.arraycopy(chunk, 0, seed, CONTROL_BYTES, chunk.length);
        return seed;
    }

    @MethodSource("seeds")
    @FuzzTest(maxDuration = "10m")
    void shouldReadAnyBytesInBoundsOrSayWhatIsWrong(byte[] input) {
        if (input == null || input.length < CONTROL_BYTES) {
            return;
        }
        ChunkSchema schema =
                ChunkSamples.SCHEMAS.get((input[0] & 0xFF) % ChunkSamples.SCHEMAS.size());
        byte[] bytes = Arrays.copyOfRange(input, CONTROL_BYTES, input.length);
        if ((input[1] & 1) != 0) {
            bytes = Arrays.copyOf(bytes, Math.max(64, ChunkDescriptor.alignChunk(bytes.length)));
        }
        if (bytes.length >= ChunkDescriptor.HEADER_BYTES) {
            repair(schema, bytes, input[1]);
        }
        ChunkSamples.assertReadsInBoundsOrIsRefused(schema, bytes);
    }

    private static void repair(ChunkSchema schema, byte[] bytes, int what) {
        if ((what & 2) != 0) {
            ChunkSamples.putInt(bytes, ChunkDescriptor.MAGIC_OFFSET, ChunkDescriptor.MAGIC);
            ChunkSamples.putInt(
                    bytes,
                    ChunkDescriptor.VERSION_OFFSET,
                    ChunkDescriptor.HEADER_BYTES << 16 | ChunkDescriptor.VERSION);
        }
        if ((what & 4) != 0) {
            ChunkSamples.putInt(bytes, ChunkDescriptor.LENGTH_OFFSET, bytes.length);
        }
        if ((what & 8) != 0) {
            ChunkSamples.putInt(bytes, ChunkDescriptor.SCHEMA_OFFSET, schema.fingerprint());
        }
        if ((what & 16) != 0) {
            ChunkSamples.sealAgain(bytes);
        }
    }
}
