// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;

/** Restores a savepoint by a job whose functions decide otherwise which rows match. */
class RestoredFunctionsITCase extends RestoredJobs {

    private static final KeySelector<Row, Long> KEY = fact -> fact.getFieldAs(0);

    @Test
    void shouldRefuseAnotherKeySelectorOfProbeSide() throws Exception {
        String savepoint = stop("hashmap", pairs(KEY, (number, fact) -> number > 0));
        Job other =
                pairs(fact -> KEYS - 1 - fact.<Long>getFieldAs(0), (number, fact) -> number > 0);
        assertThatThrownBy(() -> restore(savepoint, "hashmap", other))
                .hasStackTraceContaining("Key selector of the probe side changed")
                .hasStackTraceContaining("RestoredFunctionsITCase::lambda$");
    }

    @Test
    void shouldRefuseAnotherCondition() throws Exception {
        String savepoint = stop("rocksdb", pairs(KEY, (number, fact) -> number % 2 == 0));
        Job other = pairs(KEY, (number, fact) -> number % 2 == 1);
        assertThatThrownBy(() -> restore(savepoint, "rocksdb", other))
                .hasStackTraceContaining("Condition of the join changed")
                .hasStackTraceContaining("gpu-join.allow-changed-functions");
    }

    @Test
    void shouldRestoreSameFunctionsFromOtherLambdas() throws Exception {
        String savepoint = stop("hashmap", pairs(KEY, (number, fact) -> number % 2 == 0));
        restore(savepoint, "hashmap", pairs(fact -> fact.getFieldAs(0), (n, f) -> n % 2 == 0));
        assertThat(RESULTS).isNotEmpty().allMatch(result -> Long.parseLong(result) % 2 == 0);
    }

    @Test
    void shouldRestoreAnotherConditionIfToldTo() throws Exception {
        String savepoint = stop("hashmap", pairs(KEY, (number, fact) -> number % 2 == 0));
        RESULTS.clear();
        Configuration config = new Configuration();
        config.setString("gpu-join.allow-changed-functions", "true");
        Job other = pairs(KEY, (number, fact) -> (number & 1) == 0);
        restore(savepoint, "hashmap", other, config);
        assertThat(RESULTS).isNotEmpty().allMatch(result -> Long.parseLong(result) % 2 == 0);
    }

    @Test
    void shouldRefuseAnotherFilterOfDimension() throws Exception {
        String savepoint = stop("hashmap", filtered(row -> row.<Long>getFieldAs(0) < 50));
        assertThatThrownBy(
                        () ->
                                restore(
                                        savepoint,
                                        "hashmap",
                                        filtered(row -> row.<Long>getFieldAs(0) < 60)))
                .hasStackTraceContaining("Filter of dimension 'numbers' changed");
        assertThatThrownBy(() -> restore(savepoint, "hashmap", filtered(null)))
                .hasStackTraceContaining("Filter of dimension 'numbers' changed")
                .hasStackTraceContaining("and is none");
    }

    private static Job pairs(KeySelector<Row, Long> key, JoinFunction<Long, Row, Boolean> matches) {
        return (env, paced) ->
                sink(
                        PairJoin.build(numbers(env, "numbers", KEYS))
                                .probe(facts(env, paced))
                                .where(number -> number, Types.LONG)
                                .equalTo(key, Types.LONG)
                                .matching(matches)
                                .uid("join")
                                .apply((number, fact) -> number.toString(), Types.STRING));
    }

    /**
     * @param filter null to keep all rows
     */
    private static Job filtered(FilterFunction<Row> filter) {
        return (env, paced) -> {
            StarJoin<Row> join =
                    StarJoin.of(facts(env, paced))
                            .dimension(
                                    numbers(env, "numbers", KEYS)
                                            .map(
                                                    Row::of,
                                                    Types.ROW_NAMED(
                                                            new String[] {"key"}, Types.LONG)),
                                    d -> {
                                        d.named("numbers").on("key", "key").select("key");
                                        if (filter != null) {
                                            d.where(filter);
                                        }
                                    });
            sink(join.uid("join").toRows().map(Row::toString).returns(Types.STRING));
        };
    }
}
