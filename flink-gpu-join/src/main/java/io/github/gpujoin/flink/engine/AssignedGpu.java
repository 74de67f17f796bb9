// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.flink.api.common.externalresource.ExternalResourceInfo;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.jspecify.annotations.Nullable;

/**
 * The devices that Flink assigns to a TaskManager. It assigns the same set to every operator.
 * Engines join on all of them. For what is on one device, as rings are, each subtask chooses the
 * device with the fewest users in the process, then the lowest number; the first call chooses it
 * until {@link #close}. Used by one thread.
 */
public final class AssignedGpu implements AutoCloseable {

    /** Name of the external resource, as in Flink's documentation. */
    static final String RESOURCE = "gpu";

    /** Property of each device, set by Flink's GPU driver. */
    static final String INDEX = "index";

    /** Number of subtasks of this process by device; guarded by itself. */
    private static final Map<Integer, Integer> USERS = new HashMap<>();

    private final RuntimeContext context;

    /** Null until {@link #numberOr} chooses it, and without a configured resource. */
    private @Nullable Integer device;

    /**
     * @param context of the subtask
     */
    public AssignedGpu(RuntimeContext context) {
        this.context = context;
    }

    /**
     * Number of the device among those of the external resource {@value #RESOURCE}.
     *
     * @param otherwise the device if the resource is not configured
     * @throws IllegalStateException if a device of the resource has no number
     */
    public int numberOr(int otherwise) {
        if (device == null) {
            device = leastUsed(context.getExternalResourceInfos(RESOURCE));
        }
        return device == null ? otherwise : device;
    }

    /**
     * Numbers of all devices of the external resource {@value #RESOURCE}, ascending.
     *
     * @param otherwise the devices if the resource is not configured
     * @throws IllegalStateException if a device of the resource has no number
     */
    public List<Integer> allOr(List<Integer> otherwise) {
        List<Integer> devices = numbers(context.getExternalResourceInfos(RESOURCE));
        return devices.isEmpty() ? otherwise : devices;
    }

    private static List<Integer> numbers(Set<ExternalResourceInfo> resources) {
        return resources.stream().map(AssignedGpu::number).sorted().toList();
    }

    /** Chooses a device and counts this subtask as its user; returns null without devices. */
    private static @Nullable Integer leastUsed(Set<ExternalResourceInfo> resources) {
        List<Integer> devices = numbers(resources);
        synchronized (USERS) {
            Integer leastUsed = null;
            for (Integer device : devices) {
                if (leastUsed == null || users(device) < users(leastUsed)) {
                    leastUsed = device;
                }
            }
            if (leastUsed != null) {
                USERS.merge(leastUsed, 1, Integer::sum);
            }
            return leastUsed;
        }
    }

    private static int users(int device) {
        return USERS.getOrDefault(device, 0);
    }

    /** Releases the device; may be called twice. */
    @Override
    public void close() {
        if (device != null) {
            synchronized (USERS) {
                USERS.merge(device, -1, Integer::sum);
            }
            device = null;
        }
    }

    private static int number(ExternalResourceInfo device) {
        Optional<String> index = device.getProperty(INDEX);
        try {
            return Integer.parseUnsignedInt(index.orElse("").strip());
        } catch (NumberFormatException e) {
            throw new IllegalStateException(
                    "Device of the external resource without a number as property: resource=%s, property=%s, device=%s, value=%s. Use Flink's own GPU driver."
                            .formatted(RESOURCE, INDEX, device, index.orElse(null)),
                    e);
        }
    }
}
