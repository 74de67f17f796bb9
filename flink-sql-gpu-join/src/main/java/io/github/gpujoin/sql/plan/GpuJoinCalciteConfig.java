// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.plan;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.sql.SqlOperatorTable;
import org.apache.calcite.sql.parser.SqlParser;
import org.apache.calcite.sql2rel.SqlToRelConverter;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.planner.calcite.CalciteConfig;
import org.apache.flink.table.planner.plan.optimize.program.BatchOptimizeContext;
import org.apache.flink.table.planner.plan.optimize.program.FlinkBatchProgram;
import org.apache.flink.table.planner.plan.optimize.program.FlinkChainedProgram;
import org.apache.flink.table.planner.plan.optimize.program.FlinkStreamProgram;
import org.apache.flink.table.planner.plan.optimize.program.StreamOptimizeContext;
import org.apache.flink.table.planner.utils.TableConfigUtils;
import scala.Option;
import scala.Some;

/**
 * The planner configuration of an environment whose joins are replaced: the one that it had, with a
 * program at the end of the optimizer's programs. The programs are built for each statement, as the
 * planner does it, so that they follow options of the optimizer.
 */
public final class GpuJoinCalciteConfig implements CalciteConfig {

    private final TableConfig tables;
    private final CalciteConfig previous;

    private GpuJoinCalciteConfig(TableConfig tables, CalciteConfig previous) {
        this.tables = tables;
        this.previous = previous;
    }

    /** Adds the program to the planner of an environment, unless it is there. */
    public static void install(TableConfig tables) {
        CalciteConfig previous = TableConfigUtils.getCalciteConfig(tables);
        if (!(previous instanceof GpuJoinCalciteConfig)) {
            tables.setPlannerConfig(new GpuJoinCalciteConfig(tables, previous));
        }
    }

    private boolean isSet(ConfigOption<Boolean> option) {
        try {
            return tables.get(option);
        } catch (IllegalArgumentException e) {
            GpuJoinOptions.check(
                    tables.getConfiguration()); // its message has the option and the remedy
            throw e;
        }
    }

    @Override
    public Option<FlinkChainedProgram<StreamOptimizeContext>> getStreamProgram() {
        if (!isSet(GpuJoinOptions.SQL_ENABLED)) {
            return previous.getStreamProgram();
        }
        FlinkChainedProgram<StreamOptimizeContext> programs = new FlinkChainedProgram<>();
        FlinkChainedProgram<StreamOptimizeContext> optimizer =
                previous.getStreamProgram().isDefined()
                        ? previous.getStreamProgram().get()
                        : FlinkStreamProgram.buildProgram(tables);
        programs.addLast("optimizer", optimizer);
        programs.addLast("GPU joins", new JoinProgram<>(streamReplacements()));
        return new Some<>(programs);
    }

    private List<JoinReplacement> streamReplacements() {
        List<JoinReplacement> replacements = new ArrayList<>();
        replacements.add(new TemporalJoinReplacement());
        if (isSet(GpuJoinOptions.SQL_STAR_JOINS)) {
            replacements.add(new StarJoinReplacement());
        }
        replacements.add(new RegularJoinReplacement());
        replacements.add(new MultiJoinReplacement());
        if (isSet(GpuJoinOptions.SQL_LOAD_LOOKUP_TABLES)) {
            replacements.add(new LookupJoinReplacement());
        }
        replacements.add(new JoinsOfFlink());
        return replacements;
    }

    @Override
    public Option<FlinkChainedProgram<BatchOptimizeContext>> getBatchProgram() {
        if (!isSet(GpuJoinOptions.SQL_ENABLED)) {
            return previous.getBatchProgram();
        }
        FlinkChainedProgram<BatchOptimizeContext> programs = new FlinkChainedProgram<>();
        FlinkChainedProgram<BatchOptimizeContext> optimizer =
                previous.getBatchProgram().isDefined()
                        ? previous.getBatchProgram().get()
                        : FlinkBatchProgram.buildProgram(tables);
        programs.addLast("optimizer", optimizer);
        programs.addLast(
                "GPU joins",
                new JoinProgram<>(List.of(new BatchJoinReplacement(), new JoinsOfFlink())));
        return new Some<>(programs);
    }

    @Override
    public boolean replacesSqlOperatorTable() {
        return previous.replacesSqlOperatorTable();
    }

    @Override
    public Option<SqlOperatorTable> getSqlOperatorTable() {
        return previous.getSqlOperatorTable();
    }

    @Override
    public Option<SqlParser.Config> getSqlParserConfig() {
        return previous.getSqlParserConfig();
    }

    @Override
    public Option<SqlToRelConverter.Config> getSqlToRelConverterConfig() {
        return previous.getSqlToRelConverterConfig();
    }
}
