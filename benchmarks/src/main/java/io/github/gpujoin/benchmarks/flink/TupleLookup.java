// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.LookupTableSource;
import org.apache.flink.table.connector.source.lookup.LookupFunctionProvider;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.LookupFunction;

/**
 * Flink's lookup join asks this table for the build row of a key. It answers from a map on the
 * heap, which all subtasks share: as fast as a database whose every answer is in a cache.
 */
public final class TupleLookup implements DynamicTableSourceFactory {

    static final String CONNECTOR = "tuples";

    /** Number of the {@link FlinkRun} whose build rows are asked for. */
    static final ConfigOption<Integer> RUN = ConfigOptions.key("run").intType().noDefaultValue();

    @Override
    public String factoryIdentifier() {
        return CONNECTOR;
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of(RUN);
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of();
    }

    @Override
    public DynamicTableSource createDynamicTableSource(Context context) {
        return new Table(FactoryUtil.createTableFactoryHelper(this, context).getOptions().get(RUN));
    }

    private record Table(int run) implements LookupTableSource {

        @Override
        public LookupRuntimeProvider getLookupRuntimeProvider(LookupContext context) {
            return LookupFunctionProvider.of(new Lookup(run));
        }

        @Override
        public DynamicTableSource copy() {
            return this;
        }

        @Override
        public String asSummaryString() {
            return CONNECTOR;
        }
    }

    /** Public, as the code that Flink generates calls it. */
    public static final class Lookup extends LookupFunction {

        private static final long serialVersionUID = 1L;

        private final int run;
        private transient Map<Long, Long> payloads;

        private Lookup(int run) {
            this.run = run;
        }

        @Override
        public void open(FunctionContext context) {
            payloads = FlinkRun.of(run).buildPayloads();
        }

        @Override
        public Collection<RowData> lookup(RowData key) {
            Long payload = payloads.get(key.getLong(0));
            return payload == null
                    ? List.of()
                    : List.of(GenericRowData.of(key.getLong(0), payload));
        }
    }
}
