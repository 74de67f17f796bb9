// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Region;
import java.util.ArrayList;
import java.util.List;

/**
 * Where the shards of a table are: an array of Shard in the memory of each device that reads them.
 *
 * @param addresses of the arrays, by member of the group
 */
record ShardAddresses(DeviceGroup group, List<Long> addresses) {

    /**
     * Allocates the arrays. Call it while the serving kernels are stopped.
     *
     * @param owners of the memory, by member of the group
     */
    static ShardAddresses allocate(DeviceGroup group, List<Buffers> owners) {
        long lengthBytes = (long) PlanDescriptor.SHARD_BYTES * group.size();
        return new ShardAddresses(
                group, owners.stream().map(owner -> owner.device(lengthBytes)).toList());
    }

    /**
     * Writes the shards to each device while the serving kernels are stopped.
     *
     * @param shards by member of the group
     * @return the table as each member sees it
     */
    List<GpuTable> connect(List<GpuTable> shards) {
        List<GpuTable> connected = new ArrayList<>();
        try (Region region =
                Region.allocateZeroed((long) PlanDescriptor.SHARD_BYTES * shards.size())) {
            for (int i = 0; i < shards.size(); i++) {
                shards.get(i).writeShard(region.address() + (long) PlanDescriptor.SHARD_BYTES * i);
            }
            for (int i = 0; i < shards.size(); i++) {
                group.members()
                        .get(i)
                        .driver()
                        .copyToDevice(addresses.get(i), region.address(), region.lengthBytes());
                connected.add(shards.get(i).withShards(addresses.get(i)));
            }
        }
        return connected;
    }
}
