// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.records;

import java.io.Serializable;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.streaming.api.functions.co.KeyedCoProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Joins two keyed streams as users of Flink write it: the dimension's row is in state, and facts
 * that come before it wait there.
 */
final class KeyedJoin<K, D, F, R> extends KeyedCoProcessFunction<K, D, F, R> {

    private static final long serialVersionUID = 1L;

    /** Makes a result. */
    interface Combination<F, D, R> extends Serializable {
        R of(F fact, D row);
    }

    private final Class<D> dimension;
    private final Class<F> facts;
    private final Combination<F, D, R> combination;
    private transient ValueState<D> row;
    private transient ListState<F> early;

    KeyedJoin(Class<D> dimension, Class<F> facts, Combination<F, D, R> combination) {
        this.dimension = dimension;
        this.facts = facts;
        this.combination = combination;
    }

    @Override
    public void open(OpenContext context) {
        row = getRuntimeContext().getState(new ValueStateDescriptor<>("row", dimension));
        early = getRuntimeContext().getListState(new ListStateDescriptor<>("early", facts));
    }

    @Override
    public void processElement1(D arrived, Context context, Collector<R> out) throws Exception {
        row.update(arrived);
        for (F fact : early.get()) {
            out.collect(combination.of(fact, arrived));
        }
        early.clear();
    }

    @Override
    public void processElement2(F fact, Context context, Collector<R> out) throws Exception {
        D present = row.value();
        if (present == null) {
            early.add(fact);
        } else {
            out.collect(combination.of(fact, present));
        }
    }
}
