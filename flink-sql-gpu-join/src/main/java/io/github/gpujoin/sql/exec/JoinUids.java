// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.exec;

import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.regex.Pattern;
import org.apache.flink.table.planner.delegation.PlannerBase;
import org.apache.flink.table.planner.plan.nodes.exec.ExecEdge;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;

/** Prefixes of uids of the joins of a statement, each of which a job may have once. */
final class JoinUids {

    /** Flink translates each statement with a planner object of its own. */
    private static final Map<PlannerBase, JoinUids> STATEMENTS =
            Collections.synchronizedMap(new WeakHashMap<>());

    /** The number of a table without a name, which counts all tables of the process. */
    private static final Pattern ANONYMOUS_NUMBER =
            Pattern.compile("(\\*anonymous_\\w+)\\$\\d+\\*");

    private final Set<String> used = new HashSet<>();

    private JoinUids() {}

    /** Returns the uids of the statement that a planner translates. */
    static JoinUids of(PlannerBase planner) {
        return STATEMENTS.computeIfAbsent(planner, statement -> new JoinUids());
    }

    /**
     * Returns the prefix of the uids of a join. Nodes of the planner are numbered by the process,
     * and not by the statement, so that the prefix depends on what the join and its inputs do.
     * Equal joins of a statement are numbered.
     *
     * @param name of the kind of node
     */
    String unused(String name, ExecNode<?> join) {
        String prefix = name + "-" + Integer.toHexString(hash(join));
        String candidate = prefix;
        for (int i = 2; !used.add(candidate); i++) {
            candidate = prefix + "-" + i;
        }
        return candidate;
    }

    private static int hash(ExecNode<?> node) {
        int hash = ANONYMOUS_NUMBER.matcher(node.getDescription()).replaceAll("$1*").hashCode();
        for (ExecEdge input : node.getInputEdges()) {
            hash = 31 * hash + hash(input.getSource());
        }
        return 31 * hash + node.getOutputType().asSummaryString().hashCode();
    }
}
