// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.region;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class MemoryTest {

    private static final long WORD = 0x8070605040302010L;

    @Test
    void shouldStoreLittleEndianAtAnyOffsetOfAnArray() {
        byte[] bytes = new byte[40];
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 9; i++) {
            Memory.putLong(bytes, Memory.BYTES + i, WORD);
            assertThat(buffer.getLong(i)).isEqualTo(WORD);
            assertThat(Memory.getLong(bytes, Memory.BYTES + i)).isEqualTo(WORD);
            Memory.putInt(bytes, Memory.BYTES + i, (int) WORD);
            assertThat(buffer.getInt(i)).isEqualTo(Memory.getInt(bytes, Memory.BYTES + i));
            Memory.putShort(bytes, Memory.BYTES + i, (short) WORD);
            assertThat(buffer.getShort(i)).isEqualTo(Memory.getShort(bytes, Memory.BYTES + i));
            Memory.putByte(bytes, Memory.BYTES + i, (byte) -1);
            assertThat(bytes[i]).isEqualTo((byte) -1);
            assertThat(Memory.getByte(bytes, Memory.BYTES + i)).isEqualTo((byte) -1);
        }
    }

    @Test
    void shouldCopyBetweenArraysAndNativeMemory() {
        byte[] source = new byte[100];
        Arrays.setAll(new Integer[100], i -> (int) (source[i] = (byte) (3 * i)));
        byte[] target = new byte[100];
        try (Region region = Region.allocate(100)) {
            long address = region.address();
            Memory.copy(source, Memory.BYTES, null, address, 100);
            assertThat(Memory.getInt(address + 8)).isEqualTo(Memory.getInt(null, address + 8));
            assertThat(Memory.getLong(address + 8)).isEqualTo(Memory.getLong(null, address + 8));
            Memory.putInt(address, 1);
            Memory.putLong(address + 4, WORD);
            Memory.copy(null, address, target, Memory.BYTES, 100);
            assertThat(Memory.getInt(target, Memory.BYTES)).isEqualTo(1);
            assertThat(Memory.getLong(target, Memory.BYTES + 4)).isEqualTo(WORD);
            assertThat(target).endsWith(Arrays.copyOfRange(source, 12, 100));
            Memory.fill(null, address, 100, (byte) 9);
            Memory.copy(null, address, target, Memory.BYTES, 100);
            assertThat(target).containsOnly(9);
        }
    }

    /** In a process of its own, since it needs a collector that moves arrays often. */
    @Test
    void shouldFollowAnArrayThatIsMovedDuringALoop() throws Exception {
        Process program =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:+UseParallelGC",
                                "-Xmx128m",
                                "-Xmn8m",
                                "-XX:CompileCommand=quiet",
                                "-XX:CompileCommand=dontinline,"
                                        + MovedArrayProgram.class.getName()
                                        + "::value",
                                "-cp",
                                System.getProperty("java.class.path"),
                                MovedArrayProgram.class.getName())
                        .redirectErrorStream(true)
                        .start();
        String output = new String(program.getInputStream().readAllBytes(), UTF_8);
        assertThat(program.waitFor()).as(output).isZero();
        assertThat(output).contains("damaged=0");
    }

    private static final class Holder {
        private Object value = "before";
    }

    @Test
    void shouldReachFieldsOfObjects() throws ReflectiveOperationException {
        Holder holder = new Holder();
        long offset = Memory.fieldOffset(Holder.class.getDeclaredField("value"));
        assertThat(Memory.getObject(holder, offset)).isEqualTo("before");
        Memory.putObject(holder, offset, "after");
        assertThat(holder.value).isEqualTo("after");
    }
}
