// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.records;

import java.io.Serializable;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.streaming.api.functions.co.KeyedCoProcessFunction;
import org.apache.flink.util.Collector;

/** The join that Flink's users write by hand, with early facts kept until their row arrives. */
final class KeyedJoin<K, F> extends KeyedCoProcessFunction<K, Customer, F, PricedOrder> {

    private static final long serialVersionUID = 1L;

    /** Reads the number of a fact. */
    interface Id<F> extends ToLongFunction<F>, Serializable {}

    /** Reads the amount of a fact. */
    interface Amount<F> extends ToDoubleFunction<F>, Serializable {}

    private final Class<F> type;
    private final Id<F> id;
    private final Amount<F> amount;
    private transient ValueState<Customer> customer;
    private transient ListState<F> early;

    KeyedJoin(Class<F> type, Id<F> id, Amount<F> amount) {
        this.type = type;
        this.id = id;
        this.amount = amount;
    }

    @Override
    public void open(OpenContext context) {
        customer =
                getRuntimeContext()
                        .getState(new ValueStateDescriptor<>("customer", Customer.class));
        early = getRuntimeContext().getListState(new ListStateDescriptor<>("early", type));
    }

    @Override
    public void processElement1(Customer row, Context context, Collector<PricedOrder> out)
            throws Exception {
        customer.update(row);
        for (F fact : early.get()) {
            out.collect(priced(fact, row));
        }
        early.clear();
    }

    @Override
    public void processElement2(F fact, Context context, Collector<PricedOrder> out)
            throws Exception {
        Customer row = customer.value();
        if (row == null) {
            early.add(fact);
        } else {
            out.collect(priced(fact, row));
        }
    }

    private PricedOrder priced(F fact, Customer row) {
        return new PricedOrder(
                id.applyAsLong(fact), amount.applyAsDouble(fact), row.segment, row.discount);
    }
}
