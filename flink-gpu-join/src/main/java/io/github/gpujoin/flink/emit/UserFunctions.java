// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import org.apache.flink.api.common.functions.DefaultOpenContext;
import org.apache.flink.api.common.functions.Function;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.functions.util.FunctionUtils;
import org.jspecify.annotations.Nullable;

/** Opens and closes functions that may be rich functions. */
final class UserFunctions {

    private UserFunctions() {}

    /**
     * @param function null for none
     */
    static void open(@Nullable Function function, RuntimeContext context) throws Exception {
        if (function != null) {
            FunctionUtils.setFunctionRuntimeContext(function, context);
            FunctionUtils.openFunction(function, DefaultOpenContext.INSTANCE);
        }
    }

    /**
     * Returns a result of the function of a join, which must not be null: Flink's serializers
     * cannot write null.
     *
     * @throws NullPointerException if it is null
     */
    static <T> T requireResult(@Nullable T result, Function function) {
        if (result == null) {
            throw new NullPointerException(
                    "The function %s of .apply(...) returned null. Return a record, or reject pairs with .matching(...)."
                            .formatted(function.getClass().getName()));
        }
        return result;
    }

    /**
     * @param function null for none
     */
    static void close(@Nullable Function function) throws Exception {
        if (function != null) {
            FunctionUtils.closeFunction(function);
        }
    }
}
