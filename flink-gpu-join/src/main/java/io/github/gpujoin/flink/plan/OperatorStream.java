// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Stream of a transformation's results, which exposes the protected constructor. */
final class OperatorStream<T> extends SingleOutputStreamOperator<T> {

    OperatorStream(StreamExecutionEnvironment env, Transformation<T> operator) {
        super(env, operator);
    }
}
