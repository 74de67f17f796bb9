// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.region;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RegionTest {

    private static final int THREADS = 4;

    private long countBefore;
    private long bytesBefore;

    @BeforeEach
    void countOpenRegions() {
        countBefore = Region.openCount();
        bytesBefore = Region.openBytes();
    }

    @AfterEach
    void shouldHaveFreedAllMemory() {
        assertThat(Region.openCount()).isEqualTo(countBefore);
        assertThat(Region.openBytes()).isEqualTo(bytesBefore);
    }

    @ParameterizedTest(name = "{0} bytes")
    @ValueSource(longs = {0, 1, 63, 64, 65, 4096, 100_003})
    void shouldAllocateAlignedCountedAndWritableMemory(long lengthBytes) {
        try (Region region = Region.allocateZeroed(lengthBytes)) {
            assertThat(region.lengthBytes()).isEqualTo(lengthBytes);
            assertThat(region.address() % Region.ALIGNMENT_BYTES).isZero();
            assertThat(Region.openCount()).isEqualTo(countBefore + 1);
            assertThat(Region.openBytes()).isEqualTo(bytesBefore + lengthBytes);
            for (long i = 0; i < lengthBytes; i++) {
                assertThat(Memory.getByte(null, region.address() + i)).isZero();
                Memory.putByte(null, region.address() + i, (byte) i);
            }
        }
    }

    @Test
    void shouldShareNoPageOfLargeRegions() {
        List<Region> regions = new ArrayList<>();
        Set<Long> pages = new HashSet<>();
        for (int i = 0; i < 20; i++) {
            Region region = Region.allocate(Region.PAGE_BYTES + 100 * i);
            regions.add(region);
            long last = region.address() + region.lengthBytes() - 1;
            for (long page = region.address() / Region.PAGE_BYTES;
                    page <= last / Region.PAGE_BYTES;
                    page++) {
                assertThat(pages.add(page)).as("region=" + i).isTrue();
            }
        }
        regions.forEach(Region::close);
    }

    @Test
    void shouldRejectANegativeLength() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Region.allocate(-1))
                .withMessage("Length of a region is negative: lengthBytes=-1");
    }

    @Test
    void shouldHideItsAddressOnceClosed() {
        Region region = Region.allocate(10);
        region.close();
        region.close();
        assertThat(region.lengthBytes()).isEqualTo(10);
        assertThatIllegalStateException()
                .isThrownBy(region::address)
                .withMessage("Region is closed: lengthBytes=10");
    }

    @Test
    void shouldCountRegionsOfConcurrentThreads() throws Exception {
        CyclicBarrier allOpen = new CyclicBarrier(THREADS + 1);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<?>> done = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                done.add(threads.submit(() -> openAndClose(allOpen)));
            }
            allOpen.await(60, TimeUnit.SECONDS);
            assertThat(Region.openCount()).isEqualTo(countBefore + THREADS * 100);
            assertThat(Region.openBytes()).isEqualTo(bytesBefore + THREADS * 100 * 128);
            allOpen.await(60, TimeUnit.SECONDS);
            for (Future<?> thread : done) {
                thread.get(60, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static Void openAndClose(CyclicBarrier allOpen) throws Exception {
        for (int i = 0; i < 2_000; i++) {
            Region.allocate(i).close();
        }
        List<Region> regions = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            regions.add(Region.allocate(128));
        }
        allOpen.await(60, TimeUnit.SECONDS);
        allOpen.await(60, TimeUnit.SECONDS);
        regions.forEach(Region::close);
        return null;
    }

    @Test
    void shouldFreeOnceIfManyThreadsClose() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            for (int round = 0; round < 200; round++) {
                Region region = Region.allocate(64);
                CyclicBarrier start = new CyclicBarrier(THREADS);
                List<Future<?>> done = new ArrayList<>();
                for (int t = 0; t < THREADS; t++) {
                    done.add(
                            threads.submit(
                                    () -> {
                                        start.await(60, TimeUnit.SECONDS);
                                        region.close();
                                        return null;
                                    }));
                }
                for (Future<?> thread : done) {
                    thread.get(60, TimeUnit.SECONDS);
                }
                assertThat(Region.openCount()).isEqualTo(countBefore);
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
