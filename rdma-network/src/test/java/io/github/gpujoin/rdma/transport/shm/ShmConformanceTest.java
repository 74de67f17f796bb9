// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.rdma.transport.RegisteredMemory;
import io.github.gpujoin.rdma.transport.SharedTransport;
import io.github.gpujoin.rdma.transport.Target;
import io.github.gpujoin.rdma.transport.TransportConformance;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX)
class ShmConformanceTest extends TransportConformance {

    @TempDir private Path directory;

    @Override
    protected SharedTransport open() throws Exception {
        return new ShmTransport(directory);
    }

    @Override
    protected void write(byte[] descriptor, int offsetBytes, long... words) throws Exception {
        try (RegisteredMemory mapped = ((SharedTransport) sender).map(descriptor)) {
            for (int i = 0; i < words.length; i++) {
                Memory.putLong(mapped.address() + offsetBytes + i * 8L, words[i]);
            }
        }
    }

    @Override
    protected void reach(byte[] descriptor) throws Exception {
        ((SharedTransport) sender).map(descriptor).close();
    }

    @Test
    void shouldKeepTheWritersMappingAfterTheReaderClosed() throws Exception {
        Target target = receiver.registerTarget(TARGET_BYTES);
        try (RegisteredMemory mapped = ((SharedTransport) sender).map(target.descriptor())) {
            Memory.putLong(mapped.address(), 7);
            receiver.close();
            assertThat(words(mapped, 0, 1)).containsExactly(7);
        }
    }
}
