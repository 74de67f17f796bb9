// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.JoinSide;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;

/**
 * Device memory of the exchanges of a group: areas and inboxes of both inputs. Enough for the
 * smallest areas is reserved at once, so that rows can be exchanged at any time. Not thread-safe.
 */
final class ExchangeMemory implements AutoCloseable {

    /** Share of the available memory that larger areas may take. */
    private static final int MEMORY_SHARE = 16;

    private final List<DeviceBulkEngine> members;

    /** One for each device. */
    private final List<BulkArena> reserves = new ArrayList<>();

    private final List<BulkMemory> owners = new ArrayList<>();

    /**
     * @throws io.github.gpujoin.kernels.binding.GpuUnavailableException if a device has no room
     */
    ExchangeMemory(List<DeviceBulkEngine> members) {
        this.members = members;
        for (DeviceBulkEngine member : members) {
            owners.add(member.device().newMemory());
        }
        reserves.addAll(allocate(owners, 1));
    }

    /** Allocates all memory of a device at once, since a call of the driver takes long. */
    private List<BulkArena> allocate(List<BulkMemory> memories, int areaRuns) {
        long bytes =
                layouts().stream()
                        .mapToLong(
                                layout -> RunExchange.memoryBytes(layout, areaRuns, members.size()))
                        .sum();
        return memories.stream()
                .map(memory -> new BulkArena(memory.allocate(bytes), bytes))
                .toList();
    }

    private List<BulkRunLayout> layouts() {
        return Stream.of(JoinSide.values()).map(members.get(0)::layout).toList();
    }

    /**
     * Creates the exchanges of both inputs. They use the reserve if a device has no room for larger
     * areas.
     *
     * @param turn as of {@link RunExchange}
     */
    Map<JoinSide, RunExchange> createExchanges(Lock turn) {
        long bytes =
                members.stream()
                        .mapToLong(member -> member.device().availableBytes() / MEMORY_SHARE)
                        .min()
                        .orElseThrow();
        int areaRuns = RunExchange.mostAreaRuns(bytes, layouts());
        Optional<List<BulkArena>> larger = areaRuns == 1 ? Optional.empty() : tryAllocate(areaRuns);
        Map<JoinSide, RunExchange> exchanges = new EnumMap<>(JoinSide.class);
        for (JoinSide side : JoinSide.values()) {
            exchanges.put(
                    side,
                    new RunExchange(
                            side,
                            members,
                            larger.orElse(reserves),
                            larger.isPresent() ? areaRuns : 1,
                            turn));
        }
        return exchanges;
    }

    private Optional<List<BulkArena>> tryAllocate(int areaRuns) {
        List<BulkMemory> memories =
                members.stream().map(member -> member.device().newMemory()).toList();
        Optional<List<BulkArena>> arenas = BulkAllocator.ifRoom(() -> allocate(memories, areaRuns));
        if (arenas.isPresent()) {
            owners.addAll(memories);
        } else {
            memories.forEach(BulkMemory::close);
        }
        return arenas;
    }

    /** Frees the memory, which no exchange uses. The devices free what is left. */
    @Override
    public void close() {
        owners.forEach(BulkMemory::close);
    }
}
