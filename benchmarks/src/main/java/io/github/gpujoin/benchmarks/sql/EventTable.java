// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.sql;

import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.source.DataStreamScanProvider;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.logical.RowType;

/**
 * A table of the events of a {@link SqlRun}: a changelog if it has a primary key, else rows that
 * are only inserted. A changelog has retractions, unless its events are upserts. All tables of a
 * run have one source, so that their events keep their order.
 */
public final class EventTable implements DynamicTableSourceFactory {

    private static final String CONNECTOR = "events";

    /** Number of the {@link SqlRun}. */
    private static final ConfigOption<Integer> RUN =
            ConfigOptions.key("run").intType().noDefaultValue();

    /** Number of the table in the {@link EventLog}s. */
    private static final ConfigOption<Integer> TABLE =
            ConfigOptions.key("table").intType().noDefaultValue();

    /** Whether an update is one event, the row behind it. */
    private static final ConfigOption<Boolean> UPSERTS =
            ConfigOptions.key("upserts").booleanType().defaultValue(false);

    /** Returns what stands in a table definition after {@code WITH}. */
    public static String with(int run, int table) {
        return with(run, table, false);
    }

    /** Returns the same for a table with a primary key whose updates are single events. */
    public static String withUpserts(int run, int table) {
        return with(run, table, true);
    }

    private static String with(int run, int table, boolean upserts) {
        return "('connector' = '%s', 'run' = '%d', 'table' = '%d', 'upserts' = '%b')"
                .formatted(CONNECTOR, run, table, upserts);
    }

    @Override
    public String factoryIdentifier() {
        return CONNECTOR;
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of(RUN, TABLE);
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of(UPSERTS);
    }

    @Override
    public DynamicTableSource createDynamicTableSource(Context context) {
        ReadableConfig options = FactoryUtil.createTableFactoryHelper(this, context).getOptions();
        return new Table(
                options.get(RUN),
                options.get(TABLE),
                (RowType) context.getPhysicalRowDataType().getLogicalType(),
                changes(context.getPrimaryKeyIndexes().length > 0, options.get(UPSERTS)));
    }

    private static ChangelogMode changes(boolean hasPrimaryKey, boolean upserts) {
        if (!hasPrimaryKey) {
            return ChangelogMode.insertOnly();
        }
        return upserts ? ChangelogMode.upsert() : ChangelogMode.all();
    }

    private record Table(int run, int table, RowType type, ChangelogMode changes)
            implements ScanTableSource {

        @Override
        public ChangelogMode getChangelogMode() {
            return changes;
        }

        @Override
        public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
            return new Events(run, table, type);
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

    private record Events(int run, int table, RowType type) implements DataStreamScanProvider {

        @Override
        public DataStream<RowData> produceDataStream(
                ProviderContext context, StreamExecutionEnvironment env) {
            return SqlRun.of(run).events(env).getSideOutput(EventRouter.tag(table, type));
        }

        @Override
        public boolean isBounded() {
            return false;
        }
    }
}
