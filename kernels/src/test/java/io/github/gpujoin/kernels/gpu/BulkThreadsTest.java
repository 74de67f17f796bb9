// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class BulkThreadsTest {

    private static final long LENGTH_BYTES = 8 << 20;

    @Test
    @Timeout(20)
    void shouldTouchPagesThoughAllThreadsAreBlocked() {
        CountDownLatch isOver = new CountDownLatch(1);
        BulkThreads threads = new BulkThreads(2);
        try (Region region = Region.allocate(LENGTH_BYTES)) {
            Memory.fill(null, region.address(), LENGTH_BYTES, (byte) 1);
            for (int i = 0; i < threads.count(); i++) {
                threads.submit(
                        () -> {
                            isOver.await();
                            return null;
                        });
            }
            threads.touch(region.address(), LENGTH_BYTES);
            for (long at = 0; at < LENGTH_BYTES; at += Region.PAGE_BYTES) {
                assertThat(Memory.getByte(region.address() + at)).isZero();
            }
        } finally {
            isOver.countDown();
            threads.close();
        }
    }
}
