// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.plan;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.table.planner.plan.optimize.program.FlinkOptimizeContext;
import org.apache.flink.table.planner.plan.optimize.program.FlinkOptimizeProgram;

/**
 * Replaces joins of a physical plan, from its sources to its root. It runs behind all programs of
 * the optimizer, when each node has its final traits.
 *
 * @param <C> context of streaming or of batch mode
 */
final class JoinProgram<C extends FlinkOptimizeContext> implements FlinkOptimizeProgram<C> {

    private final List<JoinReplacement> replacements;

    JoinProgram(List<JoinReplacement> replacements) {
        this.replacements = replacements;
    }

    @Override
    public RelNode optimize(RelNode root, C context) {
        return replaced(root, new IdentityHashMap<>());
    }

    /**
     * @param known nodes that were visited: several parents may share one
     */
    private RelNode replaced(RelNode rel, Map<RelNode, RelNode> known) {
        RelNode result = known.get(rel);
        if (result == null) {
            result = replacement(withInputs(rel, known));
            known.put(rel, result);
        }
        return result;
    }

    private RelNode withInputs(RelNode rel, Map<RelNode, RelNode> known) {
        List<RelNode> inputs = new ArrayList<>();
        boolean changed = false;
        for (RelNode input : rel.getInputs()) {
            RelNode replaced = replaced(input, known);
            changed |= replaced != input;
            inputs.add(replaced);
        }
        return changed ? rel.copy(rel.getTraitSet(), inputs) : rel;
    }

    private RelNode replacement(RelNode rel) {
        for (JoinReplacement each : replacements) {
            RelNode result = each.apply(rel);
            if (result != rel) {
                return result;
            }
        }
        return rel;
    }
}
