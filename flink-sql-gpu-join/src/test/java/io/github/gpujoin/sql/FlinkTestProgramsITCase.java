// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.planner.factories.TestValuesTableFactory;
import org.apache.flink.table.planner.plan.nodes.exec.common.JoinSemanticTestPrograms;
import org.apache.flink.table.planner.plan.nodes.exec.common.JoinTestPrograms;
import org.apache.flink.table.planner.plan.nodes.exec.stream.MultiJoinTestPrograms;
import org.apache.flink.table.planner.plan.nodes.exec.stream.TemporalJoinTestPrograms;
import org.apache.flink.table.test.program.ConfigOptionTestStep;
import org.apache.flink.table.test.program.FunctionTestStep;
import org.apache.flink.table.test.program.SinkTestStep;
import org.apache.flink.table.test.program.SourceTestStep;
import org.apache.flink.table.test.program.SqlTestStep;
import org.apache.flink.table.test.program.TableTestProgram;
import org.apache.flink.table.test.program.TemporalFunctionTestStep;
import org.apache.flink.table.test.program.TestStep;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs the programs by which Flink tests its own joins, with and without this project's joins. */
class FlinkTestProgramsITCase {

    /** Inserts two rows of one primary key, so that the order of arrival decides its results. */
    private static final String REPEATED_PRIMARY_KEY =
            "four-way-mixed-join-multi-key-types-shuffled";

    @RegisterExtension private static final MiniClusterExtension CLUSTER = SqlComparison.cluster();

    static Stream<TableTestProgram> programs() {
        return programs(
                JoinTestPrograms.class,
                JoinSemanticTestPrograms.class,
                MultiJoinTestPrograms.class,
                TemporalJoinTestPrograms.class);
    }

    static Stream<TableTestProgram> multiJoinPrograms() {
        return programs(MultiJoinTestPrograms.class);
    }

    private static Stream<TableTestProgram> programs(Class<?>... classes) {
        return Stream.of(classes)
                .flatMap(each -> Stream.of(each.getDeclaredFields()))
                .filter(field -> field.getType() == TableTestProgram.class)
                .map(FlinkTestProgramsITCase::program)
                .filter(each -> each.runSteps.stream().allMatch(SqlTestStep.class::isInstance))
                .filter(each -> !each.id.equals(REPEATED_PRIMARY_KEY));
    }

    private static TableTestProgram program(Field field) {
        try {
            field.setAccessible(true);
            return (TableTestProgram) field.get(null);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("Test program cannot be read: " + field, e);
        }
    }

    @AfterEach
    void clear() {
        TestValuesTableFactory.clearAllData();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("programs")
    void shouldEqualResultsOfFlink(TableTestProgram program) throws Exception {
        assertThat(results(program, true, false))
                .containsExactlyInAnyOrderElementsOf(results(program, false, true));
    }

    /** The programs set the planner's option for multi-way joins. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("multiJoinPrograms")
    void shouldEqualResultsOfFlinksMultiJoin(TableTestProgram program) throws Exception {
        assertThat(results(program, true, true))
                .containsExactlyInAnyOrderElementsOf(results(program, false, true));
    }

    /**
     * @param isMultiJoin whether the program may set the planner's option for multi-way joins
     */
    private static List<String> results(
            TableTestProgram program, boolean enabled, boolean isMultiJoin) throws Exception {
        TestValuesTableFactory.clearAllData();
        TableEnvironment tables = TableEnvironment.create(EnvironmentSettings.inStreamingMode());
        tables.getConfig().set("parallelism.default", "1");
        tables.getConfig().set("gpu-join.engine", "cpu");
        tables.getConfig().set(GpuJoinOptions.SQL_ENABLED, enabled);
        GpuJoin.enable(tables);
        for (TestStep step : program.setupSteps) {
            apply(step, tables);
        }
        if (!isMultiJoin) {
            tables.getConfig().set("table.optimizer.multi-join.enabled", "false");
        }
        for (TestStep step : program.runSteps) {
            ((SqlTestStep) step).apply(tables).await();
        }
        List<String> results = new ArrayList<>();
        for (SinkTestStep sink : program.getSetupSinkTestSteps()) {
            results.addAll(TestValuesTableFactory.getResultsAsStrings(sink.name));
        }
        return results;
    }

    private static void apply(TestStep step, TableEnvironment tables) {
        if (step instanceof SourceTestStep source) {
            List<Row> rows = new ArrayList<>(source.dataBeforeRestore);
            rows.addAll(source.dataAfterRestore);
            Map<String, String> options = new HashMap<>();
            options.put("connector", "values");
            options.put("data-id", TestValuesTableFactory.registerData(rows));
            if (rows.stream().anyMatch(row -> row.getKind() != RowKind.INSERT)) {
                // Some programs do not declare their changes.
                options.put("changelog-mode", "I,UB,UA,D");
            }
            options.putAll(source.options);
            source.apply(tables, options);
        } else if (step instanceof SinkTestStep sink) {
            sink.apply(tables, Map.of("connector", "values", "sink-insert-only", "false"));
        } else if (step instanceof SqlTestStep sql) {
            sql.apply(tables);
        } else if (step instanceof ConfigOptionTestStep<?> option) {
            option.apply(tables);
        } else if (step instanceof FunctionTestStep function) {
            function.apply(tables);
        } else if (step instanceof TemporalFunctionTestStep function) {
            function.apply(tables);
        } else {
            throw new IllegalStateException("Unknown step: " + step.getKind());
        }
    }
}
