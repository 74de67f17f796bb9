// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
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
     * @throws GpuUnavailableException if one of them cannot be used, or its blocks have too little
     *     memory
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
        Queue<DeviceLease> unused = new ArrayDeque<>(leases);
        List<BulkDevice> devices = new ArrayList<>();
        BulkThreads threads = null;
        try {
            threads = new BulkThreads(threadCount(options, used));
            while (devices.size() < used) {
                // the constructor releases its lease if it fails
                devices.add(new BulkDevice(unused.remove(), options, hostMemory, threads));
            }
        } catch (Throwable e) {
            if (threads != null) {
                threads.close();
            }
            unused.forEach(DeviceLease::release);
            devices.forEach(BulkDevice::close);
            throw e;
        }
        unused.forEach(DeviceLease::release);
        return new BulkDevices(devices, threads, note);
    }

    /** Each bus needs its threads, as far as there are processors. */
    private static int threadCount(GpuOptions options, int devices) {
        int one = options.bulkThreads();
        int most = Math.max(one, Runtime.getRuntime().availableProcessors());
        return Math.min(devices * one, most);
    }

    /**
     * An engine.
     *
     * @param note as of {@link BulkDevices}
     */
    record Opened(BulkEngine engine, String note) {}

    /**
     * Creates the engine that uses the devices. The first one joins alone if the memory of one does
     * not suffice to exchange rows.
     *
     * @param directory of files for rows that exceed the host memory; null to fail instead
     * @param replicatedRows maximum rows of an input that each device of a group has
     * @throws GpuUnavailableException if the memory of the first device does not suffice
     */
    Opened engine(BulkJoinSpec spec, @Nullable Path directory, long replicatedRows) {
        if (devices.size() > 1) {
            try {
                return new Opened(
                        new GroupBulkEngine(spec, devices, directory, replicatedRows), note);
            } catch (GpuUnavailableException e) {
                if (e.failure() != GpuFailure.OUT_OF_DEVICE_MEMORY) {
                    throw e;
                }
                devices.get(0).freeMemory();
                devices.subList(1, devices.size()).forEach(BulkDevice::close);
                String reason =
                        "One device joins, since a device of the group has too little memory to exchange rows: "
                                + e.getMessage()
                                + " ";
                return new Opened(
                        new DeviceBulkEngine(spec, devices.get(0), directory), note + reason);
            }
        }
        return new Opened(new DeviceBulkEngine(spec, devices.get(0), directory), note);
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
