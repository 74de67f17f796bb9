// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.BuildShare;

/**
 * The part of the device that a subtask may fill. The subtasks of a process share the budget of a
 * device, and the first to load must not leave the others without memory.
 *
 * @param share of the budget, from 0 to 1
 * @param othersBytes build bytes of the other subtasks; {@link Long#MAX_VALUE} while unknown
 */
record DeviceShare(double share, long othersBytes) {

    /** No limit, for the only subtask of a process. */
    static final DeviceShare WHOLE = new DeviceShare(1, 0);

    /** Returns equal shares, until it is known what each subtask builds. */
    static DeviceShare equal(int subtasks) {
        return subtasks == 1 ? WHOLE : new DeviceShare(1.0 / subtasks, Long.MAX_VALUE);
    }

    /** Returns a share in proportion to the build bytes. */
    static DeviceShare of(BuildShare build) {
        return new DeviceShare(build.share(), build.processBytes() - build.bytes());
    }

    /**
     * Returns the limit for the tables of the subtask: its share, or what the others do not need.
     *
     * @param capacityBytes budget of the device
     */
    long limitBytes(long capacityBytes) {
        if (othersBytes == 0) {
            return Long.MAX_VALUE;
        }
        long shareBytes = (long) (share * capacityBytes);
        return Math.max(shareBytes, capacityBytes - TierEngines.peakBytes(othersBytes));
    }
}
