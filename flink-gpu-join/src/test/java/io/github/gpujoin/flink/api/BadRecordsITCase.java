// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.flink.api.data.BadRecord;
import io.github.gpujoin.flink.api.options.BadRecords;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Records that cannot be read: the job fails, or goes on without them and says which they were. */
class BadRecordsITCase {

    @RegisterExtension
    private static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .build());

    private static final int RECORDS = 200;
    private static final TypeInformation<Row> RECORD =
            Types.ROW_NAMED(new String[] {"key", "text", "n"}, Types.INT, Types.STRING, Types.INT);

    /** What the side output gave; the jobs of this class run in this process, one by one. */
    private static final Queue<BadRecord> BAD = new ConcurrentLinkedQueue<>();

    private static final class Collecting implements Sink<BadRecord>, SinkWriter<BadRecord> {
        @Override
        public SinkWriter<BadRecord> createWriter(WriterInitContext context) {
            return this;
        }

        @Override
        public void write(BadRecord bad, Context context) {
            BAD.add(bad);
        }

        @Override
        public void flush(boolean endOfInput) {}

        @Override
        public void close() {}
    }

    @BeforeEach
    void forget() {
        BAD.clear();
    }

    /** Objects are reused, so that Flink does not meet the wrong classes before the packer does. */
    private static StreamExecutionEnvironment env(BadRecords policy) {
        Configuration config = new Configuration();
        config.set(GpuJoinOptions.BAD_RECORDS, policy);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(2);
        env.getConfig().enableObjectReuse();
        return env;
    }

    private static boolean isBad(int number) {
        return number % 7 == 3;
    }

    /** A bad record has text in its last field, behind text that is in the chunk by then. */
    private static DataStream<Row> records(StreamExecutionEnvironment env) {
        return env.fromSequence(0, RECORDS - 1)
                .map(
                        l -> {
                            int n = (int) (long) l;
                            return Row.of(n % 10, "text " + n, isBad(n) ? "number " + n : n);
                        })
                .returns(RECORD);
    }

    private static DataStream<Row> dimension(StreamExecutionEnvironment env) {
        List<Row> rows = IntStream.range(0, 10).mapToObj(k -> Row.of(k, "d" + k, k)).toList();
        return env.fromData(rows, RECORD);
    }

    private static StarJoin<Row> star(StreamExecutionEnvironment env) {
        StarJoin<Row> star = StarJoin.of(records(env)).select("text", "n");
        star.dimension(dimension(env), d -> d.on("key", "key").select("text AS name"));
        return star;
    }

    private static List<String> run(DataStream<Row> results) throws Exception {
        List<String> rows = new ArrayList<>();
        try (CloseableIterator<Row> all = results.executeAndCollect()) {
            all.forEachRemaining(row -> rows.add(row.toString()));
        }
        return rows;
    }

    private static List<String> expected() {
        return IntStream.range(0, RECORDS)
                .filter(n -> !isBad(n))
                .mapToObj(n -> Row.of("text " + n, n, "d" + n % 10).toString())
                .toList();
    }

    private static long badCount() {
        return IntStream.range(0, RECORDS).filter(BadRecordsITCase::isBad).count();
    }

    @Test
    void shouldFailUnlessToldOtherwise() {
        assertThatThrownBy(() -> run(star(env(BadRecords.FAIL)).toRows()))
                .hasStackTraceContaining(
                        "A record of a side of the join cannot be packed: side=facts")
                .hasStackTraceContaining(
                        "Value of another type than its field: field=n, type=Integer");
    }

    @Test
    void shouldGoOnWithoutRecordsThatCannotBeRead() throws Exception {
        assertThat(run(star(env(BadRecords.SKIP)).toRows()))
                .containsExactlyInAnyOrderElementsOf(expected());
    }

    @Test
    void shouldGiveBadRecordsWithTheReasonToAStreamOfTheirOwn() throws Exception {
        StarJoin<Row> star =
                star(env(BadRecords.FAIL)).badRecords(bad -> bad.sinkTo(new Collecting()));

        assertThat(run(star.toRows())).containsExactlyInAnyOrderElementsOf(expected());
        assertThat(BAD).hasSize((int) badCount());
        assertThat(BAD)
                .allSatisfy(
                        bad -> {
                            assertThat(bad.side()).isEqualTo("facts");
                            assertThat(bad.record()).contains("number ");
                            assertThat(bad.reason())
                                    .startsWith("A record of a side of the join cannot be packed")
                                    .contains("field=n, type=Integer, class=java.lang.String");
                        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldTakeFiltersThatThrowForBadRecords(boolean objectReuse) throws Exception {
        StreamExecutionEnvironment env = env(BadRecords.FAIL);
        if (!objectReuse) {
            env.getConfig().disableObjectReuse();
        }
        DataStream<Integer> numbers = env.fromSequence(0, RECORDS - 1).map(l -> (int) (long) l);
        StarJoin<Row> star =
                StarJoin.of(numbers.map(n -> Row.of(n % 10, "text " + n, n)).returns(RECORD))
                        .where(row -> 1 / (isBad(row.<Integer>getFieldAs(2)) ? 0 : 1) == 1)
                        .select("text", "n")
                        .badRecords(bad -> bad.sinkTo(new Collecting()));
        star.dimension(dimension(env), d -> d.on("key", "key").select("text AS name"));

        assertThat(run(star.toRows())).containsExactlyInAnyOrderElementsOf(expected());
        assertThat(BAD).hasSize((int) badCount());
        assertThat(BAD.peek().reason())
                .startsWith("The filter of a side of the join failed: side=facts")
                .contains("/ by zero");
    }

    @Test
    void shouldTakeKeysThatThrowForBadRecordsOfJoinsOfStreams() throws Exception {
        StreamExecutionEnvironment env = env(BadRecords.FAIL);
        DataStream<Integer> numbers = env.fromSequence(0, RECORDS - 1).map(l -> (int) (long) l);
        List<String> rows = new ArrayList<>();
        try (CloseableIterator<String> all =
                PairJoin.build(numbers)
                        .probe(numbers)
                        .where(n -> Integer.parseInt(isBad(n) ? "no number" : "" + n), Types.INT)
                        .equalTo(n -> n, Types.INT)
                        .badRecords(bad -> bad.sinkTo(new Collecting()))
                        .apply(
                                (JoinFunction<Integer, Integer, String>) (b, p) -> b + " " + p,
                                Types.STRING)
                        .executeAndCollect()) {
            all.forEachRemaining(rows::add);
        }

        assertThat(rows)
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, RECORDS)
                                .filter(n -> !isBad(n))
                                .mapToObj(n -> n + " " + n)
                                .toList());
        assertThat(BAD).hasSize((int) badCount());
        assertThat(BAD.peek())
                .satisfies(bad -> assertThat(bad.side()).isEqualTo("build"))
                .satisfies(bad -> assertThat(bad.reason()).contains("no number"));
    }
}
