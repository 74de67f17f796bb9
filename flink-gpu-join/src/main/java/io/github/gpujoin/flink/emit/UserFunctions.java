// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import org.apache.flink.api.common.functions.DefaultOpenContext;
import org.apache.flink.api.common.functions.Function;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.functions.util.FunctionUtils;

/** Opens and closes functions that may be rich functions. */
final class UserFunctions {

    private UserFunctions() {}

    /**
     * @param function null for none
     */
    static void open(Function function, RuntimeContext context) throws Exception {
        if (function != null) {
            FunctionUtils.setFunctionRuntimeContext(function, context);
            FunctionUtils.openFunction(function, DefaultOpenContext.INSTANCE);
        }
    }

    /**
     * @param function null for none
     */
    static void close(Function function) throws Exception {
        if (function != null) {
            FunctionUtils.closeFunction(function);
        }
    }
}
