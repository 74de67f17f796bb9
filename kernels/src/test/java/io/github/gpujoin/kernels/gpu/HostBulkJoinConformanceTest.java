// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** The host's part of a bulk join on a GPU, on a device that the CPU emulates. */
class HostBulkJoinConformanceTest extends SharedDeviceBulkConformance {

    /** Memory that the device kept would count as a leak of the test. */
    private static final GpuOptions OPTIONS =
            GpuOptions.defaults().withMemory(MemoryBudget.byMachine().withKeptBytes(0));

    HostBulkJoinConformanceTest() {
        super(OPTIONS);
    }

    @Override
    DeviceGroup openDevices() {
        return HostBulkDevice.leases(OPTIONS, new HostBulkDevice());
    }
}
