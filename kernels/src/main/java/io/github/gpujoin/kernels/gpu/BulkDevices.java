// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.region.MemoryReservations;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The open devices of one bulk join.
 *
 * @param devices with access to each other's memory
 * @param threads that copy between chunks and pinned memory
 * @param note why not all devices of the options join, as a sentence with a space; else empty
 */
record BulkDevices(List<BulkDevice> devices, BulkThreads threads, String note)
        implements AutoCloseable {

    /** Copies the list. */
    BulkDevices {
        devices = List.copyOf(devices);
    }

    /**
     * Opens the devices of the options. The first one joins alone if they do not access each
     * other's memory.
     *
     * @throws io.github.gpujoin.kernels.binding.GpuUnavailableException if one of them cannot be
     *     used, or its blocks have too little memory
     */
    static BulkDevices open(GpuOptions options, MemoryReservations hostMemory) {
        return of(DeviceGroup.acquire(options), options, hostMemory);
    }

    /**
     * Opens the devices of a group.
     *
     * @param group released by {@link #close}, and here if a device cannot be used
     */
    static BulkDevices of(DeviceGroup group, GpuOptions options, MemoryReservations hostMemory) {
        List<DeviceLease> leases = group.members();
        int used = group.hasPeerAccess() ? leases.size() : 1;
        String note =
                used == leases.size()
                        ? ""
                        : "One device joins, since the devices do not access each other's memory: devices=%s. "
                                .formatted(leases.stream().map(DeviceLease::device).toList());
        leases.subList(used, leases.size()).forEach(DeviceLease::release);
        BulkThreads threads = new BulkThreads(options.bulkThreads());
        List<BulkDevice> devices = new ArrayList<>();
        try {
            for (DeviceLease lease : leases.subList(0, used)) {
                devices.add(new BulkDevice(lease, options, hostMemory, threads));
            }
        } catch (Throwable e) {
            // the constructor that failed has released its lease
            leases.subList(devices.size() + 1, used).forEach(DeviceLease::release);
            threads.close();
            devices.forEach(BulkDevice::close);
            throw e;
        }
        return new BulkDevices(devices, threads, note);
    }

    /**
     * Creates the engine that uses the devices.
     *
     * @param directory of files for rows that exceed the host memory; null to fail instead
     * @param replicatedRows maximum rows of an input that each device of a group has
     */
    BulkEngine engine(BulkJoinSpec spec, @Nullable Path directory, long replicatedRows) {
        return devices.size() == 1
                ? new DeviceBulkEngine(spec, devices.get(0), directory)
                : new GroupBulkEngine(spec, devices, directory, replicatedRows);
    }

    /** Returns the device whose accounts have the pinned memory and the host memory of inputs. */
    BulkDevice first() {
        return devices.get(0);
    }

    /** Ends the threads, and closes the devices. */
    @Override
    public void close() {
        threads.close();
        devices.forEach(BulkDevice::close);
    }
}
