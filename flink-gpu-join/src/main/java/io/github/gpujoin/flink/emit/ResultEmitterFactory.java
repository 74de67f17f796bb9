// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import java.io.Serializable;
import org.apache.flink.api.common.functions.RuntimeContext;

/** Makes emitters of one kind; travels with the job. */
@FunctionalInterface
public interface ResultEmitterFactory<OUT> extends Serializable {

    /**
     * An open emitter.
     *
     * @param context for a user's function
     */
    ResultEmitter<OUT> create(RuntimeContext context) throws Exception;
}
