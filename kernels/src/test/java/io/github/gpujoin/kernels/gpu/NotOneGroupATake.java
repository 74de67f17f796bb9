// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Skips a test on a {@link HostDevice}. With one thread at a time, it would stop the kernel 133,000
 * times.
 */
public final class NotOneGroupATake implements ExecutionCondition {

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        return context.getDisplayName().equals("maxGroups=1")
                ? ConditionEvaluationResult.disabled("takes minutes on a CPU")
                : ConditionEvaluationResult.enabled("is quick enough");
    }
}
