// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.physical;

import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import org.apache.calcite.rel.hint.RelHint;
import org.apache.calcite.rex.RexNode;
import org.apache.flink.table.api.TableException;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalMultiJoin;
import org.apache.flink.table.runtime.operators.join.stream.keyselector.AttributeBasedJoinKeyExtractor.ConditionAttributeRef;
import org.apache.flink.table.runtime.operators.join.stream.keyselector.JoinKeyExtractor;
import org.jspecify.annotations.Nullable;

/**
 * What Flink's node of a multi-way join contains and has no getters for.
 *
 * @param conditions of each input, on the columns of all inputs up to it; that of the first input
 *     may be null
 * @param attributes the equal columns of each input
 */
public record MultiJoinParts(
        RexNode filter,
        List<? extends @Nullable RexNode> conditions,
        Map<Integer, List<ConditionAttributeRef>> attributes,
        @Nullable RexNode postFilter,
        List<RelHint> hints,
        JoinKeyExtractor keys) {

    /**
     * Reads the parts of a node.
     *
     * @throws TableException if the node is of a version of Flink with other parts
     */
    @SuppressWarnings("unchecked")
    public static MultiJoinParts of(StreamPhysicalMultiJoin join) {
        return new MultiJoinParts(
                (RexNode) part(join, "joinFilter"),
                (List<? extends @Nullable RexNode>) part(join, "joinConditions"),
                (Map<Integer, List<ConditionAttributeRef>>) part(join, "joinAttributeMap"),
                (RexNode) part(join, "postJoinFilter"),
                (List<RelHint>) part(join, "hints"),
                (JoinKeyExtractor) part(join, "keyExtractor"));
    }

    private static @Nullable Object part(StreamPhysicalMultiJoin join, String name) {
        try {
            Field field = StreamPhysicalMultiJoin.class.getDeclaredField(name);
            field.setAccessible(true);
            return field.get(join);
        } catch (ReflectiveOperationException e) {
            throw new TableException(
                    "Unknown version of Flink's multi-way join: %s is missing. Set 'table.optimizer.multi-join.enabled' = 'false'."
                            .formatted(name),
                    e);
        }
    }
}
