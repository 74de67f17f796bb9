// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.nexmark;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.LookupTableSource;
import org.apache.flink.table.connector.source.lookup.LookupFunctionProvider;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.functions.LookupFunction;

/**
 * The side input of q13: 10,000 numbers and their texts. The public suite reads them from a file to
 * a map on the heap once. Here they are on the heap from the start.
 */
public final class SideInput implements DynamicTableSourceFactory {

    static final String CONNECTOR = "side-input";

    static final int ROWS = 10_000;

    private static final List<List<RowData>> BY_KEY =
            IntStream.range(0, ROWS).mapToObj(SideInput::row).toList();

    private static List<RowData> row(int key) {
        StringData value = StringData.fromString(Integer.toString(key));
        return List.of(GenericRowData.of((long) key, value));
    }

    @Override
    public String factoryIdentifier() {
        return CONNECTOR;
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of();
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of();
    }

    @Override
    public DynamicTableSource createDynamicTableSource(Context context) {
        return new Table();
    }

    private record Table() implements LookupTableSource {

        @Override
        public LookupRuntimeProvider getLookupRuntimeProvider(LookupContext context) {
            return LookupFunctionProvider.of(new Lookup());
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

        private Lookup() {}

        @Override
        public Collection<RowData> lookup(RowData key) {
            long number = key.getLong(0);
            return number >= 0 && number < ROWS ? BY_KEY.get((int) number) : List.of();
        }
    }
}
