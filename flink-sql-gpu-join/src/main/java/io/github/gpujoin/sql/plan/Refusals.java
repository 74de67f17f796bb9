// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.plan;

import io.github.gpujoin.flink.record.ColumnsKey;
import io.github.gpujoin.flink.record.KeyLayout;
import io.github.gpujoin.flink.record.KeyLayout.Nulls;
import io.github.gpujoin.sql.explain.SqlReason;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.exec.spec.JoinSpec;
import org.apache.flink.table.planner.plan.nodes.physical.FlinkPhysicalRel;
import org.apache.flink.table.planner.plan.nodes.physical.common.CommonPhysicalJoin;
import org.apache.flink.table.planner.utils.ShortcutUtils;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeFamily;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.Row;
import org.slf4j.Logger;

/** Reasons that several kinds of joins have to stay Flink's. */
final class Refusals {

    private Refusals() {}

    /** Returns the reason why no join with the keys of this one can be replaced. */
    static Optional<SqlReason> ofKeys(CommonPhysicalJoin join) {
        JoinSpec keys = join.joinSpec();
        if (keys.getJoinKeySize() == 0) {
            return Optional.of(SqlReason.NO_EQUAL_COLUMNS);
        }
        RowType left = rowType(join.getLeft());
        if (Arrays.stream(keys.getLeftKeys())
                .anyMatch(column -> isFloatingPoint(left.getTypeAt(column)))) {
            return Optional.of(SqlReason.FLOATING_POINT_KEY);
        }
        if (layout(left, keys.getLeftKeys()).isEmpty()
                || layout(rowType(join.getRight()), keys.getRightKeys()).isEmpty()) {
            return Optional.of(SqlReason.KEY_TYPE);
        }
        return isAtLeastOnce(ShortcutUtils.unwrapTableConfig(join))
                ? Optional.of(SqlReason.AT_LEAST_ONCE)
                : Optional.empty();
    }

    /** Logs the reason why a join stays Flink's. */
    static void log(Logger log, RelNode join, SqlReason reason) {
        log.info(
                "A join stays Flink's: {}: {}: {}.",
                reason,
                reason.sentence(),
                ((FlinkPhysicalRel) join).getRelDetailedDescription());
    }

    /** Returns the reason why keys cannot be compared as a whole. */
    static Optional<SqlReason> ofMixedNulls(CommonPhysicalJoin join) {
        return hasMixedNulls(join.joinSpec())
                ? Optional.of(SqlReason.MIXED_NULLS)
                : Optional.empty();
    }

    private static boolean hasMixedNulls(JoinSpec keys) {
        for (boolean filtered : keys.getFilterNulls()) {
            if (filtered != keys.getFilterNulls()[0]) {
                return true;
            }
        }
        return false;
    }

    static boolean isFloatingPoint(LogicalType type) {
        return type.is(LogicalTypeFamily.APPROXIMATE_NUMERIC);
    }

    private static Optional<KeyLayout<Row>> layout(RowType row, int[] columns) {
        try {
            List<String> names = Arrays.stream(columns).mapToObj(row.getFieldNames()::get).toList();
            ColumnsKey<RowData> key = new ColumnsKey<>(InternalTypeInfo.of(row), names);
            return Optional.of(KeyLayout.of(key.keyType(), Nulls.MATCH_NOTHING));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    static RowType rowType(RelNode rel) {
        return FlinkTypeFactory.toLogicalRowType(rel.getRowType());
    }

    static boolean isAtLeastOnce(ReadableConfig config) {
        return config.getOptional(CheckpointingOptions.CHECKPOINTING_INTERVAL).isPresent()
                && config.get(CheckpointingOptions.CHECKPOINTING_CONSISTENCY_MODE)
                        == CheckpointingMode.AT_LEAST_ONCE;
    }
}
