// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.sql;

import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import java.util.Set;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.sink.SinkV2Provider;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.logical.RowType;

/** Adds up the materialised result of a query for a {@link SqlRun}, and stops the run's clocks. */
public final class AnswerTable implements DynamicTableSinkFactory {

    static final String CONNECTOR = "answer";

    /** Number of the {@link SqlRun}. */
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
    public DynamicTableSink createDynamicTableSink(Context context) {
        return new Table(
                FactoryUtil.createTableFactoryHelper(this, context).getOptions().get(RUN),
                (RowType) context.getPhysicalRowDataType().getLogicalType());
    }

    private record Table(int run, RowType type) implements DynamicTableSink {

        /** Retractions are asked for, also where the last row of a key would do. */
        @Override
        public ChangelogMode getChangelogMode(ChangelogMode requested) {
            return requested;
        }

        @Override
        public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
            return SinkV2Provider.of(new AnswerSink(run, type));
        }

        @Override
        public DynamicTableSink copy() {
            return this;
        }

        @Override
        public String asSummaryString() {
            return CONNECTOR;
        }
    }

    private static final class AnswerSink implements Sink<RowData> {

        private static final long serialVersionUID = 1L;

        private final int run;
        private final RowType type;

        AnswerSink(int run, RowType type) {
            this.run = run;
            this.type = type;
        }

        @Override
        public SinkWriter<RowData> createWriter(WriterInitContext context) {
            return new Writer(SqlRun.of(run), new ChangelogSum(type));
        }
    }

    private static final class Writer implements SinkWriter<RowData> {

        private final SqlRun run;
        private final ChangelogSum sum;

        Writer(SqlRun run, ChangelogSum sum) {
            this.run = run;
            this.sum = sum;
        }

        @Override
        public void write(RowData row, Context context) {
            sum.add(row);
        }

        @Override
        public void flush(boolean endOfInput) {
            if (endOfInput) {
                run.finish(new JoinAnswer(sum.rowCount(), sum.checksum()));
            }
        }

        @Override
        public void close() {}
    }
}
