// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkAlgorithm;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinPlan;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.region.Closing;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The bulk join of several devices that access each other's memory. Runs of the inputs are copied
 * to the devices in turn, so that all buses are used. Each device then has rows that it joins
 * alone, with a thread of its own:
 *
 * <ul>
 *   <li>REPLICATED: rows stay where they were loaded, and each device also has all rows of a small
 *       input.
 *   <li>REPARTITIONED: each device has the rows of the keys that it owns ({@link RunExchange}).
 *       Rows are exchanged while later ones are loaded, once no input is small.
 * </ul>
 *
 * <p>A device whose rows exceed its memory joins them out of core, also beside devices that do not.
 */
final class GroupBulkEngine implements BulkEngine {

    /**
     * Maximum rows of an input that is replicated. Each device partitions and reads all of them,
     * 0.2 ms, whatever the other input is; more would take longer than an exchange that loading
     * hides.
     */
    static final long REPLICATED_ROWS = 1 << 22;

    private static final String NO_ROOM = "a device has no room for further rows that it loads";

    private static final String NO_ROOM_FOR_KEYS = "a device has no room for further key bytes";

    private static final String NO_ROOM_FOR_ALL =
            "a device has no room for all rows of the smaller input";

    private final BulkJoinKind kind;
    private final long replicatedRows;
    private final List<DeviceBulkEngine> members = new ArrayList<>();
    private final Map<JoinSide, Long> rowCounts = new EnumMap<>(JoinSide.class);

    /** Empty until rows are exchanged. */
    private final Map<JoinSide, RunExchange> exchanges = new EnumMap<>(JoinSide.class);

    private final List<BulkMemory> exchangeMemories = new ArrayList<>();
    private String exchangeReason = "";
    private int nextMember;
    private int nextKeyMember;
    private @Nullable JoinSide replicated;

    /** Waits for each device before the join; empty while inputs are loaded. */
    private volatile Map<BulkWait, List<Long>> loadWaitsNs = Map.of();

    private @Nullable BulkMemberThreads threads;

    /**
     * @param devices at least one, with access to each other's memory; closed by {@link #close},
     *     and by the caller if the constructor fails
     * @param directory of files for rows that exceed the host memory; null to fail instead
     * @param replicatedRows maximum rows of an input that is replicated
     */
    GroupBulkEngine(
            BulkJoinSpec spec,
            List<BulkDevice> devices,
            @Nullable Path directory,
            long replicatedRows) {
        this.kind = spec.kind();
        this.replicatedRows = replicatedRows;
        for (BulkDevice device : devices) {
            members.add(new DeviceBulkEngine(spec, device, directory));
        }
        for (JoinSide side : JoinSide.values()) {
            rowCounts.put(side, 0L);
        }
    }

    @Override
    public BulkRunLayout layout(JoinSide side) {
        return members.get(0).layout(side);
    }

    @Override
    public RunSink joined(JoinSide side) {
        return (run, rows) -> addJoined(side, run, rows);
    }

    @Override
    public RunSink unjoined(JoinSide side) {
        return (run, rows) -> {
            DeviceBulkEngine member = members.get(takeTurn());
            if (!isExchanging()) {
                DeviceRuns runs = member.storage().unjoinedRuns(side);
                if (member.storage().reserve(runs, rows)) {
                    return runs.add(run, rows);
                }
                startExchange(NO_ROOM);
            }
            return member.unjoined(side).add(run, rows);
        };
    }

    /**
     * Devices take turns. Rows do not leave a device before they are exchanged: those that have
     * left cannot be moved to the device that owns their keys.
     */
    @Override
    public KeyArena.Slab allocateKeys(long lengthBytes) throws InterruptedException {
        DeviceBulkEngine member = members.get(nextKeyMember);
        nextKeyMember = (nextKeyMember + 1) % members.size();
        if (!isExchanging()) {
            Optional<KeyArena.Slab> slab = member.storage().tryAllocateKeys(lengthBytes);
            if (slab.isPresent()) {
                return slab.get();
            }
            startExchange(NO_ROOM_FOR_KEYS);
        }
        return member.allocateKeys(lengthBytes);
    }

    private int takeTurn() {
        int member = nextMember;
        nextMember = (nextMember + 1) % members.size();
        return member;
    }

    private boolean isExchanging() {
        return !exchanges.isEmpty();
    }

    private DeviceCopy addJoined(JoinSide side, long run, int rows) throws InterruptedException {
        rowCounts.merge(side, (long) rows, Long::sum);
        int turn = takeTurn();
        if (!isExchanging()) {
            BulkStorage storage = members.get(turn).storage();
            DeviceRuns runs = storage.joinedRuns(side);
            if (smallSide() == null) {
                startExchange(notSmallReason());
            } else if (storage.reserve(runs, rows)) {
                return runs.add(run, rows);
            } else {
                startExchange(NO_ROOM);
            }
        }
        return exchanges.get(side).add(turn, run, rows);
    }

    /** Returns the smallest input that may be replicated; null if there is none. */
    private @Nullable JoinSide smallSide() {
        JoinSide small = null;
        for (JoinSide side : JoinSide.values()) {
            boolean isSmall =
                    !BulkStep.needsMarks(kind, side) && rowCounts.get(side) <= replicatedRows;
            if (isSmall && (small == null || rowCounts.get(side) < rowCounts.get(small))) {
                small = side;
            }
        }
        return small;
    }

    /** Each device would return the rows without a match of an input that all of them have. */
    private String notSmallReason() {
        List<JoinSide> unmarked =
                List.of(JoinSide.values()).stream()
                        .filter(side -> !BulkStep.needsMarks(kind, side))
                        .toList();
        if (unmarked.isEmpty()) {
            return "it returns rows of both inputs without a match";
        }
        String inputs = unmarked.size() == 1 ? name(unmarked.get(0)) + " input" : "smaller input";
        return "the %s exceeds %d rows".formatted(inputs, replicatedRows);
    }

    private static String name(JoinSide side) {
        return side == JoinSide.LEFT ? "left" : "right";
    }

    private void startExchange(String reason) throws InterruptedException {
        exchangeReason = reason;
        members.forEach(member -> exchangeMemories.add(member.device().newMemory()));
        for (JoinSide side : JoinSide.values()) {
            exchanges.put(side, new RunExchange(side, members, exchangeMemories));
        }
        Map<JoinSide, List<DeviceRuns.Lent>> loaded = new EnumMap<>(JoinSide.class);
        for (JoinSide side : JoinSide.values()) {
            loaded.put(side, members.stream().map(member -> member.storage().lend(side)).toList());
        }
        for (JoinSide side : JoinSide.values()) {
            for (int m = 0; m < members.size(); m++) {
                exchanges.get(side).exchange(m, loaded.get(side).get(m));
            }
        }
        members.forEach(member -> member.storage().endLoan());
    }

    @Override
    public void endLoading() throws InterruptedException {
        members.forEach(member -> member.device().awaitCopies());
        JoinSide small = isExchanging() ? null : smallSide();
        if (small != null && replicate(small)) {
            replicated = small;
        } else if (!isExchanging()) {
            startExchange(small == null ? notSmallReason() : NO_ROOM_FOR_ALL);
        }
        for (RunExchange exchange : exchanges.values()) {
            exchange.finish();
        }
        exchangeMemories.forEach(BulkMemory::close);
        Map<BulkWait, List<Long>> waitsNs = new EnumMap<>(BulkWait.class);
        for (BulkWait wait : BulkWait.values()) {
            waitsNs.put(wait, members.stream().map(member -> member.waitedNs(wait)).toList());
        }
        loadWaitsNs = waitsNs;
    }

    @Override
    public BulkJoinPlan start(boolean isAscending) throws InterruptedException {
        threads = new BulkMemberThreads(members);
        List<BulkJoinPlan> plans = threads.awaitStarts();
        return replicated == null ? repartitioned(plans) : replicated(replicated, plans);
    }

    /**
     * Copies the rows of an input to all devices.
     *
     * @return false if a device has no room; then nothing is copied
     */
    private boolean replicate(JoinSide side) throws InterruptedException {
        long all = rowCounts.get(side);
        List<DeviceRuns.Lent> loaded = new ArrayList<>();
        for (DeviceBulkEngine member : members) {
            DeviceRuns runs = member.storage().joinedRuns(side);
            long others = all - runs.rowCount();
            if (!member.storage().reserve(runs, others) || !runs.reserveAppend()) {
                return false;
            }
            loaded.add(new DeviceRuns.Lent(List.copyOf(runs.addresses()), runs.rowCount()));
        }
        for (int owner = 0; owner < members.size(); owner++) {
            for (int sender = 0; sender < members.size(); sender++) {
                if (sender != owner) {
                    DeviceRuns.Lent rows = loaded.get(sender);
                    members.get(owner).storage().joinedRuns(side).append(rows.runs(), rows.rows());
                }
            }
        }
        return true;
    }

    private BulkJoinPlan replicated(JoinSide side, List<BulkJoinPlan> plans) {
        return new BulkJoinPlan(
                BulkAlgorithm.GPU_REPLICATED,
                "The %s input is small, so each device has all of its rows, and joins them with the rows that it loaded: %s, maxReplicatedRows=%d.%s"
                        .formatted(name(side), sizes(), replicatedRows, outOfCore(plans)));
    }

    private BulkJoinPlan repartitioned(List<BulkJoinPlan> plans) {
        long mostRows = 0;
        for (int m = 0; m < members.size(); m++) {
            int member = m;
            mostRows =
                    Math.max(
                            mostRows,
                            exchanges.values().stream()
                                    .mapToLong(exchange -> exchange.ownedRows().get(member))
                                    .sum());
        }
        return new BulkJoinPlan(
                BulkAlgorithm.GPU_REPARTITIONED,
                "Each device joins the keys that it owns, since %s: %s, mostRowsOfDevice=%d.%s"
                        .formatted(exchangeReason, sizes(), mostRows, outOfCore(plans)));
    }

    private String sizes() {
        return "devices=%s, leftRows=%d, rightRows=%d"
                .formatted(
                        members.stream()
                                .map(member -> member.device().part().toString())
                                .collect(Collectors.joining(", ", "[", "]")),
                        rowCounts.get(JoinSide.LEFT),
                        rowCounts.get(JoinSide.RIGHT));
    }

    private String outOfCore(List<BulkJoinPlan> plans) {
        long devices =
                plans.stream()
                        .filter(plan -> plan.algorithm() == BulkAlgorithm.GPU_OUT_OF_CORE)
                        .count();
        return devices == 0
                ? ""
                : " The rows of some devices exceed their memory: devices=%d, fileBytes=%d."
                        .formatted(devices, fileBytes());
    }

    @Override
    public @Nullable BulkResult next(long timeoutNs) throws InterruptedException {
        return threads.next(timeoutNs);
    }

    @Override
    public boolean isExhausted() {
        return threads.isExhausted();
    }

    @Override
    public int waitingResults() {
        return threads.waitingResults();
    }

    @Override
    public long memoryBytes() {
        return members.stream().mapToLong(DeviceBulkEngine::memoryBytes).sum();
    }

    @Override
    public long fileBytes() {
        return members.stream().mapToLong(DeviceBulkEngine::fileBytes).sum();
    }

    /** One thread waits for all devices while inputs are loaded, and one for each afterwards. */
    @Override
    public long waitedNs(BulkWait wait) {
        List<Long> loadNs = loadWaitsNs.getOrDefault(wait, List.of());
        long sumNs = 0;
        long mostNs = 0;
        for (int m = 0; m < members.size(); m++) {
            long memberNs = members.get(m).waitedNs(wait);
            long memberLoadNs = loadNs.isEmpty() ? memberNs : loadNs.get(m);
            sumNs += memberLoadNs;
            mostNs = Math.max(mostNs, memberNs - memberLoadNs);
        }
        return sumNs + mostNs;
    }

    @Override
    public void stop() {
        if (threads != null) {
            threads.close();
        }
    }

    @Override
    public void close() {
        stop();
        members.forEach(GroupBulkEngine::awaitKernels);
        // copies of the other devices read the pinned memory of the first one
        List<DeviceBulkEngine> lastFirst = new ArrayList<>(members);
        Collections.reverse(lastFirst);
        Closing.all(lastFirst, DeviceBulkEngine::close);
    }

    /** Kernels read memory of other devices, which must not be freed before. */
    private static void awaitKernels(DeviceBulkEngine member) {
        try {
            member.device().awaitKernels();
        } catch (GpuUnavailableException e) {
            // the device drops its memory, or waits again, when it is closed
        }
    }
}
