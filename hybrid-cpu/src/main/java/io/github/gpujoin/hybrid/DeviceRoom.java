// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.TableMemory;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Memory and probe load of the members of a device group while a plan assigns partition groups to
 * them, the best group first. Not thread-safe.
 *
 * <p>A group stays on its member. Another one goes to the member with the fewest probes among those
 * with room, if possible without displacing a group that was there before. If no member has room,
 * the group is sharded over all of them.
 */
final class DeviceRoom {

    private static final int NONE = -1;

    private final TableMemory memory;
    private final int memberCount;
    private final List<PartitionGroupLoad> groups;
    private final int firstMember;

    /** By group; null without room, and before its assignment. */
    private final @Nullable TableLocation[] locations;

    private final BitSet residents = new BitSet();

    /** Memory of each member without the groups that the plan has assigned so far. */
    private final long[] freeBytes;

    /** Memory of groups that are on a member and not assigned yet. */
    private final long[] residentBytes;

    /** Shares of all probes, of assigned groups and of residents. */
    private final double[] probeShares;

    /**
     * @param memory of each member for the tables of all groups
     * @param groups the assignment starts from their current locations
     * @param firstMember preferred among members with equal probes
     */
    DeviceRoom(TableMemory memory, List<PartitionGroupLoad> groups, int firstMember) {
        this.firstMember = firstMember;
        this.memory = memory;
        this.memberCount = memory.memberCount();
        this.freeBytes = memory.availableBytes().stream().mapToLong(bytes -> bytes).toArray();
        this.residentBytes = new long[memberCount];
        this.probeShares = new double[memberCount];
        this.groups = groups;
        this.locations = new TableLocation[groups.size()];
        for (int u = 0; u < groups.size(); u++) {
            if (groups.get(u).tier() == MemoryTier.DEVICE) {
                residents.set(u);
                addResident(groups.get(u), 1);
            }
        }
    }

    private void addResident(PartitionGroupLoad group, int sign) {
        forEachMember(
                group,
                group.location(),
                (member, bytes, share) -> {
                    residentBytes[member] += sign * bytes;
                    probeShares[member] += sign * share;
                });
    }

    @FunctionalInterface
    private interface MemberDemand {
        void accept(int member, long bytes, double probeShare);
    }

    private void forEachMember(
            PartitionGroupLoad group, TableLocation location, MemberDemand demand) {
        if (location.isPlaced()) {
            demand.accept(location.member(), group.deviceBytes(), group.probeShare());
            return;
        }
        for (int member = 0; member < memberCount; member++) {
            demand.accept(member, group.eachBytes(), group.probeShare() / memberCount);
        }
    }

    /** Assigns a group if there is room for it, unless it has a location. */
    void assign(int u) {
        PartitionGroupLoad group = groups.get(u);
        if (residents.get(u)) {
            residents.clear(u);
            addResident(group, -1);
        }
        if (locations[u] == null) {
            locations[u] = choose(group);
            if (locations[u] != null) {
                use(group, locations[u], 1);
            }
        }
    }

    /** Returns the location that was assigned to a group; null if there is no room. */
    @Nullable TableLocation location(int u) {
        return locations[u];
    }

    private void use(PartitionGroupLoad group, TableLocation location, int sign) {
        forEachMember(
                group,
                location,
                (member, bytes, share) -> {
                    freeBytes[member] -= sign * bytes;
                    probeShares[member] += sign * share;
                });
    }

    private @Nullable TableLocation choose(PartitionGroupLoad group) {
        TableLocation current = group.location();
        if (current.isPlaced() && group.deviceBytes() <= freeBytes[current.member()]) {
            return current;
        }
        boolean fitsEach = all(member -> group.eachBytes() <= freeBytes[member]);
        boolean isSharded = group.eachBytes() < group.deviceBytes();
        boolean stays =
                current.equals(TableLocation.DEVICE)
                        && (isSharded || overloadsMember(group, PlacementPlanner.HYSTERESIS));
        if (memory.canPlace() && !(stays && fitsEach)) {
            int member = leastProbed(group.deviceBytes());
            if (member != NONE) {
                return TableLocation.placedOn(member);
            }
        }
        boolean canSpread = !memory.canPlace() || memory.canShard() || stays;
        return canSpread && fitsEach ? TableLocation.DEVICE : null;
    }

    /** Returns the member with the fewest probes among those with room. */
    private int leastProbed(long bytes) {
        int member = leastProbed(m -> bytes <= freeBytes[m] - residentBytes[m]);
        return member != NONE ? member : leastProbed(m -> bytes <= freeBytes[m]);
    }

    private int leastProbed(IntPredicate hasRoom) {
        int least = NONE;
        for (int i = 0; i < memberCount; i++) {
            int member = (firstMember + i) % memberCount;
            if (hasRoom.test(member)
                    && (least == NONE || probeShares[member] < probeShares[least])) {
                least = member;
            }
        }
        return least;
    }

    /**
     * Spreads an assigned group over all members if it has more probes than a member's share, and
     * memory is left.
     */
    void spreadIfOverloading(int u) {
        PartitionGroupLoad group = groups.get(u);
        TableLocation location = locations[u];
        if (location == null || !location.isPlaced() || !overloadsMember(group, 1)) {
            return;
        }
        // The tables of a group are in use until it has moved.
        int inUse = group.location().equals(location) ? location.member() : NONE;
        use(group, location, -1);
        boolean fits =
                all(
                        member ->
                                group.eachBytes() + (member == inUse ? group.deviceBytes() : 0)
                                        <= freeBytes[member]);
        locations[u] = fits ? TableLocation.DEVICE : location;
        use(group, locations[u], 1);
    }

    /**
     * Returns whether a group has more than a member's share of all probes.
     *
     * @param factor by which its probes count
     */
    private boolean overloadsMember(PartitionGroupLoad group, double factor) {
        return memory.canPlace() && factor * group.probeShare() * memberCount > 1;
    }

    private boolean all(IntPredicate condition) {
        return IntStream.range(0, memberCount).allMatch(condition);
    }
}
