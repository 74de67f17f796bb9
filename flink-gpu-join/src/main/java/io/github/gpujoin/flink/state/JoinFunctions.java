// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.io.Serializable;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.flink.configuration.ReadableConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Functions of the user that decide which rows match, by role. The functions of the snapshot
 * selected the rows in state.
 *
 * @param changeAllowed whether a function may differ from that of the snapshot
 */
public record JoinFunctions(Map<String, FunctionIdentity> byRole, boolean changeAllowed)
        implements Serializable {

    public static final JoinFunctions NONE = new JoinFunctions(Map.of(), false);

    private static final Logger LOG = LoggerFactory.getLogger(JoinFunctions.class);

    public JoinFunctions {
        byRole = new TreeMap<>(byRole);
    }

    /** Role of the filter of a dimension. */
    public static String filterOf(String dimension) {
        return "Filter of dimension '" + dimension + "'";
    }

    /** Without any function. */
    public static JoinFunctions of(ReadableConfig config) {
        return new JoinFunctions(Map.of(), config.get(GpuJoinOptions.ALLOW_CHANGED_FUNCTIONS));
    }

    /**
     * The same with one more function, or with its absence.
     *
     * @param role for messages; the same in every job that restores the state
     * @param method that the function implements
     */
    public JoinFunctions with(String role, @Nullable Serializable function, String method) {
        Map<String, FunctionIdentity> more = new TreeMap<>(byRole);
        more.put(role, FunctionIdentity.of(role, function, method));
        return new JoinFunctions(more, changeAllowed);
    }

    /**
     * @param saved identities by role
     * @param exempt roles of functions that may change
     * @throws IllegalStateException with both identities of the function that changed
     */
    void requireUnchanged(Map<String, String> saved, Set<String> exempt) {
        byRole.forEach(
                (role, now) -> {
                    String text = saved.get(role);
                    FunctionIdentity was = text == null ? now : FunctionIdentity.parse(text);
                    if (now.differsFrom(was) && !exempt.contains(role)) {
                        changed(role, was, now);
                    }
                });
    }

    private void changed(String role, FunctionIdentity was, FunctionIdentity now) {
        String fault =
                String.format(
                        "%s changed since the snapshot: it was %s and is %s.", role, was, now);
        if (changeAllowed) {
            LOG.warn("{} {} allows that.", fault, GpuJoinOptions.ALLOW_CHANGED_FUNCTIONS.key());
            return;
        }
        throw new IllegalStateException(
                fault
                        + "\nKeep it, start without the snapshot, or set "
                        + GpuJoinOptions.ALLOW_CHANGED_FUNCTIONS.key()
                        + ": true if it selects what it selected.");
    }
}
