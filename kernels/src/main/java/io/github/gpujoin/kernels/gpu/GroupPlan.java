// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkAlgorithm;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinPlan;
import io.github.gpujoin.core.bulk.JoinSide;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Decides whether a group of devices replicates an input, and says why. Not thread-safe. */
final class GroupPlan {

    private final BulkJoinKind kind;
    private final long replicatedRows;

    /** Rows that were submitted. */
    private final Map<JoinSide, Long> rowCounts = new EnumMap<>(JoinSide.class);

    /**
     * @param replicatedRows maximum rows of an input that is replicated
     */
    GroupPlan(BulkJoinKind kind, long replicatedRows) {
        this.kind = kind;
        this.replicatedRows = replicatedRows;
        for (JoinSide side : JoinSide.values()) {
            rowCounts.put(side, 0L);
        }
    }

    /** Counts rows that were submitted. */
    void added(JoinSide side, int rows) {
        rowCounts.merge(side, (long) rows, Long::sum);
    }

    long rowCount(JoinSide side) {
        return rowCounts.get(side);
    }

    /** Returns the smallest input that may be replicated; null if there is none. */
    @Nullable JoinSide smallSide() {
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

    /**
     * Returns why no input is small. Each device would return the rows without a match of an input
     * that all of them have.
     */
    String notSmallReason() {
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

    /**
     * Returns the plan of a group that has replicated an input.
     *
     * @param plans of the devices
     */
    BulkJoinPlan replicated(
            JoinSide side, List<DeviceBulkEngine> members, List<BulkJoinPlan> plans) {
        return new BulkJoinPlan(
                BulkAlgorithm.GPU_REPLICATED,
                "The %s input is small, so each device has all of its rows, and joins them with the rows that it loaded: %s, maxReplicatedRows=%d.%s"
                        .formatted(
                                name(side),
                                sizes(members),
                                replicatedRows,
                                outOfCore(members, plans)));
    }

    /**
     * Returns the plan of a group that has exchanged rows.
     *
     * @param reason why it has
     * @param mostRows of a device
     */
    BulkJoinPlan repartitioned(
            String reason,
            long mostRows,
            List<DeviceBulkEngine> members,
            List<BulkJoinPlan> plans) {
        return new BulkJoinPlan(
                BulkAlgorithm.GPU_REPARTITIONED,
                "Each device joins the keys that it owns, since %s: %s, mostRowsOfDevice=%d.%s"
                        .formatted(reason, sizes(members), mostRows, outOfCore(members, plans)));
    }

    private String sizes(List<DeviceBulkEngine> members) {
        return "devices=%s, leftRows=%d, rightRows=%d"
                .formatted(
                        members.stream()
                                .map(member -> member.device().part().toString())
                                .collect(Collectors.joining(", ", "[", "]")),
                        rowCounts.get(JoinSide.LEFT),
                        rowCounts.get(JoinSide.RIGHT));
    }

    private static String outOfCore(List<DeviceBulkEngine> members, List<BulkJoinPlan> plans) {
        long devices =
                plans.stream()
                        .filter(plan -> plan.algorithm() == BulkAlgorithm.GPU_OUT_OF_CORE)
                        .count();
        long fileBytes = members.stream().mapToLong(DeviceBulkEngine::fileBytes).sum();
        return devices == 0
                ? ""
                : " The rows of some devices exceed their memory: devices=%d, fileBytes=%d."
                        .formatted(devices, fileBytes);
    }
}
