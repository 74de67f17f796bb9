// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinConformance;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.region.MemoryReservations;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/**
 * Conformance of bulk joins on devices that stay open, because opening a GPU takes a second. A test
 * that loses a device leaves new ones to the next test. Each test frees all memory of its joins.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class SharedDeviceBulkConformance extends BulkJoinConformance {

    private final GpuOptions options;

    /** Null after a test that lost a device. */
    private DeviceGroup group;

    /** Memory of the devices without joins, in bytes. */
    private long deviceBytes;

    private long pinnedBytes;

    SharedDeviceBulkConformance(GpuOptions options) {
        this.options = options;
    }

    /** Opens the devices of the options. */
    DeviceGroup openDevices() {
        return DeviceGroup.acquire(options);
    }

    /** Creates a join on the devices, which it releases. */
    BulkJoin create(BulkJoinSpec spec, BulkDevices devices) {
        return new GpuBulkJoin(spec, devices, null);
    }

    @BeforeAll
    void openSharedDevices() {
        group = openDevices();
        deviceBytes = use().deviceBytes();
        pinnedBytes = use().pinnedBytes();
    }

    @Override
    protected final BulkJoin create(BulkJoinSpec spec) {
        if (group == null) {
            openSharedDevices();
        }
        group.retain();
        return create(spec, BulkDevices.of(group, options, MemoryReservations.unlimited()));
    }

    private MemoryUse use() {
        return group.members().stream()
                .map(lease -> lease.memory().use())
                .reduce(MemoryUse::plus)
                .orElseThrow();
    }

    @AfterEach
    void checkDevices() {
        if (group == null) {
            return; // no join was created since a loss
        }
        if (group.members().stream().anyMatch(DeviceLease::isLost)) {
            closeDevices();
            return;
        }
        assertThat(use().deviceBytes()).isEqualTo(deviceBytes);
        assertThat(use().pinnedBytes()).isEqualTo(pinnedBytes);
        // Pinned memory that the next join would use counts as open.
        group.members().forEach(lease -> lease.memory().freeKept());
    }

    @AfterAll
    void closeDevices() {
        if (group != null) {
            group.release();
            group = null;
        }
    }
}
